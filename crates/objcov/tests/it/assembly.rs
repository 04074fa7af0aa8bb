//! Assembly in, blocks or a refusal out: the rules of block discovery, one fact per test.

use std::fmt::Write;
use std::fs;

use optsleuth_objcov::{Options, instrument_object};

use crate::tools::{self, Bench};

/// Assembles `body` (function symbols and sections are up to it) and describes the result:
/// one line per function with the offsets of its blocks, or the kind of refusal.
fn describe(body: &str) -> String {
    let bench = Bench::new();
    fs::write(bench.path().join("a.s"), format!("{body}\n")).expect("write");
    tools::must(&["gcc", "-c", "a.s", "-o", "a.o"], bench.path());
    let bytes = fs::read(bench.path().join("a.o")).expect("object");
    match instrument_object(&bytes, &Options { object_id: 0 }) {
        Err(skip) => skip.kind().to_owned(),
        Ok(instrumented) => {
            let mut text = String::new();
            for function in &instrumented.functions {
                write!(text, "{}:", function.symbol).expect("text");
                for block in &function.blocks {
                    write!(text, " {:x}", block.offset).expect("text");
                }
                text.push('\n');
            }
            text
        }
    }
}

/// One function `f` with this body.
#[track_caller]
fn check(body: &str, expect: &str) {
    check_all(&format!(".type f, @function\nf: {body}\n.size f, .-f\n"), expect);
}

#[track_caller]
fn check_all(source: &str, expect: &str) {
    assert_eq!(describe(source), expect, "{source}");
}

#[test]
fn blocks_start_at_targets_and_behind_branches() {
    check("test %edi, %edi; je 1f; nop; 1: ret", "f: 0 4 5\n");
    check("1: dec %edi; jne 1b; ret", "f: 0 4\n");
    check("jmp 1f; nop; 1: ret", "f: 0 3\n");
}

#[test]
fn calls_do_not_end_blocks() {
    check("call g; call g; ret", "f: 0\n");
}

#[test]
fn code_that_nothing_reaches_is_taken_for_data() {
    check("ret; add %eax, %eax", "data-in-text");
    check("ret; nop; int3; ud2", "f: 0\n");
    check("lea 1f(%rip), %rax; ret; 1: add %eax, %eax; ret", "data-in-text");
}

#[test]
fn memory_operands_on_code_are_refused() {
    check("mov 1f(%rip), %eax; 1: ret", "data-in-text");
}

#[test]
fn jumps_into_instructions_are_refused() {
    check("jne 1f+1; 1: lock cmpxchg %ecx, (%rdi); ret", "mid-instruction");
}

#[test]
fn asking_for_the_own_address_is_refused() {
    check("call 1f; 1: pop %rax; ret", "label-arithmetic");
    check("lea 1f(%rip), %rax; add %rdi, %rax; jmp *%rax; nop; 1: ret", "label-arithmetic");
}

#[test]
fn tables_with_a_known_start_name_their_targets() {
    let jump = "lea t(%rip), %rdx; movslq (%rdx,%rdi,4), %rax; add %rdx, %rax; jmp *%rax";
    let table = ".section .rodata; .balign 4; nop; t: .long 1b-t, 2b-t, 1b-t";
    let code = |rest: &str| {
        format!(".type f, @function\nf: {jump}; 1: ret; 2: nop; ret\n.size f, .-f\n{rest}")
    };
    check_all(&code(table), "f: 0 10 11\n");
    // The same entries without anyone who takes the table's address: not guessed.
    let hidden = code(table).replace("lea t(%rip), %rdx", "lea 0(%rsi), %rdx");
    check_all(&hidden, "unknown-table");
    // Two tables in a row, each with its own start.
    let second = format!(
        ".type g, @function\ng: {}; 3: nop; ret\n.size g, .-g\n{table}\nu: .long 3b-u, 3b-u",
        jump.replace("t(", "u(")
    );
    check_all(&code(&second), "f: 0 10 11\ng: 13 23\n");
}

#[test]
fn entries_that_belong_to_another_function_are_refused() {
    let source = ".type f, @function\nf: lea t(%rip), %rdx; ret\n.size f, .-f
        .type g, @function\ng: nop; 1: ret\n.size g, .-g
        .section .rodata; t: .long 1b-t, 1b-t";
    check_all(source, "unknown-table");
}

#[test]
fn absolute_words_name_their_targets() {
    check(
        "jmp *t(,%rdi,8); 1: ret; 2: nop; ret\n.section .data; t: .quad 1b, 2b\n.text",
        "f: 0 7 8\n",
    );
}

#[test]
fn thread_local_pairs_must_not_be_entered_in_the_middle() {
    let pair =
        ".byte 0x66; lea x@tlsgd(%rip), %rdi; 1: .value 0x6666; rex64; call __tls_get_addr@PLT";
    check(&format!("{pair}; ret"), "f: 0\n");
    check(&format!("{pair}; jne 1b; ret"), "tls-sequence");
}

#[test]
fn code_outside_functions_moves_but_has_no_blocks() {
    check_all(
        "nop\n.type f, @function\nf: jmp g\n.size f, 2\n.balign 16\n.type g, @function\ng: ret\n.size g, 1",
        "f: 1\ng: 10\n",
    );
}

#[test]
fn objects_in_code_are_refused() {
    check("ret\n.type d, @object\nd: .quad 0x9090909090909090\n.size d, 8", "data-in-text");
}

#[test]
fn code_without_functions_is_left_alone() {
    check_all("start: nop; ret", "no-code");
}
