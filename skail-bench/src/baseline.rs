//! The least that durable group commit can cost: one file, append, fdatasync, answer.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// The size of a record: about that of a step's event.
const RECORD: usize = 200;

/// How long it is measured.
const SPAN: Duration = Duration::from_millis(500);

/// Commits per second with this many writers in a closed loop.
#[allow(
    clippy::disallowed_methods,
    reason = "a bench measures time and owns its tasks"
)]
pub(crate) async fn run(clients: usize, dir: &Path) -> anyhow::Result<f64> {
    let file = File::create(dir.join("baseline"))?;
    let (sender, receiver) = mpsc::channel();
    let committer = std::thread::spawn(move || commit(file, &receiver));
    let start = Instant::now();
    let writers: Vec<_> = (0..clients)
        .map(|_| {
            let sender = sender.clone();
            tokio::spawn(async move {
                let mut commits = 0_u64;
                while start.elapsed() < SPAN {
                    let (done, waiting) = oneshot::channel();
                    if sender.send(done).is_err() || waiting.await.is_err() {
                        break;
                    }
                    commits += 1;
                }
                commits
            })
        })
        .collect();
    drop(sender);
    let mut commits = 0;
    for writer in writers {
        commits += writer.await?;
    }
    let elapsed = start.elapsed().as_secs_f64();
    committer
        .join()
        .map_err(|_| anyhow::anyhow!("the baseline's committer panicked"))??;
    #[allow(
        clippy::cast_precision_loss,
        reason = "a count of commits in half a second"
    )]
    Ok(commits as f64 / elapsed)
}

fn commit(mut file: File, receiver: &mpsc::Receiver<oneshot::Sender<()>>) -> anyhow::Result<()> {
    let record = [b'x'; RECORD];
    while let Ok(first) = receiver.recv() {
        let mut waiting = vec![first];
        waiting.extend(receiver.try_iter().take(1_023));
        file.write_all(&record.repeat(waiting.len()))?;
        file.sync_data()?;
        for done in waiting {
            let _ = done.send(());
        }
    }
    Ok(())
}
