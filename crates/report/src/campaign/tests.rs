//! Every form of a campaign, on data small enough to check by hand, and on what
//! is hardly data at all.

use optsleuth_model::{
    Campaign, CaseKind, Finding, Growth, Hunt, PassHunt, PassSettings, PassTrigger, Trigger,
};
use serde_json::Value;

use super::example::{
    campaign, finding, nothing, pass_hunt, pass_settings, pass_trigger, variant_campaign,
};
use super::*;
use crate::Style;

/// A text whose lines are these, whatever follows and precedes.
fn check(text: &str, expected: &str) {
    for line in expected.lines() {
        assert!(text.lines().any(|each| each == line), "no `{line}` in\n{text}");
    }
}

/// All forms of a campaign; none of them may ever say this.
fn forms(campaign: &Campaign) -> [String; 4] {
    let forms = [
        campaign_text(campaign, Style::Plain),
        campaign_json(campaign),
        campaign_markdown(campaign),
        campaign_page(campaign),
    ];
    for form in &forms {
        let form = form.split("<script>\n").next().unwrap_or_default(); // It knows the word.
        for never in ["NaN", "inf ", "Infinity", "\u{1b}"] {
            assert!(!form.contains(never), "{never}: {form}");
        }
    }
    forms
}

#[test]
fn a_terminal_shows_the_figures_computed_by_hand() {
    let text = campaign_text(&campaign(), Style::Plain);
    check(
        &text,
        "\
Campaign on LLVM 19.1.7: seed 7, sequences ctos, programs features
  Tests    4,800, with 30 programs in 3 rounds
  Speed    30.0 tests per second and core, 2 workers
  Time     1 min 40 s, of which 1 min 20 s for tests
  Coverage 1,000 of 8,000 blocks of the compiler (12.5 %), 100 of them new in the last quarter of the time
  Outcomes 4,796 ok, 4 crash
  Findings 2 (1 crash, 1 wrong-code); 1 also at an optimization level, 1 confirmed by the distribution's tools
#  Kind        Last pass   Passes  Also at  Confirmed  Duplicates  Case
1  crash       gvn        2 of 12  –        no                  0  0001-crash-gvn
    failure 1 of gvn
2  wrong-code  licm       2 of 12  O2 O3    yes             1,234  0002-wrong-code-licm
    failure 2 of licm
    guilty: #3 licm on loop in main
Tests  Why
    5  undefined behaviour
Programs  Why
       2  it does not end
Passes        From round  Why
sroa ... gvn           2  20 duplicates of finding 1
next: optsleuth triage CAMPAIGN/0002-wrong-code-licm (CAMPAIGN: the campaign's folder)",
    );
    let coloured = campaign_text(&campaign(), Style::Coloured);
    assert!(!text.contains('\u{1b}') && coloured.contains('\u{1b}'));
}

#[test]
fn a_shard_says_which_it_is() {
    let settings = PassSettings { shard: (2, 4), ..pass_settings() };
    let hunt = Hunt::Passes(PassHunt { settings, ..pass_hunt() });
    let [text, _, markdown, page] = forms(&Campaign { hunt, ..campaign() });
    assert!(text.starts_with("Campaign on LLVM 19.1.7: seed 7") && text.contains("shard 2 of 4\n"));
    assert!(markdown.contains("shard 2 of 4") && page.contains("shard 2 of 4"));
    assert!(!campaign_page(&campaign()).contains("shard"));
}

#[test]
fn lines_of_a_terminal_are_cut() {
    let long = Finding { what: "x".repeat(1000), ..finding(1, CaseKind::Crash, "gvn") };
    let text = campaign_text(&Campaign { findings: vec![long], ..campaign() }, Style::Plain);
    let line = text.lines().find(|line| line.contains("xxx")).unwrap();
    assert!(line.chars().count() < 150, "{line}");
    assert!(line.ends_with("x..."));
}

#[test]
fn no_finding_is_said_plainly() {
    let [text, json, markdown, page] =
        forms(&Campaign { findings: Vec::new(), dismissed: Vec::new(), ..campaign() });
    assert!(text.ends_with("\nnothing was found in 4,800 tests\n"), "{text}");
    assert!(!text.contains("triage") && !text.contains("\nfindings"), "{text}");
    assert!(markdown.contains("nothing was found in 4,800 tests"));
    assert!(page.contains("There is no finding: nothing was found in 4,800 tests."));
    assert!(!page.contains("id=\"findings\"") && !page.contains("href=\"#findings\""));
    assert!(!page.contains("id=\"dismissed\""));
    assert!(json.contains("\"findings\":[]"));
}

#[test]
fn a_campaign_in_which_nothing_happened_has_all_forms() {
    for campaign in [campaign(), variant_campaign()] {
        let [text, _, markdown, page] = forms(&nothing(campaign));
        assert!(text.ends_with("\nnothing was tested\n"), "{text}");
        assert!(!text.contains("per second") && !text.contains("blocks"), "{text}");
        assert!(markdown.contains("nothing was tested"));
        assert!(!page.contains("<svg") && page.contains("nothing was tested"));
    }
}

#[test]
fn numbers_that_are_none_are_not_shown() {
    let growth =
        [f64::NAN, f64::INFINITY, 5.0].map(|seconds| Growth { seconds, ..campaign().growth[0] });
    let found = Finding { seconds: f64::NAN, ..finding(1, CaseKind::Hang, "gvn") };
    let odd = Campaign {
        seconds: f64::NAN,
        hunt: Hunt::Passes(PassHunt { testing_seconds: -1.0, ..pass_hunt() }),
        workers: 0,
        growth: growth.to_vec(),
        findings: vec![found],
        ..campaign()
    };
    let [text, ..] = forms(&odd);
    assert!(text.contains("?, of which ? for tests"), "{text}");
}

#[test]
fn one_moment_has_a_picture_but_no_growth() {
    let growth = vec![Growth { seconds: 100.0, ..campaign().growth[2] }];
    let [text, _, _, page] = forms(&Campaign { growth, ..campaign() });
    assert!(text.contains("(12.5 %)\n"), "{text}");
    assert!(page.contains("id=\"coverage-title\""));
}

#[test]
fn json_has_the_agreed_form() {
    let campaign = campaign();
    let json = campaign_json(&campaign);
    let begin = r#"{"version":2,"tests":4800,"findings":[{"number":1,"case":"0001-crash-gvn","kind":"crash","pass":"gvn","signature":"signature","what":"failure 1 of gvn","levels":[],"program":"p17.c","test":100,"seconds":10.0,"duplicates":0,"confirmed":false,"guilty":null,"passes":"function(sroa,gvn)","n_passes":12,"default_passes_only":false,"instructions":23},"#;
    assert!(json.starts_with(begin), "{json}");
    let value: Value = serde_json::from_str(&json).unwrap();
    let keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    let common = "version tests findings seed source programs outcomes rejected dismissed growth \
                  n_blocks seconds workers notes hunt settings";
    let expected = format!("{common} rounds outvoted testing_seconds exclusions");
    assert_eq!(keys.join(" "), expected);
    assert_eq!(value["hunt"], "passes");
    assert_eq!(value["settings"]["length"], serde_json::json!([2, 40]));
    assert_eq!(value["outcomes"][1], serde_json::json!(["crash", 4]));
    assert_eq!(serde_json::from_str::<Campaign>(&json).unwrap(), campaign);
    let json = campaign_json(&variant_campaign());
    let value: Value = serde_json::from_str(&json).unwrap();
    let keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys.join(" "), format!("{common} variants tallies errors"));
    assert_eq!((&value["version"], &value["hunt"]), (&2.into(), &"variants".into()));
    assert_eq!(serde_json::from_str::<Campaign>(&json).unwrap(), variant_campaign());
}

