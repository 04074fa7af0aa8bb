//! The worker's protocol, from the host's side: numbers and layouts.
//!
//! The C++ side is `worker/protocol.h`. A worker that disagrees about the
//! version or about the size of the report is refused when it starts.
//!
//! **Invariant:** nothing here does I/O; bytes in, values out.

use optsleuth_model::{Detour, IndexSet, Invocation, Limits, RunRequest};

pub(crate) const VERSION: u32 = 8;

const MIB: u64 = 1 << 20;
pub(crate) const REQUEST_OFFSET: u64 = MIB;
pub(crate) const RESPONSE_OFFSET: u64 = 1024 * MIB;
pub(crate) const INVOCATION_OFFSET: u64 = 2048 * MIB;
pub(crate) const STDOUT_OFFSET: u64 = 2304 * MIB;
pub(crate) const STDERR_OFFSET: u64 = 3328 * MIB;
pub(crate) const BITS_OFFSET: u64 = 4352 * MIB;
pub(crate) const WINDOW_BITS_OFFSET: u64 = BITS_OFFSET + MAX_BLOCKS / 8;
pub(crate) const MEMORY_FILE_BYTES: u64 = 4480 * MIB;
const MAX_BLOCKS: u64 = 16 * MIB;
pub(crate) const MAX_TRANSFER: u64 = 1000 * MIB;

const MAX_FRAMES: usize = 256;
const MAX_MESSAGE: usize = 16 * 1024;
const FRAMES_AT: usize = 120;
const MESSAGE_AT: usize = FRAMES_AT + 8 * MAX_FRAMES;
pub(crate) const REPORT_BYTES: usize = MESSAGE_AT + MAX_MESSAGE;
const NO_INVOCATION: u32 = u32::MAX;

/// Waiting is limited to this many times the CPU limit, and a second more.
const WALL_PER_CPU: u32 = 4;

#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum Op {
    Hello = 1,
    Passes = 2,
    Load = 3,
    Run = 4,
    Exec = 5,
    Compile = 6,
}

/// A number of a closed set, with its name; an unknown number is an error.
macro_rules! numbered {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $number:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
        pub(crate) enum $name { $($variant),* }
        impl $name {
            fn of(number: u32) -> Result<$name, Malformed> {
                match number {
                    $($number => Ok($name::$variant),)*
                    _ => Err(Malformed(stringify!($name))),
                }
            }
        }
    };
}

numbered!(Phase {
    Start = 0, Options = 1, Parse = 2, Pipeline = 3, Verify = 4,
    Emit = 5, Codegen = 6, Link = 7, Execute = 8, Done = 9,
});

numbered!(Verdict {
    None = 0, Ok = 1, BadOptions = 2, BadModule = 3, BadPipeline = 4, InvalidIr = 5,
    FatalError = 6, ErrorExit = 7, CodegenFailure = 8, OutOfMemory = 9, NeedsProcess = 10,
    Trouble = 11, Assertion = 12, BadEdit = 13, DoesNotCompile = 14,
});

numbered!(End {
    None = 0,
    Exited = 1,
    Signaled = 2,
    TimeLimit = 3,
    MemoryLimit = 4,
    WallLimit = 5,
});

/// A field holds a number that the protocol does not know.
#[derive(Debug, thiserror::Error)]
#[error("the worker's report has an unknown {0}")]
pub(crate) struct Malformed(&'static str);

/// A child's report, decoded.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) phase: Phase,
    pub(crate) verdict: Verdict,
    pub(crate) n_invocations: u32,
    pub(crate) n_items: u32,
    pub(crate) current_invocation: Option<u32>,
    pub(crate) invocation_bytes: u32,
    pub(crate) invocations_cut: bool,
    pub(crate) stack_overflow: bool,
    pub(crate) response_bytes: u64,
    pub(crate) pipeline_ns: u64,
    pub(crate) end: End,
    pub(crate) end_value: i32,
    pub(crate) wall_ns: u64,
    pub(crate) cpu_ns: u64,
    pub(crate) peak_memory: u64,
    pub(crate) stdout_bytes: u64,
    pub(crate) stderr_bytes: u64,
    pub(crate) session_loaded: bool,
    pub(crate) output_cut: bool,
    pub(crate) has_window: bool,
    pub(crate) frames: Vec<u64>,
    pub(crate) message: String,
}

