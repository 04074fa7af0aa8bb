//! A file of the llvm-autofix and llvm-apr-benchmark data sets -> a [`Bug`].
//! Pure.
//!
//! Only what a case needs is read; other fields may be there or not.

use std::collections::BTreeMap;
use std::path::Path;

use optsleuth_model::{BugType, Truth};
use serde::Deserialize;

use crate::BenchError;

/// A known bug of LLVM with the tests that its fix brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bug {
    /// The issue's number; fit for a folder's name.
    pub id: String,
    /// How it fails, in the data set's words.
    pub bug_type: BugType,
    /// The issue's title.
    pub title: Option<String>,
    /// The issue's address.
    pub source: Option<String>,
    /// What the fix changed, if the file says.
    pub truth: Option<Truth>,
    /// The tests, each with the commands of its file.
    pub tests: Vec<BugTest>,
}

/// A test of a bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BugTest {
    /// The file in LLVM's source tree.
    pub file: String,
    /// Its name in that file.
    pub name: String,
    /// The module.
    pub body: String,
    /// RUN lines.
    pub commands: Vec<String>,
    /// What the program prints, where it is there to be executed.
    pub expected: Option<String>,
}

impl BugTest {
    /// Whether there is a `main` that can be executed.
    pub fn has_main(&self) -> bool {
        let is_main = |line: &str| line.starts_with("define ") && line.contains("@main(");
        self.body.lines().any(is_main)
    }
}

