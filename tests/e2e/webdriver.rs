//! A headless browser, asked through `chromedriver` by the `WebDriver` protocol: plain HTTP and JSON.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Times that a driver is started before the test gives up.
const DRIVER_ATTEMPTS: usize = 5;
/// What tells Chromium that it has a mouse: hovering (2) by a fine pointer (4).
const MOUSE: &str = "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4";

/// One browser with one window and an empty profile.
pub struct Browser {
    driver: Child,
    session: String,
    agent: ureq::Agent,
}

impl Browser {
    /// Starts a browser with the flags of `webdriver.json`. It has no mouse, like a phone.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts a browser that has a mouse, which may rest on things.
    pub fn with_mouse() -> Self {
        Self::start_with(&[MOUSE])
    }

    fn start_with(flags: &[&str]) -> Self {
        let (driver, port) = (0..DRIVER_ATTEMPTS)
            .find_map(|_| started_driver())
            .expect("chromedriver announces its port");
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .build();
        let mut browser = Self {
            driver,
            session: format!("http://127.0.0.1:{port}/session"),
            agent: config.into(),
        };
        let id = browser.post(
            "",
            &json!({ "capabilities": { "alwaysMatch": capabilities(flags) } }),
        )["sessionId"]
            .clone();
        let id = id.as_str().expect("a session has an id").to_owned();
        browser.session = format!("{}/{id}", browser.session);
        browser
    }

    /// Opens an address and waits for its `load` event.
    pub fn open(&self, address: &str) {
        self.post("/url", &json!({ "url": address }));
    }

    /// Reloads the page.
    pub fn reload(&self) {
        self.post("/refresh", &json!({}));
    }

    /// What a script's body returns; `arguments[i]` are the values passed.
    pub fn run(&self, script: &str, arguments: &[Value]) -> Value {
        self.post(
            "/execute/sync",
            &json!({ "script": script, "args": arguments }),
        )
    }

    /// What a script passes to its last argument, a function.
    pub fn run_async(&self, script: &str) -> Value {
        self.post("/execute/async", &json!({ "script": script, "args": [] }))
    }

    /// Runs a script in every page before the page's own.
    pub fn run_before_pages(&self, script: &str) {
        self.devtools(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({ "source": script }),
        );
    }

