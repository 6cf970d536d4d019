#[skail_command]
async fn charge(&self, #[state] gateway: &Gateway) -> Result<(), E> {
    gateway.charge().await
}

// becomes

async fn charge(&self, gateway: &Gateway) -> Result<(), E> {
    gateway.charge().await
}
::core::compile_error! {
    "a command has no `self`, since it runs again after a restart, when the value is gone: make it a free function, with `#[state]` for what is shared and plain parameters for the rest"
}
