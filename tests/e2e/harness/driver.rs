//! The program that drives a browser, asked by plain HTTP and JSON: `chromedriver`, or where the environment variable
//! `GECKODRIVER` names one, `geckodriver` with Firefox.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Times that a driver is started before the test gives up.
const DRIVER_ATTEMPTS: usize = 5;

/// The longest that a driver takes to say its port.
const ANNOUNCEMENT: Duration = Duration::from_secs(30);

/// The longest that a page may take to load, and a script to run.
const PAGE_LOAD: Duration = Duration::from_secs(60);
const SCRIPT: Duration = Duration::from_secs(30);

/// The longest that a driver takes for a command; one that takes longer hangs, with the browser or without.
const COMMAND: Duration = Duration::from_secs(120);

/// Starts the driver, ends it when this program is gone however it went, whatever hangs, and removes the browser's profile.
/// The shell lets go of the output, so that it ends with the driver.
const CHROME_SCRIPT: &str =
    "\"$0\" --port=0 & exec >&-; read -r _; kill -9 $!; wait; sleep 1; rm -rf \"$1\"";
/// The same with the browser, which does not end with this driver: all of its group. Debian's `sh` knows no other way to
/// write that.
const FIREFOX_SCRIPT: &str = "setsid \"$0\" --port=0 --profile-root \"$1\" & exec >&-; read -r _; kill -s KILL -- -$!; wait; sleep 1; rm -rf \"$1\"";

/// The flag of `webdriver.json` by which Chromium's GPU is imitated.
const SOFTWARE_ADAPTER: &str = "--use-webgpu-adapter=swiftshader";
/// Flags by which a headless Chromium takes a real GPU, where `KAPPASCOPE_GPU` is `real`.
const REAL_ADAPTER: [&str; 2] = ["--use-angle=vulkan", "--disable-vulkan-surface"];

/// What tells Chromium that it has a mouse: hovering (2) by a fine pointer (4).
const CHROMIUM_MOUSE: &str = "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4";
/// The same for Firefox: a fine pointer (2) that hovers (4).
const FIREFOX_MOUSE: u32 = 2 | 4;

/// What the visitor points with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pointer {
    Finger,
    Mouse,
}

/// The browser that is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Chromium,
    Firefox,
}

/// A driver with its browser.
pub(super) struct Process {
    pub(super) kind: Kind,
    driver: Child,
    session: String,
    agent: ureq::Agent,
}

impl Kind {
    fn asked_for() -> (Self, String) {
        match env::var("GECKODRIVER") {
            Ok(program) => (Self::Firefox, program),
            Err(_) => {
                let program = env::var("CHROMEDRIVER");
                (
                    Self::Chromium,
                    program.unwrap_or_else(|_| "chromedriver".to_owned()),
                )
            }
        }
    }

    const fn script(self) -> &'static str {
        match self {
            Self::Chromium => CHROME_SCRIPT,
            Self::Firefox => FIREFOX_SCRIPT,
        }
    }

    /// What the driver says before it says its port.
    const fn announcement(self) -> &'static str {
        match self {
            Self::Chromium => "started successfully on port",
            Self::Firefox => "Listening on 127.0.0.1:",
        }
    }

    fn capabilities(self, pointer: Pointer, flags: &[&str], profile: &Path) -> Value {
        let mut capabilities = match self {
            Self::Chromium => chromium(pointer, flags, profile),
            Self::Firefox => firefox(pointer),
        };
        capabilities["timeouts"] =
            json!({ "pageLoad": PAGE_LOAD.as_millis(), "script": SCRIPT.as_millis() });
        capabilities
    }
}

