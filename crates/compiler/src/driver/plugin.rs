//! The plug-in for gcc: `plugin/optsleuth_gcc_plugin.cpp`, compiled against the
//! headers of the very gcc that loads it, and kept in the cache.
//!
//! ```text
//! orders ──► control file ──► gcc -fplugin=... ──► log ──► invocations
//! ```
//! It skips invocations of passes, tells which change their function, and prints a
//! function before and after one.
//!
//! **Invariant:** nothing here says what a failure means. A library in the cache is
//! whole, and of this source and this gcc.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use optsleuth_model::{Coverage, Detour, IndexSet, Invocation};

use super::instrumented::{CoveredCc1, order_of, read_marks};
use super::{Driver, Family};
use crate::CompilerError;
use crate::llvm::cache_root;
use crate::spawn::Tool;
use crate::workdir::Workdir;

const SOURCE: &str = include_str!("../../../../plugin/optsleuth_gcc_plugin.cpp");
/// gcc takes a plug-in's name, for its arguments, from its file.
const NAME: &str = "optsleuth_gcc_plugin";
/// How the plug-in is compiled; gcc itself is compiled without run-time types.
const FLAGS: [&str; 5] = ["-shared", "-fPIC", "-fno-rtti", "-O1", "-w"];
/// The first line of a log whose form is known here.
const LOG_VERSION: &str = "#\t1";

/// Files in the folder of one compilation.
const CONTROL: &str = "control";
const LOG: &str = "log";
const BEFORE: &str = "before";
const AFTER: &str = "after";
const MARKS: &str = "marks";

/// A gcc's plug-in, ready to be loaded.
#[derive(Clone, Debug)]
pub struct GccPlugin {
    /// What has gcc load it, or run a cc1 that has it already.
    flag: String,
}

/// What the plug-in is to do in one compilation.
#[derive(Clone, Debug, Default)]
pub struct PluginOrders {
    pub skips: IndexSet,
    /// Passes that are never skipped, by their names with or without a number.
    pub required: Vec<String>,
    /// Say which invocations change their function.
    pub watch: bool,
    /// Print the function before and after this one.
    pub dump: Option<u32>,
    /// Keep which blocks of gcc are executed. This and what follows needs a cc1 of
    /// ours.
    pub coverage: bool,
    /// Those of these invocations by themselves, too: a half-open range.
    pub window: Option<(u32, u32)>,
    /// Changes to gcc itself.
    pub detours: Vec<Detour>,
}

/// What one compilation came to, up to its end or its crash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginLog {
    pub invocations: Vec<Invocation>,
    /// Whether each changed its function, where it was watched and came to its end.
    pub changed: Vec<Option<bool>>,
    /// The function before the invocation that was to be printed.
    pub before: Option<String>,
    pub after: Option<String>,
    pub coverage: Option<Coverage>,
    /// `None` if gcc never came to it.
    pub window: Option<Coverage>,
}

/// What gcc's plug-ins are compiled with.
#[derive(Clone, Debug)]
pub struct PluginParts {
    /// The folder of headers, with its package.
    pub headers: Option<PathBuf>,
    pub headers_package: String,
    /// The C++ compiler of the same version, with its package.
    pub compiler: Option<PathBuf>,
    pub compiler_package: String,
}

impl PluginParts {
    /// Looks for them; `None` for a compiler that is no gcc.
    pub fn find(driver: &Driver) -> Option<PluginParts> {
        if driver.family != Family::Gcc {
            return None;
        }
        let major = driver.major;
        let said = Tool::new(&driver.path).arg("-print-file-name=plugin").text();
        let headers = said.ok().map(|folder| Path::new(&folder).join("include"));
        Some(PluginParts {
            headers: headers.filter(|folder| folder.join("gcc-plugin.h").is_file()),
            headers_package: format!("gcc-{major}-plugin-dev"),
            compiler: driver.for_cxx(),
            compiler_package: format!("g++-{major}"),
        })
    }
}

impl GccPlugin {
    /// From the cache, or compiled now.
    pub fn provision(driver: &Driver) -> Result<GccPlugin, CompilerError> {
        let missing = |package: String| CompilerError::NoPluginPart {
            compiler: format!("{} {}", driver.family, driver.version),
            package,
        };
        let Some(parts) = PluginParts::find(driver) else { return Err(missing("gcc".to_owned())) };
        let headers = parts.headers.ok_or_else(|| missing(parts.headers_package))?;
        let compiler = parts.compiler.ok_or_else(|| missing(parts.compiler_package))?;
        let key = key(driver, &headers)?;
        let folder = cache_root()?.join("plugins").join(key);
        let library = folder.join(format!("{NAME}.so"));
        if !library.is_file() {
            build(&compiler, &headers, &library)?;
        }
        Ok(GccPlugin { flag: format!("-fplugin={}", library.display()) })
    }

    /// The one that a cc1 of ours has in it.
    pub fn of_cc1(cc1: &CoveredCc1) -> GccPlugin {
        GccPlugin { flag: cc1.flag() }
    }

    /// The flags for one compilation that follows these orders. The folder is for
    /// its files, and for nothing else.
    pub fn flags(&self, orders: &PluginOrders, folder: &Path) -> io::Result<Vec<String>> {
        let control = folder.join(CONTROL);
        fs::write(&control, orders.text(folder))?;
        Ok(vec![self.flag.clone(), format!("-fplugin-arg-{NAME}-control={}", control.display())])
    }

