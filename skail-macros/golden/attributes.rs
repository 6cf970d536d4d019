#[skail_command]
/// Charges a card.
#[cfg(feature = "cards")]
#[expect(dead_code)]
#[tracing::instrument]
#[cfg_attr(docsrs, doc(cfg(feature = "cards")), must_use)]
pub(crate) async fn charge_card() -> anyhow::Result<()> {
    Ok(())
}

// becomes

#[cfg(feature = "cards")]
/// Charges a card.
#[cfg_attr(docsrs, doc(cfg(feature = "cards")))]
#[allow(clippy::type_complexity)]
#[expect(dead_code)]
#[cfg_attr(docsrs, must_use)]
pub(crate) fn charge_card() -> ::skail_runtime::CommandCall<
    <anyhow::Result<()> as ::skail_runtime::__private::Outcome>::Value,
> {
    let __skail_arguments = ::skail_runtime::__private::CallArguments::new(0);
    ::skail_runtime::__private::command_call(
        charge_card::__SKAIL_DESCRIPTOR,
        __skail_arguments,
    )
}
#[cfg(feature = "cards")]
/// What belongs to the command of the same name; `body` is its body, to be called in tests.
pub(crate) struct charge_card {}
#[cfg(feature = "cards")]
impl charge_card {
    /// The body of the command, without Skail around it.
    ///
    /// Charges a card.
    #[cfg_attr(docsrs, doc(cfg(feature = "cards")))]
    #[allow(
        clippy::needless_pass_by_value,
        clippy::unnecessary_wraps,
        clippy::unused_async,
        clippy::missing_errors_doc
    )]
    #[allow(dead_code)]
    #[tracing::instrument]
    pub(crate) async fn body() -> anyhow::Result<()> {
        Ok(())
    }
    const __SKAIL_ENDING: ::skail_runtime::__private::EndingOf<anyhow::Result<()>> = ::skail_runtime::__private::ending::<
        <anyhow::Result<()> as ::skail_runtime::__private::Outcome>::Value,
        <anyhow::Result<()> as ::skail_runtime::__private::Outcome>::Error,
    >();
    const __SKAIL_DESCRIPTOR: &'static ::skail_runtime::__private::CommandDescriptor = &::skail_runtime::__private::CommandDescriptor {
        name: "charge_card",
        site: ::skail_runtime::__private::site(
            ::skail_runtime::__private::module_path!(),
        ),
        parameters: &[],
        states: &[],
        policy: ::skail_runtime::__private::CommandPolicy::DEFAULT,
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
#[cfg(feature = "cards")]
#[allow(clippy::type_complexity)]
impl ::skail_runtime::__private::Command<(), anyhow::Result<()>> for charge_card {
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
#[cfg(feature = "cards")]
impl ::skail_runtime::__private::Register for charge_card {
    const REGISTRATION: ::skail_runtime::__private::Registration = ::skail_runtime::__private::Registration::Command(
        Self::__SKAIL_DESCRIPTOR,
    );
}
#[cfg(feature = "cards")]
::skail_runtime::__private::inventory::submit!(
    < charge_card as ::skail_runtime::__private::Register > ::REGISTRATION
);
