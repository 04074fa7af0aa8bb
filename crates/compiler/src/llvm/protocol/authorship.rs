//! What a worker recorded of authors -> [`Authorship`]: events on addresses become
//! events on instructions.
//!
//! **Invariant:** an address that is used again stands for another instruction
//! from its next construction on. No number that the worker states is trusted.

use std::collections::HashMap;

use optsleuth_model::{AuthorEvent, AuthorFrame, AuthorKind, Authorship, InstructionPlace};
use zerocopy::FromBytes;

use super::wire;

/// The areas of the memory file, as far as they are used.
#[derive(Debug, Default)]
pub(crate) struct AuthorAreas {
    pub(crate) events: Vec<u8>,
    pub(crate) stacks: Vec<u8>,
    pub(crate) before: Vec<u8>,
    /// `None`: the window was not closed.
    pub(crate) after: Option<Vec<u8>>,
    pub(crate) n_cut: u32,
}

/// Addresses of instructions -> where they stand.
type Places = HashMap<u64, InstructionPlace>;

/// Makes events of instructions of what was recorded; `frame` names functions.
pub(crate) fn decode(areas: &AuthorAreas, frame: &mut dyn FnMut(u64) -> AuthorFrame) -> Authorship {
    let raw = events(&areas.events);
    let (before, after) = (places(&areas.before), areas.after.as_deref().map(places));
    let (mut first_creation, mut last_creation) = (HashMap::new(), HashMap::new());
    for (number, (event, kind)) in raw.iter().enumerate() {
        if *kind == AuthorKind::Created {
            first_creation.entry(event.object).or_insert(number);
            last_creation.insert(event.object, number);
        }
    }
    let place_before = |address: u64, number: usize| {
        let is_old = first_creation.get(&address).is_none_or(|&first| number < first);
        before.get(&address).filter(|_| is_old).cloned()
    };
    let place_after = |address: u64, number: usize| {
        let is_last = last_creation.get(&address).is_none_or(|&last| number >= last);
        after.as_ref()?.get(&address).filter(|_| is_last).cloned()
    };
    let mut stacks = Stacks { words: &areas.stacks, known: HashMap::new(), found: Vec::new() };
    let mut events = Vec::new();
    for (number, (event, kind)) in raw.into_iter().enumerate() {
        let after = place_after(event.object, number);
        let kind = match kind {
            // It was put in again elsewhere.
            AuthorKind::Erased if after.is_some() => AuthorKind::Moved,
            other => other,
        };
        events.push(AuthorEvent {
            kind,
            before: place_before(event.object, number),
            after,
            replacement: place_after(event.other, number),
            stack: stacks.number(event.stack, frame),
        });
    }
    let is_closed = areas.after.is_some();
    Authorship { events, stacks: stacks.found, n_cut: areas.n_cut, is_closed }
}

/// The events up to the first that is none.
fn events(area: &[u8]) -> Vec<(wire::AuthorEvent, AuthorKind)> {
    let mut found = Vec::new();
    let mut rest = area;
    while let Ok((event, behind)) = wire::AuthorEvent::read_from_prefix(rest) {
        let kind = AuthorKind::ALL.iter().find(|&&kind| kind as u32 == event.kind);
        let Some(&kind) = kind else { break };
        found.push((event, kind));
        rest = behind;
    }
    found
}

/// A list of places; one that ends early gives fewer.
fn places(area: &[u8]) -> Places {
    let mut found = Places::new();
    let mut rest = area;
    while let Ok((head, behind)) = wire::FunctionPlaces::read_from_prefix(rest) {
        let name_bytes = head.name_bytes as usize;
        let Some((name, behind)) = behind.split_at_checked(name_bytes.next_multiple_of(8)) else {
            break;
        };
        let function = String::from_utf8_lossy(&name[..name_bytes]).into_owned();
        rest = behind;
        for ordinal in 0..head.instructions {
            let Ok((address, behind)) = u64::read_from_prefix(rest) else { return found };
            let function = function.clone();
            found.insert(address, InstructionPlace { function, ordinal });
            rest = behind;
        }
    }
    found
}

/// Reads each stack once.
struct Stacks<'a> {
    words: &'a [u8],
    /// By its first word.
    known: HashMap<u32, usize>,
    found: Vec<Vec<AuthorFrame>>,
}

