//! The commands that the pages name run, in a small form.
#![allow(
    clippy::unwrap_used,
    reason = "what is wrong ends the test, in its helpers too"
)]

use std::process::Command;

fn lines(arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skail-bench"));
    let output = command.args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(str::to_owned).collect()
}

#[test]
fn workloads_run_and_print_a_line_each() {
    let lines = lines(&[
        "--repeat",
        "1",
        "--store",
        "memory",
        "sequential",
        "parallel",
    ]);
    assert_eq!(lines.len(), 2);
    assert!(
        lines[0].contains("\"workload\":\"sequential\""),
        "{lines:?}"
    );
}

#[test]
fn what_grows_is_measured_at_each_size() {
    for (what, most) in [("long", "1000"), ("sleepers", "1000")] {
        let lines = lines(&["scale", what, "--most", most]);
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines.iter().all(|line| line.contains(what)), "{lines:?}");
    }
}
