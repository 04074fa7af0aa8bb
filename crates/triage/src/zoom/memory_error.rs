//! What the address sanitizer prints -> the error and its stacks.
//!
//! It prints addresses alone (`symbolize=0`): inside the fence it can start no
//! program that would name them, and the worker's symbols are known here.
//!
//! **Invariant:** a text that is no such report is no error.

use optsleuth_model::{MemoryError, MemoryStack};

/// What can be told where most of the program is not instrumented: the allocator
/// sees all of the heap, and nobody sees all of the stack.
const CERTAIN: [&str; 3] = ["heap-", "attempting double-free", "attempting free"];

/// Functions of a stack that are kept.
const DEPTH: usize = 12;

/// `functions` names a stack's functions, innermost first.
pub(super) fn read(text: &str, functions: &dyn Fn(&[u64]) -> Vec<String>) -> Option<MemoryError> {
    let mut lines = text.lines();
    let what = lines.by_ref().find_map(|line| {
        let (_, said) = line.split_once("ERROR: AddressSanitizer: ")?;
        let what = said.split(" on ").next()?.trim();
        CERTAIN.iter().any(|one| what.starts_with(one)).then(|| what.to_owned())
    })?;
    let mut stacks: Vec<(String, Vec<u64>)> = Vec::new();
    let mut title = String::new();
    for line in lines {
        match (address(line), stacks.last_mut()) {
            (Some(address), Some((of, stack))) if *of == title => stack.push(address),
            (Some(address), _) => stacks.push((title.clone(), vec![address])),
            (None, _) if !line.trim().is_empty() => title = heading(line),
            (None, _) => {}
        }
        if line.starts_with("SUMMARY:") {
            break;
        }
    }
    let named = |(title, stack): (String, Vec<u64>)| {
        let mut functions = functions(&stack);
        functions.truncate(DEPTH);
        MemoryStack { title, functions }
    };
    Some(MemoryError { what, stacks: stacks.into_iter().map(named).collect() })
}

/// Of a line `#3 0x1234 (worker+0x1234)`.
fn address(line: &str) -> Option<u64> {
    let rest = line.trim_start().strip_prefix('#')?;
    let word = rest.split_whitespace().nth(1)?;
    u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()
}

/// `freed by thread T0 here:` -> `freed by`.
fn heading(line: &str) -> String {
    let line = line.trim().trim_end_matches(':');
    let end = line.find(" at 0x").or_else(|| line.find(" thread T")).unwrap_or(line.len());
    line[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x60 at pc 0x10 bp 0x1 sp 0x2
READ of size 8 at 0x60 thread T0
    #0 0x000000000011  (/w/worker+0x11) (BuildId: aa)
    #1 0x000000000012  (/w/worker+0x12)

0x60 is located 16 bytes inside of 64-byte region [0x50,0x90)
freed by thread T0 here:
    #0 0x000000000021  (/w/worker+0x21)

previously allocated by thread T0 here:
    #0 0x000000000031  (/w/worker+0x31)

SUMMARY: AddressSanitizer: heap-use-after-free (/w/worker+0x11)
";

    #[test]
    fn both_stacks_of_a_use_after_free_are_named() {
        let name = |stack: &[u64]| stack.iter().map(|at| format!("f{at:x}")).collect();
        let found = read(REPORT, &name).unwrap();
        assert_eq!(found.what, "heap-use-after-free");
        let stacks: Vec<String> = found
            .stacks
            .iter()
            .map(|s| format!("{}: {}", s.title, s.functions.join(" ")))
            .collect();
        let expected = ["READ of size 8: f11 f12", "freed by: f21", "previously allocated by: f31"];
        assert_eq!(stacks, expected);
    }

    #[test]
    fn other_words_are_no_memory_error() {
        assert_eq!(read("LLVM ERROR: out of luck\n", &|_| Vec::new()), None);
        let stack = REPORT.replace("heap-use-after-free", "unknown-crash");
        assert_eq!(read(&stack, &|_| Vec::new()), None);
    }
}
