//! Addresses inside a worker -> function names.

use std::path::Path;

use object::{Object, ObjectSymbol, SymbolKind};

/// The functions of a worker, by address.
#[derive(Debug, Default)]
pub(crate) struct Symbols(Vec<Function>); // Invariant: sorted by address.

#[derive(Debug)]
struct Function {
    address: u64,
    size: u64,
    name: String,
}

/// Functions whose presence on a stack says nothing about the cause: the
/// harness's own, and LLVM's ways to report.
const UNTELLING: [&str; 8] = [
    "optsleuth::",
    "__assert_fail",
    "llvm::report_fatal_error",
    "llvm::reportFatal",
    "llvm::report_bad_alloc_error",
    "llvm::llvm_unreachable_internal",
    "_start",
    "main",
];

impl Symbols {
    /// Reads the symbol table; one that cannot be read names nothing.
    pub(crate) fn read(file: &Path) -> Symbols {
        let read = || -> Option<Vec<Function>> {
            let bytes = std::fs::read(file).ok()?;
            let object = object::File::parse(&*bytes).ok()?;
            let functions = object.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text);
            Some(
                functions
                    .filter_map(|symbol| {
                        let name = symbol.name().ok()?.to_owned();
                        Some(Function { address: symbol.address(), size: symbol.size(), name })
                    })
                    .collect(),
            )
        };
        let mut functions = read().unwrap_or_default();
        functions.sort_by(|a, b| a.address.cmp(&b.address).then(b.size.cmp(&a.size)));
        Symbols(functions)
    }

    fn lookup(&self, address: u64) -> Option<&str> {
        self.containing(address).map(|(_, name)| name)
    }

    /// The function that an address lies in: where it begins and its mangled name.
    pub(crate) fn containing(&self, address: u64) -> Option<(u64, &str)> {
        let after = self.0.partition_point(|function| function.address <= address);
        let function = self.0[..after].last()?;
        let inside = address - function.address < function.size.max(1);
        inside.then_some((function.address, function.name.as_str()))
    }

    /// All functions: where they begin and their mangled names, by address.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, &str)> {
        self.0.iter().map(|function| (function.address, function.name.as_str()))
    }

    /// Demangled names for the frames of a stack, innermost first, without
    /// those that tell nothing. Frames outside the worker are libraries'.
    pub(crate) fn frames(&self, addresses: &[u64]) -> Vec<String> {
        addresses
            .iter()
            // A return address may lie behind its function's last instruction.
            .filter_map(|&address| self.lookup(address.saturating_sub(1)))
            .map(demangle)
            .filter(|name| !UNTELLING.iter().any(|prefix| tells_nothing(name, prefix)))
            .collect()
    }
}

fn tells_nothing(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| {
        prefix.ends_with(':')
            || !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            || prefix == "llvm::reportFatal"
    })
}

pub fn demangle(name: &str) -> String {
    cpp_demangle::Symbol::new(name)
        .ok()
        .and_then(|symbol| symbol.demangle().ok())
        .unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols() -> Symbols {
        let function = |address, size, name: &str| Function { address, size, name: name.into() };
        Symbols(vec![
            function(100, 50, "_ZN4llvm5Value4dumpEv"),
            function(200, 10, "_ZN9optsleuth5crash6finishE"),
            function(300, 10, "main"),
            function(400, 10, "mainly"),
        ])
    }

    #[test]
    fn frames_of_the_harness_and_of_libraries_are_left_out() {
        assert_eq!(symbols().frames(&[205, 120, 305, 999]), ["llvm::Value::dump()"]);
    }

    #[test]
    fn only_whole_names_are_left_out() {
        assert_eq!(symbols().frames(&[405]), ["mainly"]);
    }

    #[test]
    fn a_return_address_behind_the_end_belongs_to_the_caller() {
        assert_eq!(symbols().frames(&[150]), ["llvm::Value::dump()"]);
        assert_eq!(symbols().frames(&[160]), Vec::<String>::new());
    }
}
