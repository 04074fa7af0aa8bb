//! What a program is given when it is executed, and what is expected of it:
//! `[execution]` in `case.toml`, or flags.
//!
//! **Invariant:** pure. Whether the files exist is for others to say; that those of a
//! case stay in its folder is said by [`Conditions::mistake`].

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What a program is given when it is executed, and what is expected of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Conditions {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// All of its environment.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The file that it reads as standard input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<PathBuf>,
    /// A folder; its working directory is a copy of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<PathBuf>,
    /// Objects and assembly that are linked with it as they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub companions: Vec<PathBuf>,
    /// What else the linker gets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ldflags: Vec<String>,
    /// A file with what it should print.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_output: Option<PathBuf>,
    /// What it should exit with. Without `expect_output`, its output is not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_exit: Option<i32>,
    /// A script that gets the program's path, and exits with 0 where it is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<PathBuf>,
    /// The script gets the program's object instead, and links it itself: the program
    /// is a part of something larger.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unlinked: bool,
}

/// What may be linked with a program as it is.
const OF_COMPANIONS: [&str; 3] = ["o", "s", "a"];
/// The folder for all of them in a case's folder.
const FOLDER: &str = "execution";

impl Conditions {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Conditions::default()
    }

    /// Whether the program has to be linked and started by itself.
    pub fn need_process(&self) -> bool {
        let Conditions { args, env, stdin, files, companions, ldflags, check, .. } = self;
        !(args.is_empty() && env.is_empty() && companions.is_empty() && ldflags.is_empty())
            || stdin.is_some()
            || files.is_some()
            || check.is_some()
    }

    /// Whether what the program prints does not matter.
    pub fn ignore_output(&self) -> bool {
        self.check.is_some() || self.expect_exit.is_some() && self.expect_output.is_none()
    }

    /// What the linker gets beside the program.
    pub fn link_words(&self) -> Vec<String> {
        let companions = self.companions.iter().map(|path| path.display().to_string());
        companions.chain(self.ldflags.iter().cloned()).collect()
    }

    /// The files and folders that are named, with the key of each.
    pub fn paths(&self) -> Vec<(&'static str, &Path)> {
        let Conditions { stdin, files, companions, expect_output, check, .. } = self;
        let named = [
            ("stdin", stdin),
            ("files", files),
            ("expect_output", expect_output),
            ("check", check),
        ];
        let named = named.into_iter().filter_map(|(key, path)| Some((key, path.as_deref()?)));
        named.chain(companions.iter().map(|path| ("companions", path.as_path()))).collect()
    }

    /// The same with other paths.
    #[must_use]
    fn with_paths(&self, mut other: impl FnMut(&Path) -> PathBuf) -> Conditions {
        let mut mapped = self.clone();
        let Conditions { stdin, files, expect_output, check, companions, .. } = &mut mapped;
        let single = [stdin, files, expect_output, check].into_iter().flatten();
        for path in single.chain(companions) {
            *path = other(path);
        }
        mapped
    }

    /// The same with paths that begin in a folder.
    #[must_use]
    pub fn inside(&self, folder: &Path) -> Conditions {
        self.with_paths(|path| folder.join(path))
    }

    /// The same for a case's own folder, and which file or folder goes where in it.
    pub fn for_case(&self) -> (Conditions, Vec<(PathBuf, PathBuf)>) {
        let mut copies: Vec<(PathBuf, PathBuf)> = Vec::new();
        let of_case = self.with_paths(|path| {
            let name = path.file_name().unwrap_or("files".as_ref());
            let mut place = Path::new(FOLDER).join(name);
            // Two may have the same name in different folders.
            for number in 2.. {
                match copies.iter().find(|(_, taken)| *taken == place) {
                    Some((from, _)) if from != path => {
                        let other = format!("{number}-{}", name.to_string_lossy());
                        place = Path::new(FOLDER).join(other);
                    }
                    _ => break,
                }
            }
            copies.push((path.to_owned(), place.clone()));
            place
        });
        (of_case, copies)
    }

    /// What is wrong with them as the word of a case.
    pub fn mistake(&self) -> Option<String> {
        let is_inside = |path: &Path| {
            let is_normal = |part| matches!(part, Component::Normal(_));
            path.components().next().is_some() && path.components().all(is_normal)
        };
        if let Some((key, path)) = self.paths().into_iter().find(|(_, path)| !is_inside(path)) {
            let path = path.display();
            return Some(format!("`{key}` is `{path}`, but has to be in the case's own folder"));
        }
        let is_companion = |path: &&PathBuf| {
            let ending = path.extension().unwrap_or_default();
            OF_COMPANIONS.iter().any(|known| ending == *known)
        };
        if let Some(path) = self.companions.iter().find(|path| !is_companion(path)) {
            let path = path.display();
            return Some(format!("`companions` has `{path}`: not a .o, .s or .a file"));
        }
        let is_name = |name: &String| !name.is_empty() && !name.contains(['=', '\0']);
        if let Some(name) = self.env.keys().find(|name| !is_name(name)) {
            return Some(format!("`env` has `{name}`, which is not a variable's name"));
        }
        if self.args.iter().chain(self.env.values()).any(|text| text.contains('\0')) {
            return Some("`args` and `env` cannot hold a zero byte".to_owned());
        }
        if self.expect_exit.is_some_and(|status| !(0..=255).contains(&status)) {
            return Some("`expect_exit` is a number from 0 to 255".to_owned());
        }
        if self.unlinked && self.check.is_none() {
            return Some("`unlinked` is for a `check`, which links".to_owned());
        }
        let expects = self.expect_exit.is_some() || self.expect_output.is_some();
        (expects && self.check.is_some()).then(|| {
            "`check` decides alone: leave `expect_output` and `expect_exit` out".to_owned()
        })
    }

    /// How a person starts the program.
    pub fn command_line(&self, quote: impl Fn(&str) -> String) -> String {
        let text = |path: &Path| quote(&path.display().to_string());
        let mut words: Vec<String> = Vec::new();
        if let Some(script) = &self.check {
            let script = text(script);
            words.push(if script.contains('/') { script } else { format!("./{script}") });
        } else {
            words.extend(self.env.iter().map(|(name, value)| quote(&format!("{name}={value}"))));
        }
        let program = if self.unlinked { "optimized.o" } else { "./program" };
        words.push(program.to_owned());
        words.extend(self.args.iter().map(|word| quote(word)));
        if let Some(input) = &self.stdin {
            words.extend(["<".to_owned(), text(input)]);
        }
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Conditions {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn what_leads_out_of_a_case_or_makes_no_sense_is_a_mistake() {
        let check = |text: &str, said: &str| {
            let mistake = read(text).mistake().unwrap_or_default();
            assert!(mistake.contains(said), "{text}: {mistake}");
        };
        check("stdin = \"../in\"", "`stdin` is `../in`");
        check("files = \"/etc\"", "`files` is `/etc`");
        check("check = \"\"", "`check`");
        check("expect_output = \"./x\"", "`expect_output`");
        check("companions = [\"a.o\", \"b.c\"]", "`b.c`: not a .o");
        check("env = { \"A=B\" = \"\" }", "not a variable's name");
        check("args = [\"a\\u0000\"]", "zero byte");
        check("expect_exit = 256", "0 to 255");
        check("unlinked = true", "is for a `check`");
        check("expect_exit = 1\ncheck = \"x\"", "decides alone");
        let fine = "args = [\"-x\"]\nstdin = \"a/in\"\nexpect_exit = 3\n[env]\nA = \"=\"\n";
        assert_eq!(read(fine).mistake(), None);
    }

    #[test]
    fn files_of_the_same_name_stay_apart_in_a_case() {
        let given = read("stdin = \"/a/in\"\nexpect_output = \"/b/in\"\nfiles = \"/c/d\"\n");
        let (of_case, copies) = given.for_case();
        assert_eq!(of_case.mistake(), None);
        let expected =
            [("/a/in", "execution/in"), ("/c/d", "execution/d"), ("/b/in", "execution/2-in")];
        assert_eq!(copies, expected.map(|(from, to)| (from.into(), to.into())));
        assert_eq!(of_case.stdin.as_deref(), Some(Path::new("execution/in")));
    }

    #[test]
    fn the_command_line_has_what_the_program_gets() {
        let given = read("args = [\"1\", \"2\"]\nstdin = \"in\"\n[env]\nA = \"b\"\n");
        assert_eq!(given.command_line(str::to_owned), "A=b ./program 1 2 < in");
        assert_eq!(read("check = \"ok.sh\"").command_line(str::to_owned), "./ok.sh ./program");
        assert!(given.need_process() && !read("expect_exit = 0").need_process());
        assert!(read("expect_exit = 0").ignore_output() && !given.ignore_output());
    }
}
