//! What is asked of the referee -> bytes, and its answer -> [`Interpretation`].
//!
//! **Invariant:** nothing that an answer states about lengths is trusted.

use optsleuth_model::{
    Interpret, Interpretation, IrPlace, Limits, OutputStream, ProgramEnd, Ruling, SourcePlace, Step,
};
use zerocopy::FromBytes;

use super::Payload;
use super::wire::{self, Enumeration};

/// Adds what the referee is asked to a run's payload.
pub(super) fn add_request(payload: Payload, interpret: &Interpret, limits: &Limits) -> Payload {
    let options = wire::InterpretOptions {
        steps: interpret.steps,
        memory_bytes: interpret.memory,
        output_bytes: limits.output,
        depth: interpret.depth,
        trace_lines: interpret.trace_lines,
        with_arguments: interpret.arguments.is_some().into(),
        self_test: interpret.self_test.unwrap_or(0),
        observed_byte: interpret.observe.map_or(0, |observed| observed.byte),
        observed_stream: match interpret.observe.map(|observed| observed.stream) {
            None => 0,
            Some(OutputStream::Out) => 1,
            Some(OutputStream::Err) => 2,
        },
        reserved: 0,
    };
    payload
        .fixed(&options)
        .bytes(interpret.function.as_bytes())
        .texts(interpret.arguments.as_deref().unwrap_or_default())
}

/// Decodes the referee's answer; `None` if it is malformed.
pub(crate) fn decode(answer: &[u8]) -> Option<Interpretation> {
    let (record, rest) = wire::RulingRecord::read_from_prefix(answer).ok()?;
    let mut reader = Reader(rest);
    let mut steps = Vec::new();
    for _ in 0..record.places {
        steps.push(reader.step()?);
    }
    let n_observed = usize::try_from(record.observed).ok()?;
    let observed = steps.split_off(steps.len().checked_sub(n_observed)?);
    let mut history = steps.into_iter();
    let end = history.next()?;
    let value = Some(reader.text()?).filter(|text| !text.is_empty());
    let stdout = reader.bytes()?.to_vec();
    let stderr = reader.bytes()?.to_vec();
    let trace = reader.text()?;
    let ruling = match wire::Ruling::of(record.ruling).ok()? {
        wire::Ruling::Defined => Ruling::Defined {
            end: match record.by_signal {
                0 => ProgramEnd::Exited(record.end_value),
                _ => ProgramEnd::Signaled(record.end_value),
            },
            value,
            place: end.place,
        },
        wire::Ruling::Undefined => Ruling::Undefined { end, history: history.collect() },
        wire::Ruling::NoVerdict => Ruling::NoVerdict { end },
    };
    Some(Interpretation {
        ruling,
        stdout,
        stderr,
        n_steps: record.steps,
        depends_on_layout: record.depends_on_layout != 0,
        trace,
        observed,
    })
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u32> {
        let (number, rest) = u32::read_from_prefix(self.0).ok()?;
        self.0 = rest;
        Some(number)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()? as usize;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<String> {
        self.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    fn step(&mut self) -> Option<Step> {
        let what = self.text()?;
        let (instruction, function, file) = (self.text()?, self.text()?, self.text()?);
        let (line, column) = (self.number()?, self.number()?);
        let source = (line != 0).then_some(SourcePlace { file, line, column });
        let place = (!function.is_empty()).then_some(IrPlace { instruction, function, source });
        Some(Step { what, place })
    }
}
