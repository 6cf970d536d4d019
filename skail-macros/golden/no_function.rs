#[skail_command]
struct Charge {
    amount: u64,
}

// becomes

struct Charge {
    amount: u64,
}
::core::compile_error! {
    "`#[skail_command]` makes a command of an `async fn`: put it on one"
}
