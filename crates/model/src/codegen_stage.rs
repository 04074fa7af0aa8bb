//! Which stage of the code generator a machine pass belongs to, by its name and by
//! what runs before and after it.
//!
//! **Invariant:** names are those that llc takes (`-stop-after=greedy`), or LLVM's
//! words where a pass has no such name. A pass that is not known by its name is told by
//! its place.

use crate::BisectedInvocation;

const OF_GLOBALISEL: [&str; 7] = [
    "irtranslator",
    "legalizer",
    "regbankselect",
    "instruction-select",
    "combiner",
    "localizer",
    "gisel",
];
const OF_REGISTERS: [&str; 14] = [
    "greedy",
    "regalloc",
    "livevars",
    "liveintervals",
    "phi-node-elimination",
    "twoaddressinstruction",
    "register-coalescer",
    "simple-register-coalescing",
    "rename-independent-subregs",
    "detect-dead-lanes",
    "virtregrewriter",
    "stack-slot-coloring",
    "init-undef",
    "processimpdefs",
];
const OF_SCHEDULING: [&str; 4] =
    ["machine-scheduler", "postmisched", "post-ra-sched", "post-RA-sched"];
const OF_FRAMES: [&str; 4] = ["prologepilog", "shrink-wrap", "localstackalloc", "stackmap"];

/// The stage of an invocation, in words; `None` where it is not one of these.
pub fn codegen_stage(invocations: &[BisectedInvocation], number: u32) -> Option<&'static str> {
    let place = usize::try_from(number).ok()?;
    let own = invocations.get(place)?;
    let begins = |names: &[&str]| names.iter().any(|name| own.pass.starts_with(name));
    if is_dag_selection(&own.pass) {
        return Some("instruction selection by SelectionDAG");
    }
    if is_selection(&own.pass) || OF_GLOBALISEL.iter().any(|name| own.pass.contains(name)) {
        return Some("instruction selection by GlobalISel");
    }
    if own.pass.contains("Assembly Printer") || own.pass.ends_with("asm-printer") {
        return Some("writing of the object, by the assembler");
    }
    if begins(&OF_REGISTERS) {
        return Some("register allocation");
    }
    if begins(&OF_SCHEDULING) {
        return Some("instruction scheduling");
    }
    if begins(&OF_FRAMES) {
        return Some("frame layout");
    }
    let same_unit = |invocation: &&BisectedInvocation| invocation.unit == own.unit;
    let (before, rest) = invocations.split_at(place);
    let selects = |invocation: &BisectedInvocation| {
        is_selection(&invocation.pass) || is_dag_selection(&invocation.pass)
    };
    if !before.iter().filter(same_unit).any(selects) {
        return Some("preparation of the IR for instruction selection");
    }
    let allocates = |invocation: &BisectedInvocation| {
        ["greedy", "regalloc", "virtregrewriter"]
            .iter()
            .any(|name| invocation.pass.starts_with(name))
    };
    Some(match rest.iter().filter(same_unit).any(allocates) {
        true => "machine passes before register allocation",
        false => "machine passes after register allocation",
    })
}

fn is_dag_selection(pass: &str) -> bool {
    pass.ends_with("-isel") || pass.contains("DAG->DAG")
}

fn is_selection(pass: &str) -> bool {
    pass == "instruction-select"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_pass_is_told_by_its_name_or_its_place() {
        let names = ["codegenprepare", "x86-isel", "early-tailduplication", "greedy", "x86-fixup"];
        let names = [&names[..], &["X86 Assembly Printer"]].concat();
        let invocation = |(index, pass): (usize, &&str)| BisectedInvocation {
            index: index as u32,
            pass: (*pass).to_owned(),
            unit: "function f".to_owned(),
            required: false,
            skipped: false,
            changed: None,
        };
        let log: Vec<BisectedInvocation> = names.iter().enumerate().map(invocation).collect();
        let said: Vec<&str> = (0..6).filter_map(|number| codegen_stage(&log, number)).collect();
        let expected = [
            "preparation of the IR for instruction selection",
            "instruction selection by SelectionDAG",
            "machine passes before register allocation",
            "register allocation",
            "machine passes after register allocation",
            "writing of the object, by the assembler",
        ];
        assert_eq!(said, expected);
        assert_eq!(codegen_stage(&log, 6), None);
    }
}
