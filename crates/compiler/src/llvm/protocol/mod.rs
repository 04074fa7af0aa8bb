//! The worker's protocol, from the host's side: requests -> bytes, bytes ->
//! reports, logs and greetings.
//!
//! `wire.rs` has the bytes, and a test that the C++ side (`worker/protocol.h`)
//! has the same. A worker of another version is refused when it starts.
//!
//! **Invariant:** nothing here does I/O, and no length that a worker states is
//! trusted.

#[cfg(test)]
mod agreement;
mod authorship;
mod interpretation;
pub(super) mod wire;

use std::time::Duration;

use optsleuth_model::{AuthorKind, Detour, IndexSet, Invocation, Limits, RunRequest};
use zerocopy::{FromBytes, Immutable, IntoBytes};

pub(crate) use authorship::{AuthorAreas, decode as decode_authorship};
pub(crate) use interpretation::decode as decode_interpretation;
pub(crate) use wire::{End, Op, Phase, Verdict};
use wire::{Enumeration, Malformed, Window};

/// A child's report, decoded.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) phase: Phase,
    pub(crate) verdict: Verdict,
    pub(crate) n_invocations: u32,
    pub(crate) n_items: u32,
    pub(crate) current_invocation: Option<u32>,
    pub(crate) invocation_bytes: u64,
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
    pub(crate) authors: AuthorCounts,
    pub(crate) frames: Vec<u64>,
    pub(crate) message: String,
}

/// How much the areas of authors hold.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AuthorCounts {
    pub(crate) event_bytes: u64,
    pub(crate) stack_bytes: u64,
    pub(crate) before_bytes: u64,
    pub(crate) after_bytes: u64,
    pub(crate) n_events_cut: u32,
    pub(crate) places_cut: bool,
}

impl Report {
    pub(crate) fn decode(raw: &wire::Report) -> Result<Report, Malformed> {
        let n_frames = (raw.frame_count as usize).min(raw.frames.len());
        let message_bytes = (raw.message_bytes as usize).min(raw.message.len());
        let current = raw.current_invocation;
        let area =
            |count: u32, each: usize| (u64::from(count) * each as u64).min(wire::AUTHORS_AREA);
        Ok(Report {
            phase: Phase::of(raw.phase)?,
            verdict: Verdict::of(raw.verdict)?,
            n_invocations: raw.invocations,
            n_items: raw.edit_items,
            current_invocation: (current != wire::NO_INVOCATION).then_some(current),
            invocation_bytes: u64::from(raw.invocation_bytes).min(wire::INVOCATION_CAPACITY),
            invocations_cut: raw.invocations_cut != 0,
            stack_overflow: raw.stack_overflow != 0,
            response_bytes: raw.response_bytes.min(wire::MAX_TRANSFER),
            pipeline_ns: raw.pipeline_ns,
            end: End::of(raw.end)?,
            end_value: raw.end_value,
            wall_ns: raw.wall_ns,
            cpu_ns: raw.cpu_ns,
            peak_memory: raw.peak_memory_bytes,
            stdout_bytes: raw.stdout_bytes.min(wire::MAX_TRANSFER),
            stderr_bytes: raw.stderr_bytes.min(wire::MAX_TRANSFER),
            session_loaded: raw.session_loaded != 0,
            output_cut: raw.output_cut != 0,
            has_window: Window::of(raw.window)? != Window::None,
            authors: AuthorCounts {
                event_bytes: area(raw.author_events, size_of::<wire::AuthorEvent>()),
                stack_bytes: area(raw.author_stack_words, size_of::<u64>()),
                before_bytes: area(raw.places_before_bytes, 1),
                after_bytes: area(raw.places_after_bytes, 1),
                n_events_cut: raw.author_events_cut,
                places_cut: raw.places_cut != 0,
            },
            frames: raw.frames[..n_frames].to_vec(),
            message: String::from_utf8_lossy(&raw.message[..message_bytes]).into_owned(),
        })
    }
}

/// The frame that announces a request.
pub(crate) fn frame(op: Op, sequence: u32, payload_bytes: usize, limits: &Limits) -> wire::Request {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    wire::Request {
        op: op as u32,
        sequence,
        payload_bytes: payload_bytes as u64,
        cpu_ms: millis(limits.compile),
        program_cpu_ms: millis(limits.execute),
        memory_bytes: limits.memory,
        address_bytes: match limits.with_shadows {
            true => 0,
            false => limits.memory.saturating_add(ADDRESS_ROOM),
        },
        output_bytes: limits.output,
    }
}

/// Address space on top of the memory that may be resident: for the worker's own
/// image and its shared memory.
const ADDRESS_ROOM: u64 = 2 << 30;

/// How long the worker itself lets a request take, at the very most.
pub(crate) fn longest(limits: &Limits) -> Duration {
    let extra = Duration::from_millis(wire::WALL_EXTRA_MS);
    let wall = |time: Duration| time * wire::WALL_PER_CPU + extra;
    wall(limits.compile) + wall(limits.execute)
}

/// A request's payload in the making.
#[derive(Default)]
pub(crate) struct Payload(Vec<u8>);

impl Payload {
    fn fixed(mut self, value: &(impl IntoBytes + Immutable)) -> Payload {
        self.0.extend_from_slice(value.as_bytes());
        self
    }

