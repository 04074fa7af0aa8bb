//! A page in a browser of its own, and what holds for every page.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::{Browser, JavaScript};

/// What is true of a page, in words and as a check.
pub type Fact = (&'static str, fn(&Page));

/// A page in its own folder, which ends with this value.
pub struct Page {
    pub browser: Browser,
    path: PathBuf,
    _folder: TempDir,
}

impl Page {
    fn start(javascript: JavaScript, html: &str) -> Page {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        fs::write(&path, html).unwrap();
        let browser = Browser::start(javascript);
        Page { browser, path, _folder: folder }
    }

    /// The cells of a table's visible rows.
    pub fn rows(&self, table: &str) -> Vec<Vec<String>> {
        self.browser.rows(&format!("{table} tbody tr"))
    }

    /// A column of a table's visible rows, as numbers.
    pub fn numbers(&self, table: &str, column: usize) -> Vec<f64> {
        let rows = self.rows(table);
        rows.iter().map(|row| row[column].replace(',', "").parse().unwrap()).collect()
    }

    /// What is clicked to sort by a column.
    pub fn head(table: &str, column: usize) -> String {
        format!("{table} th:nth-child({}) button", column + 1)
    }

    /// What a column says about its order.
    pub fn order(&self, table: &str, column: usize) -> String {
        let selector = format!("{table} th:nth-child({})", column + 1);
        let order =
            format!("return document.querySelector({selector:?}).getAttribute('aria-sort')");
        self.browser.script(&order).as_str().unwrap_or_default().to_owned()
    }
}

/// Checks facts one after the other, each on a fresh page. The last one that is
/// named in the output is the one that does not hold.
#[expect(clippy::print_stdout, reason = "a failed test names the fact that does not hold")]
pub fn check(javascript: JavaScript, html: &str, facts: &[Fact]) {
    let page = Page::start(javascript, html);
    for (fact, holds) in facts {
        println!("{fact}");
        page.browser.open(&page.path);
        holds(&page);
        assert_eq!(page.browser.complaints(), Vec::<String>::new());
    }
}

/// Neither light nor dark, wide nor narrow.
pub fn nothing_sticks_out(page: &Page) {
    let colours = "const style = getComputedStyle(document.body);
        return style.color + ' on ' + style.backgroundColor";
    let widths = "return [innerWidth, document.body.scrollWidth,
        document.documentElement.scrollWidth]";
    let inside = "return [...document.querySelectorAll('svg, h1, h2, h3, pre, .scroll')]
        .filter((each) => each.checkVisibility())
        .every((each) => each.getBoundingClientRect().right <= innerWidth)";
    let mut seen = Vec::new();
    for scheme in ["light", "dark"] {
        page.browser.set_color_scheme(scheme);
        seen.push(page.browser.script(colours));
        for width in [400, 1280] {
            page.browser.set_width(width);
            let widths: [u32; 3] = serde_json::from_value(page.browser.script(widths)).unwrap();
            assert_eq!(widths[0], width);
            assert!(widths[1] <= width && widths[2] <= width, "{widths:?}");
            assert_eq!(page.browser.script(inside), true, "at {width}");
        }
    }
    assert_ne!(seen[0], seen[1]);
}

/// No text of a case is run, and no address is asked for anything.
pub fn nothing_foreign_runs(page: &Page) {
    page.browser.requests(); // Those of the browser's own first page.
    page.browser.open(&page.path);
    assert_eq!(page.browser.script("return typeof window.pwned"), "undefined");
    assert_eq!(page.browser.script("return document.scripts.length"), 1);
    assert_eq!(page.browser.script("return document.images.length"), 0);
    let entries = "return performance.getEntriesByType('resource').length";
    assert_eq!(page.browser.script(entries), 0);
    let own = format!("\"file://{}\"", page.path.display());
    let requests = page.browser.requests();
    assert!(!requests.is_empty(), "the log is off");
    assert!(requests.iter().all(|url| *url == own), "{requests:?}");
    assert_eq!(page.browser.complaints(), Vec::<String>::new());

    // The policy holds: what a page could try is refused, and said so.
    let refused = page.browser.script(
        "return new Promise((done) => {
            addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective));
            const image = document.createElement('img');
            image.src = 'http://127.0.0.1:9/x.png';
            document.body.append(image);
        })",
    );
    assert_eq!(refused, "img-src");
    page.browser.complaints(); // It did, and should.
}
