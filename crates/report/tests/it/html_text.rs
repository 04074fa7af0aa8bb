//! The pages of a case, a bench and a campaign as text: what holds for every page, whatever the data.

use std::collections::BTreeSet;

use optsleuth_model::{
    Bisection, BisectionEnd, BisectionVerdict, Case, Finding, FirstWrongStep, HistoryEntry, Hunt,
    Localization, SinglePassForm, UnitChange,
};
use optsleuth_report::{
    BenchReport, CaseView, bench_html, bench_pictures, campaign_markdown, campaign_page, case_html,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bench_sample;
use crate::campaign_sample;
use crate::sample;

/// Elements without content.
const VOID: &[&str] = &["meta", "input", "wbr", "br"];

fn html(case: &Case, localizations: &[Localization]) -> String {
    let commands = sample::commands();
    let input = "int main;\n";
    case_html(&CaseView {
        case,
        localizations,
        bisection: None,
        definedness: None,
        commands: &commands,
        input,
    })
}

/// A page's tags, without what stands in `style` and `script`.
fn tags(html: &str) -> Vec<&str> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        tags.push(tag);
        rest = &rest[end + 1..];
        if tag == "style" || tag == "script" {
            rest = &rest[rest.find(&format!("</{tag}>")).expect("it ends")..];
        }
    }
    tags
}

fn name(tag: &str) -> &str {
    tag.split([' ', '/']).next().unwrap_or(tag)
}

fn values<'a>(tags: &[&'a str], attribute: &str) -> Vec<&'a str> {
    let begin = format!(" {attribute}=\"");
    let value = |tag: &&'a str| tag.split_once(begin.as_str())?.1.split('"').next();
    tags.iter().filter_map(value).collect()
}

/// A page with links to places in it alone.
fn check(html: &str) {
    assert_eq!(check_with_files(html), Vec::<&str>::new(), "a link stays in the page");
}

/// The one place outside that pages link to: LLVM's released source.
const LLVM_SOURCE: &str = "https://github.com/llvm/llvm-project/blob/llvmorg-";

/// Tags are closed in order, names are given once, and links lead to them, to
/// LLVM's source, or to files beside the page, which are returned.
fn check_with_files(html: &str) -> Vec<&str> {
    let tags = tags(html);
    assert_eq!(tags[0], "!DOCTYPE html");
    let mut open = Vec::new();
    for tag in &tags[1..] {
        match tag.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed), "{open:?}"),
            None if tag.ends_with('/') || VOID.contains(&name(tag)) => {}
            None => open.push(name(tag)),
        }
        assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
    }
    assert_eq!(open, Vec::<&str>::new());
    let ids = values(&tags, "id");
    let places: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(places.len(), ids.len(), "{ids:?}");
    let links = values(&tags, "href").into_iter().filter(|link| !link.starts_with(LLVM_SOURCE));
    let (inside, beside): (Vec<&str>, Vec<&str>) = links.partition(|link| link.starts_with('#'));
    for link in inside {
        assert!(places.contains(&link[1..]), "{link}");
    }
    for link in &beside {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/%".contains(c);
        assert!(link.starts_with("./") && link.chars().all(is_plain), "{link}");
    }
    for named in values(&tags, "aria-labelledby").into_iter().chain(values(&tags, "for")) {
        assert!(named.split(' ').all(|name| places.contains(name)), "{named}");
    }
    assert_eq!(tags.iter().filter(|tag| name(tag) == "script").count(), 1);
    for never in ["img", "link", "iframe", "object", "base", "form"] {
        assert!(!tags.iter().any(|tag| name(tag) == never), "{never}");
    }
    assert!(values(&tags, "style").is_empty() && values(&tags, "src").is_empty());
    beside
}

#[test]
fn a_page_is_well_formed_and_always_the_same() {
    let html = sample::html();
    check(&html);
    assert_eq!(html, sample::html());
    for never in ["@import", "url(", "</style>\n<style", "eval("] {
        assert!(!html.contains(never), "{never}");
    }
}

