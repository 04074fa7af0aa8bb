//! Raw data -> the figures that are told, and the bars they have to reach.
//! Pure.

use super::raw::{Hunt, ProgramSearch, Raw, Referee, Search, VariantHunts, VariantStrategy};

/// Passing sequences an hour of the LocSeq paper's set-up, with gcov.
const PAPER_PER_HOUR: f64 = 945.0;

/// A line of the table.
#[derive(Debug)]
pub(super) struct Figure {
    pub(super) what: String,
    pub(super) ours: String,
    pub(super) theirs: String,
    pub(super) ratio: String,
    pub(super) bar: Option<Bar>,
}

/// What a figure has to reach.
#[derive(Debug)]
pub(super) struct Bar {
    /// As in `at least 5`.
    pub(super) text: String,
    pub(super) is_met: bool,
}

/// Quartiles of some samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    pub(super) low: f64,
    pub(super) median: f64,
    pub(super) high: f64,
}

impl Spread {
    pub(super) fn of(samples: &[f64]) -> Spread {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |quarters: usize| {
            sorted.get(sorted.len() * quarters / 4).or(sorted.last()).copied().unwrap_or(f64::NAN)
        };
        Spread { low: at(1), median: at(2), high: at(3) }
    }

    pub(super) fn per_second(self) -> f64 {
        1e3 / self.median
    }

    fn text(self) -> String {
        let Spread { low, median, high } = self;
        format!("{median:.2} ms ({low:.2}–{high:.2}), {}/s", rate(self.per_second()))
    }
}

/// Two digits where there are few.
pub(super) fn rate(per_second: f64) -> String {
    if per_second < 20.0 { format!("{per_second:.1}") } else { format!("{per_second:.0}") }
}

/// With a comma between thousands.
pub(super) fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Of several searches, the one in the middle by time.
pub(super) fn middle(searches: &[Search]) -> Option<&Search> {
    let mut sorted: Vec<&Search> = searches.iter().collect();
    sorted.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    sorted.get(sorted.len() / 2).copied()
}

impl Search {
    fn worker_seconds(&self) -> f64 {
        self.seconds * self.workers as f64
    }

    /// Sequences per second and core.
    pub(super) fn rate(&self) -> f64 {
        self.runs as f64 / self.worker_seconds()
    }

    /// The part of the time in which a worker had no request.
    pub(super) fn overhead(&self) -> f64 {
        1.0 - self.occupied_seconds / self.worker_seconds()
    }

    /// The part of the time in which a worker's child was not at work.
    pub(super) fn outside_llvm(&self) -> f64 {
        1.0 - self.worked_seconds / self.worker_seconds()
    }
}

/// All figures, in the order of the table.
pub(super) fn figures(raw: &Raw) -> Vec<Figure> {
    let ms = &raw.ms;
    let major = raw.llvm.split('.').next().unwrap_or_default();
    let big = format!("a csmith program of {} lines", count(raw.big_program_lines));
    let small = "a 15-line program";
    let opt = format!("`opt-{major}`");
    let mut all = vec![
        faster(format!("passes over {small}"), &ms.worker_small, &opt, &ms.opt_small, Some(5.0)),
        faster(
            "compile it and execute it".to_owned(),
            &ms.worker_execute,
            &format!("`clang-{major} -O2` and the program"),
            &ms.clang_execute,
            Some(5.0),
        ),
        faster(format!("passes over {big}"), &ms.worker_big, &opt, &ms.opt_big, None),
        cost(format!("coverage of {small}"), &ms.covered_small, &ms.worker_small, 1.4),
        cost(format!("coverage of {big}"), &ms.covered_big, &ms.worker_big, 1.25),
    ];
    if let Some(search) = middle(&raw.locseq.searches) {
        all.extend(locseq(raw, search));
    }
    all.extend(raw.hunt.as_ref().map(hunt));
    all.extend(raw.witness_programs.iter().map(witness_programs));
    if let Some(found) = &raw.variants {
        all.extend(found.strategies.iter().map(variants));
        all.extend(found.hunts.iter().map(variant_hunt));
    }
    all.extend(raw.referee.iter().flat_map(referee));
    for provision in &raw.provision {
        let (rewrite, link) = (provision.rewrite_seconds, provision.link_seconds);
        let is_main = provision.llvm == raw.llvm;
        all.push(Figure {
            what: format!("making a worker with probes, LLVM {}", provision.llvm),
            ours: format!("{rewrite:.1} s rewriting, {link:.1} s linking"),
            theirs: String::new(),
            ratio: String::new(),
            bar: is_main.then(|| at_most("15 s", rewrite + link, 15.0)),
        });
    }
    all
}