    fn number(mut self, value: u32) -> Payload {
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

/// The payload of a run. `traps` are for one that asks for authors.
pub(crate) fn run_payload(
    request: &RunRequest,
    execute: bool,
    traps: &[(u64, AuthorKind)],
) -> Vec<u8> {
    let pipeline = request.passes.as_ref().map(ToString::to_string).unwrap_or_default();
    let (window_first, window_end) = request.window.unwrap_or((0, 0));
    let (narrow_first, narrow_end) = request.narrow.unwrap_or((0, 0));
    let edit = request.edit.as_ref();
    let options = wire::RunOptions {
        verify_each: request.verify_each.into(),
        emit: request.emit as u32,
        codegen_level: request.codegen as u32,
        execute: execute.into(),
        cover_codegen: request.cover_codegen.into(),
        window_first,
        window_end,
        watch_changes: request.watch_changes.into(),
        guarded: request.guarded.into(),
        fill: request.fill.map_or(0, |byte| wire::FILLED | u32::from(byte)),
        edit_kind: edit.map_or(wire::NO_EDIT, |edit| edit.kind as u32),
        interpret: request.interpret.is_some().into(),
        authors: request.authors.into(),
        narrow_first,
        narrow_end,
        machine_passes: request.machine_passes.into(),
    };
    let mut payload = Payload::default()
        .fixed(&options)
        .bytes(pipeline.as_bytes())
        .ranges(edit.map_or(&IndexSet::none(), |edit| &edit.items))
        .ranges(&request.skips);
    let detours = &request.detours[..request.detours.len().min(wire::MAX_DETOURS)];
    payload = payload.number(u32::try_from(detours.len()).unwrap_or(u32::MAX));
    for &Detour { address, bytes, length } in detours {
        let (bytes, length) = (u32::from_ne_bytes(bytes), length.into());
        payload = payload.fixed(&wire::DetourCode { address, bytes, length });
    }
    if request.authors {
        let traps = &traps[..traps.len().min(wire::MAX_AUTHOR_TRAPS)];
        payload = payload.number(u32::try_from(traps.len()).unwrap_or(u32::MAX));
        for &(address, kind) in traps {
            let trap = wire::AuthorTrap { address, kind: kind as u32, reserved: 0 };
            payload = payload.fixed(&trap);
        }
    }
    match &request.interpret {
        Some(interpret) => interpretation::add_request(payload, interpret, &request.limits),
        None => payload,
    }
    .finish()
}

/// Decodes the log of invocations; a log that ends early gives fewer.
pub(crate) fn invocations(log: &[u8]) -> Vec<Invocation> {
    let mut found = Vec::new();
    let mut rest = log;
    while let Ok((record, names)) = wire::InvocationRecord::read_from_prefix(rest) {
        let (pass_bytes, unit_bytes) = (record.pass_bytes.into(), record.unit_bytes.into());
        let Some((pass, names)) = names.split_at_checked(pass_bytes) else { break };
        let Some((unit, _)) = names.split_at_checked(unit_bytes) else { break };
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        found.push(Invocation {
            index: u32::try_from(found.len()).unwrap_or(u32::MAX),
            pass: text(pass),
            unit: text(unit),
            skipped: record.flags & wire::SKIPPED != 0,
            required: record.flags & wire::REQUIRED != 0,
            changed: record.flags & wire::CHANGED != 0,
        });
        // The next entry begins at a multiple of four.
        let end = size_of_val(&record) + pass_bytes + unit_bytes;
        rest = &rest[end.next_multiple_of(4).min(rest.len())..];
    }
    found
}

/// What a worker says of itself when it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
        let (raw, rest) = wire::HelloReply::read_from_prefix(bytes).ok()?;
        let version = rest.get(..raw.version_bytes as usize)?;
        Some(Hello {
            protocol: raw.protocol_version,
            report_bytes: raw.report_bytes,
            seccomp: raw.seccomp != 0,
            landlock_abi: raw.landlock_abi,
            aslr_off: raw.aslr_off != 0,
            n_blocks: raw.blocks,
            version: String::from_utf8_lossy(version).into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use zerocopy::FromZeros;

    use super::*;

    /// A log entry as the worker writes it.
    fn entry(flags: u32, pass: &str, unit: &str) -> Vec<u8> {
        let (pass_bytes, unit_bytes) = (pass.len() as u16, unit.len() as u16);
        let record = wire::InvocationRecord { flags, pass_bytes, unit_bytes };
        let mut bytes = record.as_bytes().to_vec();
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
    fn no_length_in_a_report_reaches_beyond_its_place() {
        let most = wire::Report {
            invocation_bytes: u32::MAX,
            frame_count: u32::MAX,
            message_bytes: u32::MAX,
            response_bytes: u64::MAX,
            stdout_bytes: u64::MAX,
            stderr_bytes: u64::MAX,
            ..wire::Report::new_zeroed()
        };
        let report = Report::decode(&most).unwrap();
        assert_eq!(report.invocation_bytes, wire::INVOCATION_CAPACITY);
        assert_eq!(report.frames.len(), wire::MAX_FRAMES);
        assert_eq!(report.message.len(), wire::MAX_MESSAGE);
        for bytes in [report.response_bytes, report.stdout_bytes, report.stderr_bytes] {
            assert_eq!(bytes, wire::MAX_TRANSFER);
        }
    }

    #[test]
    fn a_report_with_an_unknown_number_is_refused() {
        let empty = wire::Report::new_zeroed();
        assert!(Report::decode(&empty).is_ok());
        let error = Report::decode(&wire::Report { verdict: 200, ..empty }).unwrap_err();
        assert_eq!(error.to_string(), "the worker's report has an unknown Verdict");
    }
}
