//! A real browser without a window: Chromium, driven over the WebDriver protocol.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use skail_http::reqwest::Client;

/// How long a page may take for what it is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    client: Client,
}

impl Browser {
    /// A window of this width and of one height.
    pub(crate) async fn opened(width: u32) -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("`chromedriver` is installed; `./test` installs it where it can");
        let output = BufReader::new(driver.stdout.take().unwrap());
        let said = output.lines().map_while(Result::ok);
        let port = said
            .filter(|line| line.contains("successfully on port"))
            .find_map(|line| line.trim_end_matches('.').rsplit(' ').next()?.parse().ok())
            .expect("it says its port");
        let client = Client::new();
        let arguments = [
            "--headless=new",
            // The tests may run as root, and in a container; the only pages are ours.
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--lang=en",
            &format!("--window-size={width},900"),
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let url = format!("http://127.0.0.1:{port}/session");
        let answer = client.post(url).json(&wanted).send().await.unwrap();
        let answer: Value = answer.json().await.unwrap();
        let session = answer["value"]["sessionId"].as_str();
        let session = session.unwrap_or_else(|| panic!("Chromium starts: {answer}"));
        Self {
            session: session.to_owned(),
            driver,
            port,
            client,
        }
    }

    async fn ask(&self, path: &str, body: &Value) -> Result<Value, String> {
        let (port, session) = (self.port, &self.session);
        let url = format!("http://127.0.0.1:{port}/session/{session}/{path}");
        let answer = self.client.post(url).json(body).send().await.unwrap();
        let answer: Value = answer.json().await.unwrap();
        match answer["value"]["error"].as_str() {
            Some(_) => Err(answer["value"]["message"].to_string()),
            None => Ok(answer["value"].clone()),
        }
    }

    /// Goes to this address.
    pub(crate) async fn open(&self, url: &str) {
        self.ask("url", &json!({"url": url})).await.unwrap();
    }

    /// What this script returns in the page.
    pub(crate) async fn run(&self, script: &str) -> Value {
        self.try_run(script).await.unwrap()
    }

    async fn try_run(&self, script: &str) -> Result<Value, String> {
        let body = json!({"script": script, "args": []});
        self.ask("execute/sync", &body).await
    }

    /// Waits until this expression is true in the page.
    pub(crate) async fn until(&self, expression: &str) {
        let script = format!("return !!({expression})");
        let waited = tokio::time::timeout(PATIENCE, async {
            let mut beat = tokio::time::interval(Duration::from_millis(50));
            // While a page gives way to another there is nothing to ask.
            while self.try_run(&script).await != Ok(Value::Bool(true)) {
                beat.tick().await;
            }
        });
        if waited.await.is_err() {
            let page = self.run("return document.body.innerText").await;
            panic!("this never becomes true: {expression}\n{page}");
        }
    }

    async fn find(&self, css: &str) -> String {
        self.until(&format!("document.querySelector({})", json!(css)))
            .await;
        let body = json!({"using": "css selector", "value": css});
        let found = self.ask("element", &body).await.unwrap();
        let id = found.as_object().unwrap().values().next().unwrap();
        id.as_str().unwrap().to_owned()
    }

    /// Clicks as a hand does: what is covered or hidden cannot be clicked.
    pub(crate) async fn click(&self, css: &str) {
        let element = self.find(css).await;
        let path = format!("element/{element}/click");
        self.ask(&path, &json!({})).await.unwrap();
    }

    /// Types into a field.
    pub(crate) async fn enter(&self, css: &str, text: &str) {
        let element = self.find(css).await;
        let path = format!("element/{element}/value");
        self.ask(&path, &json!({"text": text})).await.unwrap();
    }

    /// Presses a key, wherever the focus is.
    pub(crate) async fn press(&self, key: char) {
        let actions = json!({"actions": [{"type": "key", "id": "keys", "actions": [
            {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}
        ]}]});
        self.ask("actions", &actions).await.unwrap();
    }

    /// The text of an element as one sees it.
    pub(crate) async fn text(&self, css: &str) -> String {
        self.until(&format!("document.querySelector({})", json!(css)))
            .await;
        let script = format!("return document.querySelector({}).innerText", json!(css));
        self.run(&script).await.as_str().unwrap().to_owned()
    }

    /// What the browser complains of.
    pub(crate) async fn complaints(&self) -> Vec<String> {
        let log = self
            .ask("se/log", &json!({"type": "browser"}))
            .await
            .unwrap();
        let entries = log.as_array().unwrap().iter();
        let told = entries.filter(|it| it["level"] != "INFO" && it["level"] != "DEBUG");
        told.map(|it| it["message"].to_string()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends Chromium with the session, and only then itself.
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) {
            let (port, session) = (self.port, &self.session);
            let request = format!(
                "DELETE /session/{session} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
            );
            let _ = stream.write_all(request.as_bytes());
            let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
            let _ = stream.read(&mut [0; 64]);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
