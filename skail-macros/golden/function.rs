#[skail_function(retry_count = LIMIT)]
async fn process_order() -> anyhow::Result<()> {
    #[skail(allow_nondeterminism)]
    println!("{:?}", SystemTime::now());
    process_order();
    Ok(())
}

// becomes

#[allow(clippy::type_complexity)]
fn process_order() -> ::skail_runtime::FunctionCall<
    <anyhow::Result<()> as ::skail_runtime::__private::Outcome>::Value,
> {
    let __skail_arguments = ::skail_runtime::__private::CallArguments::new(0);
    ::skail_runtime::__private::function_call(
        process_order::__SKAIL_DESCRIPTOR,
        __skail_arguments,
    )
}
/// What belongs to the function of the same name; `body` is its body, to be called in tests.
struct process_order {}
impl process_order {
    /// The body of the function, without Skail around it.
    #[allow(
        clippy::needless_pass_by_value,
        clippy::unnecessary_wraps,
        clippy::unused_async,
        clippy::missing_errors_doc
    )]
    async fn body() -> anyhow::Result<()> {
        println!("{:?}", SystemTime::now());
        process_order();
        Ok(())
    }
    const __SKAIL_ENDING: ::skail_runtime::__private::EndingOf<anyhow::Result<()>> = ::skail_runtime::__private::ending::<
        <anyhow::Result<()> as ::skail_runtime::__private::Outcome>::Value,
        <anyhow::Result<()> as ::skail_runtime::__private::Outcome>::Error,
    >();
    const __SKAIL_DESCRIPTOR: &'static ::skail_runtime::__private::FunctionDescriptor = &::skail_runtime::__private::FunctionDescriptor {
        name: "process_order",
        site: ::skail_runtime::__private::site(
            ::skail_runtime::__private::module_path!(),
        ),
        parameters: &[],
        states: &[],
        policy: ::skail_runtime::__private::FunctionPolicy {
            retry_count: LIMIT,
            backoff: ::skail_runtime::__private::FunctionPolicy::DEFAULT.backoff,
        },
        body: Self::__skail_run,
    };
    fn __skail_run(
        __skail_input: ::skail_runtime::__private::Input,
    ) -> ::skail_runtime::__private::BodyFuture {
        ::skail_runtime::__private::boxed(async move {
            let __skail_arguments = __skail_input.arguments()?;
            __skail_arguments.end()?;
            let __skail_outcome = Self::body().await;
            use ::skail_runtime::__private::finish::*;
            (&&&&::skail_runtime::__private::Returned::new(__skail_outcome))
                .finish(&Self::__SKAIL_ENDING, &__skail_input)
        })
    }
}
impl ::skail_runtime::__private::Register for process_order {
    const REGISTRATION: ::skail_runtime::__private::Registration = ::skail_runtime::__private::Registration::Function(
        Self::__SKAIL_DESCRIPTOR,
    );
}
::skail_runtime::__private::inventory::submit!(
    < process_order as ::skail_runtime::__private::Register > ::REGISTRATION
);
