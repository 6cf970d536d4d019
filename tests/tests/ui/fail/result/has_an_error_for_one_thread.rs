//! The error holds an `Rc`.
use skail_runtime::skail_command;

#[derive(Debug)]
pub struct Refused(std::rc::Rc<str>);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

#[skail_command]
async fn charge() -> Result<(), Refused> {
    Err(Refused("no".into()))
}

fn main() {}