impl Report {
    pub(crate) fn decode(bytes: &[u8; REPORT_BYTES]) -> Result<Report, Malformed> {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap_or_default());
        let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
        let n_frames = (word(28) as usize).min(MAX_FRAMES);
        let message_bytes = (word(32) as usize).min(MAX_MESSAGE);
        let message = &bytes[MESSAGE_AT..MESSAGE_AT + message_bytes];
        Ok(Report {
            phase: Phase::of(word(0))?,
            verdict: Verdict::of(word(4))?,
            n_invocations: word(8),
            n_items: word(108),
            current_invocation: Some(word(12)).filter(|&index| index != NO_INVOCATION),
            invocation_bytes: word(16),
            invocations_cut: word(20) != 0,
            stack_overflow: word(24) != 0,
            response_bytes: long(40).min(MAX_TRANSFER),
            pipeline_ns: long(48),
            end: End::of(word(56))?,
            end_value: word(60).cast_signed(),
            wall_ns: long(64),
            cpu_ns: long(72),
            peak_memory: long(80),
            stdout_bytes: long(88).min(MAX_TRANSFER),
            stderr_bytes: long(96).min(MAX_TRANSFER),
            session_loaded: word(36) != 0,
            output_cut: word(104) != 0,
            has_window: word(116) != 0,
            frames: (0..n_frames).map(|i| long(FRAMES_AT + 8 * i)).collect(),
            message: String::from_utf8_lossy(message).into_owned(),
        })
    }
}

/// The fixed frame that announces a request.
pub(crate) fn frame(op: Op, sequence: u32, payload_bytes: usize, limits: &Limits) -> [u8; 48] {
    let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let mut frame = [0; 48];
    frame[0..4].copy_from_slice(&(op as u32).to_le_bytes());
    frame[4..8].copy_from_slice(&sequence.to_le_bytes());
    let words = [
        payload_bytes as u64,
        millis(limits.compile),
        millis(limits.execute),
        limits.memory,
        limits.output,
    ];
    for (i, word) in words.iter().enumerate() {
        frame[8 + 8 * i..16 + 8 * i].copy_from_slice(&word.to_le_bytes());
    }
    frame
}

/// How long the worker itself lets a request take, at the very most.
pub(crate) fn longest(limits: &Limits) -> std::time::Duration {
    let wall = |time: std::time::Duration| time * WALL_PER_CPU + std::time::Duration::from_secs(1);
    wall(limits.compile) + wall(limits.execute)
}

/// A request's payload in the making.
#[derive(Default)]
pub(crate) struct Payload(Vec<u8>);

