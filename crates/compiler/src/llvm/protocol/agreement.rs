//! Whether `wire.rs` and `worker/protocol.h` say the same.
//!
//! The tables of `wire.rs` -> a C++ file of assertions -> a C++ compiler. A
//! field, enumerator or constant that only C++ has is noticed as well: bytes of
//! a struct that no Rust field covers, a `switch` that does not handle it. Only
//! a constant that Rust never uses is C++'s own business.

use optsleuth_model::{AuthorKind, CodegenLevel, EditKind, Emit};

use super::wire;
use crate::llvm::embedded::SOURCES;
use crate::llvm::{cxx_compiler, find};
use crate::spawn::{Tool, ToolEnd};
use crate::workdir::Workdir;

/// Name and number of every value. A variant that is left out does not compile.
macro_rules! values {
    ($enum:ident: $($variant:ident)*) => {{
        let _all_are_listed = |value: $enum| match value { $($enum::$variant => (),)* };
        let values = [$($enum::$variant),*];
        (stringify!($enum), values.map(|value| (format!("{value:?}"), value as u32)).to_vec())
    }};
}

/// Rust's view of the protocol, as assertions over `protocol.h`.
fn assertions() -> String {
    let mut lines = vec![
        "#include \"protocol.h\"".to_owned(),
        "#include <type_traits>".to_owned(),
        "using namespace optsleuth;".to_owned(),
    ];
    let mut claim = |condition: String, what: String| {
        lines.push(format!("static_assert({condition}, \"{what} differs from wire.rs\");"));
    };
    for &(name, value) in wire::CONSTANTS {
        let name = cpp_constant(name);
        claim(format!("{name} == {value}ull"), name);
    }
    for wire::Struct { name, bytes, fields } in wire::structs() {
        claim(format!("sizeof({name}) == {bytes}"), format!("size of {name}"));
        for wire::Field { name: field, offset, cpp_type } in fields {
            claim(
                format!("offsetof({name}, {field}) == {offset}"),
                format!("offset of {name}::{field}"),
            );
            claim(
                format!("(std::is_same_v<decltype({name}::{field}), {cpp_type}>)"),
                format!("type of {name}::{field}"),
            );
        }
    }
    let mut enumerations = wire::enumerations();
    // Those that are part of the vocabulary, and sent as they are.
    enumerations.push(values!(Emit: Nothing Text Bitcode Object Shape));
    enumerations.push(values!(CodegenLevel: O0 O1 O2 O3));
    let kinds = AuthorKind::ALL.iter().map(|&kind| (format!("{kind:?}"), kind as u32));
    enumerations.push(("AuthorKind", kinds.collect()));
    let kinds = EditKind::ALL.iter().map(|&kind| (format!("{kind:?}"), kind as u32));
    enumerations.push(("EditKind", kinds.collect()));
    for (name, values) in &enumerations {
        for (value, number) in values {
            claim(
                format!("uint32_t({name}::{value}) == {number}"),
                format!("number of {name}::{value}"),
            );
        }
    }
    for (name, values) in &enumerations {
        let cases: String =
            values.iter().map(|(value, _)| format!("case {name}::{value}: ")).collect();
        lines.push(format!("void knows_all(enum {name} v) {{ switch (v) {{ {cases}break; }} }}"));
    }
    lines.join("\n") + "\n"
}

/// `MAX_FRAMES` -> `kMaxFrames`.
fn cpp_constant(name: &str) -> String {
    let capitalize = |word: &str| word[..1].to_owned() + &word[1..].to_lowercase();
    "k".to_owned() + &name.split('_').map(capitalize).collect::<String>()
}

/// What the C++ compiler says to the assertions over this header.
fn complaint(header: &str) -> String {
    let workdir = Workdir::new().unwrap();
    std::fs::write(workdir.file("protocol.h"), header).unwrap();
    std::fs::write(workdir.file("agreement.cpp"), assertions()).unwrap();
    let compiler = cxx_compiler(&find(19).unwrap()).unwrap();
    let output = Tool::new(compiler)
        .args(["-std=c++17", "-fsyntax-only", "-Werror=switch", "agreement.cpp"])
        .directory(workdir.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.end == ToolEnd::Exited(0), text.is_empty(), "{text}");
    text
}

fn header() -> &'static str {
    SOURCES.iter().find(|source| source.name == "protocol.h").unwrap().text
}

/// The header with one text replaced by another has to be rejected so.
fn check(old: &str, new: &str, expected: &str) {
    assert_eq!(header().matches(old).count(), 1, "`{old}` must be in protocol.h once");
    let said = complaint(&header().replace(old, new));
    assert!(said.contains(expected), "{old} -> {new}: {said}");
}

#[test]
fn both_sides_of_the_protocol_agree() {
    let said = complaint(header());
    assert!(said.is_empty(), "{said}");
}

#[test]
fn two_swapped_fields_are_noticed() {
    check(
        "uint32_t phase;\n  uint32_t verdict;",
        "uint32_t verdict;\n  uint32_t phase;",
        "offset of Report::phase differs",
    );
}

#[test]
fn a_field_of_another_type_is_noticed() {
    check("int32_t end_value; //", "uint32_t end_value; //", "type of Report::end_value differs");
}

#[test]
fn a_field_that_only_the_worker_has_is_noticed() {
    check("uint64_t cpu_ms;", "uint64_t cpu_ms, new_limit;", "size of Request differs");
}

#[test]
fn another_number_is_noticed() {
    check("BadEdit = 13", "BadEdit = 15", "number of Verdict::BadEdit differs");
    check("kSkipped = 1;", "kSkipped = 8;", "kSkipped differs");
}

#[test]
fn an_enumerator_that_only_the_worker_has_is_noticed() {
    check("WallLimit = 5,", "WallLimit = 5, DiskLimit = 7,", "DiskLimit");
}
