//! A campaign -> pictures: findings and executed blocks over time, outcomes, and
//! the passes that fail, or the snippets that it takes (Figure 8 of the Hermes
//! paper).
//!
//! **Invariant:** a picture without anything in it is left out. A kind of
//! failure has the same colour and sign in every campaign.

use optsleuth_model::{Campaign, CaseKind, Finding, Hunt, Trigger};

use super::facts::executed;
use crate::svg::{Axis, Bar, Bars, Line, Look, Picture, Plot, Shape};
use crate::words;

/// How many passes, or sets of snippets, have a bar of their own.
const MAX_BARS: usize = 16;

pub(super) fn pictures(campaign: &Campaign) -> Vec<Picture<'_>> {
    let all = [found, coverage, outcomes, triggers].map(|draw| draw(campaign));
    all.into_iter().flatten().collect()
}

/// What time is counted in, so that an axis has short labels.
#[derive(Clone, Copy)]
struct Clock {
    unit: &'static str,
    /// How many seconds are one.
    seconds: f64,
    /// When everything was over.
    end: f64,
}

impl Clock {
    fn of(campaign: &Campaign) -> Clock {
        let growth = campaign.growth.iter().map(|growth| growth.seconds);
        let findings = campaign.findings.iter().map(|finding| finding.seconds);
        let times = growth.chain(findings).chain([campaign.seconds]);
        let end = times.filter(|time| time.is_finite()).fold(0.0, f64::max);
        let (unit, seconds) = match end {
            _ if end <= 180.0 => ("seconds", 1.0),
            _ if end <= 10_800.0 => ("minutes", 60.0),
            _ => ("hours", 3600.0),
        };
        Clock { unit, seconds, end: end / seconds }
    }

    fn axis(self) -> Axis {
        Axis::up_to(self.end)
    }

    /// A count that rises by one at each of these times.
    fn rising(self, times: impl Iterator<Item = f64>) -> Vec<(f64, Option<f64>)> {
        let mut times: Vec<f64> =
            times.filter(|time| time.is_finite()).map(|time| time / self.seconds).collect();
        times.sort_by(f64::total_cmp);
        let last = times.len() as f64;
        let rises = times.iter().enumerate().map(|(i, time)| (*time, Some((i + 1) as f64)));
        [(0.0, Some(0.0))].into_iter().chain(rises).chain([(self.end, Some(last))]).collect()
    }
}

fn found(campaign: &Campaign) -> Option<Picture<'_>> {
    let findings = &campaign.findings;
    let (clock, n) = (Clock::of(campaign), findings.len());
    let last = findings.iter().map(|finding| finding.seconds).reduce(f64::max)?;
    let is_of_passes = matches!(campaign.hunt, Hunt::Passes(_));
    // What drivers do, they do at a level.
    let at_level = || findings.iter().filter(|one| is_of_passes && !one.levels.is_empty());
    let mut lines = vec![Line {
        label: "all",
        look: Look::First,
        shape: Shape::Steps,
        points: clock.rising(findings.iter().map(|finding| finding.seconds)),
    }];
    if at_level().next().is_some() {
        lines.push(Line {
            label: "also at a level",
            look: Look::Broken,
            shape: Shape::Steps,
            points: clock.rising(at_level().map(|finding| finding.seconds)),
        });
    }
    let plot = Plot {
        id: "found".to_owned(),
        title: "Findings over time",
        description: format!(
            "{}, the last of them after {}{}.",
            words::counted(n, "finding", "findings"),
            words::seconds(last),
            match is_of_passes {
                true => format!("; {} of them also at a level", words::count(at_level().count())),
                false => String::new(),
            }
        ),
        x_label: clock.unit,
        y_label: "findings",
        x: clock.axis(),
        y: Axis::counts(n),
        bands: Vec::new(),
        lines,
    };
    Some(plot.picture())
}

fn coverage(campaign: &Campaign) -> Option<Picture<'_>> {
    let (clock, blocks, n_blocks) = (Clock::of(campaign), executed(campaign)?, campaign.n_blocks);
    let percent = |blocks: u64| 100.0 * blocks as f64 / n_blocks as f64;
    let moments = campaign.growth.iter().filter(|growth| growth.seconds.is_finite());
    let moments =
        moments.map(|growth| (growth.seconds / clock.seconds, Some(percent(growth.blocks))));
    // Before the first test, nothing was executed.
    let mut points: Vec<(f64, Option<f64>)> =
        [(0.0, Some(0.0))].into_iter().chain(moments).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let plot = Plot {
        id: "coverage".to_owned(),
        title: "Blocks of the compiler that were executed",
        description: format!(
            "In the end {} of {} blocks, {}.",
            words::count(blocks),
            words::count(n_blocks),
            words::percent(blocks, n_blocks)
        ),
        x_label: clock.unit,
        y_label: "% of all blocks",
        x: clock.axis(),
        y: Axis::up_to(percent(blocks)),
        bands: Vec::new(),
        lines: vec![Line { label: "executed", look: Look::First, shape: Shape::Straight, points }],
    };
    Some(plot.picture())
}