    /// What the plug-in wrote in that compilation; nothing if gcc did not come to
    /// its first pass.
    pub fn log(&self, folder: &Path) -> Result<PluginLog, CompilerError> {
        let text = if_there(fs::read(folder.join(LOG)))?;
        let mut log = match text {
            Some(text) => parse(&String::from_utf8_lossy(&text)).map_err(CompilerError::Plugin)?,
            None => PluginLog::default(),
        };
        let printed = |name| -> io::Result<Option<String>> {
            let bytes = if_there(fs::read(folder.join(name)))?;
            Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
        };
        (log.before, log.after) = (printed(BEFORE)?, printed(AFTER)?);
        if let Some((coverage, window)) = read_marks(&folder.join(MARKS)) {
            (log.coverage, log.window) = (Some(coverage), window);
        }
        Ok(log)
    }
}

impl PluginOrders {
    fn text(&self, folder: &Path) -> String {
        let mut text = String::new();
        let mut order = |name: &str, value: &dyn std::fmt::Display| {
            let _ = writeln!(text, "{name} {value}");
        };
        order("log", &folder.join(LOG).display());
        for (from, end) in self.skips.ranges() {
            order("skip", &format!("{from} {end}"));
        }
        for name in &self.required {
            order("required", name);
        }
        if self.watch {
            order("watch", &1);
        }
        if let Some(number) = self.dump {
            order("dump", &number);
            order("before", &folder.join(BEFORE).display());
            order("after", &folder.join(AFTER).display());
        }
        if self.coverage {
            order("coverage", &folder.join(MARKS).display());
        }
        if let Some((from, end)) = self.window {
            order("window", &format!("{from} {end}"));
        }
        for detour in &self.detours {
            order("detour", &order_of(detour));
        }
        text
    }
}

/// What determines a library: its source and flags, the gcc, and its headers.
fn key(driver: &Driver, headers: &Path) -> Result<String, CompilerError> {
    let mut hash = blake3::Hasher::new();
    let version = fs::read_to_string(headers.join("plugin-version.h"))?;
    let flags = FLAGS.join(" ");
    for text in [SOURCE, &flags, &driver.said, &driver.version, &version] {
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    Ok(format!("gcc-{}-{}", driver.version, &hash.finalize().to_hex()[..16]))
}

/// Compiles it beside its place: whoever comes at the same time makes the same.
fn build(compiler: &Path, headers: &Path, library: &Path) -> Result<(), CompilerError> {
    let work = Workdir::new()?;
    let source = work.file(&format!("{NAME}.cpp"));
    fs::write(&source, SOURCE)?;
    let parent = library.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(CompilerError::Cache)?;
    let beside = library.with_extension(format!("{}.tmp", std::process::id()));
    let built = Tool::new(compiler)
        .args(FLAGS)
        .arg("-isystem")
        .arg(headers)
        .arg(&source)
        .arg("-o")
        .arg(&beside)
        .env("TMPDIR", work.path())
        .check();
    if let Err(error) = built {
        let _ = fs::remove_file(&beside); // What is left of the attempt, if anything.
        return Err(error);
    }
    fs::rename(&beside, library).map_err(CompilerError::Cache)
}

fn if_there<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// Reads a log; its last line may be cut off.
fn parse(text: &str) -> Result<PluginLog, String> {
    let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    match lines.next() {
        Some(LOG_VERSION) => {}
        None => return Ok(PluginLog::default()),
        Some(other) => return Err(format!("a log that begins with `{other}`")),
    }
    let mut log = PluginLog::default();
    for line in lines {
        let odd = || format!("an odd line in its log: `{line}`");
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["=", number, how] => {
                let place: usize = number.parse().map_err(|_| odd())?;
                *log.changed.get_mut(place).ok_or_else(odd)? = Some(how == "changed");
            }
            [number, how, must, pass, function] => {
                let index: u32 = number.parse().map_err(|_| odd())?;
                let unit = match function {
                    "" => "translation unit".to_owned(),
                    name => format!("function {name}"),
                };
                let (skipped, required) = (how == "skip", must == "required");
                let pass = pass.to_owned();
                let changed = false; // See `PluginLog::changed`.
                let invocation = Invocation { index, pass, unit, skipped, required, changed };
                log.invocations.push(invocation);
                log.changed.push(None);
            }
            _ => return Err(odd()),
        }
    }
    Ok(log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_as_far_as_gcc_came() {
        let text = "#\t1\n0\trun\trequired\t*build_cgraph_edges\tf\n=\t0\tsame\n\
                    1\trun\toptional\tipa-inline\t\n2\tskip\toptional\ttree-dom2\tf\n=\t1\tch";
        let log = parse(text).expect("a log");
        let said: Vec<String> = log.invocations.iter().map(ToString::to_string).collect();
        let expected = [
            "#0 *build_cgraph_edges on function f",
            "#1 ipa-inline on translation unit",
            "#2 tree-dom2 on function f",
        ];
        assert_eq!(said, expected);
        assert_eq!(log.changed, [Some(false), None, None], "the last line is cut off");
        assert!(log.invocations[0].required && log.invocations[2].skipped);
        assert_eq!(parse(""), Ok(PluginLog::default()));
        parse("#\t2\n").expect_err("another form");
    }

    #[test]
    fn orders_are_written_a_line_each() {
        let orders = PluginOrders {
            skips: IndexSet::of_ranges([(3, 5), (7, u32::MAX)]),
            required: vec!["rtl-split".to_owned()],
            window: Some((4, 5)),
            ..PluginOrders::default()
        };
        let expected = "log /x/log\nskip 3 5\nskip 7 4294967295\nrequired rtl-split\nwindow 4 5\n";
        assert_eq!(orders.text(Path::new("/x")), expected);
    }
}
