//! Source packages of the distribution, by name.
//!
//! apt fetches with a configuration of its own, in a directory of its own: the
//! machine's sources with `deb-src` for `deb`. It checks signatures as always.
//!
//! **Invariant:** nothing of the machine's configuration is changed.

use std::path::Path;
use std::time::Duration;

use fs_err as fs;

use crate::CompilerError;
use crate::spawn::Tool;
use crate::workdir::Workdir;

/// What a download may take: LLVM's are some 200 MB.
const FETCH_TIME: Duration = Duration::from_secs(900);
/// Where the machine says from where it installs.
const APT: &str = "/etc/apt";

/// Fetches the files of a package into a folder: `zlib`, or `zlib=1:1.2.13.dfsg-1` for
/// one version.
pub fn download(package: &str, folder: &Path) -> Result<(), CompilerError> {
    source(&["--download-only", package], folder)
}

/// Fetches a package and unpacks it, with the distribution's patches, into a folder of
/// this folder.
pub fn unpack(package: &str, folder: &Path) -> Result<(), CompilerError> {
    source(&[package], folder)
}

fn source(words: &[&str], folder: &Path) -> Result<(), CompilerError> {
    let apt = Workdir::new()?;
    let options = private_apt(apt.path())?;
    // A source that does not answer may not be the one that has the package.
    let _ = Tool::new("apt-get").args(&options).arg("update").time(FETCH_TIME).output()?;
    let tool = Tool::new("apt-get").args(&options).arg("source").args(words);
    tool.directory(folder).time(FETCH_TIME).check()?;
    Ok(())
}

/// Options for apt: everything it reads and writes lies in `folder`, and what
/// the machine installs programs from is where it looks for sources.
fn private_apt(folder: &Path) -> Result<Vec<String>, CompilerError> {
    let place = |name: &str| folder.join(name);
    for name in ["parts", "lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(place(name))?;
    }
    let list = fs::read_to_string(Path::new(APT).join("sources.list")).unwrap_or_default();
    fs::write(place("sources.list"), as_deb_src(&list))?;
    let parts = std::fs::read_dir(Path::new(APT).join("sources.list.d"));
    for part in parts.into_iter().flatten().flatten() {
        let text = fs::read_to_string(part.path()).unwrap_or_default();
        fs::write(place("parts").join(part.file_name()), as_deb_src(&text))?;
    }
    let set = |name: &str, value: &str| ["-o".to_owned(), format!("{name}={value}")];
    let path = |name: &str| place(name).display().to_string();
    let options = [
        set("Dir::Etc::sourcelist", &path("sources.list")),
        set("Dir::Etc::sourceparts", &path("parts")),
        set("Dir::State::lists", &path("lists")),
        set("Dir::Cache", &path("cache")),
        // Its own user cannot write here.
        set("APT::Sandbox::User", "root"),
        set("Acquire::Retries", "0"),
        set("Acquire::http::Timeout", "20"),
        set("Acquire::https::Timeout", "20"),
    ];
    Ok(options.concat())
}

/// A list of places of programs -> the same of their sources, in both formats
/// that apt reads.
fn as_deb_src(list: &str) -> String {
    let line = |line: &str| {
        if let Some(rest) = line.strip_prefix("deb ").or_else(|| line.strip_prefix("deb\t")) {
            return format!("deb-src {rest}\n");
        }
        match line.strip_prefix("Types:") {
            Some(types) if types.split_whitespace().any(|word| word == "deb") => {
                "Types: deb-src\n".to_owned()
            }
            _ => format!("{line}\n"),
        }
    };
    list.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_looked_for_where_programs_come_from() {
        let one_line =
            "# main\ndeb [signed-by=/k.gpg] http://a/debian stable main\n\ndeb-src http://b c d\n";
        assert_eq!(
            as_deb_src(one_line),
            "# main\ndeb-src [signed-by=/k.gpg] http://a/debian stable main\n\ndeb-src http://b c d\n"
        );
        let stanza = "Types: deb deb-src\nURIs: http://a\nSigned-By: /k.gpg\n";
        assert_eq!(as_deb_src(stanza), "Types: deb-src\nURIs: http://a\nSigned-By: /k.gpg\n");
    }
}
