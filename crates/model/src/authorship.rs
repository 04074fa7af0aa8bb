//! Authorship: which functions of LLVM created, changed and erased the
//! instructions of a module while the window of a run was open. Recorded by
//! `worker/authors.cpp`; docs/bisect.md says what it is good for.
//!
//! **Invariant:** an event's place before is that of the instruction that stood
//! there, even if its address was used again; the same holds for its place after.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{FunctionName, HEADERS};

/// What happened to a value. The numbers are the protocol's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u32)]
pub enum AuthorKind {
    Created = 1,
    /// By another value, wherever it is used.
    Replaced = 2,
    Erased = 3,
    Moved = 4,
    /// Its flags, operands, attributes or metadata.
    Changed = 5,
    /// It used a value that was replaced.
    OperandReplaced = 6,
}

impl AuthorKind {
    pub const ALL: &'static [AuthorKind] = &[
        AuthorKind::Created,
        AuthorKind::Replaced,
        AuthorKind::Erased,
        AuthorKind::Moved,
        AuthorKind::Changed,
        AuthorKind::OperandReplaced,
    ];
}

/// Everything that was recorded in a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authorship {
    /// In the order in which they happened.
    pub events: Vec<AuthorEvent>,
    /// The stacks of the events, the innermost function first.
    pub stacks: Vec<Vec<AuthorFrame>>,
    /// How many events there were that are not in the list.
    pub n_cut: u32,
    /// The window's last invocation came to its end: places after it are known.
    pub is_closed: bool,
}

/// One call of a function of `lib/IR` that changes a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorEvent {
    pub kind: AuthorKind,
    /// Where the instruction was when the window opened, if it existed.
    pub before: Option<InstructionPlace>,
    /// Where it is when the window closes, if it still exists.
    pub after: Option<InstructionPlace>,
    /// Where the instruction is that took the place of a replaced value.
    pub replacement: Option<InstructionPlace>,
    /// Of [`Authorship::stacks`]; `None` where it could not be kept.
    pub stack: Option<usize>,
}

/// An instruction of a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstructionPlace {
    /// The function's name, as it is: neither quoted nor escaped.
    pub function: String,
    /// Its number in that function, from 0, in the order of the text.
    pub ordinal: u32,
}

/// A function on a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorFrame {
    /// In the worker.
    pub address: u64,
    /// Demangled; empty where it is not known.
    pub function: String,
    /// Its source file by the code map; `None` outside of LLVM.
    pub file: Option<String>,
}

/// The parts of LLVM that every pass uses to write IR, and those that run passes.
const MACHINERY: [&str; 6] =
    ["lib/IR/", "lib/Support/", "lib/Passes/", "lib/IRPrinter/", "lib/ADT/", HEADERS];

/// Functions of passes that finish what the pass's other functions decided: they
/// replace and erase what a fold hands back to them.
const DRIVERS: [&str; 4] = [
    "llvm::InstCombinerImpl::run",
    "combineInstructionsOverFunction",
    "llvm::InstCombinePass::run",
    "prepareICWorklistFromFunction",
];

impl AuthorFrame {
    /// Whether the function writes IR for whoever calls it, or only runs passes.
    pub fn is_machinery(&self) -> bool {
        let Some(file) = self.file.as_deref() else { return true };
        let below = file.strip_prefix("llvm/").unwrap_or(file);
        // Pass managers of loops are in lib/Transforms.
        let name = self.function.split('(').next().unwrap_or_default();
        let managers = ["PassManager<", "PassManager::", "PassAdaptor::"];
        let runs_passes = managers.iter().any(|part| name.contains(part));
        runs_passes || MACHINERY.iter().any(|part| below.starts_with(part))
    }

    /// Whether it only carries out what another function of its pass decided.
    pub fn is_driver(&self) -> bool {
        DRIVERS.contains(&self.short_name().as_str())
    }

    /// As people write it: `llvm::InstCombinerImpl::visitAdd`.
    pub fn short_name(&self) -> String {
        FunctionName::parse(&self.function).short()
    }
}

/// What happened to an instruction, and who did it: the author first, and then
/// who called it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed<'a> {
    pub kind: AuthorKind,
    /// Never empty.
    pub authors: Vec<&'a AuthorFrame>,
}