#[test]
fn markdown_is_a_table_with_sequences() {
    let markdown = campaign_markdown(&campaign());
    check(
        &markdown,
        "\
# Campaign on LLVM 19.1.7: seed 7, sequences ctos, programs features
- Tests: 4,800, with 30 programs in 3 rounds
| \\# | Case | Kind | Last pass | Passes | Also at | Confirmed | Duplicates |
|---:|---|---|---|---:|---|---|---:|
| 1 | 0001-crash-gvn<br>failure 1 of gvn<br>`function(sroa,gvn)`<br>p17.c, 23 instructions, after 10.0 s | crash | gvn | 2 of 12 | – | no | 0 |
| 2 | 0002-wrong-code-licm<br>failure 2 of licm<br>`function(sroa,licm)`<br>`guilty: #3 licm on loop in main`<br>p17.c, 23 instructions, after 20.0 s, passes that some level runs, too | wrong-code | licm | 2 of 12 | O2 O3 | yes | 1,234 |",
    );
}

#[test]
fn findings_lead_to_their_cases_and_triaged_ones_to_their_pages() {
    let page = campaign_page(&campaign());
    assert!(page.contains("<a href=\"./0001-crash-gvn/case.toml\">0001-crash-gvn</a><br>"));
    assert!(page.contains("<a href=\"./0002-wrong-code-licm/case.toml\">"));
    let triaged = ["0002-wrong-code-licm".to_owned()].into();
    let page = campaign_page_with_reports(&campaign(), &triaged);
    assert!(page.contains("<a href=\"./0001-crash-gvn/case.toml\">"));
    assert!(page.contains("<a href=\"./0002-wrong-code-licm/index.html\">"));
}

