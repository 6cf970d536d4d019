#[skail_command(idempotency_key = "charge-{invoice_id}", name = "charge")]
pub async fn charge_card(#[state] gateway: &Gateway, invoice_id: Uuid) -> Outcome {
    gateway.charge(invoice_id, idempotency_key()).await
}

// becomes

#[allow(clippy::type_complexity)]
pub fn charge_card(
    invoice_id: Uuid,
) -> ::skail_runtime::CommandCall<
    <Outcome as ::skail_runtime::__private::Outcome>::Value,
> {
    let mut __skail_arguments = ::skail_runtime::__private::CallArguments::new(1);
    charge_card::__SKAIL_PARAMETER_0.write(&mut __skail_arguments, invoice_id);
    ::skail_runtime::__private::command_call(
        charge_card::__SKAIL_DESCRIPTOR,
        __skail_arguments,
    )
}
/// What belongs to the command of the same name; `body` is its body, to be called in tests.
pub struct charge_card {}
impl charge_card {
    /// The body of the command, without Skail around it.
    #[allow(
        clippy::needless_pass_by_value,
        clippy::unnecessary_wraps,
        clippy::unused_async,
        clippy::missing_errors_doc
    )]
    pub async fn body(gateway: &Gateway, invoice_id: Uuid) -> Outcome {
        gateway.charge(invoice_id, idempotency_key()).await
    }
    const __SKAIL_PARAMETER_0: ::skail_runtime::__private::Parameter<Uuid> = ::skail_runtime::__private::parameter::<
        Uuid,
    >("invoice_id");
    const __SKAIL_STATE_0: ::skail_runtime::__private::State<Gateway> = ::skail_runtime::__private::state::<
        Gateway,
    >();
    const __SKAIL_ENDING: ::skail_runtime::__private::EndingOf<Outcome> = ::skail_runtime::__private::ending::<
        <Outcome as ::skail_runtime::__private::Outcome>::Value,
        <Outcome as ::skail_runtime::__private::Outcome>::Error,
    >();
    const __SKAIL_DESCRIPTOR: &'static ::skail_runtime::__private::CommandDescriptor = &::skail_runtime::__private::CommandDescriptor {
        name: "charge",
        site: ::skail_runtime::__private::site(
            ::skail_runtime::__private::module_path!(),
        ),
        parameters: &["invoice_id"],
        states: &[Self::__SKAIL_STATE_0.key],
        policy: ::skail_runtime::__private::CommandPolicy::DEFAULT,
        body: ::skail_runtime::__private::Body::Async(Self::__skail_run),
    };
    fn __skail_run(
        __skail_input: ::skail_runtime::__private::Input,
    ) -> ::skail_runtime::__private::BodyFuture {
        ::skail_runtime::__private::boxed(async move {
            let (__skail_0,) = <Self as ::skail_runtime::__private::Command<
                _,
                _,
            >>::__skail_read(&__skail_input)?;
            let __skail_outcome = Self::body(
                    Self::__SKAIL_STATE_0.lend(&__skail_input),
                    __skail_0,
                )
                .await;
            <Self as ::skail_runtime::__private::Command<
                _,
                _,
            >>::__skail_finish(&__skail_input, __skail_outcome)
        })
    }
}
#[allow(clippy::type_complexity)]
impl ::skail_runtime::__private::Command<(Uuid,), Outcome> for charge_card {
    fn __skail_read(
        __skail_input: &::skail_runtime::__private::Input,
    ) -> ::core::result::Result<(Uuid,), ::skail_runtime::__private::BodyError> {
        let mut __skail_arguments = __skail_input.arguments()?;
        let __skail_0 = Self::__SKAIL_PARAMETER_0.read(&mut __skail_arguments)?;
        __skail_arguments.end()?;
        {
            let __skail_part_0 = ::skail_runtime::__private::key_part(&__skail_0);
            __skail_input
                .set_idempotency_key(
                    ::skail_runtime::__private::format!(
                        "charge-{invoice_id}", invoice_id = __skail_part_0
                    ),
                );
        }
        ::core::result::Result::Ok((__skail_0,))
    }
    fn __skail_finish(
        __skail_input: &::skail_runtime::__private::Input,
        __skail_outcome: Outcome,
    ) -> ::skail_runtime::__private::BodyResult {
        use ::skail_runtime::__private::finish::*;
        (&&&&::skail_runtime::__private::Returned::new(__skail_outcome))
            .finish(&Self::__SKAIL_ENDING, __skail_input)
    }
}
impl ::skail_runtime::__private::Register for charge_card {
    const REGISTRATION: ::skail_runtime::__private::Registration = ::skail_runtime::__private::Registration::Command(
        Self::__SKAIL_DESCRIPTOR,
    );
}
::skail_runtime::__private::inventory::submit!(
    < charge_card as ::skail_runtime::__private::Register > ::REGISTRATION
);
