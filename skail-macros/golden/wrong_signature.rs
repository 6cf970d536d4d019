#[skail_command]
const unsafe fn charge<T>(#[state] gateway: &Gateway, (a, b): (T, u8), text: &str) -> Result<(), E> {
    gateway.charge(a, b).await
}

// becomes

#[allow(unused_variables)]
fn charge<T>(
    __skail_1: (T, u8),
    text: &str,
) -> ::skail_runtime::CommandCall<
    <Result<(), E> as ::skail_runtime::__private::Outcome>::Value,
> {
    loop {}
}
#[allow(non_camel_case_types, dead_code, missing_docs)]
struct charge {}
#[allow(dead_code, missing_docs)]
impl charge {
    async unsafe fn body<T>(
        gateway: &Gateway,
        (a, b): (T, u8),
        text: &str,
    ) -> Result<(), E> {
        gateway.charge(a, b).await
    }
}
::core::compile_error! {
    "a command is an `async fn`: put `async` before `fn`, or write `#[skail_command(blocking)]` for a plain `fn` that may block its thread"
}
::core::compile_error! {
    "a command is run and recorded, not computed by the compiler: take `const` away"
}
::core::compile_error! {
    "a command runs again after a crash, where nobody can vouch for it: take `unsafe` away and put an `unsafe` block into the body"
}
::core::compile_error! {
    "a command cannot be generic, since its recorded name must lead to one body after a restart: write one command for each type, each calling a generic helper"
}
::core::compile_error! {
    "a parameter of a command needs a plain name to be recorded under: give it one and take the pattern apart in the body with `let`"
}
::core::compile_error! {
    "an argument of a command is recorded, so it must own its data: write `String` instead of `&str`"
}