#[test]
fn what_cannot_be_read_as_a_sequence_is_shown_all_the_same() {
    let trigger = PassTrigger { passes: "gvn((".to_owned(), ..pass_trigger("gvn") };
    let trigger = Trigger::Passes(trigger);
    let odd = Finding { trigger, ..finding(1, CaseKind::Crash, "gvn") };
    let [text, _, _, page] = forms(&Campaign { findings: vec![odd], ..campaign() });
    assert!(text.contains("? of 12") && page.contains("gvn(("));
}

#[test]
fn rare_passes_share_a_bar() {
    let passes = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"];
    let named = |i: usize| match passes.get(i % 20) {
        Some(pass) => finding(i as u64 + 1, CaseKind::Crash, pass),
        None => finding(i as u64 + 1, CaseKind::Hang, "rare"),
    };
    let findings: Vec<Finding> = (0..100).map(named).collect();
    let page = campaign_page(&Campaign { findings, ..campaign() });
    // `rare` has 20 findings, the 16 others five each, of which 14 are shown.
    assert!(page.contains("rare: 20. a: 5.") && page.contains("n: 5. 2 other passes: 10."));
}

/// A text with these rows, whatever its columns' widths.
fn check_words(text: &str, rows: &str) {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    for row in rows.lines() {
        assert!(text.lines().any(|line| words(line) == row), "no `{row}` in\n{text}");
    }
}

#[test]
fn a_terminal_shows_what_came_of_variants() {
    check_words(
        &campaign_text(&variant_campaign(), Style::Plain),
        "\
Variants by hermes, orion: seed 7, gcc-12, llvm-19
Tests 660, with 15 programs and 150 variants
Time 1 min 0 s, 2 cores, 11.0 tests per second
Coverage 800 of 8,000 blocks of the compiler (10.0 %), 100 of them new in the last quarter of the time
Outcomes 654 right, 6 wrong-code
Findings 2 (1 wrong-code of gcc-12, 1 crash of llvm-19)
Errors 1 of 151 variants were not equivalent to their programs and left out (hermes 1)
hermes 100 2.5 2 1
gcc-12 O2 160 5 –
llvm-19 O2 164 – 1
1 it fails once, and not again
2 does not end
hermes csmith-000001 4 errors/000001-04.c by gcc it prints nothing
next: optsleuth case check CAMPAIGN/cases/001-wrong-code-gcc-12-O2 (CAMPAIGN: the campaign's folder)",
    );
}

#[test]
fn the_snippets_that_a_finding_needs_are_told_everywhere() {
    let [text, _, markdown, page] = forms(&variant_campaign());
    for form in [&text, &markdown, &page] {
        for said in ["false-block true-guard", "2 of 14", "the program itself", "gvn on function f"]
        {
            assert!(form.contains(said), "{said}: {form}");
        }
    }
    assert!(page.contains("href=\"./cases/001-wrong-code-gcc-12-O2/case.toml\""), "{page}");
    assert!(page.contains("id=\"needed-title\""), "{page}");
}

#[test]
fn foreign_texts_stay_texts() {
    let mut odd = variant_campaign();
    odd.findings[0].what = "<script>alert(1)</script> | `x`".to_owned();
    if let Hunt::Variants(hunt) = &mut odd.hunt {
        hunt.settings.compilers[0].0 = "./<b>gcc".to_owned();
    }
    let [.., page] = forms(&odd);
    assert!(!page.contains("<script>alert") && !page.contains("./<b>gcc"), "{page}");
}
