//! A campaign of variants -> pictures: findings and executed blocks over time,
//! and which kinds of snippets findings need (Figure 8 of the Hermes paper).
//!
//! **Invariant:** a picture of nothing is none.

use optsleuth_model::EmiCampaign;

use super::facts::executed;
use crate::campaign::pictures::{Clock, coverage_over_time};
use crate::svg::{Axis, Bar, Bars, Line, Look, Picture, Plot, Shape};
use crate::words;

pub(super) fn pictures(campaign: &EmiCampaign) -> Vec<Picture<'_>> {
    let all = [found, coverage, needed].map(|draw| draw(campaign));
    all.into_iter().flatten().collect()
}

fn clock(campaign: &EmiCampaign) -> Clock {
    let growth = campaign.growth.iter().map(|growth| growth.seconds);
    let findings = campaign.findings.iter().map(|finding| finding.seconds);
    Clock::for_times(growth.chain(findings).chain([campaign.seconds]))
}

fn found(campaign: &EmiCampaign) -> Option<Picture<'_>> {
    let (clock, n) = (clock(campaign), campaign.findings.len());
    let times = || campaign.findings.iter().map(|finding| finding.seconds);
    let last = times().reduce(f64::max)?;
    let plot = Plot {
        id: "found".to_owned(),
        title: "Findings over time",
        description: format!(
            "{}, the last of them after {}.",
            words::counted(n, "finding", "findings"),
            words::seconds(last)
        ),
        x_label: clock.unit,
        y_label: "findings",
        x: clock.axis(),
        y: Axis::counts(n),
        bands: Vec::new(),
        lines: vec![Line {
            label: "all",
            look: Look::First,
            shape: Shape::Steps,
            points: clock.rising(times()),
        }],
    };
    Some(plot.picture())
}

fn coverage(campaign: &EmiCampaign) -> Option<Picture<'_>> {
    let moments = campaign.growth.iter().map(|growth| (growth.seconds, growth.blocks));
    let blocks = (executed(campaign)?, campaign.n_blocks);
    Some(coverage_over_time(clock(campaign), blocks, moments))
}

fn needed(campaign: &EmiCampaign) -> Option<Picture<'_>> {
    let mut sets: Vec<(String, usize)> = Vec::new();
    for finding in &campaign.findings {
        let set = match finding.snippets.is_empty() {
            true => "none".to_owned(),
            false => finding.snippets.join(" + "),
        };
        match sets.iter_mut().find(|(known, _)| *known == set) {
            Some((_, n)) => *n += 1,
            None => sets.push((set, 1)),
        }
    }
    sets.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let most = sets.first()?.1;
    let said: Vec<String> = sets.iter().map(|(set, n)| format!("{set}: {n}.")).collect();
    let bar = |(set, n): &(String, usize)| Bar {
        heading: None,
        label: set.clone(),
        parts: vec![(0, *n as f64)],
        said: words::count(*n),
    };
    let bars = Bars {
        id: "needed".to_owned(),
        title: "Findings by the snippets that they need",
        description: said.join(" "),
        x_label: "findings",
        axis: Axis::counts(most),
        parts: Vec::new(),
        bars: sets.iter().map(bar).collect(),
    };
    Some(bars.picture())
}