fn at_most(text: &str, value: f64, bar: f64) -> Bar {
    Bar { text: format!("at most {text}"), is_met: value <= bar }
}

fn at_least(text: &str, value: f64, bar: f64) -> Bar {
    Bar { text: format!("at least {text}"), is_met: value >= bar }
}

fn faster(what: String, ours: &[f64], name: &str, theirs: &[f64], bar: Option<f64>) -> Figure {
    let (ours, theirs) = (Spread::of(ours), Spread::of(theirs));
    let ratio = theirs.median / ours.median;
    Figure {
        what,
        ours: ours.text(),
        theirs: format!("{name}: {}", theirs.text()),
        ratio: format!("{ratio:.1} times as fast"),
        bar: bar.map(|bar| at_least(&format!("{bar:.0}"), ratio, bar)),
    }
}

fn cost(what: String, covered: &[f64], plain: &[f64], bar: f64) -> Figure {
    let (covered, plain) = (Spread::of(covered), Spread::of(plain));
    let ratio = covered.median / plain.median;
    Figure {
        what,
        ours: covered.text(),
        theirs: format!("without: {}", plain.text()),
        ratio: format!("{ratio:.2} times the time"),
        bar: Some(at_most(&format!("{bar:.2}"), ratio, bar)),
    }
}

fn locseq(raw: &Raw, search: &Search) -> Vec<Figure> {
    let rates: Vec<f64> = raw.locseq.searches.iter().map(Search::rate).collect();
    let (least, most) = rates
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(least, most), rate| (least.min(*rate), most.max(*rate)));
    let passing_per_hour =
        search.witnesses as f64 / (search.seconds * search.workers as f64) * 3600.0;
    let percent = |part: f64| format!("{:.1} %", part * 100.0);
    vec![
        Figure {
            what: format!("LocSeq's loop on `{}`, per core", raw.locseq.case),
            ours: format!("{}/s ({least:.0}–{most:.0})", rate(search.rate())),
            theirs: format!(
                "{PAPER_PER_HOUR:.0} passing sequences an hour in the paper, with gcov; here {}",
                count(passing_per_hour.round() as usize)
            ),
            ratio: format!("{:.0} times as many", passing_per_hour / PAPER_PER_HOUR),
            bar: Some(at_least("100/s", search.rate(), 100.0)),
        },
        Figure {
            what: "time of its workers without a request".to_owned(),
            ours: percent(search.overhead()),
            theirs: String::new(),
            ratio: String::new(),
            bar: Some(at_most("20 %", search.overhead(), 0.2)),
        },
        Figure {
            what: "time of its workers outside LLVM".to_owned(),
            ours: percent(search.outside_llvm()),
            theirs: String::new(),
            ratio: String::new(),
            bar: None,
        },
    ]
}

/// By means: what counts is how many there are in an hour, and slow ones are a
/// part of it.
fn hunt(hunt: &Hunt) -> Figure {
    let mean = |samples: &[f64]| samples.iter().sum::<f64>() / samples.len() as f64;
    let (ours, theirs) = (mean(&hunt.worker), mean(&hunt.processes));
    let text = |ms: f64| format!("{ms:.1} ms on average, {}/s", rate(1e3 / ms));
    Figure {
        what: format!(
            "a hunt's tests: {} csmith programs of about {} lines of IR, sequences of about {} passes, LLVM {}, per core",
            hunt.programs,
            count(hunt.lines),
            hunt.passes,
            hunt.llvm
        ),
        ours: text(ours),
        theirs: format!("`opt`, `clang` and the program: {}", text(theirs)),
        ratio: format!("{:.1} times as many", theirs / ours),
        bar: None,
    }
}

/// So many passing programs DiWi made in an hour, in the one example that tells
/// (RecBi, section 2.1).
const PAPERS_PER_HOUR: f64 = 79.0;