impl Stacks<'_> {
    /// Its place in the list.
    fn number(&mut self, first: u32, frame: &mut dyn FnMut(u64) -> AuthorFrame) -> Option<usize> {
        if let Some(&known) = self.known.get(&first) {
            return Some(known);
        }
        let start = usize::try_from(first).ok()?.checked_mul(size_of::<u64>())?;
        let (count, mut rest) = u64::read_from_prefix(self.words.get(start..)?).ok()?;
        let mut frames = Vec::new();
        for _ in 0..count {
            let (address, behind) = u64::read_from_prefix(rest).ok()?;
            frames.push(frame(address));
            rest = behind;
        }
        let number = self.found.len();
        self.found.push(frames);
        self.known.insert(first, number);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use zerocopy::IntoBytes;

    use super::*;

    fn frame(address: u64) -> AuthorFrame {
        AuthorFrame { address, function: format!("f{address}"), file: None }
    }

    fn event(kind: u32, object: u64, other: u64, stack: u32) -> Vec<u8> {
        wire::AuthorEvent { object, other, stack, kind }.as_bytes().to_vec()
    }

    fn function(name: &str, addresses: &[u64]) -> Vec<u8> {
        let instructions = addresses.len() as u32;
        let name_bytes = name.len() as u32;
        let mut bytes = wire::FunctionPlaces { name_bytes, instructions }.as_bytes().to_vec();
        bytes.extend(name.bytes());
        bytes.resize(8 + name.len().next_multiple_of(8), 0);
        bytes.extend(addresses.iter().flat_map(|address| address.to_le_bytes()));
        bytes
    }

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn printed(areas: &AuthorAreas) -> Vec<String> {
        let found = decode(areas, &mut frame);
        let place = |place: &Option<InstructionPlace>| match place {
            Some(InstructionPlace { function, ordinal }) => format!("{function}{ordinal}"),
            None => "-".to_owned(),
        };
        let line = |event: &AuthorEvent| {
            let stack = found.stack(event).iter().map(|frame| frame.function.clone());
            let stack: Vec<String> = stack.collect();
            let (before, after) = (place(&event.before), place(&event.after));
            let new = place(&event.replacement);
            format!("{:?} {before} {after} {new} {}", event.kind, stack.join("<"))
        };
        found.events.iter().map(line).collect()
    }

    const CREATED: u32 = 1;
    const REPLACED: u32 = 2;
    const ERASED: u32 = 3;
    const CHANGED: u32 = 5;

    #[test]
    fn an_address_that_is_used_again_is_another_instruction() {
        let areas = AuthorAreas {
            events: [
                event(CHANGED, 0x10, 0, 0),
                event(CREATED, 0x30, 0, 0),
                event(ERASED, 0x30, 0, 0), // It never was in the module.
                event(CREATED, 0x30, 0, 3),
                event(REPLACED, 0x10, 0x30, 3),
                event(ERASED, 0x10, 0, 3),
                event(CREATED, 0x10, 0, 0),
                event(CHANGED, 0x10, 0, 0),
                event(ERASED, 0x20, 0, 0), // Taken out, and put in again.
            ]
            .concat(),
            stacks: words(&[2, 7, 8, 1, 9]),
            before: [function("g", &[0x11]), function("a longer name ", &[0x10, 0x20])].concat(),
            after: Some(function("h", &[0x20, 0x30, 0x10])),
            n_cut: 0,
        };
        let expected = [
            "Changed a longer name 0 - - f7<f8",
            "Created - - - f7<f8",
            "Erased - - - f7<f8",
            "Created - h1 - f9",
            "Replaced a longer name 0 - h1 f9",
            "Erased a longer name 0 - - f9",
            "Created - h2 - f7<f8",
            "Changed - h2 - f7<f8",
            "Moved a longer name 1 h0 - f7<f8",
        ];
        assert_eq!(printed(&areas), expected);
    }

    #[test]
    fn after_a_crash_there_is_no_place_after() {
        let areas = AuthorAreas {
            events: event(ERASED, 0x10, 0, 0),
            stacks: words(&[1, 5]),
            before: function("f", &[0x10]),
            ..AuthorAreas::default()
        };
        assert_eq!(printed(&areas), ["Erased f0 - - f5"]);
        assert!(!decode(&areas, &mut frame).is_closed);
    }

    #[test]
    fn areas_that_end_early_give_less() {
        let areas = AuthorAreas {
            events: [event(ERASED, 0x10, 0, 9), event(77, 0x10, 0, 0)].concat(),
            stacks: words(&[u64::MAX, 5]),
            before: function("f", &[0x10, 0x20])[..24].to_vec(),
            ..AuthorAreas::default()
        };
        assert_eq!(printed(&areas), ["Erased f0 - - "]);
        let endless = AuthorAreas { events: event(ERASED, 1, 0, 0), ..areas };
        assert_eq!(printed(&endless), ["Erased - - - "]);
    }
}
