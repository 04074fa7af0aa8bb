//! Every form of a bench, on data small enough to check by hand, and on what is
//! hardly data at all.

use optsleuth_model::{Measurement, Unmeasured};

use super::example::{entry, measured, measurements, methods, report};
use super::*;
use crate::Style;

/// A text whose lines are these, whatever follows and precedes.
fn check(text: &str, expected: &str) {
    for line in expected.lines() {
        assert!(text.lines().any(|each| each == line), "no `{line}` in\n{text}");
    }
}

/// All forms of a report; none of them may ever say this.
fn forms(report: &BenchReport<'_>) -> Vec<String> {
    let mut forms = vec![
        bench_json(report),
        bench_text(report, Style::Plain),
        bench_csv(report),
        bench_markdown(report),
        bench_html(report),
    ];
    forms.extend(bench_pictures(report).into_iter().map(|picture| picture.svg));
    for form in &forms {
        let form = form.split("<script>\n").next().unwrap_or_default(); // It knows the word.
        for never in ["NaN", "inf ", "Infinity"] {
            assert!(!form.contains(never), "{never}: {form}");
        }
    }
    forms
}

#[test]
fn a_terminal_shows_the_figures_computed_by_hand() {
    // New, files: first ranks 1, 4, 100; averages 1, 6, 100. Functions: 12, 30.
    // Old, files: 2, 4, 40; averages 2, 52, 40. Functions: 1000 (not there), 30.
    let text = bench_text(&report(&methods(), &measurements()), Style::Plain);
    check(
        &text,
        "\
files, all cases
Method  Cases     Top-1     Top-5    Top-10    Top-20   MFR   MAR
new         3  1 (33 %)  2 (67 %)  2 (67 %)  2 (67 %)  35.0  35.7
old         3   0 (0 %)  2 (67 %)  2 (67 %)  2 (67 %)  15.3  31.3
functions, all cases
new         2  0 (0 %)  0 (0 %)  0 (0 %)  1 (50 %)   21.0   21.0
old         2  0 (0 %)  0 (0 %)  0 (0 %)   0 (0 %)  515.0  515.0",
    );
    assert!(!text.contains('\x1b') && !text.contains("not measured"), "{text}");
    let coloured = bench_text(&report(&methods(), &measurements()), Style::Coloured);
    assert!(coloured.contains("\x1b[32m15.3\x1b[0m"), "the best is marked: {coloured}");
}

#[test]
fn json_has_the_agreed_form() {
    let json = bench_json(&report(&methods(), &measurements()));
    let begin = r#"{"version":1,"methods":{"new":{"cases":3,"files":{"top1":1,"top5":2,"top10":2,"top20":2,"mfr":35.0,"mar":35.666666666666664,"cases":3},"functions":{"top1":0,"top5":0,"top10":0,"top20":1,"mfr":21.0,"mar":21.0,"cases":2},"without_witness":0,"searches":3,"runs":1000.0,"witnesses":10.0,"over_seeds":{"files":{"top1":{"mean":1.0,"#;
    assert!(json.starts_with(begin), "{json}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["methods"], json["firm"], "no case is weak");
    assert_eq!(json["comparisons"].as_array().map(Vec::len), Some(2));
}

#[test]
fn csv_has_a_row_per_search_and_quotes_what_needs_it() {
    let all = [
        measured("b", "new", &[None], &[]),
        measured("a,\"x\"", "new", &[Some(4), Some(7)], &[Some(12)]),
    ];
    let csv = bench_csv(&report(&methods(), &all));
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("case,kind,truth,llvm,method,seed,runs,witnesses,"));
    let expected = [
        "\"a,\"\"x\"\"\",crash,fix,19.1.7,new,1,1000,10,900,90,,0.75,100,4,5.5,true,1000,12,12,true",
        "b,crash,fix,19.1.7,new,1,1000,10,900,90,,0.75,100,100,100,false,1000,,,",
    ];
    assert_eq!(lines[1..], expected);
    let n_columns = lines[0].split(',').count();
    assert_eq!(lines[2].split(',').count(), n_columns);
}

#[test]
fn markdown_shows_each_table_once() {
    // Functions: of old 1000 and 30, of new 12 and 30. A12 = 3.5 / 4. For U = 3.5
    // the mean is 2 and the variance 4/12 · (5 - 6/12) = 1.5, so z = 1 / √1.5.
    let markdown = bench_markdown(&report(&methods(), &measurements()));
    check(
        &markdown,
        "\
# a bench
- Budget: 1,000 runs per search
## Ranks of files, all cases
| new | 3 | **1 (33 %)** | 2 (67 %) | 2 (67 %) | 2 (67 %) | 35.0 | 35.7 |
| crash | new | 2 | 1 | 1 | 1 | 50.5 | 0 | 0 | 0 | 30.0 |
| invalid-ir | old | 1 | 0 | 1 | 1 | 4.0 | 0 | 0 | 0 | 1,000.0 |
| functions | old | new | 2 | 0 | 1 | 1 | 1.000 | 0.414 | 0.88 |
| a | crash | 19.1.7 | fix | 1 | 2 |
| b | invalid-ir | 19.1.7 | fix | 4 / 12 | 4 / – |
| c | crash | 19.1.7 | fix | – / 30 | 40 / 30 |",
    );
    for never in ["firm truth", "Spread", "Formulas", "Not measured"] {
        assert!(!markdown.contains(never), "{never}: {markdown}");
    }
}

