//! The page of a bench in a real browser: what a person sees and can do.

use optsleuth_report::bench_html;

use crate::bench_sample::{self, METHODS, N_CASES};
use crate::browser::{JavaScript, Page, check, nothing_foreign_runs, nothing_sticks_out};

const CASES: &str = "#cases";
const RESULTS: &str = "#results .listing:first-of-type";

fn html() -> String {
    bench_html(&bench_sample::sample().report())
}

#[test]
fn a_bench_can_be_read_and_used() {
    check(
        JavaScript::On,
        &html(),
        &[
            ("a page says what was measured and who is best", says_who_is_best),
            ("cases can be filtered and sorted", cases_can_be_filtered_and_sorted),
            ("pictures have words", pictures_have_words),
            ("nothing sticks out, light or dark, wide or narrow", nothing_sticks_out),
            ("foreign text runs nothing and nothing is fetched", nothing_foreign_runs),
        ],
    );
}

#[test]
fn a_bench_can_be_read_without_javascript() {
    check(JavaScript::Off, &html(), &[("every table is there", every_table_is_there)]);
}

fn says_who_is_best(page: &Page) {
    let measured = page.browser.text("#measured");
    for said in ["60, of which 20 with weak truth", "60 s per search", "1 h 23 min"] {
        assert!(measured.contains(said), "{said}: {measured}");
    }
    let rows = page.rows(RESULTS);
    let methods: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(methods, METHODS.map(|(method, _)| method));
    assert_eq!(page.browser.text(&format!("{RESULTS} strong")), rows[0][2]);
    let missing = page.browser.text("#unmeasured");
    assert!(missing.contains("slp-hang-<b>-9") && missing.contains("longer than the budget"));
}

fn cases_can_be_filtered_and_sorted(page: &Page) {
    const LOCSEQ: usize = 4;
    assert_eq!(page.rows(CASES).len(), N_CASES);
    page.browser.type_into(&format!("{CASES} input"), "INSTCOMBINE- weak");
    let rows = page.rows(CASES);
    assert!(!rows.is_empty() && rows.len() < N_CASES);
    assert!(
        rows.iter().all(|row| row[0].starts_with("instcombine-") && row[3] == "weak"),
        "{rows:?}"
    );
    page.browser.clear(&format!("{CASES} input"));

    page.browser.click(&Page::head(CASES, LOCSEQ));
    assert_eq!(page.order(CASES, LOCSEQ), "ascending");
    let first = |row: &Vec<String>| {
        let rank = row[LOCSEQ].split(" / ").next().expect("a rank").replace(',', "");
        rank.parse::<f64>().unwrap_or(f64::INFINITY) // Those without a rank are last.
    };
    let ranks: Vec<f64> = page.rows(CASES).iter().map(first).collect();
    assert_eq!(ranks.len(), N_CASES);
    assert!(ranks.is_sorted(), "{ranks:?}");
}

fn pictures_have_words(page: &Page) {
    let words = "return [...document.querySelectorAll('svg')].map((svg) =>
        svg.getAttribute('aria-labelledby').split(' ')
            .map((id) => document.getElementById(id).textContent).join(' | '))";
    let words: Vec<String> = serde_json::from_value(page.browser.script(words)).unwrap();
    assert_eq!(words.len(), 6);
    for text in &words {
        assert!(text.contains("locseq-rwc:"), "{text}");
    }
    let overlaps = "const boxes = [...document.querySelectorAll('svg')].map((svg) =>
            [...svg.querySelectorAll('text')].map((text) => text.getBoundingClientRect()));
        return boxes.some((texts) => texts.some((a, i) => texts.slice(i + 1).some((b) =>
            a.left < b.right && b.left < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom)))";
    for width in [400, 1280] {
        page.browser.set_width(width);
        assert_eq!(page.browser.script(overlaps), false, "labels overlap at {width}");
    }
}

fn every_table_is_there(page: &Page) {
    assert_eq!(page.browser.script("return document.querySelectorAll('th button').length"), 0);
    assert!(!page.browser.is_shown(".tools"));
    assert_eq!(page.rows(CASES).len(), N_CASES);
    assert_eq!(page.rows("#recipes").len(), 4 * 24);
    assert_eq!(page.rows("#kinds").len(), 3 * METHODS.len());
    assert_eq!(page.rows("#comparisons").len(), 2 * (METHODS.len() - 1));
    assert!(page.browser.is_shown("svg"));
}
