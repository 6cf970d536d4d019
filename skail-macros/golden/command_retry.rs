#[skail_command(retry_count = 8, backoff(base = "1.5s", jitter = "none"), timeout = "10s")]
async fn ping() -> anyhow::Result<()> {
    send_ping().await
}

// becomes

#[allow(clippy::type_complexity)]
fn ping() -> ::skail_runtime::CommandCall<
    <anyhow::Result<()> as ::skail_runtime::__private::Outcome>::Value,
> {
    let __skail_arguments = ::skail_runtime::__private::CallArguments::new(0);
    ::skail_runtime::__private::command_call(ping::__SKAIL_DESCRIPTOR, __skail_arguments)
}
/// What belongs to the command of the same name; `body` is its body, to be called in tests.
struct ping {}
impl ping {
    /// The body of the command, without Skail around it.
    #[allow(
        clippy::needless_pass_by_value,
        clippy::unnecessary_wraps,
        clippy::unused_async,
        clippy::missing_errors_doc
    )]
    async fn body() -> anyhow::Result<()> {
        send_ping().await
    }
    const __SKAIL_ENDING: ::skail_runtime::__private::EndingOf<anyhow::Result<()>> = ::skail_runtime::__private::ending::<
        <anyhow::Result<()> as ::skail_runtime::__private::Outcome>::Value,
        <anyhow::Result<()> as ::skail_runtime::__private::Outcome>::Error,
    >();
    const __SKAIL_DESCRIPTOR: &'static ::skail_runtime::__private::CommandDescriptor = &::skail_runtime::__private::CommandDescriptor {
        name: "ping",
        site: ::skail_runtime::__private::site(
            ::skail_runtime::__private::module_path!(),
        ),
        parameters: &[],
        states: &[],
        policy: ::skail_runtime::__private::CommandPolicy {
            retry_count: 8u32,
            backoff: ::core::option::Option::Some(
                ::skail_runtime::__private::Backoff::checked_by_the_attribute(
                    ::skail_runtime::__private::Duration::new(1, 500000000),
                    2f64,
                    ::skail_runtime::__private::Duration::new(30, 0),
                    ::skail_runtime::__private::Jitter::None,
                ),
            ),
            timeout: ::core::option::Option::Some(
                ::skail_runtime::__private::Duration::new(10, 0),
            ),
            max_retry_after: ::skail_runtime::__private::CommandPolicy::DEFAULT
                .max_retry_after,
            dependency: ::skail_runtime::__private::CommandPolicy::DEFAULT.dependency,
        },
        body: ::skail_runtime::__private::Body::Async(Self::__skail_run),
    };
    fn __skail_run(
        __skail_input: ::skail_runtime::__private::Input,
    ) -> ::skail_runtime::__private::BodyFuture {
        ::skail_runtime::__private::boxed(async move {
            let () = <Self as ::skail_runtime::__private::Command<
                _,
                _,
            >>::__skail_read(&__skail_input)?;
            let __skail_outcome = Self::body().await;
            <Self as ::skail_runtime::__private::Command<
                _,
                _,
            >>::__skail_finish(&__skail_input, __skail_outcome)
        })
    }
}
#[allow(clippy::type_complexity)]
impl ::skail_runtime::__private::Command<(), anyhow::Result<()>> for ping {
    fn __skail_read(
        __skail_input: &::skail_runtime::__private::Input,
    ) -> ::core::result::Result<(), ::skail_runtime::__private::BodyError> {
        let __skail_arguments = __skail_input.arguments()?;
        __skail_arguments.end()?;
        ::core::result::Result::Ok(())
    }
    fn __skail_finish(
        __skail_input: &::skail_runtime::__private::Input,
        __skail_outcome: anyhow::Result<()>,
    ) -> ::skail_runtime::__private::BodyResult {
        use ::skail_runtime::__private::finish::*;
        (&&&&::skail_runtime::__private::Returned::new(__skail_outcome))
            .finish(&Self::__SKAIL_ENDING, __skail_input)
    }
}
impl ::skail_runtime::__private::Register for ping {
    const REGISTRATION: ::skail_runtime::__private::Registration = ::skail_runtime::__private::Registration::Command(
        Self::__SKAIL_DESCRIPTOR,
    );
}
::skail_runtime::__private::inventory::submit!(
    < ping as ::skail_runtime::__private::Register > ::REGISTRATION
);
