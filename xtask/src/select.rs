//! `cargo xtask doc2vec`: how fast vectors of pass sequences are learnt, and how
//! good they are, side by side with Gensim; and what a selection takes.
//!
//! The sequences are those of Section 4.2 of the CTOS paper: 50 to 200 passes,
//! each drawn from 114. Such sequences have nothing in common, so what can be
//! asked of their vectors is whether a copy with a tenth of its passes replaced
//! or deleted is nearer to its original than to any other.
//!
//! **Invariant:** both learn from the same file with the same parameters, in
//! turn; every sample is kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use optsleuth_compiler::spawn::Tool;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_select::doc2vec::{Corpus, Settings, Word, train};
use optsleuth_select::xmeans::{self, xmeans};
use optsleuth_select::{Vectors, centroid};
use rand::seq::SliceRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;

/// Goes up when a field changes its meaning.
const VERSION: u32 = 1;
/// How many passes the paper has.
const N_PASSES: u16 = 114;

/// Compare vectors of pass sequences with Gensim's, and time a selection
#[derive(Debug, Args)]
pub(crate) struct Doc2vec {
    /// How many sequences are learnt from side by side with Gensim
    #[arg(long, default_value_t = 20_000)]
    documents: usize,
    /// How many perturbed copies are added to them
    #[arg(long, default_value_t = 1000)]
    copies: usize,
    /// With how many threads
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    threads: Vec<usize>,
    /// How often everything is measured, in turn
    #[arg(long, default_value_t = 3)]
    rounds: u64,
    /// A Python that has gensim 4 and numpy; without it, only ours is measured
    #[arg(long)]
    gensim: Option<PathBuf>,
    /// Out of how many sequences to select; 0 for no selection
    #[arg(long, default_value_t = 300_000)]
    population: usize,
    /// How many to select
    #[arg(long, default_value_t = 3000)]
    select: usize,
    /// The file for the raw data
    #[arg(short, long)]
    out: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Raw {
    version: u32,
    cpu: String,
    cores: usize,
    documents: usize,
    copies: usize,
    words: usize,
    selection: Option<Selection>,
    order: Order,
    samples: Vec<Sample>,
}

/// One training.
#[derive(Debug, Serialize)]
struct Sample {
    /// `optsleuth`, or Gensim and how it gets at the documents.
    who: String,
    threads: usize,
    seconds: f64,
    /// Of all threads together: what does not depend on who else is at work.
    cpu_seconds: f64,
    /// How many copies have their original as nearest neighbour.
    found: usize,
}

/// A selection from end to end, on all cores.
#[derive(Debug, Serialize)]
struct Selection {
    population: usize,
    selected: usize,
    clusters: usize,
    doc2vec_seconds: f64,
    xmeans_seconds: f64,
    centroid_seconds: f64,
    peak_rss_mib: u64,
}

/// Mean cosines between a sequence and a variant of it, both learnt from.
#[derive(Debug, Serialize)]
struct Order {
    documents: usize,
    same: f64,
    perturbed: f64,
    /// The same passes in another order.
    shuffled: f64,
    unrelated: f64,
}

impl Doc2vec {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        // First, so that the peak of memory is its own.
        let selection = (self.population > 0).then(|| self.selection()).transpose()?;
        let sequences = with_copies(self.documents, self.copies);
        let mut raw = Raw {
            version: VERSION,
            cpu: field("/proc/cpuinfo", "model name")?,
            cores: std::thread::available_parallelism()?.get(),
            documents: self.documents,
            copies: self.copies,
            words: sequences.iter().map(Vec::len).sum(),
            selection,
            order: order(2000),
            samples: Vec::new(),
        };
        let folder = Workdir::new()?;
        let file = folder.file("corpus.txt");
        fs::write(&file, lines(&sequences))?;
        let corpus: Corpus = sequences.into_iter().collect();
        for seed in 0..self.rounds {
            for &threads in &self.threads {
                raw.samples.push(self.ours(&corpus, threads, seed)?);
                if let Some(python) = &self.gensim {
                    for way in ["memory", "file"] {
                        raw.samples.push(self.gensim(python, &file, way, threads, seed)?);
                    }
                }
            }
        }
        print!("{}", table(&raw));
        if let Some(out) = &self.out {
            let json = serde_json::to_string(&raw)?;
            fs::write(out, json.replace("},{", "},\n{").replace("],\"", "],\n\"") + "\n")?;
        }
        Ok(())
    }