#[test]
fn weak_cases_have_tables_of_their_own() {
    let mut all = measurements();
    for found in all.iter_mut().filter(|found| found.case == "c") {
        found.confidence = Some("weak".to_owned());
    }
    let methods = methods();
    let markdown = bench_markdown(&report(&methods, &all));
    check(
        &markdown,
        "\
- Cases: 3, of which 1 with weak truth
## Ranks of files, cases with firm truth
| new | 2 | **1 (50 %)** | 2 (100 %) | 2 (100 %) | 2 (100 %) | **2.5** | **3.5** |
## Ranks of files, all cases",
    );
    let json: serde_json::Value =
        serde_json::from_str(&bench_json(&report(&methods, &all))).unwrap();
    assert_eq!(
        (&json["methods"]["new"]["cases"], &json["firm"]["new"]["cases"]),
        (&3.into(), &2.into())
    );

    for found in &mut all {
        found.confidence = Some("weak".to_owned());
    }
    let markdown = bench_markdown(&report(&methods, &all));
    assert_eq!(markdown.matches("## Ranks of files").count(), 1);
    assert!(markdown.contains("## Ranks of files, cases with weak truth"));
}

#[test]
fn seeds_are_spread_and_missing_ones_are_listed() {
    let with = |case: &str, seed: u64, rank: usize| Measurement {
        seed,
        ..measured(case, "new", &[Some(rank)], &[])
    };
    // Seed 1: 1, 5. Seed 2: 3, 9. Of the third case one is missing.
    let all = [with("a", 1, 1), with("a", 2, 3), with("b", 1, 5), with("b", 2, 9), with("c", 1, 1)];
    let why = "lost | its\nworker".to_owned();
    let unmeasured = [
        Unmeasured { case: "c".into(), search: Some(("new".into(), 2)), why },
        Unmeasured { case: "d".into(), search: None, why: "does not fail".into() },
    ];
    let methods = methods();
    let report = BenchReport { unmeasured: &unmeasured, seeds: &[1, 2], ..report(&methods, &all) };
    check(
        &bench_markdown(&report),
        "\
| new | 2 | 1.5 | 0.71 | 1–2 | 4.5 | 2.12 | 3–6 |
| a | crash | 19.1.7 | fix | 2 |
| c | crash | 19.1.7 | fix | × |
| all | old | all | was not measured |
| c | new | 2 | lost \\| its worker |
| d | all | all | does not fail |
| c | new | some | does not count for this method: not measured with all of its seeds |",
    );
    let json: serde_json::Value = serde_json::from_str(&bench_json(&report)).unwrap();
    assert_eq!(json["incomplete"], serde_json::json!([{ "method": "new", "case": "c" }]));
    assert_eq!(json["unmeasured"][1]["why"], "does not fail");
    forms(&report);
}

#[test]
fn without_measurements_every_form_says_so() {
    let methods = methods();
    let report = BenchReport { seeds: &[], ..report(&methods, &[]) };
    let forms = forms(&report);
    assert_eq!(forms.len(), 5, "there are no pictures");
    assert!(forms[1].contains("nothing was measured"));
    assert_eq!(forms[2].lines().count(), 1);
    assert!(
        forms[3].contains("Nothing was measured.") && forms[4].contains("Nothing was measured.")
    );
    assert!(forms[0].starts_with(r#"{"version":1,"methods":{},"firm":{},"comparisons":[]"#));
    let nobody: [String; 0] = [];
    super::tests::forms(&BenchReport { methods: &nobody, ..report });
}

#[test]
fn one_method_is_compared_with_none_and_best_in_nothing() {
    let methods = ["new".to_owned()];
    let all = measurements();
    let report = report(&methods, &all);
    let markdown = bench_markdown(&report);
    assert!(!markdown.contains("Against the first") && !markdown.contains("**"), "{markdown}");
    assert!(!bench_html(&report).contains("id=\"comparisons\""));
    forms(&report);
}

#[test]
fn cases_without_culprits_or_ranks_have_fewer_pictures() {
    let names = |all: &[Measurement]| {
        let methods = methods();
        let report = report(&methods, all);
        forms(&report);
        let pictures = bench_pictures(&report);
        pictures.into_iter().map(|picture| picture.name).collect::<Vec<_>>().join(" ")
    };
    let mut all = [measured("a", "new", &[Some(3)], &[]), measured("b", "new", &[None], &[])];
    assert_eq!(names(&all), "top-files.svg ranks-files.svg");
    all[0].history = vec![entry(50, None)];
    assert_eq!(names(&all), "top-files.svg ranks-files.svg", "a history without ranks");
    all[0].history = vec![entry(50, Some(9)), entry(100, Some(3))];
    all[1].history = vec![entry(50, Some(7))];
    assert_eq!(names(&all), "top-files.svg ranks-files.svg course-files.svg");
    assert_eq!(names(&[measured("a", "new", &[], &[])]), "");
}

#[test]
fn pictures_alone_bring_all_they_need() {
    let methods = methods();
    let all = measurements();
    for picture in bench_pictures(&report(&methods, &all)) {
        let svg = &picture.svg;
        assert!(svg.starts_with("<svg class=\"plot\" xmlns=\"http://www.w3.org/2000/svg\""));
        assert!(
            svg.ends_with("</svg>\n") && svg.contains("<rect") && svg.contains("fill=\"#ffffff\"")
        );
        assert!(!svg.contains("var("), "{}: {svg}", picture.name);
    }
}

#[test]
fn the_order_of_measurements_changes_no_byte() {
    let methods = methods();
    let all = measurements();
    let turned: Vec<Measurement> = all.iter().rev().cloned().collect();
    assert_eq!(forms(&report(&methods, &all)), forms(&report(&methods, &turned)));
}
