//! What this release packages, and the command that installs it.
//!
//! Reads apt's lists on this machine; installs and downloads nothing. A command
//! never names a package that apt does not know: a person would type it in vain.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use crate::llvm::{NEWEST, OLDEST};
use crate::spawn::Tool;

/// The LLVM that a machine without any should get, where it is packaged.
const PREFERRED_LLVM: u32 = 19;
/// Where apt keeps what `apt-get update` has fetched.
const LISTS: &str = "/var/lib/apt/lists";

/// The command that installs these, for the person who is asking. `None` where
/// apt does not know one of them.
pub fn install_command(packages: &[String]) -> Option<String> {
    command(packages, known())
}

/// The LLVMs with archives that can be installed here, oldest first.
pub fn packaged_llvms() -> Vec<u32> {
    llvms(known())
}

/// The LLVM that a machine without any should get.
pub fn suggested_llvm() -> u32 {
    suggested(&packaged_llvms())
}

fn command(packages: &[String], known: Option<&BTreeSet<String>>) -> Option<String> {
    if !packages.iter().all(|name| is_known(name, known)) {
        return None;
    }
    let sudo = if rustix::process::geteuid().is_root() { "" } else { "sudo " };
    Some(format!("{sudo}apt-get install -y {}", packages.join(" ")))
}

fn llvms(known: Option<&BTreeSet<String>>) -> Vec<u32> {
    (OLDEST..=NEWEST).filter(|major| is_known(&format!("llvm-{major}-dev"), known)).collect()
}

fn suggested(packaged: &[u32]) -> u32 {
    match packaged.last() {
        Some(&newest) if !packaged.contains(&PREFERRED_LLVM) => newest,
        Some(_) | None => PREFERRED_LLVM,
    }
}

/// Where apt cannot be asked, nothing speaks against a name.
fn is_known(name: &str, known: Option<&BTreeSet<String>>) -> bool {
    known.is_none_or(|known| known.contains(name))
}

/// The names of all packages, without those that others only provide. `None`
/// where there is no apt, or it has not fetched its lists yet.
fn known() -> Option<&'static BTreeSet<String>> {
    static KNOWN: OnceLock<Option<BTreeSet<String>>> = OnceLock::new();
    KNOWN.get_or_init(|| has_lists(Path::new(LISTS)).then(names).flatten()).as_ref()
}

fn names() -> Option<BTreeSet<String>> {
    let text = Tool::new("apt-cache").arg("pkgnames").text().ok()?;
    Some(text.lines().map(str::to_owned).collect())
}

fn has_lists(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.file_name().to_string_lossy().contains("_Packages"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(packages: &[&str], known: Option<&[&str]>, expected: Option<&str>) {
        let packages: Vec<String> = packages.iter().map(|&name| name.to_owned()).collect();
        let known = known.map(|names| names.iter().map(|&name| name.to_owned()).collect());
        let said = command(&packages, known.as_ref());
        assert_eq!(said.as_deref().map(|said| said.trim_start_matches("sudo ")), expected);
    }

    #[test]
    fn a_command_names_only_packages_that_apt_knows() {
        let trixie = ["llvm-19-dev", "gcc-12"];
        check(&["gcc-12"], Some(&trixie), Some("apt-get install -y gcc-12"));
        check(&["llvm-19-dev", "gcc-11"], Some(&trixie), None);
        check(&["gcc-11"], None, Some("apt-get install -y gcc-11"));
    }

    #[test]
    fn the_llvm_to_install_is_one_that_is_packaged() {
        assert_eq!(suggested(&[17, 18, 19, 22]), 19);
        assert_eq!(suggested(&[20, 21]), 21);
        assert_eq!(suggested(&[]), 19);
        let known = ["llvm-17-dev", "llvm-13-dev", "llvm-22-dev", "llvm-22"];
        let known = known.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(llvms(Some(&known)), [17, 22]);
    }
}