fn outcomes(campaign: &Campaign) -> Option<Picture<'_>> {
    let most = campaign.outcomes.iter().map(|(_, n)| *n).max().filter(|most| *most > 0)?;
    let all = campaign.outcomes.iter().fold(0_u64, |sum, (_, n)| sum.saturating_add(*n));
    let bar = |(name, n): &(String, u64)| Bar {
        heading: None,
        label: name.clone(),
        parts: vec![(0, *n as f64)],
        said: format!("{} ({})", words::count(*n), words::percent(*n, all)),
    };
    let bars: Vec<Bar> = campaign.outcomes.iter().map(bar).collect();
    let bars = Bars {
        id: "outcomes".to_owned(),
        title: "What came of the tests",
        description: said(&bars),
        x_label: "tests (logarithmic)",
        axis: Axis::magnitudes(most),
        parts: Vec::new(),
        bars,
    };
    Some(bars.picture())
}

/// Findings by what makes the compiler fail: the last pass, or the kinds of
/// snippets.
fn triggers(campaign: &Campaign) -> Option<Picture<'_>> {
    let (id, title, others_are) = match campaign.hunt {
        Hunt::Passes(_) => {
            ("passes", "Findings by the last pass of the reduced sequence", "other passes")
        }
        Hunt::Variants(_) => ("needed", "Findings by the snippets that they need", "other sets"),
    };
    let mut groups: Vec<(String, Vec<&Finding>)> = Vec::new();
    for finding in &campaign.findings {
        let own = trigger(finding);
        match groups.iter_mut().find(|(known, _)| *known == own) {
            Some((_, findings)) => findings.push(finding),
            None => groups.push((own, vec![finding])),
        }
    }
    groups.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(&b.0)));
    let n_alone = if groups.len() > MAX_BARS { MAX_BARS - 1 } else { groups.len() };
    let others = groups.split_off(n_alone);
    let mut bars: Vec<Bar> =
        groups.into_iter().map(|(label, findings)| by_kind(label, &findings)).collect();
    if !others.is_empty() {
        let label = format!("{} {others_are}", words::count(others.len()));
        let findings: Vec<&Finding> = others.into_iter().flat_map(|(_, all)| all).collect();
        bars.push(by_kind(label, &findings));
    }
    let total = |bar: &Bar| bar.parts.iter().map(|(_, n)| *n).sum::<f64>();
    let most = bars.iter().map(total).reduce(f64::max)?;
    let is_there = |kind: &CaseKind| campaign.findings.iter().any(|one| one.kind == *kind);
    let kinds = CaseKind::ALL.into_iter().filter(is_there);
    let bars = Bars {
        id: id.to_owned(),
        title,
        description: said(&bars),
        x_label: "findings",
        axis: Axis::counts(most as usize),
        parts: kinds.map(|kind| (series(kind), words::kind(kind))).collect(),
        bars,
    };
    Some(bars.picture())
}

fn trigger(finding: &Finding) -> String {
    match &finding.trigger {
        Trigger::Passes(_) => finding.pass.clone().unwrap_or_default(),
        Trigger::Variant(trigger) if trigger.snippets.is_empty() => "none".to_owned(),
        Trigger::Variant(trigger) => trigger.snippets.join(" + "),
    }
}

/// All bars in words.
fn said(bars: &[Bar]) -> String {
    let said: Vec<String> =
        bars.iter().map(|bar| format!("{}: {}.", bar.label, bar.said)).collect();
    said.join(" ")
}

fn by_kind(label: String, findings: &[&Finding]) -> Bar {
    let count = |kind: CaseKind| findings.iter().filter(|one| one.kind == kind).count();
    let parts = CaseKind::ALL.map(|kind| (series(kind), count(kind) as f64));
    Bar {
        heading: None,
        label,
        parts: parts.into_iter().filter(|(_, n)| *n > 0.0).collect(),
        said: words::count(findings.len()),
    }
}

/// Decides about a kind's colour and sign.
fn series(kind: CaseKind) -> usize {
    match kind {
        CaseKind::Crash => 0,
        CaseKind::WrongCode => 1,
        CaseKind::InvalidIr => 2,
        CaseKind::Hang => 3,
        CaseKind::Memory => 4,
        CaseKind::Codegen => 5,
    }
}
