//! `optsleuth hunt variants` as a user sees it: with compilers as they are
//! installed, with one that is broken by a script, and with an LLVM that is
//! broken in one known place.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use optsleuth_compiler::clang;
use optsleuth_compiler::llvm::{self, Flavor, Targets, Worker};
use optsleuth_compiler::spawn::Tool;
use optsleuth_model::{Change, Fault, Limits, PassSequence, RunRequest};
use serde_json::Value;

use crate::program::{failure, json, optsleuth, run, testdata};

/// Long enough for a loaded machine; reached only by a failure.
const PATIENCE: Duration = Duration::from_secs(300);

/// Conditions, loops and a function that is never called: every strategy finds
/// something to do.
const PROGRAM: &str = r#"#include <stdio.h>

static int table[4] = {3, 1, 4, 1};
static unsigned total = 7;
static short small = -5;

static int never(int x) {
  int y = x * 3;
  if (y > 10)
    y -= small;
  while (y > 100)
    y /= 2;
  return y;
}

static int step(int i, int limit) {
  int result = 0;
  if (i < limit) {
    result = table[i & 3] + i;
    total += (unsigned)result;
  } else {
    result = never(i);
    total ^= 1u;
  }
  return result;
}

int main(void) {
  int sum = 0;
  for (int i = 0; i < 6; i++) {
    sum += step(i, 10);
    if (sum > 1000)
      sum = never(sum);
  }
  printf("%d %u\n", sum, total);
  return 0;
}
"#;

/// Says nothing where `puts` means `perror`.
const CHEATED: &str = r#"int puts(const char *);
static unsigned char large = 200;
int main(void) {
  int sum = 0, i;
  for (i = 0; i < 5; i++) {
    sum += large + i;
    if (sum > 5000)
      sum = 0;
  }
  puts(sum == 1010 ? "right" : "wrong");
  return 0;
}
"#;