    fn ours(&self, corpus: &Corpus, threads: usize, seed: u64) -> anyhow::Result<Sample> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let (started, cpu) = (Instant::now(), cpu_seconds()?);
        let vectors =
            pool.install(|| train(corpus, &Settings::sequences(seed), &|_, _| {}).into_documents());
        Ok(Sample {
            who: "optsleuth".to_owned(),
            threads,
            seconds: started.elapsed().as_secs_f64(),
            cpu_seconds: cpu_seconds()? - cpu,
            found: found(&vectors, self.copies),
        })
    }

    fn gensim(
        &self,
        python: &Path,
        corpus: &Path,
        way: &str,
        threads: usize,
        seed: u64,
    ) -> anyhow::Result<Sample> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("gensim/doc2vec.py");
        let window = Settings::sequences(seed).window;
        let tool = Tool::new(python)
            .arg(script)
            .arg(corpus)
            .args(["--way", way])
            .args(["--threads", &threads.to_string()])
            .args(["--copies", &self.copies.to_string()])
            .args(["--window", &window.to_string()])
            .args(["--seed", &(seed + 1).to_string()])
            // Its arithmetic is not to take more threads than it is given.
            .env("OPENBLAS_NUM_THREADS", "1")
            .time(Duration::from_secs(3600));
        let answer: serde_json::Value = serde_json::from_str(&tool.text()?)?;
        let number = |name: &str| answer[name].as_f64().context("Gensim gave no number");
        Ok(Sample {
            who: format!("gensim {} {way}", answer["version"].as_str().unwrap_or("?")),
            threads,
            seconds: number("seconds")?,
            cpu_seconds: number("cpu_seconds")?,
            found: number("found")? as usize,
        })
    }

    fn selection(&self) -> anyhow::Result<Selection> {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let corpus: Corpus = (0..self.population).map(|_| sequence(&mut random)).collect();
        let started = Instant::now();
        let vectors = train(&corpus, &Settings::sequences(1), &|_, _| {}).into_documents();
        let doc2vec_seconds = started.elapsed().as_secs_f64();
        let started = Instant::now();
        let clusters = xmeans(&vectors, &xmeans::Settings::new(1));
        let xmeans_seconds = started.elapsed().as_secs_f64();
        let started = Instant::now();
        let chosen = centroid::select(&vectors, &clusters, self.select);
        let centroid_seconds = started.elapsed().as_secs_f64();
        let peak = field("/proc/self/status", "VmHWM")?;
        let peak_kib: u64 = peak.trim_end_matches(" kB").trim().parse()?;
        Ok(Selection {
            population: self.population,
            selected: chosen.len(),
            clusters: clusters.len(),
            doc2vec_seconds,
            xmeans_seconds,
            centroid_seconds,
            peak_rss_mib: peak_kib / 1024,
        })
    }
}

/// A random sequence, as in Section 4.2.
fn sequence(random: &mut ChaCha8Rng) -> Vec<Word> {
    let length = random.random_range(50..=200);
    (0..length).map(|_| random.random_range(0..N_PASSES)).collect()
}

/// A copy with each pass replaced or deleted with a chance of one in ten.
fn perturbed(sequence: &[Word], random: &mut ChaCha8Rng) -> Vec<Word> {
    let mut copy = Vec::with_capacity(sequence.len());
    for &pass in sequence {
        match random.random_range(0..20) {
            0 => {}
            1 => copy.push(random.random_range(0..N_PASSES)),
            _ => copy.push(pass),
        }
    }
    copy
}

/// Random sequences, then copies of the first ones.
fn with_copies(n_originals: usize, n_copies: usize) -> Vec<Vec<Word>> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut sequences: Vec<_> = (0..n_originals).map(|_| sequence(&mut random)).collect();
    for original in 0..n_copies {
        sequences.push(perturbed(&sequences[original], &mut random));
    }
    sequences
}

/// How far variants of sequences are from them.
fn order(n: usize) -> Order {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let originals: Vec<_> = (0..n).map(|_| sequence(&mut random)).collect();
    let mut sequences = originals.clone();
    sequences.extend(originals.iter().cloned());
    sequences.extend(originals.iter().map(|sequence| perturbed(sequence, &mut random)));
    sequences.extend(originals.iter().map(|sequence| {
        let mut shuffled = sequence.clone();
        shuffled.shuffle(&mut random);
        shuffled
    }));
    let corpus: Corpus = sequences.into_iter().collect();
    let vectors = unit(&train(&corpus, &Settings::sequences(1), &|_, _| {}).into_documents());
    let mean = |other: &dyn Fn(usize) -> usize| {
        (0..n).map(|i| f64::from(dot(&vectors[i], &vectors[other(i)]))).sum::<f64>() / n as f64
    };
    Order {
        documents: n,
        same: mean(&|i| i + n),
        perturbed: mean(&|i| i + 2 * n),
        shuffled: mean(&|i| i + 3 * n),
        unrelated: mean(&|i| (i + 1) % n),
    }
}