    /// A command of Chromium's own protocol.
    pub fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.post(
            "/goog/cdp/execute",
            &json!({ "cmd": command, "params": parameters }),
        )
    }

    /// Replaces the text of a field.
    pub fn fill(&self, selector: &str, text: &str) {
        let element = self.find(selector);
        self.post(&format!("/element/{element}/clear"), &json!({}));
        self.post(
            &format!("/element/{element}/value"),
            &json!({ "text": text }),
        );
    }

    /// Types keys into an element, `WebDriver`'s names for special ones included.
    pub fn press(&self, selector: &str, keys: &str) {
        let element = self.find(selector);
        self.post(
            &format!("/element/{element}/value"),
            &json!({ "text": keys }),
        );
    }

    /// Clicks an element with the pointer.
    pub fn click(&self, selector: &str) {
        let element = self.find(selector);
        self.post(&format!("/element/{element}/click"), &json!({}));
    }

    /// Chooses a file in an `<input type="file">`, hidden or not.
    pub fn choose_file(&self, selector: &str, file: &Path) {
        let text = file.to_str().expect("a path in UTF-8");
        self.post(
            &format!("/element/{}/value", self.find(selector)),
            &json!({ "text": text }),
        );
    }

    /// Sets the size of the page itself, as a phone's or a desktop's.
    pub fn resize(&self, width: u32, height: u32) {
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Prefers `light` or `dark`.
    pub fn prefer_colours(&self, scheme: &str) {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.devtools("Emulation.setEmulatedMedia", features);
    }

    /// Saves what the whole page looks like under `artefacts/`.
    pub fn save_screenshot(&self, name: &str) {
        let picture = self.devtools(
            "Page.captureScreenshot",
            json!({ "captureBeyondViewport": true }),
        );
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artefacts");
        fs::create_dir_all(&folder).expect("artefacts/ can be made");
        let bytes = from_base64(picture["data"].as_str().expect("a screenshot is text"));
        fs::write(folder.join(name), bytes).expect("a screenshot can be written");
    }

    /// Waits until a script returns something true, and returns it; panics with the page's log when it takes too long.
    pub fn wait_for(
        &self,
        what: &str,
        limit: Duration,
        script: &str,
        arguments: &[Value],
    ) -> Value {
        let start = Instant::now();
        loop {
            let value = self.run(script, arguments);
            if value.as_bool().unwrap_or(!value.is_null()) {
                return value;
            }
            assert!(
                start.elapsed() < limit,
                "{what} did not happen in {limit:?}; the browser's log: {:#}",
                self.log()
            );
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// The console of the page and its workers.
    pub fn log(&self) -> Value {
        self.post("/se/log", &json!({ "type": "browser" }))
    }

    fn find(&self, selector: &str) -> String {
        let found = self.post(
            "/element",
            &json!({ "using": "css selector", "value": selector }),
        );
        let id = found
            .as_object()
            .and_then(|element| element.values().next())
            .and_then(Value::as_str);
        id.unwrap_or_else(|| panic!("nothing on the page is {selector}"))
            .to_owned()
    }

    fn post(&self, command: &str, body: &Value) -> Value {
        let address = format!("{}{command}", self.session);
        let mut response = self
            .agent
            .post(&address)
            .send_json(body)
            .unwrap_or_else(|e| panic!("{command}: {e}"));
        let succeeded = response.status().is_success();
        let config = response.body_mut().with_config().limit(64 << 20);
        let answer: Value = config
            .read_json()
            .unwrap_or_else(|e| panic!("{command}: {e}"));
        assert!(succeeded, "{command} {body}: {:#}", answer["value"]);
        answer["value"].clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver may be gone already; then so is the browser.
        self.agent.delete(&self.session).call().ok();
        self.driver.kill().ok();
        self.driver.wait().ok();
    }
}

/// A driver and its port. None if it ended at once: the port that it was given for one protocol was taken for the other.
fn started_driver() -> Option<(Child, u16)> {
    let program = std::env::var("CHROMEDRIVER").unwrap_or_else(|_| "chromedriver".to_owned());
    let mut driver = Command::new(program)
        .arg("--port=0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("chromedriver starts; set CHROMEDRIVER where it is not on the path");
    let output = BufReader::new(driver.stdout.take().expect("its output is piped"));
    let line = output
        .lines()
        .map_while(Result::ok)
        .find(|line| line.contains("started successfully on port"));
    let Some(line) = line else {
        driver.kill().ok();
        driver.wait().ok();
        return None;
    };
    let digits: String = line.chars().filter(char::is_ascii_digit).collect();
    Some((driver, digits.parse().expect("a port is a number")))
}

fn capabilities(flags: &[&str]) -> Value {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/webdriver.json"))
        .expect("webdriver.json is there");
    let mut capabilities: Value = serde_json::from_str(&text).expect("webdriver.json is JSON");
    let all = &mut capabilities["goog:chromeOptions"]["args"];
    let all = all.as_array_mut().expect("webdriver.json has flags");
    all.extend(flags.iter().map(|flag| json!(flag)));
    capabilities["timeouts"] = json!({ "pageLoad": 60_000, "script": 30_000 });
    capabilities["goog:loggingPrefs"] = json!({ "browser": "ALL" });
    capabilities
}

fn from_base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |c: u8| {
        DIGITS
            .iter()
            .zip(0_u32..)
            .find(|(digit, _)| **digit == c)
            .map(|(_, value)| value)
    };
    let sextets: Vec<u32> = text.bytes().filter_map(digit).collect();
    let group = |sextets: &[u32]| {
        let bits =
            sextets.iter().fold(0, |bits, sextet| bits << 6 | sextet) << (6 * (4 - sextets.len()));
        bits.to_be_bytes()[1..sextets.len()].to_vec()
    };
    sextets.chunks(4).flat_map(group).collect()
}
