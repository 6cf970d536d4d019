#[skail_command(blocking)]
fn hash(mut bytes: Vec<u8>) -> anyhow::Result<String> {
    bytes.sort();
    sha(bytes)
}

// becomes

#[allow(clippy::type_complexity)]
fn hash(
    bytes: Vec<u8>,
) -> ::skail_runtime::CommandCall<
    <anyhow::Result<String> as ::skail_runtime::__private::Outcome>::Value,
> {
    let mut __skail_arguments = ::skail_runtime::__private::CallArguments::new(1);
    hash::__SKAIL_PARAMETER_0.write(&mut __skail_arguments, bytes);
    ::skail_runtime::__private::command_call(hash::__SKAIL_DESCRIPTOR, __skail_arguments)
}
/// What belongs to the command of the same name; `body` is its body, to be called in tests.
struct hash {}
impl hash {
    /// The body of the command, without Skail around it.
    #[allow(
        clippy::needless_pass_by_value,
        clippy::unnecessary_wraps,
        clippy::unused_async,
        clippy::missing_errors_doc
    )]
    fn body(mut bytes: Vec<u8>) -> anyhow::Result<String> {
        bytes.sort();
        sha(bytes)
    }
    const __SKAIL_PARAMETER_0: ::skail_runtime::__private::Parameter<Vec<u8>> = ::skail_runtime::__private::parameter::<
        Vec<u8>,
    >("bytes");
    const __SKAIL_ENDING: ::skail_runtime::__private::EndingOf<anyhow::Result<String>> = ::skail_runtime::__private::ending::<
        <anyhow::Result<String> as ::skail_runtime::__private::Outcome>::Value,
        <anyhow::Result<String> as ::skail_runtime::__private::Outcome>::Error,
    >();
    const __SKAIL_DESCRIPTOR: &'static ::skail_runtime::__private::CommandDescriptor = &::skail_runtime::__private::CommandDescriptor {
        name: "hash",
        site: ::skail_runtime::__private::site(
            ::skail_runtime::__private::module_path!(),
        ),
        parameters: &["bytes"],
        states: &[],
        policy: ::skail_runtime::__private::CommandPolicy::DEFAULT,
        body: ::skail_runtime::__private::Body::Blocking(Self::__skail_run),
    };
    fn __skail_run(
        __skail_input: ::skail_runtime::__private::Input,
    ) -> ::skail_runtime::__private::BodyResult {
        let (__skail_0,) = <Self as ::skail_runtime::__private::Command<
            _,
            _,
        >>::__skail_read(&__skail_input)?;
        let __skail_outcome = Self::body(__skail_0);
        <Self as ::skail_runtime::__private::Command<
            _,
            _,
        >>::__skail_finish(&__skail_input, __skail_outcome)
    }
}
#[allow(clippy::type_complexity)]
impl ::skail_runtime::__private::Command<(Vec<u8>,), anyhow::Result<String>> for hash {
    fn __skail_read(
        __skail_input: &::skail_runtime::__private::Input,
    ) -> ::core::result::Result<(Vec<u8>,), ::skail_runtime::__private::BodyError> {
        let mut __skail_arguments = __skail_input.arguments()?;
        let __skail_0 = Self::__SKAIL_PARAMETER_0.read(&mut __skail_arguments)?;
        __skail_arguments.end()?;
        ::core::result::Result::Ok((__skail_0,))
    }
    fn __skail_finish(
        __skail_input: &::skail_runtime::__private::Input,
        __skail_outcome: anyhow::Result<String>,
    ) -> ::skail_runtime::__private::BodyResult {
        use ::skail_runtime::__private::finish::*;
        (&&&&::skail_runtime::__private::Returned::new(__skail_outcome))
            .finish(&Self::__SKAIL_ENDING, __skail_input)
    }
}
impl ::skail_runtime::__private::Register for hash {
    const REGISTRATION: ::skail_runtime::__private::Registration = ::skail_runtime::__private::Registration::Command(
        Self::__SKAIL_DESCRIPTOR,
    );
}
::skail_runtime::__private::inventory::submit!(
    < hash as ::skail_runtime::__private::Register > ::REGISTRATION
);