/// How many of the last vectors have their original as nearest neighbour.
fn found(vectors: &Vectors, n_copies: usize) -> usize {
    let unit = unit(vectors);
    let n_originals = unit.len() - n_copies;
    let is_found = |&copy: &usize| {
        let own = n_originals + copy;
        let others = (0..unit.len()).filter(|&other| other != own);
        let nearest = others
            .map(|other| (other, dot(&unit[other], &unit[own])))
            .max_by(|left, right| left.1.total_cmp(&right.1));
        nearest.is_some_and(|(other, _)| other == copy)
    };
    (0..n_copies).into_par_iter().filter(is_found).count()
}

fn unit(vectors: &Vectors) -> Vec<Vec<f32>> {
    let rows = vectors.rows().map(|row| {
        let length = dot(row, row).sqrt().max(1e-30);
        row.iter().map(|number| number / length).collect()
    });
    rows.collect()
}

fn dot(left: &[f32], right: &[f32]) -> f32 {
    let products = left
        .chunks(4)
        .zip(right.chunks(4))
        .map(|(left, right)| left.iter().zip(right).map(|(left, right)| left * right).sum::<f32>());
    products.sum()
}

/// A sequence per line, as Gensim reads them.
fn lines(sequences: &[Vec<Word>]) -> String {
    let mut text = String::new();
    for sequence in sequences {
        let passes: Vec<String> = sequence.iter().map(|pass| format!("p{pass}")).collect();
        text.push_str(&passes.join(" "));
        text.push('\n');
    }
    text
}

/// What this process has worked so far, in all its threads.
fn cpu_seconds() -> anyhow::Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(") ").context("no name in /proc/self/stat")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    // In hundredths: user and system time, the 14th and the 15th field.
    Ok((fields[11].parse::<f64>()? + fields[12].parse::<f64>()?) / 100.0)
}

/// What follows `name:` in a file of `/proc`.
fn field(file: &str, name: &str) -> anyhow::Result<String> {
    let text = fs::read_to_string(file)?;
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    let found = fields.find(|(key, _)| key.trim() == name);
    Ok(found.with_context(|| format!("no {name}"))?.1.trim().to_owned())
}

/// Medians, and ratios to ours, for people.
fn table(raw: &Raw) -> String {
    let mut text = String::new();
    let mut rows: Vec<(usize, &str)> =
        raw.samples.iter().map(|sample| (sample.threads, sample.who.as_str())).collect();
    rows.sort_unstable();
    rows.dedup();
    let median = |threads: usize, who: &str, of: fn(&Sample) -> f64| {
        let samples = raw.samples.iter().filter(|s| s.threads == threads && s.who == who);
        let mut values: Vec<f64> = samples.map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    for (threads, who) in rows {
        let seconds = median(threads, who, |sample| sample.seconds);
        let cpu = median(threads, who, |sample| sample.cpu_seconds);
        let found = median(threads, who, |sample| sample.found as f64);
        let ratio = seconds / median(threads, "optsleuth", |sample| sample.seconds);
        let cpu_ratio = cpu / median(threads, "optsleuth", |sample| sample.cpu_seconds);
        text += &format!(
            "{who}, {threads} threads: {seconds:.2} s ({ratio:.2}x), {cpu:.2} s of CPU \
             ({cpu_ratio:.2}x), {found} of {} found\n",
            raw.copies
        );
    }
    text += &format!("{:?}\n", raw.order);
    if let Some(selection) = &raw.selection {
        text += &format!("{selection:?}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_differ_a_little_from_their_originals() {
        let sequences = with_copies(20, 20);
        assert_eq!(sequences.len(), 40);
        for (original, copy) in sequences[..20].iter().zip(&sequences[20..]) {
            assert!((50..=200).contains(&original.len()));
            assert_ne!(original, copy);
            assert!(copy.len() <= original.len() && copy.len() * 10 > original.len() * 7);
        }
        assert_eq!(lines(&[vec![1, 2], vec![3]]), "p1 p2\np3\n");
    }

    #[test]
    fn the_nearest_is_found_by_direction() {
        let rows = [[1.0, 0.0], [0.0, 1.0], [5.0, 1.0], [1.0, 0.1]];
        assert_eq!(found(&Vectors::from_rows(2, rows), 2), 0);
        let rows = [[1.0, 0.0], [0.0, 1.0], [5.0, 1.0], [0.1, 1.0]];
        assert_eq!(found(&Vectors::from_rows(2, rows), 2), 2);
    }
}
