//! Crash -> signature: one line that two crashes of one cause share.
//!
//! **Invariant:** nothing that changes from run to run or from program to
//! program (addresses, numbers, value names, line numbers) is part of it.

use std::fmt;

/// How many frames stand for a crash without a text.
const TOP_FRAMES: usize = 3;

/// A normalized description of a crash.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature(String);

impl Signature {
    /// From an assertion or error text: its first line, normalized.
    pub fn of_text(text: &str) -> Signature {
        let line = text.lines().map(str::trim).find(|line| !line.is_empty());
        Signature(normalize(line.unwrap_or("no message")))
    }

    /// From a signal and function names, innermost first.
    pub fn of_frames(signal: &str, frames: &[String]) -> Signature {
        let names: Vec<String> = frames
            .iter()
            .filter(|frame| !is_scaffolding(frame))
            .take(TOP_FRAMES)
            .map(|frame| pass_of_model(frame).unwrap_or_else(|| base_name(frame)))
            .collect();
        if names.is_empty() {
            return Signature(signal.to_owned());
        }
        Signature(format!("{signal} in {}", names.join(" < ")))
    }

    /// From the frames of a stack overflow: where it hits is chance, the
    /// recursion is the cause. So the functions that recur are named, from the
    /// alphabetically first on.
    pub fn of_stack_overflow(frames: &[String]) -> Signature {
        let names: Vec<String> = frames.iter().map(|f| base_name(f)).collect();
        let mut recurring: Vec<&String> = names
            .iter()
            .filter(|name| names.iter().filter(|other| other == name).count() > 2)
            .collect();
        recurring.sort();
        recurring.dedup();
        if recurring.is_empty() {
            return Signature::of_frames("stack overflow", frames);
        }
        let list: Vec<&str> = recurring.iter().take(TOP_FRAMES).map(|s| s.as_str()).collect();
        Signature(format!("stack overflow in {}", list.join(", ")))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Numbers become `N`, IR names `%_` and `@_`, paths their last component.
fn normalize(line: &str) -> String {
    let mut out = String::new();
    for (i, word) in line.split(' ').enumerate() {
        if i > 0 {
            out.push(' ');
        }
        out.push_str(&normalize_word(word));
    }
    out
}

fn normalize_word(word: &str) -> String {
    let word = match word.rfind('/') {
        Some(at) if word.starts_with('/') => &word[at + 1..],
        _ => word,
    };
    let mut out = String::new();
    let mut rest = word.chars().peekable();
    while let Some(c) = rest.next() {
        let is_name = |c: &char| c.is_ascii_alphanumeric() || "._-$".contains(*c);
        if (c == '%' || c == '@') && rest.peek().is_some_and(is_name) {
            while rest.next_if(is_name).is_some() {}
            out.push(c);
            out.push('_');
        } else if c.is_ascii_digit() {
            while rest.next_if(char::is_ascii_hexdigit).is_some() || rest.next_if_eq(&'x').is_some()
            {
            }
            out.push('N');
        } else {
            out.push(c);
        }
    }
    out
}

/// Pass managers and adaptors stand between any two passes: on a stack they
/// tell nothing.
fn is_scaffolding(frame: &str) -> bool {
    let runs = pass_of_model(frame).unwrap_or_else(|| base_name(frame));
    ["PassManager::run", "PassAdaptor::run"].iter().any(|end| runs.ends_with(end))
}

/// `llvm::detail::PassModel<Unit, ThePass, ...>::run` -> `ThePass::run`: where
/// a pass was inlined into the object around it, its name is an argument there.
fn pass_of_model(frame: &str) -> Option<String> {
    let arguments = frame.strip_prefix("llvm::detail::PassModel<")?;
    let mut depth = 0usize;
    let mut parts = vec![String::new()];
    for c in arguments.chars() {
        match c {
            '<' => depth += 1,
            '>' if depth == 0 => break,
            '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    let pass = base_name(&parts.get(1)?.trim().replace("(anonymous namespace)", "{anonymous}"));
    Some(format!("{pass}::run"))
}

/// The function's qualified name alone: no template arguments, no parameters,
/// no return type, no clone suffix.
fn base_name(demangled: &str) -> String {
    let mut out = String::new();
    let mut depth = 0usize;
    let text = demangled.replace("(anonymous namespace)", "{anonymous}");
    for c in text.chars() {
        match c {
            '<' if !out.ends_with("operator") => depth += 1,
            '>' if depth > 0 => depth -= 1,
            '(' if depth == 0 => break,
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    let name = out.trim();
    // What stands before the last space is a return type, except in
    // `operator new` and conversions.
    let name = match name.rfind(' ') {
        Some(at) if !name.contains("operator ") => &name[at + 1..],
        _ => name,
    };
    let clone_at = [".isra.", ".part.", ".constprop.", ".cold", ".llvm."]
        .iter()
        .filter_map(|suffix| name.find(suffix))
        .min();
    name[..clone_at.unwrap_or(name.len())].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(text: &str, expected: &str) {
        assert_eq!(Signature::of_text(text).as_str(), expected);
    }

    fn frames(names: &[&str]) -> Vec<String> {
        names.iter().map(|&n| n.to_owned()).collect()
    }

    #[test]
    fn numbers_and_value_names_do_not_count() {
        check_text("Cannot select: 0x55d0c0ffee: i32 = foo %x.i", "Cannot select: N: iN = foo %_");
        check_text("bad node 17 in @main\nsecond line", "bad node N in @_");
        check_text("", "no message");
    }

    #[test]
    fn the_directory_of_a_path_does_not_count() {
        check_text(
            "UNREACHABLE executed at /build/llvm/lib/IR/Value.cpp:123!",
            "UNREACHABLE executed at Value.cpp:N!",
        );
    }

    #[test]
    fn frames_lose_types_and_clone_suffixes() {
        let signature = Signature::of_frames(
            "SIGSEGV",
            &frames(&[
                "llvm::SmallVectorImpl<llvm::Value*>::push_back(llvm::Value*)",
                "(anonymous namespace)::Pass::run(llvm::Function&) [clone .isra.0]",
                "void llvm::walk<int>(int)",
                "main",
            ]),
        );
        assert_eq!(
            signature.as_str(),
            "SIGSEGV in llvm::SmallVectorImpl::push_back < {anonymous}::Pass::run < llvm::walk"
        );
    }

    #[test]
    fn an_inlined_pass_is_named_and_pass_managers_are_not() {
        let model = |pass: &str| {
            format!(
                "llvm::detail::PassModel<llvm::Function, {pass}, llvm::AnalysisManager<\
                 llvm::Function>, llvm::PreservedAnalyses>::run(llvm::Function&)"
            )
        };
        let stack = [
            model("(anonymous namespace)::ThePass"),
            "llvm::PassManager<llvm::Function, llvm::AnalysisManager<llvm::Function>>::run(int)"
                .to_owned(),
            model("llvm::PassManager<llvm::Function, llvm::AnalysisManager<llvm::Function> >"),
            "llvm::ModuleToFunctionPassAdaptor::run(llvm::Module&)".to_owned(),
        ];
        assert_eq!(
            Signature::of_frames("SIGABRT", &stack).as_str(),
            "SIGABRT in {anonymous}::ThePass::run"
        );
    }

    #[test]
    fn an_overflow_is_the_same_wherever_it_hits() {
        let cycle = ["a(int)", "b(int)", "c(int)"];
        let from = |start: usize| {
            let names: Vec<String> =
                (0..40).map(|i| cycle[(start + i) % cycle.len()].to_owned()).collect();
            Signature::of_stack_overflow(&names)
        };
        assert_eq!(from(0), from(1));
        assert_eq!(from(1), from(2));
        assert_eq!(from(0).as_str(), "stack overflow in a, b, c");
    }
}