#[test]
fn the_page_of_a_bench_is_well_formed_and_always_the_same() {
    let sample = bench_sample::sample();
    let html = bench_html(&sample.report());
    check(&html);
    assert_eq!(html, bench_html(&sample.report()));
    check(&bench_html(&BenchReport { measurements: &[], ..sample.report() }));
}

#[test]
fn the_page_of_a_campaign_is_well_formed_and_always_the_same() {
    for n_findings in [0, 1, 500] {
        let campaign = campaign_sample::sample(n_findings);
        let html = campaign_page(&campaign);
        assert_eq!(check_with_files(&html).len(), n_findings);
        assert_eq!(html, campaign_page(&campaign));
        assert!(html.len() < 100_000 + n_findings * 1500, "{} bytes", html.len());
    }
}

#[test]
fn a_page_without_findings_is_well_formed() {
    let case = sample::case();
    let page = html(&case, &[]);
    check(&page);
    assert!(page.contains("Nothing was localized yet"));

    let bare = Localization {
        truth: None,
        files: Vec::new(),
        functions: Vec::new(),
        witness_list: Vec::new(),
        history: Vec::new(),
        ..sample::localization()
    };
    let page = html(&case, &[bare]);
    check(&page);
    assert!(page.contains("There is no witness") && page.contains("left no history"));
    assert!(!page.contains("Known culprit") && !page.contains("<svg"));
}

#[test]
fn several_findings_have_a_section_each() {
    let other = Localization { method: "random".into(), ..sample::localization() };
    let page = html(&sample::case(), &[sample::localization(), other]);
    check(&page);
    assert!(page.contains("by locseq</span>") && page.contains("by random</span>"));
    assert_eq!(page.matches("class=\"what\"").count(), 1, "both say the same");
}

#[test]
fn a_search_without_witnesses_or_ranks_has_a_picture_all_the_same() {
    let entry = HistoryEntry {
        seconds: None,
        runs: 10,
        witnesses: 0,
        best_similarity: 0.0,
        batch_similarity: None,
        true_file: None,
        true_function: None,
    };
    let found = Localization { history: vec![entry], ..sample::localization() };
    let page = html(&sample::case(), &[found]);
    check(&page);
    assert_eq!(page.matches("<svg").count(), 1);
}

#[test]
fn at_most_fifty_witnesses_are_shown_and_only_those_are_linked() {
    let page = sample::html();
    assert_eq!(page.matches("<section class=\"witness\"").count(), 50);
    assert!(page.contains("14 more witnesses are not shown here"));
    for nearest in 1..=10 {
        assert!(page.contains(&format!("<h4>Witness {nearest} ")), "{nearest}");
    }
    let numbers: Vec<usize> = page
        .split("<h4>Witness ")
        .skip(1)
        .map(|rest| rest.split(' ').next().unwrap().parse().unwrap())
        .collect();
    assert!(numbers.is_sorted());
}

/// The page of a case that was bisected and not localized.
fn bisected(bisection: &Bisection) -> String {
    let (case, commands) = (sample::case(), sample::commands());
    let bisection = Some(bisection);
    let page = case_html(&CaseView {
        case: &case,
        localizations: &[],
        bisection,
        definedness: None,
        commands: &commands,
        input: "",
    });
    check(&page);
    page
}

#[test]
fn a_bisection_has_a_strip_of_all_invocations_and_the_change_of_the_guilty_one() {
    let page = bisected(&sample::bisection());
    assert!(page.contains("Guilty: <code>#2931 gvn on function"), "no verdict");
    assert!(page.contains("Of 4,200 invocations,") && page.contains("3 are in the minimal set"));
    let removed = page.split("<del>-   %b = load i32, ptr %p ").nth(1).expect("a change");
    let removed = removed.split("</del>").next().unwrap();
    assert!(removed.contains("; replaced by llvm::GVNPass::processLoad"), "{removed}");
    assert!(removed.contains("title=\"called by llvm::GVNPass::runImpl"), "{removed}");
    assert!(page.contains("authors may be missing"));
    assert!(page.contains("<ins>+   ret i32 %a</ins>"), "no change");
    assert!(page.contains("The failure with 1 pass"));
    // Thousands of invocations stay a small picture.
    let strip = page.split("<svg").nth(1).unwrap().split("</svg>").next().unwrap();
    assert!(strip.len() < 20_000, "{}", strip.len());
}