/// The file as it is written.
#[derive(Deserialize)]
struct BugFile {
    bug_id: BugId,
    bug_type: BugType,
    #[serde(default)]
    issue: Option<IssueFile>,
    #[serde(default)]
    issue_url: Option<String>,
    #[serde(default)]
    hints: Option<HintsFile>,
    tests: Vec<TestFile>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum BugId {
    Text(String),
    Number(u64),
}

#[derive(Deserialize)]
struct IssueFile {
    #[serde(default)]
    title: Option<String>,
}

#[derive(Deserialize)]
struct HintsFile {
    #[serde(default)]
    bug_location_funcname: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    bug_location_lineno: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    components: Vec<String>,
    #[serde(default)]
    fix_commit: Option<String>,
}

#[derive(Deserialize)]
struct TestFile {
    file: String,
    commands: Vec<String>,
    tests: Vec<SubtestFile>,
}

#[derive(Deserialize)]
struct SubtestFile {
    test_name: String,
    test_body: String,
    #[serde(default)]
    lli_expected_out: Option<String>,
}

impl Bug {
    /// Reads and checks the text of a file; `path` is for the error alone.
    pub fn parse(path: &Path, text: &str) -> Result<Bug, BenchError> {
        let wrong = |line, message: &str| BenchError::NotImportable {
            path: path.to_owned(),
            line,
            message: message.to_owned(),
        };
        let file: BugFile = serde_json::from_str(text).map_err(|error| {
            let message = error.to_string();
            // The line is told apart.
            let end = message.rfind(" at line ").unwrap_or(message.len());
            wrong(error.line().max(1), &message[..end])
        })?;
        let id = match file.bug_id {
            BugId::Text(id) => id,
            BugId::Number(id) => id.to_string(),
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if id.is_empty() || !id.chars().all(is_plain) {
            let message = format!("`bug_id` is `{id}`, and has to be fit for a folder's name");
            return Err(wrong(1, &message));
        }
        let tests: Vec<BugTest> = file.tests.into_iter().flat_map(tests_of).collect();
        if tests.is_empty() {
            return Err(wrong(1, "there is no test in it"));
        }
        Ok(Bug {
            id,
            bug_type: file.bug_type,
            title: file.issue.and_then(|issue| issue.title),
            source: file.issue_url,
            truth: file.hints.and_then(truth),
            tests,
        })
    }
}

fn tests_of(file: TestFile) -> Vec<BugTest> {
    let TestFile { file, commands, tests } = file;
    let test = |test: SubtestFile| BugTest {
        file: file.clone(),
        name: test.test_name,
        body: test.test_body,
        commands: commands.clone(),
        expected: test.lli_expected_out,
    };
    tests.into_iter().map(test).collect()
}

/// Files by their names; functions by their files' names.
fn truth(hints: HintsFile) -> Option<Truth> {
    let HintsFile { bug_location_funcname, mut bug_location_lineno, components, fix_commit } =
        hints;
    for file in bug_location_funcname.keys() {
        bug_location_lineno.entry(file.clone()).or_default();
    }
    let files: Vec<String> = bug_location_lineno.into_keys().collect();
    (!files.is_empty()).then(|| Truth {
        files,
        functions: bug_location_funcname.into_values().flatten().collect(),
        confidence: Some("fix-commit".to_owned()),
        components,
        fix_commit,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{
"bug_id": "7",
"bug_type": "crash",
"verified": true,
"issue_url": "https://example.org/7",
"issue": {"title": "It breaks", "body": "..."},
"hints": {
  "bug_location_funcname": {"llvm/lib/B.cpp": ["B::run", "b"], "llvm/lib/A.cpp": ["a"]},
  "bug_location_lineno": {"llvm/lib/B.cpp": [[1, 2]], "llvm/include/B.h": [[3, 4]]},
  "components": ["B"],
  "fix_commit": "abc"
},
"tests": [
  {"file": "llvm/test/b.ll", "commands": ["opt -passes=b %s"], "tests": [
    {"test_name": "one", "test_body": "define void @one() {\n  ret void\n}\n"},
    {"test_name": "two", "test_body": "define i32 @main() {\n  ret i32 0\n}\n",
     "lli_expected_out": "7"}
  ]}
]
}"#;

    #[test]
    fn a_file_is_its_tests_and_its_truth() {
        let bug = parse(GOOD).unwrap();
        assert_eq!((bug.id.as_str(), bug.bug_type), ("7", BugType::Crash));
        assert_eq!(bug.title.as_deref(), Some("It breaks"));
        assert_eq!(bug.source.as_deref(), Some("https://example.org/7"));
        let truth = bug.truth.unwrap();
        assert_eq!(truth.files, ["llvm/include/B.h", "llvm/lib/A.cpp", "llvm/lib/B.cpp"]);
        assert_eq!(truth.functions, ["a", "B::run", "b"]);
        assert_eq!(truth.confidence.as_deref(), Some("fix-commit"));
        assert_eq!(truth.fix_commit.as_deref(), Some("abc"));
        let names: Vec<&str> = bug.tests.iter().map(|test| test.name.as_str()).collect();
        assert_eq!(names, ["one", "two"]);
        assert_eq!(bug.tests[1].commands, ["opt -passes=b %s"]);
        assert_eq!(bug.tests[1].expected.as_deref(), Some("7"));
        assert!(!bug.tests[0].has_main() && bug.tests[1].has_main());
    }

    #[test]
    fn a_number_is_an_id_and_little_is_needed() {
        let small = r#"{"bug_id": 8, "bug_type": "hang",
            "tests": [{"file": "", "commands": [], "tests": [{"test_name": "", "test_body": ""}]}]}"#;
        let bug = parse(small).unwrap();
        assert_eq!((bug.id.as_str(), bug.bug_type, bug.truth), ("8", BugType::Hang, None));
    }

    fn parse(text: &str) -> Result<Bug, BenchError> {
        Bug::parse(Path::new("bug.json"), text)
    }

    fn check_error(from: &str, to: &str, line: usize, message: &str) {
        assert!(GOOD.contains(from), "{from}");
        let error = parse(&GOOD.replace(from, to)).unwrap_err();
        let said = error.to_string();
        assert!(
            said.starts_with(&format!("bug.json:{line}: ")) && said.contains(message),
            "{said}"
        );
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        check_error("\"crash\"", "\"slow\"", 3, "unknown variant `slow`");
        check_error("\"7\",\n", "\"../7\",\n", 1, "fit for a folder's name");
        check_error(
            "\"tests\": [\n  {\"file\"",
            "\"test\": [\n  {\"file\"",
            20,
            "missing field `tests`",
        );
        check_error("\"commands\": [\"opt -passes=b %s\"]", "\"commands\": 1", 14, "invalid type");
        check_error("\"verified\": true,", "\"verified\": true", 5, "expected");
        assert!(parse("{}").unwrap_err().to_string().contains("missing field `bug_id`"));
        let empty = r#"{"bug_id": "1", "bug_type": "crash", "tests": []}"#;
        assert!(parse(empty).unwrap_err().to_string().contains("no test"));
    }
}
