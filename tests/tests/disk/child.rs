//! Processes of this same test program.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

/// What a line of ours begins with; the test harness prints lines of its own.
const MARK: char = '@';

/// A running child.
pub(crate) struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
}

/// Starts this program again, to run nothing but the test `name` with these variables.
pub(crate) fn start(name: &str, variables: &[(&str, String)]) -> Running {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]);
    command.envs(variables.iter().map(|(name, value)| (*name, value)));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    Running { child, lines }
}

impl Running {
    /// The next line that the child has said; `None` when it is dead.
    pub(crate) fn line(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            // A line that was cut by death was not said.
            if let Some(said) = line.strip_suffix('\n')
                && let Some((_, said)) = said.split_once(MARK)
            {
                return Some(said.to_owned());
            }
        }
    }

    /// Kills the child as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    /// Waits for its end and says whether it went well.
    pub(crate) fn end(mut self) -> bool {
        while self.line().is_some() {}
        self.child.wait().unwrap().success()
    }
}

/// Says a line to the parent, at once and whole.
pub(crate) fn say(line: &str) {
    let line = format!("{MARK}{line}\n");
    let written = super::calls::write_unseen(1, line.as_bytes(), None);
    assert_eq!(written, line.len() as isize, "the parent reads");
}

/// A variable that the parent has set.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
