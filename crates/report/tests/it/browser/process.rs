//! The driver's process and everything it starts.
//!
//! A browser is a dozen processes, and not all of them end with it. The test
//! adopts those that lose their parents, and ends and buries them all before it
//! removes their folder.
//!
//! **Invariant:** one driver at a time, so that all children of this process
//! belong to it.
#![expect(clippy::disallowed_methods, reason = "a test starts its browser itself")]

use std::fs;
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, wait};
use tempfile::TempDir;

/// What has to be installed, by the names that Debian has for it.
pub(super) const PACKAGES: &str = "`chromium` and `chromium-driver`";

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A running driver.
pub(super) struct Driver {
    port: u16,
    /// Kept open, because the driver may still print.
    output: BufReader<ChildStdout>,
    folder: TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Driver {
    /// Waits for its turn and starts it; all that it and the browser write goes
    /// to a folder of its own.
    pub(super) fn start() -> Driver {
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        set_child_subreaper(Some(getpid())).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("chromedriver");
        for variable in ["HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"] {
            command.env(variable, folder.path());
        }
        let child = command
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                panic!("there is no `chromedriver`\nhelp: install the packages {PACKAGES}")
            }
            Err(error) => panic!("`chromedriver` does not start: {error}"),
        };
        let output = BufReader::new(child.stdout.take().expect("piped above"));
        let mut driver = Driver { port: 0, output, folder, _turn: turn };
        driver.port = driver.read_port();
        driver
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// From the line `ChromeDriver was started successfully on port 40123.`
    fn read_port(&mut self) -> u16 {
        let mut said = String::new();
        loop {
            let start = said.len();
            if self.output.read_line(&mut said).unwrap() == 0 {
                panic!("`chromedriver` names no port, but says: {said}");
            }
            let number = said[start..].trim_end().trim_end_matches('.').rsplit(' ').next();
            if said[start..].contains("started successfully")
                && let Some(Ok(port)) = number.map(str::parse)
            {
                return port;
            }
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        loop {
            let left = descendants();
            if left.is_empty() {
                break;
            }
            for pid in left {
                let _ = kill_process(pid, Signal::KILL);
            }
            let _ = wait(WaitOptions::empty());
        }
    }
}

/// The children of this process, their children, and so on.
fn descendants() -> Vec<Pid> {
    let mut parents: Vec<(Pid, Pid)> = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        // `4711 (name) S 4710 ...`, and a name may hold anything.
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let pid = stat.split(' ').next().unwrap_or_default();
        let parent = stat.rsplit(')').next().unwrap_or_default().split(' ').nth(2);
        let number = |text: &str| text.parse().ok().and_then(Pid::from_raw);
        if let (Some(pid), Some(parent)) = (number(pid), parent.and_then(number)) {
            parents.push((pid, parent));
        }
    }
    let mut found = vec![getpid()];
    let mut at = 0;
    while at < found.len() {
        let children = parents.iter().filter(|(_, parent)| *parent == found[at]);
        found.extend(children.map(|(pid, _)| *pid).collect::<Vec<_>>());
        at += 1;
    }
    found.split_off(1)
}