impl Process {
    /// Starts the browser that the environment asks for; Chromium with these flags beside those of `webdriver.json`.
    pub(super) fn start(pointer: Pointer, flags: &[&str]) -> Self {
        let (kind, program) = Kind::asked_for();
        let (profile, driver, port) = (0..DRIVER_ATTEMPTS)
            .find_map(|_| started_driver(kind, &program))
            .expect("the driver announces its port");
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(COMMAND))
            .build();
        let mut process = Self {
            kind,
            driver,
            session: format!("http://127.0.0.1:{port}/session"),
            agent: config.into(),
        };
        let capabilities = kind.capabilities(pointer, flags, &profile);
        let wanted = json!({ "capabilities": { "alwaysMatch": capabilities } });
        let started = process.post("", &wanted).expect("a browser starts");
        let id = started["sessionId"].as_str().expect("a session has an id");
        process.session = format!("{}/{id}", process.session);
        process.have_focus().expect("a page may have the focus");
        process
    }

    /// The number of the driver's process, of which the browser's descend.
    pub(super) fn driver_id(&self) -> u32 {
        self.driver.id()
    }

    /// Lets the tab behave as the one that has the focus, whichever window of the machine has it.
    fn have_focus(&self) -> Result<(), String> {
        if self.kind == Kind::Firefox {
            return Ok(());
        }
        let command =
            json!({ "cmd": "Emulation.setFocusEmulationEnabled", "params": { "enabled": true } });
        self.post("/goog/cdp/execute", &command).map(drop)
    }

    /// Leaves one fresh tab, whose log is empty.
    pub(super) fn renew(&self) -> Result<(), String> {
        let tab = self.post("/window/new", &json!({ "type": "tab" }))?["handle"].clone();
        self.answer(self.agent.delete(format!("{}/window", self.session)).call())?;
        self.post("/window", &json!({ "handle": tab }))?;
        self.have_focus()?;
        self.log().map(drop)
    }

    /// The console of the page and its workers; Firefox's driver tells nothing of it.
    pub(super) fn log(&self) -> Result<Value, String> {
        match self.kind {
            Kind::Chromium => self.post("/se/log", &json!({ "type": "browser" })),
            Kind::Firefox => Ok(Value::Null),
        }
    }

    pub(super) fn post(&self, command: &str, body: &Value) -> Result<Value, String> {
        let address = format!("{}{command}", self.session);
        self.answer(self.agent.post(&address).send_json(body))
    }

    /// The value of a driver's answer, or its complaint.
    fn answer(
        &self,
        response: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> Result<Value, String> {
        let mut response = response.map_err(|error| error.to_string())?;
        let config = response.body_mut().with_config().limit(64 << 20);
        let answer: Value = config.read_json().map_err(|error| error.to_string())?;
        if response.status().is_success() {
            Ok(answer["value"].clone())
        } else {
            Err(format!("{:#}", answer["value"]))
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The driver may be gone already; then so is the browser.
        self.agent.delete(&self.session).call().ok();
        drop(self.driver.stdin.take());
        self.driver.wait().ok();
    }
}

/// The folder of a profile, a driver and its port. None if it ended at once: the port that it was given for one protocol
/// was taken for the other.
fn started_driver(kind: Kind, program: &str) -> Option<(PathBuf, Child, u16)> {
    let profile = tempfile::Builder::new().prefix("kappascope-").tempdir();
    let profile = profile.expect("a folder for the profile").keep();
    let mut driver = Command::new("sh")
        .args(["-c", kind.script(), program])
        .arg(&profile)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell starts");
    let output = BufReader::new(driver.stdout.take().expect("its output is piped"));
    let (port_of, ports) = mpsc::channel();
    // Firefox's driver ends when nobody reads what it says.
    thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            if let Some((_, rest)) = line.split_once(kind.announcement()) {
                let digits: String = rest.chars().filter(char::is_ascii_digit).collect();
                port_of
                    .send(digits.parse().expect("a port is a number"))
                    .ok();
            }
        }
    });
    let port = ports.recv_timeout(ANNOUNCEMENT).ok();
    if port.is_none() {
        drop(driver.stdin.take());
        driver.wait().ok();
    }
    Some((profile, driver, port?))
}

fn chromium(pointer: Pointer, more: &[&str], profile: &Path) -> Value {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/webdriver.json"))
        .expect("webdriver.json is there");
    let mut capabilities: Value = serde_json::from_str(&text).expect("webdriver.json is JSON");
    let flags = &mut capabilities["goog:chromeOptions"]["args"];
    let flags = flags.as_array_mut().expect("webdriver.json has flags");
    flags.push(json!(format!("--user-data-dir={}", profile.display())));
    flags.extend(more.iter().map(|flag| json!(flag)));
    if env::var("KAPPASCOPE_GPU").as_deref() == Ok("real") {
        flags.retain(|flag| *flag != SOFTWARE_ADAPTER);
        flags.extend(REAL_ADAPTER.map(|flag| json!(flag)));
    }
    // Through a pipe the browser ends with its driver.
    flags.push(json!("--remote-debugging-pipe"));
    if pointer == Pointer::Mouse {
        flags.push(json!(CHROMIUM_MOUSE));
    }
    capabilities["goog:loggingPrefs"] = json!({ "browser": "ALL" });
    capabilities
}

fn firefox(pointer: Pointer) -> Value {
    let mut preferences = json!({ "datareporting.policy.dataSubmissionEnabled": false });
    if pointer == Pointer::Mouse {
        preferences["ui.primaryPointerCapabilities"] = json!(FIREFOX_MOUSE);
        preferences["ui.allPointerCapabilities"] = json!(FIREFOX_MOUSE);
    }
    json!({ "moz:firefoxOptions": {
        "args": ["-headless", "--width=1200", "--height=900"],
        "prefs": preferences,
    } })
}

#[cfg(unix)]
#[test]
fn a_driver_ends_with_its_test() {
    use std::os::unix::fs::PermissionsExt as _;

    for kind in [Kind::Chromium, Kind::Firefox] {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let program = folder.path().join("driver");
        let script = format!(
            "#!/bin/sh\necho '{} 4444.'\nexec sleep 600\n",
            kind.announcement()
        );
        fs::write(&program, script).expect("the folder is the test's own");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("its own file");
        let (_, mut driver, port) =
            started_driver(kind, &program.to_string_lossy()).expect("it says its port");
        assert_eq!(port, 4444, "{kind:?}");
        drop(driver.stdin.take());
        let start = Instant::now();
        while driver.try_wait().expect("it is a child").is_none() {
            assert!(start.elapsed() < ANNOUNCEMENT, "{kind:?}: still there");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

#[cfg(unix)]
#[test]
fn a_driver_that_ends_at_once_is_not_waited_for() {
    let start = Instant::now();
    assert!(
        started_driver(Kind::Chromium, "false").is_none(),
        "it has no port"
    );
    assert!(
        start.elapsed() < ANNOUNCEMENT / 2,
        "its end is seen, not waited for"
    );
}