#[test]
fn a_failure_is_said_once_and_other_forms_say_whose_they_are() {
    let (mut case, mut bisection) = (sample::case(), sample::bisection());
    let mut ranked = sample::localization();
    case.title = None;
    bisection.what = "the program prints 1".to_owned();
    case.observed = Some(bisection.what.clone());
    let SinglePassForm::Found(form) = &mut bisection.single_pass else { panic!("no form") };
    form.what = "the program prints 2".to_owned();
    ranked.case = format!("{}-single-pass", case.id);
    ranked.failure.what = "the program prints 3".to_owned();
    let page = case_html(&CaseView {
        case: &case,
        localizations: &[ranked],
        bisection: Some(&bisection),
        definedness: None,
        commands: &[],
        input: "",
    });
    check(&page);
    let heading = page.split("<h1>").nth(1).unwrap().split("</h1>").next().unwrap();
    assert!(heading.starts_with("Wrong code: p0 on function"), "{heading}");
    for said in [
        "<p class=\"what\">the program prints 1</p>",
        "<dt>Most suspect</dt><dd><code>",
        "<p>There, the program prints 2.</p>",
        "Ranked on a smaller form of the failure, <code>gvn-42-single-pass</code>",
    ] {
        assert!(page.contains(said), "{said}");
    }
    for what in ["the program prints 1", "the program prints 2", "the program prints 3"] {
        assert_eq!(page.matches(what).count(), 1, "{what}");
    }
}

#[test]
fn a_bisection_without_a_guilty_pass_says_so() {
    let empty = Bisection {
        invocations: Vec::new(),
        certain_after: None,
        needed: Vec::new(),
        minimal: Vec::new(),
        verdict: BisectionVerdict::InCodegen,
        first_wrong: FirstWrongStep::NotAsked,
        broken_earlier: None,
        change: None,
        single_pass: SinglePassForm::Missing { why: "there is no pass to blame".into() },
        ended: BisectionEnd::Interrupted,
        ..sample::bisection()
    };
    let page = bisected(&empty);
    assert!(page.contains("no pass: it fails in code generation"));
    assert!(page.contains("it was interrupted") && page.contains("no single-pass form"));
    let several = BisectionVerdict::SeveralCulprits {
        invocations: vec![5, 9],
        needs_also: Vec::new(),
        more: true,
    };
    let change = sample::bisection().change.map(|change| UnitChange { after: None, ..change });
    let crash = Bisection { verdict: several, change, ..sample::bisection() };
    let page = bisected(&crash);
    assert!(page.contains("Not one single culprit") && page.contains("The IR before it"));
}

const NASTY: &str = "\"'></title></style></script></td><script>window.pwned=1</script><!--";

/// Texts that are ours.
const WORDS: &[&str] =
    &["stable", "guilty", "found", "complete", "replaced", "operand-replaced", "changed"];

/// The same data with every text made nasty: by way of JSON, so that none is
/// missed.
fn spoiled<T: Serialize + DeserializeOwned>(data: &T) -> T {
    fn spoil(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::String(text) if !WORDS.contains(&text.as_str()) => {
                text.push_str(NASTY);
            }
            serde_json::Value::Array(list) => list.iter_mut().for_each(spoil),
            serde_json::Value::Object(fields) => fields.values_mut().for_each(spoil),
            _ => {}
        }
    }
    let mut value = serde_json::to_value(data).unwrap();
    spoil(&mut value);
    serde_json::from_value(value).unwrap()
}

#[test]
fn foreign_text_of_a_bench_never_becomes_markup() {
    let sample = bench_sample::sample();
    let methods = spoiled(&sample.methods);
    let measurements = spoiled(&sample.measurements);
    let unmeasured = spoiled(&sample.unmeasured);
    let report = BenchReport {
        title: NASTY,
        methods: &methods,
        measurements: &measurements,
        unmeasured: &unmeasured,
        ..sample.report()
    };
    let page = bench_html(&report);
    check(&page);
    let pictures = bench_pictures(&report);
    assert_eq!(pictures.len(), 6);
    for text in pictures.iter().map(|picture| &picture.svg).chain([&page]) {
        assert!(!text.contains("<script>window") && !text.contains("<!--"));
    }
}

