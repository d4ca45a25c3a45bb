//! A headless browser, asked by the `WebDriver` protocol.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::driver::{Pointer, Process};

/// Browsers that no test uses; starting one takes a second.
static IDLE: Mutex<Vec<Process>> = Mutex::new(Vec::new());

/// A browser with one fresh tab. Servers have ports of their own, so that what a test stores is stored for its own
/// origin; what it asked of the tab is gone with it.
pub struct Browser {
    /// None only while it is dropped.
    process: Option<Process>,
    /// Whether a later test may use the process.
    is_shared: bool,
}

impl Browser {
    /// A browser without a mouse, like a phone; Chromium with the flags of `webdriver.json`.
    pub fn start() -> Self {
        let idle = IDLE.lock().expect("no panic").pop();
        Self {
            process: Some(idle.unwrap_or_else(|| Process::start(Pointer::Finger, &[]))),
            is_shared: true,
        }
    }

    /// Starts a browser that has a mouse, which may rest on things.
    pub fn with_mouse() -> Self {
        Self {
            process: Some(Process::start(Pointer::Mouse, &[])),
            is_shared: false,
        }
    }

    /// Starts a browser that no other test has used or will use, with these flags beside those of `webdriver.json`.
    pub fn alone(flags: &[&str]) -> Self {
        Self {
            process: Some(Process::start(Pointer::Finger, flags)),
            is_shared: false,
        }
    }

    /// Opens an address and waits for its `load` event.
    pub fn open(&self, address: &str) {
        self.post("/url", &json!({ "url": address }));
    }

    /// Reloads the page and waits for its `load` event.
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
        self.run_async_with(script, &[])
    }

    /// The same with values that come before the function.
    pub fn run_async_with(&self, script: &str, arguments: &[Value]) -> Value {
        self.post(
            "/execute/async",
            &json!({ "script": script, "args": arguments }),
        )
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
        self.prefer(&[("prefers-color-scheme", scheme)]);
    }

    /// Has these media features, each a name and a value, and the usual ones else.
    pub fn prefer(&self, features: &[(&str, &str)]) {
        let feature = |(name, value): &(&str, &str)| json!({ "name": name, "value": value });
        let features: Vec<Value> = features.iter().map(feature).collect();
        self.devtools(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        );
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
        let process = self.process.as_ref().expect("it is not dropped yet");
        process.log().expect("the driver is there")
    }

    /// Bytes of memory that the greatest of the tabs' processes has had at once; none where the system does not tell.
    pub fn peak_tab_bytes(&self) -> Option<u64> {
        let driver = self.process.as_ref()?.driver_id();
        let numbers = fs::read_dir("/proc").ok()?.flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let is_tab = |number: &u32| {
            let line = fs::read_to_string(format!("/proc/{number}/cmdline"));
            line.is_ok_and(|line| line.contains("--type=renderer")) && descends(*number, driver)
        };
        let kilobytes = numbers
            .filter(is_tab)
            .filter_map(|number| status_of(number, "VmHWM:"));
        kilobytes.max().map(|kilobytes| kilobytes << 10)
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
        let process = self.process.as_ref().expect("it is not dropped yet");
        let answer = process.post(command, body);
        answer.unwrap_or_else(|reason| panic!("{command} {body}: {reason}"))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let process = self.process.take().filter(|_| self.is_shared);
        let is_sound = |process: &Process| !thread::panicking() && process.renew().is_ok();
        if let (Some(process), Ok(mut idle)) = (process.filter(is_sound), IDLE.lock()) {
            idle.push(process);
        }
    }
}

/// Whether a process was started by another, or by what that started.
fn descends(number: u32, ancestor: u32) -> bool {
    let parent = |&number: &u64| status_of(u32::try_from(number).ok()?, "PPid:");
    std::iter::successors(Some(u64::from(number)), parent)
        .any(|number| number == u64::from(ancestor))
}

/// A number that the system tells of a process.
fn status_of(number: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{number}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
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

mod built_page {
    use super::Browser;
    use crate::harness::Server;

    #[test]
    #[ignore = "needs a browser: cargo xtask test"]
    fn a_browser_knows_nothing_of_the_test_before() {
        let seen = || {
            let page = ("/empty.html".to_owned(), b"<p>empty</p>".to_vec());
            let (server, browser) = (Server::replacing([page].into()), Browser::start());
            browser.open(&server.address("empty.html"));
            let state = "const isDark = matchMedia('(prefers-color-scheme: dark)').matches,
                    seen = [innerWidth, window.mark ?? 0, localStorage.length, history.length, isDark];
                localStorage.setItem('a', 'b');
                return seen";
            let seen = browser.run(state, &[]);
            browser.run_before_pages("window.mark = 1");
            browser.resize(390, 844);
            browser.prefer_colours("dark");
            browser.reload();
            let changed = browser.run(state, &[]);
            for i in [0, 1, 2, 4] {
                assert_ne!(changed[i], seen[i], "{i} of {seen} was changed");
            }
            seen
        };
        assert_eq!(seen(), seen(), "the same in the next test");
    }
}