impl Payload {
    pub(crate) fn number(mut self, value: u32) -> Payload {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn bytes(self, value: &[u8]) -> Payload {
        let mut payload = self.number(u32::try_from(value.len()).unwrap_or(u32::MAX));
        payload.0.extend_from_slice(value);
        payload
    }

    pub(crate) fn texts(self, values: &[String]) -> Payload {
        let count = u32::try_from(values.len()).unwrap_or(u32::MAX);
        values.iter().fold(self.number(count), |payload, value| payload.bytes(value.as_bytes()))
    }

    fn ranges(self, set: &IndexSet) -> Payload {
        let count = u32::try_from(set.ranges().len()).unwrap_or(u32::MAX);
        let write = |payload: Payload, &(from, end): &(u32, u32)| payload.number(from).number(end);
        set.ranges().iter().fold(self.number(count), write)
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Set where memory is to be filled; the byte is below it.
const FILLED: u32 = 0x100;

/// The payload of a run.
pub(crate) fn run_payload(request: &RunRequest, execute: bool) -> Vec<u8> {
    let pipeline = request.passes.as_ref().map(ToString::to_string).unwrap_or_default();
    let window = request.window.unwrap_or((0, 0));
    let detour = request.detour.unwrap_or(Detour { address: 0, opcode: 0 });
    let none = IndexSet::none();
    let (kind, items) =
        request.edit.as_ref().map_or((0, &none), |edit| (edit.kind as u32, &edit.items));
    Payload::default()
        .bytes(pipeline.as_bytes())
        .number(request.verify_each.into())
        .number(request.emit as u32)
        .number(request.codegen as u32)
        .number(execute.into())
        .number(request.cover_codegen.into())
        .number(window.0)
        .number(window.1)
        .number(request.watch_changes.into())
        .number(detour.address as u32)
        .number((detour.address >> 32) as u32)
        .number(detour.opcode.into())
        .number(request.guarded.into())
        .number(request.fill.map_or(0, |byte| FILLED | u32::from(byte)))
        .number(kind)
        .ranges(items)
        .ranges(&request.skips)
        .finish()
}

/// Decodes the log of invocations; a log that ends early gives fewer.
pub(crate) fn invocations(log: &[u8]) -> Vec<Invocation> {
    const HEADER: usize = 8;
    const SKIPPED: u32 = 1;
    const REQUIRED: u32 = 2;
    const CHANGED: u32 = 4;
    let mut found = Vec::new();
    let mut rest = log;
    while rest.len() >= HEADER {
        let word = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap_or_default());
        let (flags, lengths) = (word(0), word(4));
        let (pass_bytes, unit_bytes) = ((lengths & 0xffff) as usize, (lengths >> 16) as usize);
        let end = HEADER + pass_bytes + unit_bytes;
        if rest.len() < end {
            break;
        }
        let text = |from: usize, to: usize| String::from_utf8_lossy(&rest[from..to]).into_owned();
        found.push(Invocation {
            index: u32::try_from(found.len()).unwrap_or(u32::MAX),
            pass: text(HEADER, HEADER + pass_bytes),
            unit: text(HEADER + pass_bytes, end),
            skipped: flags & SKIPPED != 0,
            required: flags & REQUIRED != 0,
            changed: flags & CHANGED != 0,
        });
        rest = &rest[end.next_multiple_of(4).min(rest.len())..];
    }
    found
}

/// What a worker says of itself when it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) protocol: u32,
    pub(crate) report_bytes: u32,
    pub(crate) seccomp: bool,
    pub(crate) landlock_abi: u32,
    pub(crate) aslr_off: bool,
    pub(crate) n_blocks: u32,
    pub(crate) version: String,
}

impl Hello {
    pub(crate) fn decode(bytes: &[u8]) -> Option<Hello> {
        let word = |i: usize| {
            bytes
                .get(4 * i..4 * i + 4)
                .map(|w| u32::from_le_bytes(w.try_into().unwrap_or_default()))
        };
        let version = bytes.get(32..32 + word(6)? as usize)?;
        Some(Hello {
            protocol: word(0)?,
            report_bytes: word(1)?,
            seccomp: word(2)? != 0,
            landlock_abi: word(3)?,
            aslr_off: word(4)? != 0,
            n_blocks: word(5)?,
            version: String::from_utf8_lossy(version).into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log entry as the worker writes it.
    fn entry(flags: u32, pass: &str, unit: &str) -> Vec<u8> {
        let mut bytes = flags.to_le_bytes().to_vec();
        bytes.extend((pass.len() as u16).to_le_bytes());
        bytes.extend((unit.len() as u16).to_le_bytes());
        bytes.extend(pass.bytes().chain(unit.bytes()));
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn the_log_of_invocations_is_read_back() {
        let log = [entry(0, "sroa", "function f"), entry(3, "verify", "module")].concat();
        let found = invocations(&log);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].to_string(), "#0 sroa on function f");
        assert!(!found[0].skipped && !found[0].required);
        assert!(found[1].skipped && found[1].required);
    }

    #[test]
    fn a_log_cut_short_gives_what_is_whole() {
        let log = [entry(0, "sroa", "function f"), entry(0, "gvn", "function g")].concat();
        assert_eq!(invocations(&log[..log.len() - 8]).len(), 1);
        assert_eq!(invocations(&[1, 2, 3]).len(), 0);
    }

    #[test]
    fn a_report_with_an_unknown_number_is_refused() {
        let mut bytes = [0; REPORT_BYTES];
        assert!(Report::decode(&bytes).is_ok());
        bytes[4] = 200;
        assert!(Report::decode(&bytes).is_err());
    }
}
