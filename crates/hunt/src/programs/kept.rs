//! Verdicts on programs, kept from one hunt to the next.
//!
//! One file for each, under `programs/` in the cache: a digest, then what it is
//! the digest of. Together they have a limit, and the ones longest unused go.
//!
//! **Invariant:** a file that is not whole is none. Nothing that goes wrong with
//! the cache stops a hunt: the program is made and checked again.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use fs_err as fs;
use optsleuth_case::folder::write_whole;
use optsleuth_model::{Execution, Program, ProgramEnd};
use serde::{Deserialize, Serialize};

use super::rejection::Rejection;
use super::validity::Valid;

/// A verdict: what may be used, or why not.
pub(super) type Verdict = Result<Valid, (Rejection, String)>;

/// What all verdicts together may take: about 2,000 programs of the paper's
/// size, or 40,000 small ones.
const MOST_BYTES: u64 = 4 << 30;

/// The folder of verdicts.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    folder: PathBuf,
}

impl Kept {
    pub(super) fn in_folder(folder: PathBuf) -> Kept {
        Kept { folder }
    }

    /// The verdict under this key, if there is a whole one.
    pub(super) fn read(&self, key: &str) -> Option<Verdict> {
        let path = self.folder.join(key);
        let bytes = fs::read(&path).ok()?;
        let verdict = decode(&bytes);
        match verdict {
            // Who prunes sees that it is in use.
            Some(_) => touch(&path),
            None => tracing::warn!(key, "a kept program is damaged and made again"),
        }
        verdict
    }

    /// Keeps a verdict, if that can be done.
    pub(super) fn write(&self, key: &str, verdict: &Verdict) {
        let Some(bytes) = encode(verdict) else { return };
        if let Err(error) = write_whole(&self.folder.join(key), bytes) {
            tracing::warn!(%error, "a program cannot be kept");
        }
    }

    /// Removes what was not used for longest, until the rest fits.
    pub(super) fn prune(&self) {
        prune_to(&self.folder, MOST_BYTES);
    }
}

fn touch(path: &Path) {
    if let Ok(file) = std::fs::File::options().write(true).open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
}

fn prune_to(folder: &Path, most_bytes: u64) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let data = entry.metadata().ok()?;
            Some((data.modified().ok()?, data.len(), entry.path()))
        })
        .collect();
    files.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.2.cmp(&b.2)));
    let mut sum = 0;
    for (_, bytes, path) in files {
        sum += bytes;
        if sum > most_bytes {
            let _ = fs::remove_file(path);
        }
    }
}

const DIGEST_BYTES: usize = 32;

/// The format on disk; [`super::validity::CHECK_VERSION`] is a part of the key
/// and changes with it.
#[derive(Serialize, Deserialize)]
enum Entry {
    Valid { text: Option<String>, name: String, ir: Vec<u8>, end: End, out: Vec<u8>, err: Vec<u8> },
    Rejected { reason: Rejection, what: String },
}

#[derive(Serialize, Deserialize)]
enum End {
    Exited(i32),
    Signaled(i32),
}

fn encode(verdict: &Verdict) -> Option<Vec<u8>> {
    let entry = match verdict {
        Ok(Valid { text, program, expected }) => Entry::Valid {
            text: text.clone(),
            name: program.name.clone(),
            ir: program.ir.clone(),
            end: match expected.end {
                ProgramEnd::Exited(status) => End::Exited(status),
                ProgramEnd::Signaled(signal) => End::Signaled(signal),
                // No valid program ends by a limit.
                ProgramEnd::Timeout
                | ProgramEnd::OutOfMemory
                | ProgramEnd::OutputLimit
                | ProgramEnd::ThreadLimit => {
                    return None;
                }
            },
            out: expected.stdout.clone(),
            err: expected.stderr.clone(),
        },
        Err((reason, what)) => Entry::Rejected { reason: *reason, what: what.clone() },
    };
    let body = postcard::to_stdvec(&entry).ok()?;
    let mut bytes = blake3::hash(&body).as_bytes().to_vec();
    bytes.extend(body);
    Some(bytes)
}

fn decode(bytes: &[u8]) -> Option<Verdict> {
    let (digest, body) = bytes.split_at_checked(DIGEST_BYTES)?;
    if blake3::hash(body).as_bytes() != digest {
        return None;
    }
    Some(match postcard::from_bytes(body).ok()? {
        Entry::Rejected { reason, what } => Err((reason, what)),
        Entry::Valid { text, name, ir, end, out, err } => {
            let end = match end {
                End::Exited(status) => ProgramEnd::Exited(status),
                End::Signaled(signal) => ProgramEnd::Signaled(signal),
            };
            let expected = Execution { end, stdout: out, stderr: err };
            Ok(Valid { text, program: Program { name, ir }, expected })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn valid() -> Verdict {
        Ok(Valid {
            text: Some("int main(void) { return 3; }".into()),
            program: Program { name: "program.ll".into(), ir: b"define".to_vec() },
            expected: Execution {
                end: ProgramEnd::Exited(3),
                stdout: b"out".to_vec(),
                stderr: b"err".to_vec(),
            },
        })
    }

    #[test]
    fn verdicts_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept::in_folder(folder.path().join("not/there/yet"));
        let rejected: Verdict = Err((Rejection::DoesNotEnd, "it does not end".into()));
        kept.write("a", &valid());
        kept.write("b", &rejected);
        assert_eq!(kept.read("a"), Some(valid()));
        assert_eq!(kept.read("b"), Some(rejected));
        assert_eq!(kept.read("c"), None);
    }

    #[test]
    fn a_damaged_verdict_is_none_wherever_the_damage_is() {
        let whole = encode(&valid()).unwrap();
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 1;
            assert_eq!(decode(&damaged), None);
            assert_eq!(decode(&whole[..place]), None);
        }
        assert!(decode(&whole).is_some());
    }

    #[test]
    fn the_longest_unused_go_first() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        for (name, age) in [("old", 30), ("new", 10), ("older", 40)] {
            let file = std::fs::File::create(folder.path().join(name)).unwrap();
            file.set_len(100).unwrap();
            file.set_modified(now - Duration::from_secs(age)).unwrap();
        }
        prune_to(folder.path(), 250);
        let left = |name: &str| folder.path().join(name).exists();
        assert!(left("new") && left("old") && !left("older"));
        touch(&folder.path().join("old"));
        prune_to(folder.path(), 150);
        assert!(left("old") && !left("new"));
    }
}
