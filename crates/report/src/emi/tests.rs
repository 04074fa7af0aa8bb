//! Every form of a campaign of variants, on data small enough to check by hand,
//! and on what is hardly data at all.

use std::collections::BTreeSet;

use optsleuth_model::EmiCampaign;

use super::example::{campaign, nothing};
use super::*;
use crate::Style;

/// All forms of a campaign; none of them may ever say this.
fn forms(campaign: &EmiCampaign) -> [String; 4] {
    let forms = [
        emi_text(campaign, Style::Plain),
        emi_json(campaign),
        emi_markdown(campaign),
        emi_page(campaign, &BTreeSet::new()),
    ];
    for form in &forms {
        let form = form.split("<script>\n").next().unwrap_or_default(); // It knows the word.
        for never in ["NaN", "inf ", "Infinity", "\u{1b}"] {
            assert!(!form.contains(never), "{never}: {form}");
        }
    }
    forms
}

/// A text with these rows, whatever its columns' widths.
fn check(text: &str, rows: &str) {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: BTreeSet<String> = text.lines().map(words).collect();
    for row in rows.lines() {
        assert!(lines.contains(row), "no `{row}` in\n{text}");
    }
}

#[test]
fn a_terminal_shows_the_figures_computed_by_hand() {
    check(
        &emi_text(&campaign(), Style::Plain),
        "\
Variants by hermes, orion: seed 7, gcc-12, llvm-19
Tests 660, with 15 programs and 150 variants
Time 1 min 0 s, 2 cores, 11.0 tests per second
Coverage 800 of 8,000 blocks of the compiler (10.0 %)
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
fn what_a_finding_needs_is_told_everywhere() {
    let [text, json, markdown, page] = forms(&campaign());
    for form in [&text, &markdown, &page] {
        for said in ["false-block true-guard", "2 of 14", "the program itself", "gvn on function f"]
        {
            assert!(form.contains(said), "{said}: {form}");
        }
    }
    assert!(page.contains("href=\"./cases/001-wrong-code-gcc-12-O2/case.toml\""), "{page}");
    assert!(page.contains("<svg"));
    let read: EmiCampaign = serde_json::from_str(&json).unwrap();
    assert_eq!(read, campaign());
}

#[test]
fn a_campaign_without_tests_has_every_form() {
    let [text, _, markdown, page] = forms(&nothing());
    for form in [text, markdown, page] {
        assert!(form.contains("nothing was tested"), "{form}");
    }
}

#[test]
fn foreign_texts_stay_texts() {
    let mut odd = campaign();
    odd.findings[0].what = "<script>alert(1)</script> | `x`".to_owned();
    odd.settings.compilers[0].0 = "./<b>gcc".to_owned();
    let [.., page] = forms(&odd);
    assert!(!page.contains("<script>alert") && !page.contains("./<b>gcc"), "{page}");
}