/// A folder with programs, and room for campaigns.
struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new(programs: &[(&str, &str)]) -> Ground {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("programs");
        std::fs::create_dir(&place).unwrap();
        for (name, text) in programs {
            std::fs::write(place.join(name), text).unwrap();
        }
        Ground { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// The arguments of a hunt into this folder.
    fn hunt(&self, strategy: &str, output: &str, more: &[&str]) -> Vec<String> {
        let (programs, output) = (self.path("programs"), self.path(output));
        let own =
            ["hunt", "variants", "--strategy", strategy, "--programs", &programs, "-o", &output];
        let all = own.iter().chain(&["--reduce", "0", "--json"]).chain(more);
        all.map(|text| (*text).to_owned()).collect()
    }
}

fn refs(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

/// What of a campaign does not depend on time.
fn timeless(campaign: &Value) -> Value {
    let mut campaign = campaign.clone();
    for key in ["seconds", "growth"] {
        campaign.as_object_mut().unwrap().remove(key);
    }
    for finding in campaign["findings"].as_array_mut().unwrap() {
        finding.as_object_mut().unwrap().remove("seconds");
    }
    campaign
}

#[test]
fn sound_compilers_are_not_accused_and_one_seed_decides() {
    let ground = Ground::new(&[("program.c", PROGRAM)]);
    let more = ["--compilers", "clang-19,gcc-12,llvm-19", "--levels", "O0,O2", "--variants", "3"];
    let tests = |n| [&more[..], &["--tests", n]].concat();
    let whole = run(&refs(&ground.hunt("all", "whole", &tests("48"))));
    let said = String::from_utf8_lossy(&whole.stderr).into_owned();
    assert_eq!(whole.status.code(), Some(0), "{said}");
    let whole: Value = serde_json::from_slice(&whole.stdout).unwrap();
    // Two times the program, with three variants each, by six tests.
    assert_eq!((&whole["tests"], &whole["programs"]), (&48.into(), &2.into()), "{whole}");
    assert_eq!(whole["findings"].as_array().unwrap().len(), 0, "{whole}");
    assert_eq!(whole["errors"].as_array().unwrap().len(), 0, "{whole}");
    let made = whole["variants"].as_array().unwrap();
    let names: Vec<&str> = made.iter().map(|made| made["strategy"].as_str().unwrap()).collect();
    assert_eq!(names, ["athena", "hermes", "orion"], "{whole}");
    assert!(made.iter().all(|made| made["variants"] == 2), "{whole}");
    for tally in whole["tallies"].as_array().unwrap() {
        assert_eq!(tally["outcomes"][0], serde_json::json!(["right", 8]), "{whole}");
    }
    assert!(whole["growth"][0]["blocks"].as_u64().unwrap() > 10_000, "{whole}");

    json(&refs(&ground.hunt("all", "parts", &tests("1"))));
    let parts = ground.path("parts");
    let resumed = json(&["hunt", "variants", "--resume", &parts, "--tests", "48", "--json"]);
    assert_eq!(timeless(&resumed), timeless(&whole));
    // Everybody sees the same.
    let shown = json(&["campaign", "show", &parts, "--json"]);
    assert_eq!(timeless(&shown), timeless(&whole));
    let text = String::from_utf8(run(&["campaign", "show", &parts]).stdout).unwrap();
    assert!(text.contains("nothing was found in 48 tests"), "{text}");
    for page in ["campaign.html", "campaign.md"] {
        let page = std::fs::read_to_string(Path::new(&parts).join(page)).unwrap();
        assert!(page.contains("hermes"), "{page}");
    }
}

/// A gcc that goes wrong at a level, where a command of the shell's says so of the
/// program's text.
fn broken_gcc(ground: &Ground, name: &str, level: &str, goes_wrong: &str) -> String {
    let path = ground.path(name);
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in\n*' -dumpfullversion '*) echo 99.0.0; exit ;;\n\
         *' -{level} '*)\n  for file; do case \"$file\" in *.c)\n    \
         if {goes_wrong}; then exec gcc-12 -Dputs=perror \"$@\"; fi\n  \
         esac; done\nesac\nexec gcc-12 \"$@\"\n"
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// What a variant by Hermes has, and the program itself does not.
const ANOTHER_IF: &str = "test $(grep -c 'if (' \"$file\") -gt 1";

#[test]
fn a_compiler_that_goes_wrong_at_one_level_is_found_out() {
    let ground = Ground::new(&[("cheated.c", CHEATED)]);
    let path = broken_gcc(&ground, "broken-gcc", "O2", "true");
    let more = ["--compilers", &path, "--levels", "O1,O2", "--variants", "2", "--tests", "6"];
    let output = run(&refs(&ground.hunt("hermes", "campaign", &more)));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = found["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{found}");
    let finding = &findings[0];
    assert_eq!((&finding["kind"], &finding["level"]), (&"wrong-code".into(), &"O2".into()));
    assert_eq!(finding["levels"], serde_json::json!(["O2"]));
    // The program itself shows it, and its variants do so again.
    assert_eq!((&finding["generation"], &finding["strategy"]), (&0.into(), &Value::Null));
    assert_eq!(finding["duplicates"], 2, "{found}");
    let case = Path::new(&ground.path("campaign")).join(finding["case"].as_str().unwrap());
    let toml = std::fs::read_to_string(case.join("case.toml")).unwrap();
    assert!(toml.contains("gcc = ") && toml.contains("broken-gcc"), "{toml}");
    let checked = json(&["case", "check", case.to_str().unwrap(), "--json", "--trust"]);
    assert_eq!(checked["cases"][0]["status"], "reproduces", "{checked}");
}

/// A store that gcc's passes remove.
const OVERWRITTEN: &str = r#"int puts(const char *);
unsigned total = 7;
int main(void) {
  total = 1234567u;
  total = 2;
  if (total > 1)
    puts("more");
  return 0;
}
"#;

#[test]
fn wrong_code_of_gcc_is_told_apart_by_its_guilty_pass() {
    let ground = Ground::new(&[("one.c", OVERWRITTEN)]);
    let path = ground.path("broken-gcc");
    // At one level it does not survive, in its own way, that its passes remove a store.
    let script = "#!/bin/sh\ncase \" $* \" in\n*' -O1 '*) ;;\n*) exec gcc-12 \"$@\" ;;\nesac\n\
                  out=$(mktemp)\ngcc-12 \"$@\" -fdump-rtl-final=$out\nstatus=$?\n\
                  if [ -s $out ] && ! grep -q 'const_int 1234567' $out; then\n\
                  gcc-12 -Dputs=perror \"$@\"\nstatus=$?\nfi\nrm -f $out\nexit $status";
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let more = ["--compilers", &path, "--levels", "O1", "--variants", "1", "--tests", "2"];
    let found = json(&refs(&ground.hunt("hermes", "campaign", &more)));
    let finding = &found["findings"][0];
    assert_eq!((&finding["kind"], &finding["pass"]), (&"wrong-code".into(), &"tree-dse".into()));
    assert!(finding["guilty"].as_str().unwrap().starts_with("tree-dse"), "{found}");
}

#[test]
fn a_judge_that_is_wrong_at_o0_is_found_out_and_variants_are_not_blamed() {
    let ground = Ground::new(&[("cheated.c", CHEATED)]);
    // The newest gcc judges variants. It takes the profile as well, with probes.
    let goes_wrong = format!("{ANOTHER_IF} && ! grep -q probe \"$file\"");
    broken_gcc(&ground, "gcc-99", "O0", &goes_wrong);
    let path = format!("{}:{}", ground.path(""), std::env::var("PATH").unwrap());
    let more = ["--compilers", "gcc-99", "--levels", "O0,O2", "--variants", "2", "--tests", "6"];
    let args = ground.hunt("hermes", "campaign", &more);
    let output = optsleuth().args(args).env("PATH", path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["errors"], serde_json::json!([]), "{found}");
    let finding = &found["findings"][0];
    assert_eq!(finding["levels"], serde_json::json!(["O0"]), "{found}\n{said}");
    assert_eq!(finding["kind"], "wrong-code", "{found}");
    assert!(said.contains("a compiler is wrong at -O0"), "{said}");
    let kept = Path::new(&ground.path("campaign")).join("outvoted/000000-01.c");
    let kept = std::fs::read_to_string(kept).unwrap();
    assert!(kept.contains("by gcc at -O0 it prints nothing"), "{kept}");
}

#[test]
fn what_only_variants_show_is_found_by_every_strategy_with_the_snippets_it_needs() {
    // What a variant lacks, and the program itself does not.
    let nothing_dead = "! grep -q 'sum = 0;' \"$file\"";
    let strategies = [
        ("hermes", ANOTHER_IF, vec!["false-block", "true-block", "true-guard"]),
        ("orion", nothing_dead, vec!["deletion"]),
        ("athena", nothing_dead, vec!["deletion"]),
    ];
    for (strategy, goes_wrong, kinds) in strategies {
        let ground = Ground::new(&[("cheated.c", CHEATED)]);
        let path = broken_gcc(&ground, "broken-gcc", "O2", goes_wrong);
        let (programs, output) = (ground.path("programs"), ground.path("campaign"));
        let own = ["hunt", "variants", "--strategy", strategy, "--programs", &programs];
        let kept = ["-o", &output, "--json", "--reduce", "2s"];
        let more = ["--compilers", &path, "--levels", "O2", "--variants", "4", "--tests", "5"];
        let found = json(&[&own[..], &kept, &more].concat());
        let finding = &found["findings"][0];
        assert_eq!(
            (&finding["kind"], &finding["strategy"]),
            (&"wrong-code".into(), &strategy.into())
        );
        assert!(finding["generation"].as_u64() > Some(0), "{found}");
        // One is enough, however many the variant has.
        assert_eq!(finding["n_needed"], 1, "{found}");
        let needed = finding["snippets"].as_array().unwrap();
        assert!(needed.iter().all(|kind| kinds.contains(&kind.as_str().unwrap())), "{found}");
        // Somebody tried to make it smaller, and it is still what it was.
        let case = Path::new(&output).join(finding["case"].as_str().unwrap());
        let checked = json(&["case", "check", case.to_str().unwrap(), "--json", "--trust"]);
        assert_eq!(checked["cases"][0]["status"], "reproduces", "{checked}");
        let size = |name: &str| std::fs::metadata(case.join(name)).unwrap().len();
        assert!(size("program.c") <= size("original/program.c"), "{found}");
        assert!(case.join("reduce.json").is_file(), "{found}");
    }
}

#[test]
fn a_variant_that_comes_to_nothing_does_not_speak_for_the_next_one() {
    let ground = Ground::new(&[("cheated.c", CHEATED)]);
    // The first variant goes wrong once and never again, all others every time.
    let first = ground.path("first");
    let goes_wrong = format!(
        "test $(grep -c 'if (' \"$file\") -gt 1 && {{ test -e {first} || ! cp \"$file\" {first} || \
         touch {first}.now; }} && {{ rm {first}.now 2>/dev/null || ! cmp -s \"$file\" {first}; }}"
    );
    let path = broken_gcc(&ground, "broken-gcc", "O2", &goes_wrong);
    let more = ["--compilers", &path, "--levels", "O2", "--variants", "4", "--tests", "5"];
    let output = run(&refs(&ground.hunt("hermes", "campaign", &more)));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let dismissed = serde_json::json!([["it fails once, and not again", 1]]);
    assert_eq!(found["dismissed"], dismissed, "{found}");
    assert_eq!(found["findings"].as_array().unwrap().len(), 1, "{found}");
    assert!(found["findings"][0]["generation"].as_u64() > Some(1), "{found}");
}

/// Cases of an LLVM that is wrong where it promotes slots to registers: one for
/// each condition there that the program's compilation comes to.
fn broken_llvms(ground: &Ground) -> Vec<String> {
    let install = llvm::find(19).unwrap();
    let covered = llvm::provision(&install, Targets::Native, Flavor::Covered, &mut |_| {}).unwrap();
    let map = covered.code_map().unwrap();
    let path = ground.folder.path().join("programs/program.c");
    let program = clang::read_program(&install, &path, &[]).unwrap();
    let mut worker = Worker::start(&covered).unwrap();
    worker.load(&program, &[], Limits::STANDARD).unwrap();
    let passes = "function(sroa)".parse::<PassSequence>().unwrap();
    let request = RunRequest { coverage: true, ..RunRequest::new(Some(passes)) };
    let coverage = worker.run(&request).unwrap().coverage.unwrap();
    let name = "(anonymous namespace)::PromoteMem2Reg::run(";
    let function = map.functions.iter().find(|function| function.name.starts_with(name)).unwrap();
    let blocks: Vec<_> = function.block_ids().collect();
    let faults = llvm::possible_faults(&map, function).unwrap();
    let reached = faults.into_iter().filter(|(place, _)| coverage.contains(blocks[*place]));
    let inverted = reached.flat_map(|(_, faults)| faults).filter(|f| f.change == Change::Invert);
    let write = |(number, fault): (usize, Fault)| {
        let folder = ground.folder.path().join(format!("broken-{number}"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("program.c"), PROGRAM).unwrap();
        let case = format!(
            "version = 1\nid = \"broken\"\ninput = \"program.c\"\nlevel = \"O2\"\n\
             kind = \"crash\"\n[compiler]\nllvm = \"19\"\nfault = \"{fault}\"\n"
        );
        std::fs::write(folder.join("case.toml"), case).unwrap();
        folder.display().to_string()
    };
    inverted.take(12).enumerate().map(write).collect()
}

#[test]
fn an_llvm_that_is_broken_on_purpose_is_found_out_by_every_strategy() {
    let ground = Ground::new(&[("program.c", PROGRAM)]);
    let hunt = |strategy: &str, case: &str, output: &str| {
        let more = ["--compilers", "llvm-19", "--levels", "O0,O2", "--variants", "1"];
        let more = [&more[..], &["--tests", "1", "--fault", case]].concat();
        json(&refs(&ground.hunt(strategy, output, &more)))
    };
    let n_findings = |found: &Value| found["findings"].as_array().unwrap().len();
    // Some conditions do not matter to this program.
    let mut tried = broken_llvms(&ground).into_iter().enumerate();
    let (case, _) = tried
        .find_map(|(number, case)| {
            let found = hunt("hermes", &case, &format!("hermes-{number}"));
            (n_findings(&found) > 0).then_some((case, found))
        })
        .unwrap();
    for strategy in ["athena", "orion"] {
        let found = hunt(strategy, &case, strategy);
        assert!(n_findings(&found) > 0, "{found}");
        let finding = &found["findings"][0];
        assert_eq!((&finding["compiler"], &finding["level"]), (&"llvm-19".into(), &"O2".into()));
        assert!(found["settings"]["fault"].as_str().unwrap().starts_with("invert"), "{found}");
        let case = Path::new(&ground.path(strategy)).join(finding["case"].as_str().unwrap());
        let checked = json(&["case", "check", case.to_str().unwrap(), "--json", "--trust"]);
        assert_eq!(checked["cases"][0]["status"], "reproduces", "{checked}");
        assert_eq!(checked["cases"][0]["unmodified"]["passes"], true, "{checked}");
    }
}

#[test]
fn programs_that_prove_nothing_are_no_base_programs() {
    let undefined = "#include <stdio.h>\nint main(int c, char **v) {\n  int x = 2147483647;\n  \
                     x += c;\n  printf(\"%d\\n\", x);\n  return 0;\n}\n";
    let endless = "int main(void) {\n  volatile int go = 1;\n  while (go) {}\n  return 0;\n}\n";
    let jumps = "#include <setjmp.h>\nstatic jmp_buf b;\nint main(void) {\n  \
                 if (setjmp(b)) return 0;\n  longjmp(b, 1);\n}\n";
    let programs = [("a.c", undefined), ("b.c", endless), ("c.c", jumps)];
    let ground = Ground::new(&programs);
    let more = ["--compilers", "gcc-12", "--tests", "5"];
    let (code, said) = failure(&refs(&ground.hunt("hermes", "none", &more)));
    assert_eq!(code, 1, "{said}");
    for why in ["none of them can be used", "undefined", "does not end", "calls"] {
        assert!(said.contains(why), "{why}: {said}");
    }
    // What was seen of them is in the campaign all the same.
    let shown = json(&["campaign", "show", &ground.path("none"), "--json"]);
    assert_eq!((&shown["tests"], &shown["programs"]), (&0.into(), &0.into()), "{shown}");
    assert_eq!(shown["rejected"].as_array().unwrap().len(), 3, "{shown}");
}

#[test]
fn without_a_second_opinion_there_is_no_hunt() {
    let ground = Ground::new(&[("program.c", PROGRAM)]);
    let empty = tempfile::tempdir().unwrap();
    let arguments = ground.hunt("hermes", "none", &["--compilers", "clang-19", "--tests", "5"]);
    let output = optsleuth().args(arguments).env("PATH", empty.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{said}");
    for text in ["there is no gcc here", "apt-get install -y gcc"] {
        assert!(said.contains(text), "{text}: {said}");
    }
    assert!(!PathBuf::from(ground.path("none")).exists());
}

#[test]
fn variants_are_measured_without_accusing_anybody() {
    let ground = Ground::new(&[("program.c", PROGRAM)]);
    let (programs, output) = (ground.path("programs"), ground.path("variants"));
    let own = ["bench", "variants", "--programs", &programs, "-o", &output, "--json"];
    let found =
        json(&[&own[..], &["--count", "1", "--variants", "2", "--coverage", "19"]].concat());
    assert_eq!((&found["version"], &found["programs"]), (&3.into(), &1.into()), "{found}");
    assert_eq!(found["errors"].as_array().unwrap().len(), 0, "{found}");
    let made = found["strategies"].as_array().unwrap();
    assert!(made.iter().all(|made| made["variants"].as_u64() > Some(0)), "{found}");
    let coverage = &found["coverage"];
    let gained = coverage["gained"].as_array().unwrap();
    assert_eq!(gained.len(), 3, "{found}");
    for gained in gained {
        // With one variant of the program, and with two.
        let blocks = |n: usize| gained["blocks"][n].as_u64();
        assert!(blocks(1) >= blocks(0) && blocks(0) >= coverage["programs"].as_u64(), "{found}");
    }
    let text = |name: &str| std::fs::read_to_string(Path::new(&output).join(name)).unwrap();
    let (table, picture) = (text("variants.md"), text("gained.svg"));
    assert!(table.contains("| hermes | 2 | 0 |"), "{table}");
    assert!(picture.contains("with 2 variants of each"), "{picture}");
    // What was measured is not measured again, nor mixed with anything else.
    let again =
        json(&[&own[..], &["--count", "1", "--variants", "2", "--coverage", "19"]].concat());
    assert_eq!(again, found);
    let (code, said) = failure(&[&own[..], &["--count", "1", "--variants", "3"]].concat());
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("other arguments") && said.contains("another folder"), "{said}");
}

#[test]
fn campaigns_of_other_seeds_are_joined_and_those_of_one_are_not() {
    let ground = Ground::new(&[("cheated.c", CHEATED)]);
    let path = broken_gcc(&ground, "broken-gcc", "O2", "true");
    let parts = ["1", "2"].map(|seed| {
        let more = ["--compilers", &path, "--levels", "O2", "--variants", "1", "--tests", "2"];
        let found =
            json(&refs(&ground.hunt("orion", seed, &[&more[..], &["--seed", seed]].concat())));
        assert_eq!((&found["tests"], &found["findings"][0]["duplicates"]), (&2.into(), &1.into()));
        ground.path(seed)
    });
    let merged = ground.path("merged");
    let joined = json(&["campaign", "merge", &parts[0], &parts[1], "-o", &merged, "--json"]);
    assert_eq!((&joined["tests"], &joined["programs"]), (&4.into(), &2.into()), "{joined}");
    // The same bug, shown by all four tests.
    assert_eq!(joined["findings"].as_array().unwrap().len(), 1, "{joined}");
    assert_eq!(joined["findings"][0]["duplicates"], 3, "{joined}");
    let case = Path::new(&merged).join(joined["findings"][0]["case"].as_str().unwrap());
    assert!(case.join("case.toml").is_file(), "{case:?}");
    let (code, said) = failure(&["campaign", "merge", &parts[0], &parts[0], "-o", "/nowhere"]);
    assert_eq!(code, 1);
    assert!(said.contains("both have seed 1"), "{said}");
    // Somebody else's campaign names a compiler by its path.
    let (code, said) = failure(&["hunt", "variants", "--resume", &parts[0], "--tests", "4"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("broken-gcc") && said.contains("--trust"), "{said}");
    let resumed = ["hunt", "variants", "--resume", &parts[0], "--tests", "4", "--trust", "--json"];
    assert_eq!(json(&resumed)["tests"], 4);
    // Or leads out of its folder.
    std::fs::create_dir(ground.path("secret")).unwrap();
    std::fs::write(ground.path("secret/key"), "secret").unwrap();
    let outside = "UPDATE finding SET data = json_set(data, '$.case', '../secret')";
    rusqlite::Connection::open(Path::new(&parts[1]).join("campaign.db"))
        .and_then(|database| database.execute(outside, []))
        .unwrap();
    let stolen = ground.path("stolen");
    let (code, said) = failure(&["campaign", "merge", &parts[1], "-o", &stolen]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("../secret` is a finding's case outside of its campaign"), "{said}");
    assert!(!Path::new(&stolen).join("cases").exists());
}

#[test]
fn a_killed_hunt_goes_on() {
    let ground = Ground::new(&[("program.c", PROGRAM)]);
    let campaign = ground.path("campaign");
    let more = ["--compilers", "llvm-19", "--levels", "O2", "--variants", "2", "--tests", "90000"];
    let mut child = optsleuth()
        .args(ground.hunt("orion", "campaign", &more))
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let tests = || match run(&["campaign", "show", &campaign, "--json"]).stdout {
        out if out.is_empty() => 0,
        out => serde_json::from_slice::<Value>(&out).unwrap()["tests"].as_u64().unwrap(),
    };
    let deadline = Instant::now() + PATIENCE;
    while tests() < 6 {
        assert!(Instant::now() < deadline, "no tests");
        sleep(Duration::from_millis(200));
    }
    let (code, said) = failure(&["hunt", "variants", "--resume", &campaign, "--tests", "3"]);
    assert_eq!(code, 1);
    assert!(said.contains("another hunt is running"), "{said}");
    Tool::new("kill").args(["-KILL", &child.id().to_string()]).check().unwrap();
    child.wait().unwrap();
    let before = tests();
    let goal = (before + 3).to_string();
    let found = json(&["hunt", "variants", "--resume", &campaign, "--tests", &goal, "--json"]);
    let (tests, programs) = (found["tests"].as_u64().unwrap(), found["programs"].as_u64().unwrap());
    assert!(tests >= before + 3 && tests <= programs * 3, "{found}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let ground = Ground::new(&[("program.c", PROGRAM)]);
    let check = |arguments: &[&str], expected: &[&str]| {
        let (code, said) = failure(arguments);
        assert_eq!(code, 1, "{said}");
        for text in expected {
            assert!(said.contains(text), "{text}: {said}");
        }
    };
    let output = ground.path("x");
    let hunt = |more: &[&str]| -> Vec<String> {
        let own = ["hunt", "variants", "-o", &output, "--tests", "1"];
        own.iter().chain(more).map(|text| (*text).to_owned()).collect()
    };
    check(&refs(&hunt(&["--strategy", "hera"])), &["hermes, athena, orion or all"]);
    check(&refs(&hunt(&["--length", "3"])), &["unexpected argument"]);
    check(&["hunt", "passes", "-o", &output, "--compilers", "gcc"], &["unexpected argument"]);
    check(&refs(&hunt(&["--levels", "O7"])), &["O0,O1,Os,O2,O3"]);
    check(&refs(&hunt(&["--compilers", "tcc-3"])), &["names no compiler"]);
    check(&refs(&hunt(&["--compilers", "llvm-x"])), &["has no number"]);
    let case = testdata("cases/crash");
    let faulty = ["--compilers", "llvm-14", "--fault", &case];
    check(&refs(&hunt(&faulty)), &["has no fault", "bench plant"]);
    assert!(!PathBuf::from(&output).exists());
    // Nothing of what a campaign keeps to can be changed.
    let resumed = ["hunt", "variants", "--resume", &output];
    for flag in [["--strategy", "orion"], ["--seed", "2"], ["--programs", "x"]] {
        check(&[&resumed[..], &flag].concat(), &["cannot be used with"]);
    }
}
