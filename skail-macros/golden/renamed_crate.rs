#[skail_function(crate = crate::reexports::durable)]
async fn process(order: u64) -> anyhow::Result<()> {
    Ok(())
}

// becomes

#[allow(clippy::type_complexity)]
fn process(
    order: u64,
) -> crate::reexports::durable::FunctionCall<
    <anyhow::Result<()> as crate::reexports::durable::__private::Outcome>::Value,
> {
    let mut __skail_arguments = crate::reexports::durable::__private::CallArguments::new(
        1,
    );
    process::__SKAIL_PARAMETER_0.write(&mut __skail_arguments, order);
    crate::reexports::durable::__private::function_call(
        process::__SKAIL_DESCRIPTOR,
        __skail_arguments,
    )
}
/// What belongs to the function of the same name; `body` is its body, to be called in tests.
struct process {}
impl process {
    /// The body of the function, without Skail around it.
    #[allow(
        clippy::needless_pass_by_value,
        clippy::unnecessary_wraps,
        clippy::unused_async,
        clippy::missing_errors_doc
    )]
    async fn body(order: u64) -> anyhow::Result<()> {
        Ok(())
    }
    const __SKAIL_PARAMETER_0: crate::reexports::durable::__private::Parameter<u64> = crate::reexports::durable::__private::parameter::<
        u64,
    >("order");
    const __SKAIL_ENDING: crate::reexports::durable::__private::EndingOf<
        anyhow::Result<()>,
    > = crate::reexports::durable::__private::ending::<
        <anyhow::Result<()> as crate::reexports::durable::__private::Outcome>::Value,
        <anyhow::Result<()> as crate::reexports::durable::__private::Outcome>::Error,
    >();
    const __SKAIL_DESCRIPTOR: &'static crate::reexports::durable::__private::FunctionDescriptor = &crate::reexports::durable::__private::FunctionDescriptor {
        name: "process",
        site: crate::reexports::durable::__private::site(
            crate::reexports::durable::__private::module_path!(),
        ),
        parameters: &["order"],
        states: &[],
        policy: crate::reexports::durable::__private::FunctionPolicy::DEFAULT,
        body: Self::__skail_run,
    };
    fn __skail_run(
        __skail_input: crate::reexports::durable::__private::Input,
    ) -> crate::reexports::durable::__private::BodyFuture {
        crate::reexports::durable::__private::boxed(async move {
            let mut __skail_arguments = __skail_input.arguments()?;
            let __skail_0 = Self::__SKAIL_PARAMETER_0.read(&mut __skail_arguments)?;
            __skail_arguments.end()?;
            let __skail_outcome = Self::body(__skail_0).await;
            use crate::reexports::durable::__private::finish::*;
            (&&&&crate::reexports::durable::__private::Returned::new(__skail_outcome))
                .finish(&Self::__SKAIL_ENDING, &__skail_input)
        })
    }
}
impl crate::reexports::durable::__private::Register for process {
    const REGISTRATION: crate::reexports::durable::__private::Registration = crate::reexports::durable::__private::Registration::Function(
        Self::__SKAIL_DESCRIPTOR,
    );
}
crate::reexports::durable::__private::inventory::submit!(
    < process as crate ::reexports::durable::__private::Register > ::REGISTRATION
);
