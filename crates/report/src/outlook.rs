//! What `optsleuth bench --list` would do, for a terminal and as JSON.

use optsleuth_model::Outlook;
use serde_json::json;

use crate::words;

pub fn outlook_text(outlook: &Outlook) -> String {
    let Outlook { cases, searches, done, time, lanes } = outlook;
    let mut lines: Vec<String> = cases.iter().map(|case| format!("  {case}")).collect();
    let n = cases.len();
    lines.insert(0, format!("{n} {}", if n == 1 { "case" } else { "cases" }));
    lines.push(format!("{done} of {searches} measurements are there"));
    let at_a_time = match lanes {
        1 => "one case at a time".to_owned(),
        _ => format!("{lanes} cases at a time"),
    };
    lines.push(match time {
        _ if done == searches => "nothing is left to do".to_owned(),
        Some(time) => format!(
            "the others search for {} ({at_a_time}); starting workers and repeating failures comes on top",
            words::duration(*time)
        ),
        None => format!("how long the others take depends on the cases ({at_a_time})"),
    });
    lines.join("\n")
}

pub fn outlook_json(outlook: &Outlook) -> String {
    let json = json!({
        "version": 1,
        "cases": outlook.cases,
        "measurements": outlook.searches,
        "done": outlook.done,
        "seconds": outlook.time.map(|time| time.as_secs_f64()),
        "jobs": outlook.lanes,
    });
    format!("{json:#}")
}
