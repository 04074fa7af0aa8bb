//! A real browser without a window, driven over WebDriver.
//!
//! Pages are looked at and used as a person would: what is clicked has to be
//! visible, and texts are those that are shown. See `process` for how it ends.
//!
//! **Invariant:** nothing is skipped: without the browser, a test fails.

mod page;
mod process;

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub use page::{Page, check, nothing_foreign_runs, nothing_sticks_out};
use process::{Driver, PACKAGES};

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// How WebDriver names an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
const ENTER: &str = "\u{e007}";
const SELECT_ALL_AND_DELETE: &str = "\u{e009}a\u{e009}\u{e017}";

/// Whether pages may run scripts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum JavaScript {
    On,
    Off,
}

/// A browser; it ends with this value.
pub struct Browser {
    agent: ureq::Agent,
    session: String,
    driver: Driver,
}

impl Browser {
    /// Starts one with an empty profile.
    pub fn start(javascript: JavaScript) -> Browser {
        let driver = Driver::start();
        // No proxy: the driver is on this machine.
        let config = ureq::Agent::config_builder().proxy(None).timeout_global(Some(PATIENCE));
        let agent = config.http_status_as_error(false).build().new_agent();
        let mut arguments: Vec<String> = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1280,900",
        ]
        .map(str::to_owned)
        .into();
        arguments.push(format!("--user-data-dir={}", driver.folder().join("profile").display()));
        let preferences = match javascript {
            JavaScript::On => json!({}),
            JavaScript::Off => {
                json!({ "profile.managed_default_content_settings.javascript": 2 })
            }
        };
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": arguments, "prefs": preferences },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        } } });
        let url = format!("{}/session", driver.url());
        let mut browser = Browser { agent, session: url, driver };
        let answer = browser.ask("", Some(&capabilities)).unwrap_or_else(|error| {
            panic!("no browser: {error}\nhelp: install the packages {PACKAGES}")
        });
        let id = answer["sessionId"].as_str().expect("a session has a name");
        browser.session = format!("{}/session/{id}", browser.driver.url());
        browser
    }

    /// Opens a file.
    pub fn open(&self, path: &Path) {
        self.post("/url", &json!({ "url": format!("file://{}", path.display()) }));
    }

    /// The name in the browser's tab.
    pub fn title(&self) -> String {
        self.get("/title").as_str().unwrap_or_default().to_owned()
    }

    /// The visible text of the first element that a selector finds.
    pub fn text(&self, selector: &str) -> String {
        let text = self.get(&format!("/element/{}/text", self.find(selector)));
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until an element says something.
    pub fn wait_for_text(&self, selector: &str, expected: &str) {
        let start = Instant::now();
        while self.text(selector) != expected {
            assert!(start.elapsed() < PATIENCE, "{selector} never says `{expected}`");
        }
    }

    /// Whether the first element that a selector finds can be seen.
    pub fn is_shown(&self, selector: &str) -> bool {
        self.get(&format!("/element/{}/displayed", self.find(selector))) == true
    }

    /// Clicks with the mouse; an element that something else covers cannot be.
    pub fn click(&self, selector: &str) {
        self.post(&format!("/element/{}/click", self.find(selector)), &json!({}));
    }

    /// Presses keys in an element.
    pub fn type_into(&self, selector: &str, keys: &str) {
        self.post(&format!("/element/{}/value", self.find(selector)), &json!({ "text": keys }));
    }

    /// Presses Enter in an element.
    pub fn press_enter(&self, selector: &str) {
        self.type_into(selector, ENTER);
    }

    /// Empties a field by the keyboard.
    pub fn clear(&self, selector: &str) {
        self.type_into(selector, SELECT_ALL_AND_DELETE);
    }

    /// What a piece of JavaScript returns.
    pub fn script(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// The visible cells of all visible rows that a selector finds.
    pub fn rows(&self, selector: &str) -> Vec<Vec<String>> {
        let rows = self.script(&format!(
            "return [...document.querySelectorAll({selector:?})]
                .filter((row) => row.checkVisibility())
                .map((row) => [...row.cells].map((cell) => cell.innerText))"
        ));
        serde_json::from_value(rows).expect("rows of texts")
    }

    /// Makes the page this wide, as a telephone or a screen does.
    pub fn set_width(&self, width: u32) {
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Makes the page light or dark.
    pub fn set_color_scheme(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.devtools("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// What the browser complained about since it was last asked.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.post("/se/log", &json!({ "type": "browser" }));
        let entries = log.as_array().cloned().unwrap_or_default();
        entries.iter().map(|entry| entry["message"].to_string()).collect()
    }

    /// The addresses that the browser asked for since it was last asked.
    pub fn requests(&self) -> Vec<String> {
        let log = self.post("/se/log", &json!({ "type": "performance" }));
        let entries = log.as_array().cloned().unwrap_or_default();
        let events = entries
            .iter()
            .filter_map(|entry| serde_json::from_str::<Value>(entry["message"].as_str()?).ok());
        events
            .filter(|event| event["message"]["method"] == "Network.requestWillBeSent")
            .map(|event| event["message"]["params"]["request"]["url"].to_string())
            .collect()
    }

    /// A command of the browser's own protocol.
    pub fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    fn find(&self, selector: &str) -> String {
        let query = json!({ "using": "css selector", "value": selector });
        let element = self.post("/element", &query);
        element[ELEMENT].as_str().expect("an element has a name").to_owned()
    }

    fn get(&self, command: &str) -> Value {
        self.ask(command, None).unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    fn post(&self, command: &str, body: &Value) -> Value {
        self.ask(command, Some(body)).unwrap_or_else(|error| panic!("{command} {body}: {error}"))
    }

    fn ask(&self, command: &str, body: Option<&Value>) -> Result<Value, String> {
        let url = format!("{}{command}", self.session);
        let answer = match body {
            None => self.agent.get(&url).call(),
            Some(body) => self.agent.post(&url).send(body.to_string()),
        };
        let text = answer.and_then(|mut answer| {
            answer.body_mut().with_config().limit(64 << 20).read_to_string()
        });
        let text = text.map_err(|error| error.to_string())?;
        let mut answer: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        match answer["value"].take() {
            value if value["error"].is_string() => Err(value["message"].to_string()),
            value => Ok(value),
        }
    }
}