impl Authorship {
    pub fn stack(&self, event: &AuthorEvent) -> &[AuthorFrame] {
        event.stack.and_then(|stack| self.stacks.get(stack)).map_or(&[], Vec::as_slice)
    }

    /// The innermost function that is not general machinery.
    pub fn author(&self, event: &AuthorEvent) -> Option<&AuthorFrame> {
        self.authors(event).first().copied()
    }

    /// The stack without machinery, and without drivers where others are left.
    fn authors(&self, event: &AuthorEvent) -> Vec<&AuthorFrame> {
        let frames = self.stack(event).iter().filter(|frame| !frame.is_machinery());
        let (drivers, authors): (Vec<_>, Vec<_>) = frames.partition(|frame| frame.is_driver());
        if authors.is_empty() { drivers } else { authors }
    }

    /// For each instruction of the module after the window to which something
    /// happened: who created it, and who changed or moved it, in their order.
    pub fn deeds_after(&self) -> BTreeMap<&InstructionPlace, Vec<Deed<'_>>> {
        let mut deeds = BTreeMap::new();
        for (place, mut events) in self.by_place(|event| event.after.as_ref()) {
            let is_new = events.iter().any(|event| event.kind == AuthorKind::Created);
            // A new instruction was written for the operands it had.
            events.retain(|event| !is_new || event.kind != AuthorKind::OperandReplaced);
            deeds.insert(place, self.deeds(&events));
        }
        deeds
    }

    /// For each instruction of the module before the window that is gone: who
    /// replaced it, or else who erased it. Where the window was not closed, all
    /// that happened to any of them.
    pub fn deeds_before(&self) -> BTreeMap<&InstructionPlace, Vec<Deed<'_>>> {
        let mut deeds = BTreeMap::new();
        for (place, mut events) in self.by_place(|event| event.before.as_ref()) {
            if self.is_closed {
                if events.iter().any(|event| event.after.is_some()) {
                    continue; // It is still there: see `deeds_after`.
                }
                // What comes after the first happens to what is gone.
                let first = |kind| events.iter().copied().find(|event| event.kind == kind);
                let last_word = first(AuthorKind::Replaced).or(first(AuthorKind::Erased));
                events = last_word.into_iter().collect();
            }
            deeds.insert(place, self.deeds(&events));
        }
        deeds
    }

    fn by_place<'a>(
        &'a self,
        place: impl Fn(&'a AuthorEvent) -> Option<&'a InstructionPlace>,
    ) -> BTreeMap<&'a InstructionPlace, Vec<&'a AuthorEvent>> {
        let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for event in &self.events {
            if let Some(place) = place(event) {
                found.entry(place).or_default().push(event);
            }
        }
        found
    }

    /// Each kind of deed of each author once, in their order. Who creates an
    /// instruction also completes it, and so does the driver; that is no news.
    fn deeds(&self, events: &[&AuthorEvent]) -> Vec<Deed<'_>> {
        let mut deeds: Vec<Deed<'_>> = Vec::new();
        for event in events {
            let mut authors = self.authors(event);
            if authors.first().is_some_and(|author| author.is_driver())
                && let Some(creation) = self.creation_of(event.replacement.as_ref())
            {
                authors = self.authors(creation);
            }
            let Some(&author) = authors.first() else { continue };
            let is_known = |deed: &Deed<'_>| {
                let is_creation = deed.kind == AuthorKind::Created;
                let is_same = deed.authors[0].function == author.function;
                (deed.kind == event.kind || is_creation) && is_same
                    || is_creation && author.is_driver()
            };
            if !deeds.iter().any(is_known) {
                deeds.push(Deed { kind: event.kind, authors });
            }
        }
        deeds
    }

    fn creation_of(&self, place: Option<&InstructionPlace>) -> Option<&AuthorEvent> {
        let is_creation = |event: &&AuthorEvent| {
            event.kind == AuthorKind::Created && event.after.as_ref() == place
        };
        place.and_then(|_| self.events.iter().find(is_creation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, file: &str) -> AuthorFrame {
        let file = (!file.is_empty()).then(|| file.to_owned());
        AuthorFrame { address: 0, function: function.to_owned(), file }
    }

    fn place(ordinal: u32) -> Option<InstructionPlace> {
        Some(InstructionPlace { function: "f".to_owned(), ordinal })
    }

    fn event(
        kind: AuthorKind,
        before: Option<u32>,
        after: Option<u32>,
        stack: usize,
    ) -> AuthorEvent {
        let (before, after) = (before.and_then(place), after.and_then(place));
        AuthorEvent { kind, before, after, replacement: None, stack: Some(stack) }
    }

    /// A fold that writes, the driver that carries it out, and a utility.
    fn authorship(events: Vec<AuthorEvent>, is_closed: bool) -> Authorship {
        let constructor =
            frame("llvm::Instruction::Instruction(int)", "llvm/lib/IR/Instruction.cpp");
        let builder = frame("llvm::IRBuilderBase::CreateAdd(int)", HEADERS);
        let combine =
            |name: &str| frame(name, "llvm/lib/Transforms/InstCombine/InstructionCombining.cpp");
        let fold = combine("llvm::InstCombinerImpl::visitAdd(llvm::BinaryOperator&)");
        let driver = combine("llvm::InstCombinerImpl::run()");
        let file = "llvm/lib/Transforms/Scalar/LoopPassManager.cpp";
        let manager = frame("llvm::FunctionToLoopPassAdaptor::run(llvm::Function&)", file);
        let harness = frame("optsleuth::run()", "");
        let utility = frame("llvm::salvage()", "llvm/lib/Transforms/Utils/Local.cpp");
        let end = [driver, manager, harness];
        let stack = |inner: &[&AuthorFrame]| {
            inner.iter().map(|&frame| frame.clone()).chain(end.clone()).collect()
        };
        let stacks = vec![
            stack(&[&constructor, &builder, &fold]),
            stack(&[&constructor]),
            stack(&[&utility, &fold]),
        ];
        Authorship { events, stacks, n_cut: 0, is_closed }
    }

    fn printed(deeds: &BTreeMap<&InstructionPlace, Vec<Deed<'_>>>) -> Vec<String> {
        let line = |(place, deeds): (&&InstructionPlace, &Vec<Deed<'_>>)| {
            let said = deeds.iter().map(|Deed { kind, authors }| {
                let names: Vec<String> = authors.iter().map(|frame| frame.short_name()).collect();
                format!("{kind:?} {}", names.join(" < ")).replace("llvm::InstCombinerImpl::", "")
            });
            format!("{}: {}", place.ordinal, said.collect::<Vec<_>>().join(", "))
        };
        deeds.iter().map(line).collect()
    }

    use AuthorKind::{Changed, Created, Erased, OperandReplaced, Replaced};

    #[test]
    fn the_author_is_the_innermost_function_that_is_no_machinery() {
        let found = authorship(
            vec![
                event(Created, None, Some(0), 0),
                event(OperandReplaced, None, Some(0), 1),
                event(Changed, None, Some(0), 0),
                event(Changed, None, Some(0), 1),
                event(Changed, None, Some(0), 2),
                event(Changed, None, Some(0), 2),
            ],
            true,
        );
        assert_eq!(
            found.author(&found.events[0]).unwrap().short_name(),
            "llvm::InstCombinerImpl::visitAdd"
        );
        assert_eq!(
            printed(&found.deeds_after()),
            ["0: Created visitAdd, Changed llvm::salvage < visitAdd"]
        );
    }

    #[test]
    fn what_a_driver_replaces_is_the_deed_of_who_wrote_the_replacement() {
        let replaced = AuthorEvent { replacement: place(7), ..event(Replaced, Some(1), None, 1) };
        let events = vec![
            event(Created, None, Some(7), 0),
            replaced,
            event(Erased, Some(1), None, 1),
            event(Erased, Some(2), None, 1),
            event(Changed, Some(3), Some(3), 2),
        ];
        let found = authorship(events.clone(), true);
        assert_eq!(printed(&found.deeds_before()), ["1: Replaced visitAdd", "2: Erased run"]);
        // After a crash nothing is known to be gone for good.
        let found = authorship(events, false);
        assert_eq!(
            printed(&found.deeds_before()),
            [
                "1: Replaced visitAdd, Erased run",
                "2: Erased run",
                "3: Changed llvm::salvage < visitAdd"
            ]
        );
    }
}
