//! The page of a case in a real browser: what a person sees and can do.

use crate::browser::{JavaScript, Page, check, nothing_foreign_runs, nothing_sticks_out};
use crate::sample;

const FILES: &str = "#l1-files + .suspects";
const FUNCTIONS: &str = "#l1-functions + .suspects";
/// Of the functions, so many are shown.
const N_SHOWN: usize = 200;

/// One browser for all facts: to start it takes longest.
#[test]
fn a_page_can_be_read_and_used() {
    check(
        JavaScript::On,
        &sample::html(),
        &[
            ("a page says what fails and who is to blame", says_what_fails_and_who_is_to_blame),
            ("columns sort both ways, by mouse and by keyboard", columns_sort_both_ways),
            ("a filter hides rows and counts the rest", a_filter_hides_rows),
            ("a suspect leads to its nearest witness", a_suspect_leads_to_its_witness),
            ("pictures have words", pictures_have_words),
            ("nothing sticks out, light or dark, wide or narrow", nothing_sticks_out),
            ("foreign text runs nothing and nothing is fetched", nothing_foreign_runs),
        ],
    );
}

#[test]
fn a_page_can_be_read_without_javascript() {
    check(JavaScript::Off, &sample::html(), &[("everything is there", everything_is_there)]);
}

fn says_what_fails_and_who_is_to_blame(page: &Page) {
    let browser = &page.browser;
    let title = "GVN merges loads across a store <script>window.pwned = 1</script> & more";
    assert_eq!(browser.title(), format!("gvn-42: {title} – OptSleuth"));
    assert_eq!(browser.text("h1"), title);
    assert_eq!(browser.text("header .kicker"), "Case gvn-42");
    assert_eq!(browser.text("header .tags"), "LLVM 19\nwrong code");
    let failure = browser.text("#failure");
    for said in ["the program prints 0 instead of 55", "checksum = 55", "checksum = 0", "opt-19 -S"]
    {
        assert!(failure.contains(said), "{said}: {failure}");
    }
    let summary = browser.text("#l1 .summary");
    for said in [
        "20,000 runs, 15,421 witnesses, best similarity 0.971",
        "stopped because the top of the ranking did not change any more",
        "LLVM 19.1.7, method locseq, seed 7, formula ochiai",
    ] {
        assert!(summary.contains(said), "{said}: {summary}");
    }

    assert_eq!(page.rows(FILES).len(), sample::paths().len());
    assert_eq!(page.rows(FUNCTIONS).len(), N_SHOWN);
    assert!(browser.text("#l1").contains("100 more functions with lower scores"));
    assert_eq!(browser.text(&format!("{FILES} tr.culprit .label")), "culprit");
    assert_eq!(page.rows(FILES)[1][1], format!("{} culprit", sample::TRUE_FILE));
    assert_eq!(page.rows(FUNCTIONS)[1][1], "llvm::GVNPass::processLoad culprit");
    let blamed = page.rows(FUNCTIONS).iter().filter(|row| row[1].ends_with(" culprit")).count();
    assert_eq!(blamed, 1);

    assert!(!browser.is_shown("#input pre"));
    browser.click("#input summary");
    assert!(browser.is_shown("#input pre"));
    assert!(browser.text("#input").ends_with("The first 200 of 250 lines are shown."));
    browser.click("[data-copy]");
    browser.wait_for_text(".copy .said", "copied");
}

fn columns_sort_both_ways(page: &Page) {
    const SCORE: usize = 2;
    const NEAREST: usize = 6;
    assert_eq!(page.order(FILES, 0), "ascending");
    let best_first = page.numbers(FILES, SCORE);

    page.browser.click(&Page::head(FILES, SCORE));
    assert_eq!(page.order(FILES, SCORE), "descending");
    assert_eq!(page.order(FILES, 0), "");
    assert_eq!(page.numbers(FILES, SCORE), best_first);
    assert!(best_first.is_sorted_by(|a, b| a >= b));

    page.browser.click(&Page::head(FILES, SCORE));
    assert_eq!(page.order(FILES, SCORE), "ascending");
    let worst_first = page.numbers(FILES, SCORE);
    assert!(worst_first.is_sorted());
    assert_eq!(worst_first.len(), best_first.len());

    page.browser.press_enter(&Page::head(FILES, 1));
    assert_eq!(page.order(FILES, 1), "ascending");
    let mut paths: Vec<String> = sample::paths().iter().map(|path| path.to_lowercase()).collect();
    paths.sort();
    let shown = page.rows(FILES).into_iter().map(|row| row[1].replace(" culprit", ""));
    assert_eq!(shown.map(|path| path.to_lowercase()).collect::<Vec<_>>(), paths);

    // Those without a nearest witness stay at the end, either way.
    for expected in ["ascending", "descending"] {
        page.browser.click(&Page::head(FILES, NEAREST));
        assert_eq!(page.order(FILES, NEAREST), expected);
        let cells: Vec<String> =
            page.rows(FILES).into_iter().map(|row| row[NEAREST].clone()).collect();
        let n_known = cells.iter().filter(|cell| *cell != "–").count();
        assert!(cells[n_known..].iter().all(|cell| cell == "–"), "{cells:?}");
        assert!(n_known < cells.len());
    }
}

