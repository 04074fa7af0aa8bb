//! Instructions as the later stages see them, one line each.

use super::*;
use crate::elf::Section;

/// A section with these contents.
pub(crate) fn section(data: &[u8]) -> Section<'_> {
    Section {
        name_offset: 0,
        kind: object::elf::SHT_PROGBITS,
        flags: 6,
        addr: 0,
        size: data.len() as u64,
        link: 0,
        info: 0,
        align: 16,
        entsize: 0,
        data: data.into(),
    }
}

/// Decodes `code` with relocations of the given offsets and types, and prints flow, role and fixups.
fn print(code: &[u8], relas: &[(u64, u32)]) -> Result<String, ObjcovError> {
    let rela = |&(offset, kind)| Rela { offset, kind, symbol: 0, addend: -4 };
    let relas = relas.iter().map(rela).collect::<Vec<_>>();
    let text = decode(1, &section(code), &relas)?;
    let mut lines = Vec::new();
    for (number, insn) in text.insns.iter().enumerate() {
        let mut line = format!("{:x} {:?} {:?}", insn.off, insn.flow, insn.role);
        for fixup in text.fixups.iter().filter(|fixup| fixup.insn as usize == number) {
            line += &format!(" {:?}->{:x}", fixup.form, fixup.target);
        }
        for rela in text.relas.iter().filter(|rela| rela.insn as usize == number) {
            line += &format!(" bias {}", rela.bias);
        }
        lines.push(line);
    }
    Ok(lines.join("\n"))
}

#[track_caller]
fn check(code: &[u8], relas: &[(u64, u32)], expect: &str) {
    assert_eq!(print(code, relas).expect("decodes"), expect);
}

#[track_caller]
fn check_refused(code: &[u8], relas: &[(u64, u32)], kind: &str) {
    assert_eq!(print(code, relas).expect_err("refused").kind(), kind);
}

#[test]
fn resolved_branches_become_fixups() {
    check(
        &[0xeb, 0x01, 0x90, 0x74, 0xfd, 0xe8, 0xf6, 0xff, 0xff, 0xff, 0xc3],
        &[],
        "0 Jump Plain Jmp->3\n2 Next Inert\n3 Branch Plain Jcc->2\n5 Next Plain Long->0\na Stop Plain",
    );
}

#[test]
fn relocated_branches_are_left_to_the_linker() {
    check(&[0xe8, 0, 0, 0, 0, 0xc3], &[(1, 4)], "0 Next Plain bias 4\n5 Stop Plain");
}

#[test]
fn fields_before_an_immediate_count_to_the_end() {
    // movl $7, x(%rip)
    check(&[0xc7, 0x05, 0, 0, 0, 0, 7, 0, 0, 0], &[(2, 2)], "0 Next Plain bias 8");
}

#[test]
fn an_address_beside_a_distance_has_no_bias() {
    // movq $function, x(%rip): R_X86_64_PC32 and R_X86_64_32S
    check(
        &[0x48, 0xc7, 0x05, 0, 0, 0, 0, 0, 0, 0, 0],
        &[(3, 2), (7, 11)],
        "0 Next Plain bias 8 bias 0",
    );
}

#[test]
fn address_computations_within_the_section_become_fixups() {
    check(
        &[0x48, 0x8d, 0x05, 1, 0, 0, 0, 0x90, 0xc3],
        &[],
        "0 Next Plain Operand(3)->8\n7 Next Inert\n8 Stop Plain",
    );
}

#[test]
fn calls_of_thread_local_sequences_are_pinned() {
    let code = [0x66, 0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0];
    check(&code, &[(4, 19), (12, 4)], "0 Next Plain bias 4\n8 Next Pinned bias 4");
    let mut broken = code[..8].to_vec();
    broken.push(0x90);
    check_refused(&broken, &[(4, 19)], "tls-sequence");
}

#[test]
fn gates_and_loops_are_recognized() {
    check(&[0xf3, 0x0f, 0x1e, 0xfa, 0xe2, 0xfa], &[], "0 Next Gate\n4 Branch Plain Short->0");
}

#[test]
fn doubtful_code_is_refused() {
    check_refused(&[0x06], &[], "bad-instruction"); // No such instruction in 64-bit code.
    check_refused(&[0x8b, 0x05, 0, 0, 0, 0], &[], "data-in-text"); // Reads the code as data.
    check_refused(&[0xeb, 0x10], &[], "mid-instruction"); // Jumps out of the section.
    check_refused(&[0xe8, 0, 0, 0, 0], &[(0, 4)], "relocation"); // Relocates the opcode.
    check_refused(&[0xeb, 0], &[(1, 15)], "relocation"); // R_X86_64_PC8 cannot grow.
    check_refused(&[0x90], &[(8, 4)], "malformed"); // Past the end.
}
