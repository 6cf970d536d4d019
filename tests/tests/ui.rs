//! What users of the attributes read.
#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/**/*.rs");
}
