//! The page of a campaign in a real browser: what a person sees and can do.

use optsleuth_model::{Campaign, Growth};
use optsleuth_report::campaign_page;

use crate::browser::{JavaScript, Page, check, nothing_foreign_runs, nothing_sticks_out};
use crate::campaign_sample::sample;

const FINDINGS: &str = "#findings";
const N_FINDINGS: usize = 37;
const N_PICTURES: usize = 4;

#[test]
fn a_campaign_can_be_read_and_used() {
    check(
        JavaScript::On,
        &campaign_page(&sample(N_FINDINGS)),
        &[
            ("a page says what was done and found", says_what_was_found),
            ("findings can be filtered and sorted", findings_can_be_filtered_and_sorted),
            ("pictures can be seen and have words", pictures_have_words),
            ("nothing sticks out, light or dark, wide or narrow", nothing_sticks_out),
            ("foreign text runs nothing and nothing is fetched", nothing_foreign_runs),
        ],
    );
}

#[test]
fn a_campaign_can_be_read_without_javascript() {
    check(
        JavaScript::Off,
        &campaign_page(&sample(N_FINDINGS)),
        &[("every table is there", every_table_is_there)],
    );
}

#[test]
fn hundreds_of_findings_can_be_read() {
    check(
        JavaScript::On,
        &campaign_page(&sample(500)),
        &[
            ("all are there", |page| assert_eq!(page.rows(FINDINGS).len(), 500)),
            ("pictures can be seen and have words", pictures_have_words),
            ("nothing sticks out, light or dark, wide or narrow", nothing_sticks_out),
        ],
    );
}

#[test]
fn one_finding_and_one_moment_can_be_read() {
    let growth = vec![Growth { seconds: 1.5, tests: 9, findings: 1, blocks: 123 }];
    let mut small = Campaign { seconds: 1.5, growth, ..sample(1) };
    small.findings[0].seconds = 0.7;
    check(
        JavaScript::On,
        &campaign_page(&small),
        &[
            ("it is there", |page| assert_eq!(page.rows(FINDINGS).len(), 1)),
            ("pictures can be seen and have words", pictures_have_words),
        ],
    );
}

#[test]
fn a_campaign_without_findings_says_so() {
    check(
        JavaScript::On,
        &campaign_page(&sample(0)),
        &[
            ("it says so", says_that_nothing_was_found),
            ("nothing sticks out, light or dark, wide or narrow", nothing_sticks_out),
        ],
    );
}

fn says_that_nothing_was_found(page: &Page) {
    let said = page.browser.text("#done .what");
    assert_eq!(said, "There is no finding: nothing was found in 2,468,013 tests.");
    assert_eq!(page.browser.script("return document.querySelectorAll('svg').length"), 2);
}

fn says_what_was_found(page: &Page) {
    assert_eq!(page.browser.text("h1"), "37 findings in LLVM 19.1.7");
    let done = page.browser.text("#done");
    for said in [
        "2,468,013, with 61,692 programs in 5,141 rounds",
        "80.5 tests per second and core",
        "5 h 0 min, of which 4 h 15 min for tests",
        "151,223 of 1,204,881 blocks of the compiler (12.6 %)",
    ] {
        assert!(done.contains(said), "{said}: {done}");
    }
    let rows = page.rows(FINDINGS);
    assert_eq!(rows.len(), N_FINDINGS);
    let what = &rows[2][1];
    assert!(what.contains("<script>window.pwned = 1</script> & more"), "{what}");
    assert!(what.contains("loop-mssa(licm<allowspeculation>)"), "{what}");
    let link = "return document.querySelector('#findings tbody a').getAttribute('href')";
    let link = page.browser.script(link);
    let link = link.as_str().unwrap_or_default();
    assert!(link.starts_with("./0001-crash-") && link.ends_with("/case.toml"), "{link}");
    let room = "const scroll = document.querySelector('#findings .scroll');
        return scroll.scrollWidth <= scroll.clientWidth";
    assert_eq!(page.browser.script(room), true, "all columns can be seen");
    assert_eq!(page.rows("#dismissed").len(), 3);
    assert_eq!(page.rows("#rejected").len(), 3);
    assert_eq!(page.rows("#exclusions").len(), 2);
    let settings = page.browser.text("#settings");
    for said in ["generated C <b>& more</b>", "shard 2 of 4", "made of 22 passes"] {
        assert!(settings.contains(said), "{said}: {settings}");
    }
}

fn findings_can_be_filtered_and_sorted(page: &Page) {
    const DUPLICATES: usize = 7;
    const KIND: usize = 2;
    page.browser.type_into(&format!("{FINDINGS} input"), "wrong-code yes");
    let rows = page.rows(FINDINGS);
    assert!(!rows.is_empty() && rows.len() < N_FINDINGS);
    assert!(rows.iter().all(|row| row[KIND] == "wrong-code"), "{rows:?}");
    page.browser.clear(&format!("{FINDINGS} input"));
    page.browser.click(&Page::head(FINDINGS, DUPLICATES));
    assert!(page.numbers(FINDINGS, DUPLICATES).is_sorted());
    assert_eq!(page.rows(FINDINGS).len(), N_FINDINGS);
    page.browser.click(&Page::head(FINDINGS, KIND));
    let rows = page.rows(FINDINGS);
    assert!(rows.is_sorted_by(|a, b| a[KIND] <= b[KIND]), "{rows:?}");
}

fn pictures_have_words(page: &Page) {
    let words = "return [...document.querySelectorAll('svg')]
        .filter((svg) => svg.checkVisibility() && svg.getBoundingClientRect().height > 80)
        .map((svg) => svg.getAttribute('aria-labelledby').split(' ')
            .map((id) => document.getElementById(id).textContent).join(' | '))";
    let words: Vec<String> = serde_json::from_value(page.browser.script(words)).unwrap();
    assert_eq!(words.len(), N_PICTURES, "{words:?}");
    assert!(words[0].starts_with("Findings over time | "), "{words:?}");
    assert!(words[2].contains("crash: 4,102 (0.2 %)."), "{words:?}");
    let overlaps = "const boxes = [...document.querySelectorAll('svg')].map((svg) =>
            [...svg.querySelectorAll('text')].map((text) =>
                [text.textContent, text.getBoundingClientRect()]));
        return boxes.flatMap((texts) => texts.flatMap(([a, A], i) => texts.slice(i + 1)
            .filter(([, B]) => A.left < B.right && B.left < A.right
                && A.top + 3 < B.bottom && B.top + 3 < A.bottom)
            .map(([b]) => a + ' over ' + b)))";
    let outside = "return [...document.querySelectorAll('svg text')]
        .filter((text) => text.getBoundingClientRect().left < 0
            || text.getBoundingClientRect().right > innerWidth)
        .map((text) => text.textContent)";
    for width in [400, 1280] {
        page.browser.set_width(width);
        for bad in [overlaps, outside] {
            let found: Vec<String> = serde_json::from_value(page.browser.script(bad)).unwrap();
            assert_eq!(found, Vec::<String>::new(), "at {width}");
        }
    }
}

fn every_table_is_there(page: &Page) {
    assert_eq!(page.browser.script("return document.querySelectorAll('th button').length"), 0);
    assert!(!page.browser.is_shown(".tools"));
    assert_eq!(page.rows(FINDINGS).len(), N_FINDINGS);
    assert_eq!(page.rows("#dismissed").len(), 3);
    assert!(page.browser.is_shown("svg"));
}