#[test]
fn foreign_text_of_a_campaign_never_becomes_markup() {
    let mut campaign = campaign_sample::sample(12);
    let kinds: Vec<_> = campaign.findings.iter().map(|finding| finding.kind).collect();
    campaign.findings = campaign.findings.iter().map(spoiled_finding).collect();
    if let Hunt::Passes(hunt) = &mut campaign.hunt {
        *hunt = spoiled(hunt);
    }
    campaign.source.push_str(NASTY);
    campaign.outcomes = spoiled(&campaign.outcomes);
    campaign.rejected = spoiled(&campaign.rejected);
    campaign.dismissed = spoiled(&campaign.dismissed);
    assert!(campaign.findings.iter().map(|finding| finding.kind).eq(kinds));
    let page = campaign_page(&campaign);
    let links = check_with_files(&page);
    assert_eq!(links.len(), 12);
    assert!(page.contains("&lt;script&gt;window.pwned=1"));
    assert!(!page.contains("<script>window") && !page.contains("<!--"));
    let markdown = campaign_markdown(&campaign);
    for row in markdown.lines().filter(|line| line.starts_with("| ")) {
        let row = row.replace("\\`", "");
        let outside_code = row.split('`').step_by(2).collect::<String>();
        assert!(!outside_code.replace("\\<", "").replace("<br>", "").contains('<'), "{row}");
    }
}

/// All texts of a finding but its kind, which is one of ours.
fn spoiled_finding(finding: &Finding) -> Finding {
    let mut value = serde_json::to_value(finding).unwrap();
    let kind = value["kind"].take();
    let mut value: serde_json::Value = spoiled(&value);
    value["kind"] = kind;
    serde_json::from_value(value).unwrap()
}

#[test]
fn foreign_text_never_becomes_markup() {
    let found = spoiled(&sample::localization());
    let nasty = || NASTY.to_owned();
    let case = Case {
        id: nasty(),
        title: Some(nasty()),
        source: Some(nasty()),
        compiler: optsleuth_model::CompilerSpec::LlvmConfig(nasty()),
        input: nasty(),
        pipeline: optsleuth_model::Pipeline::Passes(nasty()),
        flags: vec![nasty()],
        front_end: None,
        cflags: vec![nasty()],
        expected: Some(nasty()),
        observed: Some(nasty()),
        fails_in: vec![nasty()],
        fixed_in: Some(nasty()),
        truth: Some(optsleuth_model::Truth { fix_commit: Some(nasty()), ..Default::default() }),
        ..sample::case()
    };
    let bisection = spoiled(&sample::bisection());
    let page = case_html(&CaseView {
        case: &case,
        localizations: &[found],
        bisection: Some(&bisection),
        definedness: None,
        commands: &[nasty()],
        input: NASTY,
    });
    check(&page);
    assert!(!page.contains("<script>window") && !page.contains("<!--"));
}

#[test]
fn a_suspect_line_is_shown_in_its_source_with_a_link_and_the_failed_assertion() {
    let page = html(&sample::case(), &[sample::localization()]);
    let shown = [
        "<mark>    42    if (A <u>&lt;</u> B)</mark>",
        "https://github.com/llvm/llvm-project/blob/llvmorg-19.1.7/",
        "1 of 2 conditions of it, decided the other way, makes the failure vanish",
        "it makes 3 changes to the IR in the guilty invocation",
        "With assertions on, it fails earlier: Assertion `A &lt; B",
        "Not into Value.cpp: why.",
    ];
    for part in shown {
        assert!(page.contains(part), "{part}");
    }
    let text =
        optsleuth_report::localize_text(&sample::localization(), 5, optsleuth_report::Style::Plain);
    assert!(text.contains("if (A < B)") && text.contains("With assertions on"), "{text}");
    let issue = optsleuth_report::localize_markdown(&sample::localization(), 5);
    assert!(issue.contains(">    42    if (A < B)"), "{issue}");
}
