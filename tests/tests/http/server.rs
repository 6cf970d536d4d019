//! A server that does what a script says: answers, late, cut, or not at all.
//!
//! It keeps what it was asked and what it has created, so that a test can tell a request from an effect:
//! an effect under a key that it knows is not repeated, one without a key always is.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with one request.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Answers with this status, these header lines and this body.
    Answer(u16, Vec<String>, String),
    /// Does what was asked, then something else than answering.
    Create(Box<Act>),
    /// Waits first.
    Late(Duration, Box<Act>),
    /// Resets the connection.
    Reset,
    /// Closes it.
    Close,
    /// Promises a body of a thousand bytes, sends ten, and closes.
    CutBody,
    /// Promises ten million bytes, sends as many as given, and waits.
    StallBody(u16, usize),
    /// Answers what is no HTTP.
    Garbage,
}

/// Answers with this status and nothing else.
pub(crate) fn status(status: u16) -> Act {
    Act::Answer(status, Vec::new(), String::new())
}

/// Answers with this status and one header line.
pub(crate) fn with_header(status: u16, header: &str) -> Act {
    Act::Answer(status, vec![header.to_owned()], String::new())
}

/// Does what was asked, then this.
pub(crate) fn create_then(act: Act) -> Act {
    Act::Create(Box::new(act))
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

#[derive(Debug, Default)]
struct State {
    script: VecDeque<Act>,
    asked: Vec<Asked>,
    keys: BTreeSet<String>,
    /// The keys under which it has done what was asked.
    done: BTreeSet<String>,
    created: u32,
}

/// A running server; once the script is at its end, it creates and answers 200.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    address: String,
    state: Arc<Mutex<State>>,
}

impl Server {
    pub(crate) async fn start(script: impl IntoIterator<Item = Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            address: format!("http://{}", listener.local_addr().unwrap()),
            state: Arc::new(Mutex::new(State {
                script: script.into_iter().collect(),
                ..State::default()
            })),
        };
        let serving = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let server = serving.clone();
                tokio::spawn(async move {
                    // Who hangs up is not served further.
                    let _ = server.serve(stream).await;
                });
            }
        });
        server
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.state.lock().unwrap().asked.clone()
    }

    /// How many requests came, under how many keys, and how often they had their effect.
    pub(crate) fn counts(&self) -> (usize, usize, u32) {
        let state = self.state.lock().unwrap();
        (state.asked.len(), state.keys.len(), state.created)
    }

    async fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        while let Some(asked) = read(&mut stream).await? {
            let key = asked.header("idempotency-key").map(str::to_owned);
            let act = {
                let mut state = self.state.lock().unwrap();
                state.asked.push(asked);
                if let Some(key) = &key {
                    state.keys.insert(key.clone());
                }
                state.script.pop_front()
            };
            let act = act.unwrap_or_else(|| {
                let body = "{\"number\": 7}".to_owned();
                create_then(Act::Answer(200, Vec::new(), body))
            });
            if !self.act(&mut stream, act, key).await? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Says whether the connection goes on.
    async fn act(
        &self,
        stream: &mut TcpStream,
        mut act: Act,
        key: Option<String>,
    ) -> std::io::Result<bool> {
        loop {
            act = match act {
                Act::Create(then) => {
                    let mut state = self.state.lock().unwrap();
                    // Without a key it cannot tell that it was asked before.
                    let known = key
                        .as_ref()
                        .is_some_and(|key| !state.done.insert(key.clone()));
                    state.created += u32::from(!known);
                    *then
                }
                Act::Late(time, then) => {
                    tokio::time::sleep(time).await;
                    *then
                }
                last => {
                    act = last;
                    break;
                }
            };
        }
        match act {
            Act::Answer(status, headers, body) => {
                let mut answer = format!(
                    "HTTP/1.1 {status} Said\r\ncontent-length: {}\r\n",
                    body.len()
                );
                for header in headers {
                    answer += &format!("{header}\r\n");
                }
                answer += &format!("\r\n{body}");
                stream.write_all(answer.as_bytes()).await?;
                return Ok(true);
            }
            Act::Reset => {
                #[expect(deprecated, reason = "zero blocks nobody, and is how a reset is made")]
                stream.set_linger(Some(Duration::ZERO))?;
            }
            Act::CutBody => {
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n0123456789";
                stream.write_all(answer).await?;
            }
            Act::StallBody(status, bytes) => {
                let head = format!("HTTP/1.1 {status} Said\r\ncontent-length: 10000000\r\n\r\n");
                stream.write_all(head.as_bytes()).await?;
                stream.write_all(&vec![b'x'; bytes]).await?;
                // Until the other side hangs up.
                let _ = stream.read(&mut [0]).await?;
            }
            Act::Garbage => stream.write_all(b"220 mail.example ESMTP\r\n").await?,
            Act::Close | Act::Create(_) | Act::Late(..) => {}
        }
        Ok(false)
    }
}

/// The next request on a connection; `None` when the other side has closed it.
async fn read(stream: &mut TcpStream) -> std::io::Result<Option<Asked>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).await? == 0 {
            return Ok(None);
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.trim_end().split("\r\n");
    let line = lines.next().unwrap().to_owned();
    let headers: Vec<(String, String)> = lines
        .map(|line| line.split_once(':').unwrap())
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let mut asked = Asked {
        line,
        headers,
        body: String::new(),
    };
    let length = asked.header("content-length");
    let length = length.map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    asked.body = String::from_utf8(body).unwrap();
    Ok(Some(asked))
}
