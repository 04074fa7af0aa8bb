//! `optsleuth hunt passes` and `optsleuth campaign`, as a user sees them: real bugs of
//! LLVM 14, found with a few passes and a few small programs.

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use optsleuth_compiler::spawn::Tool;
use serde_json::Value;

use crate::program::{failure, json, optsleuth, processes_in, run, testdata};

/// Long enough for a loaded machine; reached only by a failure.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder with two programs on which LLVM 14 goes wrong, and a list of passes
/// with the one that does so.
struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new() -> Ground {
        let folder = tempfile::tempdir().unwrap();
        let programs = folder.path().join("programs");
        std::fs::create_dir(&programs).unwrap();
        for (from, to) in [("cases/wrong-code/shift.c", "shift.c"), ("sum.c", "sum.c")] {
            std::fs::copy(testdata(from), programs.join(to)).unwrap();
        }
        let passes = "# what is tried\nsroa\nstructurizecfg\nsimplifycfg\nearly-cse<memssa>\n";
        std::fs::write(folder.path().join("passes"), passes).unwrap();
        Ground { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// The arguments of a hunt into this folder.
    fn hunt(&self, output: &str, more: &[&str]) -> Vec<String> {
        let programs = self.path("programs");
        let (passes, output) = (self.path("passes"), self.path(output));
        let all = [
            ["hunt", "passes", "--llvm", "14", "--sequences", "random", "--select"],
            ["all", "--length", "2..6", "--round-sequences", "10", "--reduce", "0"],
        ]
        .concat();
        let own = ["--json", "--programs", &programs, "--passes-from", &passes, "-o", &output];
        all.iter().chain(&own).chain(more).map(|text| (*text).to_owned()).collect()
    }
}

fn refs(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

/// What of a campaign does not depend on time.
fn timeless(campaign: &Value) -> Vec<(String, String, u64, u64)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let read = |finding: &Value| {
        let (test, duplicates) = (finding["test"].as_u64(), finding["duplicates"].as_u64());
        (text(&finding["case"]), text(&finding["passes"]), test.unwrap(), duplicates.unwrap())
    };
    campaign["findings"].as_array().unwrap().iter().map(read).collect()
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn a_bug_is_found_and_becomes_a_case() {
    let ground = Ground::new();
    let output = run(&refs(&ground.hunt("campaign", &["--tests", "60"])));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2), "{found}");
    assert_eq!((&found["version"], &found["tests"]), (&2.into(), &60.into()));
    let findings = found["findings"].as_array().unwrap();
    let wrong = findings.iter().find(|finding| finding["kind"] == "wrong-code").unwrap();
    assert_eq!(wrong["pass"], "structurizecfg", "{wrong}");
    assert_eq!((&wrong["confirmed"], &wrong["levels"]), (&true.into(), &Value::Array(vec![])));
    assert_eq!(wrong["default_passes_only"], false);
    assert!(wrong["guilty"].as_str().unwrap().contains("structurizecfg on function"), "{wrong}");
    // The sequence was reduced: one pass, twice at most.
    assert!(wrong["passes"].as_str().unwrap().matches(',').count() <= 1, "{wrong}");

    let campaign = ground.path("campaign");
    for finding in findings {
        let case = Path::new(&campaign).join(finding["case"].as_str().unwrap());
        let checked = json(&["case", "check", case.to_str().unwrap(), "--json"]);
        assert_eq!(checked["cases"][0]["status"], "reproduces", "{checked}");
    }
    // Everybody sees the same.
    let shown = json(&["campaign", "show", &campaign, "--json"]);
    assert_eq!(timeless(&shown), timeless(&found));
    let text = String::from_utf8(run(&["campaign", "show", &campaign]).stdout).unwrap();
    for said in ["LLVM 14", "structurizecfg", "optsleuth triage"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let page = std::fs::read_to_string(Path::new(&campaign).join("campaign.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("structurizecfg"));
    // The other kind of hunt says which one is right.
    let (code, said) = failure(&["hunt", "variants", "--resume", &campaign, "--tests", "1"]);
    assert_eq!(code, 1);
    assert!(said.contains(&format!("`optsleuth hunt passes --resume {campaign}`")), "{said}");
    // The folder is taken.
    let (code, said) = failure(&refs(&ground.hunt("campaign", &["--tests", "60"])));
    assert_eq!(code, 1);
    assert!(said.contains("a campaign in") && said.contains("--resume"), "{said}");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn one_seed_decides_and_interruptions_do_not() {
    let ground = Ground::new();
    let whole = json(&refs(&ground.hunt("whole", &["--tests", "50", "--seed", "5"])));
    json(&refs(&ground.hunt("parts", &["--tests", "17", "--seed", "5"])));
    let parts = ground.path("parts");
    let args = ["hunt", "passes", "--resume", &parts, "--reduce", "0", "--json", "--tests"];
    json(&[&args[..], &["33"]].concat());
    let parts = json(&[&args[..], &["50"]].concat());
    assert_eq!(parts["tests"], 50);
    assert_eq!(timeless(&parts), timeless(&whole));
    assert_eq!(parts["outcomes"], whole["outcomes"]);
    let other = json(&refs(&ground.hunt("other", &["--tests", "50", "--seed", "6"])));
    assert_ne!(timeless(&other), timeless(&whole));
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn a_killed_hunt_goes_on_and_leaves_nothing() {
    let ground = Ground::new();
    let campaign = ground.path("campaign");
    let temporary = tempfile::tempdir().unwrap();
    let mut child = optsleuth()
        .env("TMPDIR", temporary.path())
        .args(ground.hunt("campaign", &["--tests", "100000"]))
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let tests = || match run(&["campaign", "show", &campaign, "--json"]).stdout {
        out if out.is_empty() => 0,
        out => serde_json::from_slice::<Value>(&out).unwrap()["tests"].as_u64().unwrap(),
    };
    let deadline = Instant::now() + PATIENCE;
    while tests() < 20 {
        assert!(Instant::now() < deadline, "no tests");
        sleep(Duration::from_millis(100));
    }
    // Meanwhile the folder is taken.
    let (code, said) = failure(&["hunt", "passes", "--resume", &campaign, "--tests", "10"]);
    assert_eq!(code, 1);
    assert!(said.contains("another hunt is running"), "{said}");
    Tool::new("kill").args(["-KILL", &child.id().to_string()]).check().unwrap();
    child.wait().unwrap();
    let before = tests();
    assert!(before >= 20);
    while !processes_in(temporary.path()).is_empty() {
        assert!(Instant::now() < deadline, "processes stay");
        sleep(Duration::from_millis(100));
    }
    let goal = (before + 10).to_string();
    let found = json(&[
        "hunt", "passes", "--resume", &campaign, "--tests", &goal, "--reduce", "0", "--json",
    ]);
    assert_eq!(found["tests"].as_u64(), Some(before + 10));
    assert!(!found["findings"].as_array().unwrap().is_empty(), "{found}");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn parts_of_a_campaign_are_joined() {
    let ground = Ground::new();
    let parts = ["1/2", "2/2"].map(|shard| {
        let name = shard.replace('/', "-of-");
        json(&refs(&ground.hunt(&name, &["--tests", "30", "--shard", shard])));
        ground.path(&name)
    });
    let merged = ground.path("merged");
    let joined = json(&["campaign", "merge", &parts[0], &parts[1], "-o", &merged, "--json"]);
    assert_eq!(joined["tests"], 60);
    let keys = |campaign: &Value| {
        let key = |finding: &Value| format!("{}{}", finding["pass"], finding["signature"]);
        let mut keys: Vec<String> =
            campaign["findings"].as_array().unwrap().iter().map(key).collect();
        keys.sort();
        keys
    };
    let mut unique = keys(&joined);
    unique.dedup();
    assert_eq!(unique, keys(&joined), "a bug twice");
    for finding in joined["findings"].as_array().unwrap() {
        let case = Path::new(&merged).join(finding["case"].as_str().unwrap());
        assert!(case.join("case.toml").is_file(), "{case:?}");
    }
    // What does not belong together is refused.
    let again = ground.path("again");
    let (_, said) = failure(&["campaign", "merge", &parts[0], &parts[0], "-o", &again]);
    assert!(said.contains("both have round 0"), "{said}");
    json(&refs(&ground.hunt("stranger", &["--tests", "5", "--seed", "9", "--shard", "2/2"])));
    let stranger = ground.path("stranger");
    let (code, said) = failure(&["campaign", "merge", &parts[0], &stranger, "-o", &again]);
    assert_eq!(code, 1);
    assert!(said.contains("another seed: 9, not 1"), "{said}");
    assert!(!PathBuf::from(again).exists());
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn what_cannot_be_hunted_with_is_said_plainly() {
    let ground = Ground::new();
    let programs = ground.folder.path().join("programs");
    for name in ["shift.c", "sum.c"] {
        std::fs::remove_file(programs.join(name)).unwrap();
    }
    let undefined = "#include <stdio.h>\nint main(int c, char **v) {\n  int x = 2147483647;\n  \
                     x += c;\n  printf(\"%d\\n\", x);\n  return 0;\n}\n";
    std::fs::write(programs.join("undefined.c"), undefined).unwrap();
    let (code, said) = failure(&refs(&ground.hunt("none", &["--tests", "10"])));
    assert_eq!(code, 1);
    assert!(said.contains("none of them can be used"), "{said}");

    let output = optsleuth()
        .env("PATH", ground.path("programs"))
        .args(["hunt", "passes", "--llvm", "14", "--tests", "10", "-o", &ground.path("no-csmith")])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("csmith") && said.contains("--programs"), "{said}");

    let resumed = ground.path("nowhere");
    let (code, said) =
        failure(&["hunt", "passes", "--resume", &resumed, "--tests", "1", "--length", "3"]);
    assert_eq!(code, 1);
    assert!(said.contains("cannot be used with"), "{said}");
    let (code, said) = failure(&["hunt", "passes", "--round-programs", "0", "-o", &resumed]);
    assert_eq!(code, 1);
    assert!(said.contains("a number from 1 on"), "{said}");
    let (code, said) =
        failure(&["hunt", "passes", "--resume", &ground.path("nowhere"), "--tests", "1"]);
    assert_eq!(code, 1);
    assert!(said.contains("is not a campaign"), "{said}");
    let (code, said) = failure(&["campaign", "show", &ground.path("nowhere")]);
    assert_eq!(code, 1);
    assert!(said.contains("is not a campaign"), "{said}");
}

#[test]
fn a_hunt_alone_says_which_to_take() {
    let (code, said) = failure(&["hunt"]);
    assert_eq!(code, 1);
    for text in ["say what to hunt with", "optsleuth hunt passes", "optsleuth hunt variants"] {
        assert!(said.contains(text), "{text}: {said}");
    }
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn a_campaign_of_an_older_version_is_refused_and_says_so() {
    let ground = Ground::new();
    json(&refs(&ground.hunt("campaign", &["--tests", "2"])));
    let campaign = ground.path("campaign");
    // The number of its format, in the header of SQLite's file.
    let database = Path::new(&campaign).join("campaign.db");
    let mut bytes = std::fs::read(&database).unwrap();
    bytes[60..64].copy_from_slice(&1_u32.to_be_bytes());
    std::fs::write(&database, bytes).unwrap();
    for arguments in [
        vec!["hunt", "passes", "--resume", &campaign, "--tests", "5"],
        vec!["campaign", "show", &campaign],
    ] {
        let (code, said) = failure(&arguments);
        assert_eq!(code, 1);
        let expected = "was made by another version of optsleuth: format 1, and this one has 2";
        assert!(said.contains(expected) && said.contains("another folder"), "{said}");
    }
}

#[test]
fn every_way_to_choose_sequences_works_with_csmith() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("ways");
    let output = output.to_str().unwrap();
    let oldest = optsleuth_compiler::llvm::installed()[0].major.to_string();
    let args = ["bench", "hunt", "--llvm", &oldest, "--seeds", "1", "--tests", "16", "--json"];
    let size = ["--round-programs", "2", "--program-pool", "4", "--round-sequences", "8"];
    let more = ["--length", "5..20", "--sequence-pool", "300", "--only-default-passes"];
    let output_flag = ["-o", output];
    let compared = json(&[&args[..], &size, &more, &output_flag].concat());
    let runs = compared["runs"].as_array().unwrap();
    let names: Vec<&str> = runs.iter().map(|run| run["strategy"].as_str().unwrap()).collect();
    assert_eq!(names, ["ctos", "random", "pairwise", "guided"]);
    for run in runs {
        assert_eq!((&run["tests"], &run["programs"]), (&16.into(), &2.into()), "{run}");
        assert!(run["blocks"].as_u64().unwrap() > 10_000, "{run}");
    }
    let table = std::fs::read_to_string(Path::new(output).join("ways.md")).unwrap();
    assert!(table.contains("| pairwise |"), "{table}");
}
