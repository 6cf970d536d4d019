//! Runs the program and reads what it leaves behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use skail_examples::requests::Request;
use skail_runtime::Sequence;
use skail_runtime::history::Event;
use skail_runtime::store::{Query, SledStore, Store};
use tempfile::TempDir;

/// What everything bundled comes to, whatever happened on the way.
pub(crate) const OUTCOMES: &str = "\
698 orders
    507 confirmed    GBP 145,513.28 charged
     55 compensated  45 out of stock, 10 declined, 0 given up after the last attempt
     70 refunded     GBP 5,174.51 paid back
     66 rejected     45 corrections of the stock, 21 for another reason
";

pub(crate) const VERDICT: &str = "ledger: ok, 507 confirmed and charged once, 55 compensated, 70 refunded once, \
     66 rejected, GBP 145,513.28";

/// A place for a run, and the runs in it.
pub(crate) struct Saga {
    parent: TempDir,
}

impl Saga {
    pub(crate) fn new() -> Self {
        Self {
            parent: tempfile::tempdir().expect("a directory"),
        }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.parent.path().join("data")
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.parent.path().join(name);
        fs::write(&path, text).expect("written");
        path
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_order_saga"));
        command.arg("--data").arg(self.data()).args(arguments);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        Ended::from(
            self.command(arguments)
                .output()
                .expect("the program starts"),
        )
    }

    /// Every request so far, in order. The last line may be torn after a kill.
    pub(crate) fn requests(&self) -> Vec<Request> {
        let text = fs::read_to_string(self.data().join("requests.jsonl")).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole
            .lines()
            .map(|line| serde_json::from_str(line).expect("a request"))
            .collect()
    }

    pub(crate) fn requests_size(&self) -> u64 {
        fs::metadata(self.data().join("requests.jsonl")).map_or(0, |file| file.len())
    }

    /// The keys of all commands whose results are recorded. Reads a copy: opening a store after a
    /// kill changes it.
    pub(crate) fn recorded(&self) -> BTreeSet<String> {
        let copy = tempfile::tempdir().expect("a directory");
        let store = self.data().join("skail");
        if !store.exists() {
            return BTreeSet::new();
        }
        copy_directory(&store, copy.path());
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let store = SledStore::open(copy.path()).expect("opens");
            let mut keys = BTreeSet::new();
            let mut query = Query {
                limit: 1_000,
                ..Query::default()
            };
            loop {
                let page = store.list(query.clone()).await.expect("a page");
                assert!(page.damaged.is_empty(), "damaged: {:?}", page.damaged);
                for header in page.headers {
                    let events = store
                        .history(&header.id, Sequence(0), 10_000)
                        .await
                        .expect("a history");
                    keys.extend(events.iter().filter_map(finished_key));
                }
                query.after = page.next;
                if query.after.is_none() {
                    break;
                }
            }
            store.close().await.expect("closes");
            keys
        })
    }
}

/// `reserve-536365-85123A`, as the command itself makes its key.
fn finished_key(event: &Event) -> Option<String> {
    let Event::CommandCompleted { step, .. } = event else {
        return None;
    };
    let arguments: Vec<serde_json::Value> = step.arguments.decode().expect("arguments");
    let word = |at: usize| arguments[at].as_str().expect("a word");
    match step.name.as_str() {
        "check_lines" => None,
        "reserve" | "release" => Some(format!("{}-{}-{}", step.name, word(0), word(1))),
        _ => Some(format!("{}-{}", step.name, word(0))),
    }
}

fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("created");
    for entry in fs::read_dir(from).expect("listed") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy_directory(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// `None` after a kill.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }
}

impl Ended {
    /// All that must be the same in every run on the same directory.
    pub(crate) fn lasting(&self) -> String {
        self.stdout
            .lines()
            .filter(|line| !line.starts_with("this run:"))
            .collect::<Vec<_>>()
            .join("\n")
    }

    pub(crate) fn assert_finished(&self) {
        assert_eq!(self.code, Some(0), "{self:?}");
        assert!(self.stdout.starts_with(OUTCOMES), "{self:?}");
        assert_eq!(self.stdout.lines().last(), Some(VERDICT), "{self:?}");
        assert_eq!(self.stderr, "", "progress is for terminals only");
    }
}