fn witness_programs(found: &ProgramSearch) -> Figure {
    let per_minute = found.search.rate() * 60.0;
    let passing =
        found.passing as f64 / (found.search.seconds * found.search.workers as f64) * 3600.0;
    let round = |value: f64| count(value.round() as usize);
    Figure {
        what: format!("mutants by {} on `{}`, per core", found.method, found.case),
        ours: format!("{} a minute; {} pass in an hour", round(per_minute), round(passing)),
        theirs: format!("{PAPERS_PER_HOUR:.0} passing programs an hour in the papers' example"),
        ratio: format!("{:.0} times as many", passing / PAPERS_PER_HOUR),
        bar: None,
    }
}

/// Hermes's average for profiling and synthesis (the paper's Table 3).
const PAPERS_VARIANT_SECONDS: f64 = 1.7;
/// Programs that Hermes tested in an hour on one core (section 5.2).
const PAPERS_TESTED_PER_HOUR: f64 = 400.0;

fn variants(found: &VariantStrategy) -> Figure {
    let each = found.deriving_seconds / found.variants.max(1) as f64;
    let judging = found.judging_seconds / found.variants.max(1) as f64;
    let is_hermes = found.strategy == "hermes";
    Figure {
        what: format!("variants by {}, per core", found.strategy),
        ours: format!("{each:.2} s each, {}/s; {judging:.2} s to check one", rate(1.0 / each)),
        theirs: match is_hermes {
            true => format!("{PAPERS_VARIANT_SECONDS} s each in the paper"),
            false => String::new(),
        },
        ratio: match is_hermes {
            true => format!("{:.1} times as fast", PAPERS_VARIANT_SECONDS / each),
            false => String::new(),
        },
        bar: None,
    }
}

fn variant_hunt(found: &VariantHunts) -> Figure {
    let per_hour = found.programs as f64 / (found.seconds * found.cores as f64) * 3600.0;
    Figure {
        what: format!(
            "programs tested at five levels by {}, seeds and checks included, per core",
            found.compilers.join(" and ")
        ),
        ours: format!("{} an hour", count(per_hour.round() as usize)),
        theirs: format!("{PAPERS_TESTED_PER_HOUR:.0} an hour in the paper, by gcc and clang"),
        ratio: format!("{:.1} times as many", per_hour / PAPERS_TESTED_PER_HOUR),
        bar: None,
    }
}

pub(super) fn referee(found: &Referee) -> Vec<Figure> {
    let [interpreted, executed, alone] =
        [&found.long_interpreted, &found.long_executed, &found.interpreted]
            .map(|samples| Spread::of(samples));
    let millions = found.long_steps as f64 / 1e6;
    let major = found.llvm.split('.').next().unwrap_or_default();
    let mut check = faster(
        format!(
            "is a csmith program of {} lines defined? From C to the referee's verdict",
            count(found.lines)
        ),
        &found.check,
        &format!("`clang-{major} -fsanitize=address,undefined` and the program"),
        &found.sanitizers,
        None,
    );
    check.ours += &format!(
        "; of it {:.2} ms for {} instructions of IR",
        alone.median,
        count(found.steps as usize)
    );
    vec![
        Figure {
            what: format!("instructions of IR by the referee, loops of {millions:.0} million"),
            ours: format!("{:.0} million/s", millions * interpreted.per_second()),
            theirs: format!("unoptimized code, compiling and all: {}", executed.text()),
            ratio: format!("{:.0} times the time", interpreted.median / executed.median),
            bar: None,
        },
        check,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_has_as_many_below_as_above() {
        let spread = Spread::of(&[5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!((spread.low, spread.median, spread.high), (2.0, 3.0, 4.0));
        assert!(Spread::of(&[]).median.is_nan());
        assert_eq!(Spread::of(&[7.0]).high, 7.0);
    }

    #[test]
    fn thousands_have_commas() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn a_bar_is_missed_by_what_lies_on_its_wrong_side() {
        let figure = |theirs, bar| faster(String::new(), &[1.0], "", &[theirs], Some(bar));
        assert!(figure(5.0, 5.0).bar.unwrap().is_met);
        assert!(!figure(4.9, 5.0).bar.unwrap().is_met);
        assert!(!cost(String::new(), &[1.5], &[1.0], 1.4).bar.unwrap().is_met);
    }
}
