//! External reducers: llvm-reduce, cvise and creduce start a test for every
//! candidate, and starting a worker each time would take longer than the run. So the test is a small client that names the file over a
//! socket, and the workers that are running answer.
//!
//! **Invariant:** what a reducer is told is the judge's answer. What it leaves
//! behind does not matter: every program that was accepted passed through here.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use fs_err as fs;
use optsleuth_case::oracle::Oracle;
use optsleuth_compiler::reducers::Reducer;
use optsleuth_compiler::spawn::quote;
use optsleuth_compiler::workdir::Workdir;

use super::judge::{Judge, oracle_of};
use super::lane::{Lane, Tally};
use super::question::{Candidate, Question};
use super::source::Source;
use crate::TriageError;

/// No reducer gets more than a day.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Has a reducer work on a text, as a file of this name. `keep` is told of every
/// program that is the smallest so far. Says whether the reducer came to its end.
pub(super) fn reduce_with(
    judge: &mut Judge<'_>,
    reducer: &Reducer,
    callback_binary: &Path,
    (file, text): (&str, &str),
    keep: &mut dyn FnMut(&str, &Oracle) -> Result<(), TriageError>,
) -> Result<(String, bool), TriageError> {
    let folder = Workdir::new()?;
    let socket = folder.file("ask");
    let listener = UnixListener::bind(&socket)?;
    let test = folder.file("interesting.sh");
    write_test(&test, callback_binary, &socket, file)?;
    fs::write(folder.file(file), text)?;
    let n_lanes = judge.lanes.len();
    let tool = reducer.command(folder.path(), file, &test, n_lanes).time(LONGEST);
    let (question, tally, patience) = (&judge.question, &judge.tally, judge.patience);
    let asked = (question, judge.source.as_ref());
    let lanes = &mut judge.lanes;
    let is_over = AtomicBool::new(false);
    let (found, accepted) = channel();
    let mut best = text.to_owned();
    patience.progress.step(&format!("running {}", reducer.name()));
    let ended = thread::scope(|scope| {
        for lane in lanes.iter_mut() {
            let (found, listener, is_over) = (found.clone(), &listener, &is_over);
            scope.spawn(move || serve(lane, listener, is_over, asked, tally, &found));
        }
        drop(found);
        let (is_over, socket) = (&is_over, &socket);
        let run = scope.spawn(move || {
            let ended = tool.output_unless(&|| patience.is_over());
            is_over.store(true, Ordering::SeqCst);
            for _ in 0..n_lanes {
                let _ = UnixStream::connect(socket); // Wakes one that waits.
            }
            ended
        });
        let mut kept = Ok(());
        for answer in accepted {
            let (text, oracle): (String, Oracle) = match answer {
                Ok(accepted) => accepted,
                Err(error) => {
                    kept = kept.and(Err(error));
                    continue;
                }
            };
            if text.len() < best.len() && kept.is_ok() {
                patience.progress.step(&format!("{}: {} bytes", reducer.name(), text.len()));
                kept = keep(&text, &oracle);
                best = text;
            }
        }
        match run.join() {
            Ok(ended) => kept.and(ended.map_err(TriageError::from)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })?;
    tracing::debug!(end = ?ended.end, "{}", String::from_utf8_lossy(&ended.stderr));
    Ok((best, !patience.is_over()))
}

/// Asks a running reduction whether a file is still interesting: what the test
/// of a reducer does.
pub fn ask(socket: &Path, file: &Path) -> io::Result<bool> {
    let mut stream = UnixStream::connect(socket)?;
    let path = file.canonicalize()?;
    writeln!(stream, "{}", path.display())?;
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    Ok(answer == *b"y")
}

fn write_test(test: &Path, callback_binary: &Path, socket: &Path, file: &str) -> io::Result<()> {
    let word = |path: &Path| quote(&path.display().to_string());
    // llvm-reduce names the file, the others put it where they start the test.
    let line = format!("exec {} ask {} \"${{1:-{file}}}\"", word(callback_binary), word(socket));
    fs::write(test, format!("#!/bin/sh\n{line}\n"))?;
    fs::set_permissions(test, std::fs::Permissions::from_mode(0o755))
}

type Accepted = Result<(String, Oracle), TriageError>;

/// Answers, one question after the other, until the reducer is over.
fn serve(
    lane: &mut Lane<'_>,
    listener: &UnixListener,
    is_over: &AtomicBool,
    asked: (&Question, Option<&Source>),
    tally: &Tally,
    found: &Sender<Accepted>,
) {
    while let Ok((stream, _)) = listener.accept() {
        if is_over.load(Ordering::SeqCst) {
            return;
        }
        // A client that went away does not want to know.
        let _ = answer(stream, lane, asked, tally, found);
    }
}

fn answer(
    mut stream: UnixStream,
    lane: &mut Lane<'_>,
    (question, source): (&Question, Option<&Source>),
    tally: &Tally,
    found: &Sender<Accepted>,
) -> io::Result<()> {
    let mut path = String::new();
    BufReader::new(&stream).read_line(&mut path)?;
    let text = fs::read(path.trim_end_matches('\n'))?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let candidate = match source {
        Some(_) => Candidate::Source(text.clone()),
        None => Candidate::Ir(text.clone()),
    };
    let oracle = oracle_of(question, source, lane, &candidate, tally);
    let is_interesting = matches!(oracle, Ok(Some(_)));
    match oracle {
        Ok(Some(oracle)) => _ = found.send(Ok((text, oracle))),
        Ok(None) => {}
        Err(error) => _ = found.send(Err(error)),
    }
    stream.write_all(if is_interesting { b"y" } else { b"n" })
}