fn a_filter_hides_rows(page: &Page) {
    let (field, count) = (format!("{FUNCTIONS} input"), format!("{FUNCTIONS} output"));
    assert_eq!(page.browser.text(&count), "showing 200 of 200");

    page.browser.type_into(&field, "InstCombine/ PERFORM");
    let rows = page.rows(FUNCTIONS);
    assert!(!rows.is_empty() && rows.len() < N_SHOWN);
    for row in &rows {
        assert!(row[1].contains("performScalarPRE") && row[2].contains("InstCombine/"), "{row:?}");
    }
    assert_eq!(page.browser.text(&count), format!("showing {} of 200", rows.len()));
    assert_eq!(page.rows(FILES).len(), sample::paths().len(), "the other table stays");

    // What is filtered can be sorted.
    page.browser.click(&Page::head(FUNCTIONS, 4));
    assert_eq!(page.rows(FUNCTIONS).len(), rows.len());
    assert!(page.numbers(FUNCTIONS, 4).is_sorted_by(|a, b| a >= b));

    page.browser.clear(&field);
    page.browser.type_into(&field, "no such function");
    assert_eq!(page.rows(FUNCTIONS).len(), 0);
    assert_eq!(page.browser.text(&count), "showing 0 of 200");
    page.browser.clear(&field);
    assert_eq!(page.rows(FUNCTIONS).len(), N_SHOWN);
    assert_eq!(page.browser.text(&count), "showing 200 of 200");
}

fn a_suspect_leads_to_its_witness(page: &Page) {
    let number = page.rows(FUNCTIONS)[1][7].clone();
    page.browser.click(&format!("{FUNCTIONS} tr.culprit a"));
    let target = format!("#l1-w{number}");
    assert_eq!(page.browser.script("return location.hash"), target.as_str());
    assert!(page.browser.is_shown(&target));
    let heading = page.browser.text(&format!("{target} h4"));
    assert!(heading.starts_with(&format!("Witness {number} similarity 0.")), "{heading}");
    let top = format!("return document.querySelector('{target}').getBoundingClientRect().top");
    let top = page.browser.script(&top).as_f64().unwrap();
    assert!((0.0..900.0).contains(&top), "the witness is at {top}");

    // The first lacks one pass; the sixth cannot be read.
    assert!(page.browser.text("#l1-w1 del").starts_with("- "));
    assert!(page.browser.text("#l1-w2 ins").starts_with("+ "));
    assert!(page.browser.is_shown("#l1-w6 pre"));
    let kept = "#l1-w1 .kept";
    assert!(!page.browser.is_shown(&format!("{kept} span")));
    page.browser.click(&format!("{kept} summary"));
    assert!(page.browser.is_shown(&format!("{kept} span")));
}

fn pictures_have_words(page: &Page) {
    let words = "return [...document.querySelectorAll('svg')].map((svg) =>
        svg.getAttribute('aria-labelledby').split(' ')
            .map((id) => document.getElementById(id).textContent).join(' | '))";
    let words: Vec<String> = serde_json::from_value(page.browser.script(words)).unwrap();
    assert_eq!(words.len(), 3);
    assert!(words[0].contains("3 are in the minimal set"), "{words:?}");
    assert!(words[1].starts_with("Similarity of the witnesses to the failing run | "));
    assert!(words[2].contains("After 20,000 runs the best true file has rank 2"), "{words:?}");
    let shown = "return [...document.querySelectorAll('svg')].map((svg) =>
        [...svg.querySelectorAll('text')].map((text) => text.textContent))";
    let shown: Vec<Vec<String>> = serde_json::from_value(page.browser.script(shown)).unwrap();
    let expected: [&[&str]; 3] = [
        &["#1400 p0", "#0", "#4199", "changed the IR, as a share"],
        &["similarity", "best so far", "mean of a batch", "runs", "20,000", "0.9"],
        &["rank", "best true file", "best true function", "runs", "20,000", "1", "100"],
    ];
    for (shown, expected) in shown.iter().zip(expected) {
        for text in expected {
            assert!(shown.iter().any(|each| each == text), "{text}: {shown:?}");
        }
    }
}

fn everything_is_there(page: &Page) {
    let browser = &page.browser;
    assert_eq!(browser.script("return document.querySelectorAll('th button').length"), 0);
    assert_eq!(page.rows(FILES).len(), sample::paths().len());
    assert_eq!(page.rows(FUNCTIONS).len(), N_SHOWN);
    assert_eq!(browser.text(&format!("{FILES} th:nth-child(3)")), "Score");
    assert_eq!(browser.text(&format!("{FILES} tr.culprit .label")), "culprit");
    assert!(browser.is_shown("#l1-w1 del") && browser.is_shown("svg"));
    // What would do nothing is not there.
    assert!(!browser.is_shown(".tools") && !browser.is_shown("[data-copy]"));
    browser.click("#input summary");
    assert!(browser.is_shown("#input pre"));
    browser.click(&format!("{FILES} tr.culprit a"));
    assert!(browser.is_shown(".witness:target"));
}
