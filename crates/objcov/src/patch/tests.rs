//! Patches of hand-written code, one line each.

use super::*;

/// The patches of `code` with blocks at `blocks` and four-byte relocations at `relas`, one line each:
/// kind, offset, bytes before and after.
fn print(code: &[u8], blocks: &[u32], relas: &[u64]) -> String {
    let rela = |&offset| Rela { offset, kind: 4, symbol: 0, addend: -4 };
    let relas = relas.iter().map(rela).collect();
    let function = FunctionCode { bytes: code, at: 0, start: 0, relas };
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let line = |patch: Patch| {
        let after = function.replacement(&patch).expect("fits");
        assert_eq!(after.len(), patch.before.len());
        let kind = match patch.kind {
            PatchKind::Invert => "invert".to_owned(),
            PatchKind::Skip { end } => format!("skip to {end:x}"),
            PatchKind::Increment => "increment".to_owned(),
            PatchKind::Decrement => "decrement".to_owned(),
        };
        format!("{:x} {kind} {} {}", patch.offset, hex(&patch.before), hex(&after))
    };
    let patches = function.patches(blocks).expect("decodes").into_values().flatten();
    patches.map(line).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(code: &[u8], blocks: &[u32], relas: &[u64], expect: &str) {
    assert_eq!(print(code, blocks, relas), expect);
}

#[test]
fn branches_go_the_other_way() {
    // je +1; nop; ret, and the same with four bytes.
    check(&[0x74, 0x01, 0x90, 0xc3], &[0, 2, 3], &[], "0 invert 7401 7501");
    let long = [0x0f, 0x8d, 1, 0, 0, 0, 0x90, 0xc3];
    check(&long, &[0, 6, 7], &[], "0 invert 0f8d01000000 0f8c01000000");
    // To another function: the linker fills in where.
    check(&long, &[0, 6, 7], &[2], "0 invert 0f8d01000000 0f8c01000000");
    // jrcxz has no opposite.
    check(&[0xe3, 0x01, 0x90, 0xc3], &[0, 2, 3], &[], "");
}

#[test]
fn constants_become_larger_and_smaller() {
    // cmp eax, 5; ret
    check(
        &[0x83, 0xf8, 5, 0xc3],
        &[0],
        &[],
        "0 increment 83f805 83f806\n0 decrement 83f805 83f804",
    );
    // At the ends of their range, and between 0 and -1, they do not go on.
    check(&[0x83, 0xf8, 0x7f, 0xc3], &[0], &[], "0 decrement 83f87f 83f87e");
    check(&[0x83, 0xf8, 0x80, 0xc3], &[0], &[], "0 increment 83f880 83f881");
    check(&[0x83, 0xf8, 0, 0xc3], &[0], &[], "0 increment 83f800 83f801");
    check(&[0x83, 0xf8, 0xff, 0xc3], &[0], &[], "0 decrement 83f8ff 83f8fe");
    // mov edi, 0xff: four bytes, of which several change.
    check(
        &[0xbf, 0xff, 0, 0, 0, 0xc3],
        &[0],
        &[],
        "0 increment bfff000000 bf00010000\n0 decrement bfff000000 bffe000000",
    );
    // mov edi, <address>
    check(&[0xbf, 1, 0, 0, 0, 0xc3], &[0], &[1], "");
    // sub rsp, 8; add rbp, 8; shl eax without a constant
    check(&[0x48, 0x83, 0xec, 8, 0x48, 0x83, 0xc5, 8, 0xd3, 0xe0, 0xc3], &[0], &[], "");
}

/// je over a block of `inside`, ret: the block begins at 2.
fn guarded(inside: &[u8]) -> (Vec<u8>, [u32; 3]) {
    let code = [&[0x74, inside.len() as u8][..], inside, &[0xc3]].concat();
    (code, [0, 2, 2 + inside.len() as u32])
}

#[track_caller]
fn check_skip(inside: &[u8], relas: &[u64], expect: Option<&str>) {
    let (code, blocks) = guarded(inside);
    let printed = print(&code, &blocks, relas);
    let skips: Vec<&str> = printed.lines().filter(|line| line.contains("skip")).collect();
    assert_eq!(skips, expect.into_iter().collect::<Vec<_>>());
}

#[test]
fn blocks_are_jumped_over_in_whole_instructions() {
    // mov rdi, rbx; mov rsi, r12; call
    let call = [0x48, 0x89, 0xdf, 0x4c, 0x89, 0xe6, 0xe8, 0, 0, 0, 0];
    check_skip(&call, &[9], Some("2 skip to d 4889df4c89e6 39e474079090"));
    // The call's own bytes are the linker's.
    check_skip(&call[3..], &[6], None);
    check_skip(&[0x90, 0x90, 0x90, 0x90], &[], None);
    // pop, and a call with an argument on the stack
    check_skip(&[0x48, 0x89, 0xdf, 0x89, 0xde, 0x5b], &[], None);
    check_skip(&[0x48, 0x89, 0xdf, 0x89, 0xde, 0x48, 0x83, 0xc4, 8], &[], None);
    // Up to the jump at its end.
    check_skip(
        &[0x48, 0x89, 0xdf, 0x89, 0xde, 0xeb, 0],
        &[],
        Some("2 skip to 7 4889df89de 39e4740190"),
    );
    // Its condition would be chance.
    check_skip(&[0x48, 0x89, 0xdf, 0x89, 0xde, 0x74, 0], &[], None);
    // More than 127 bytes.
    let long = [[0x48, 0x89, 0xdf]; 60].concat();
    check_skip(&long, &[], Some("2 skip to b6 4889df4889df4889df 39e40f84ac00000090"));
}

#[test]
fn the_way_into_a_jump_table_stays() {
    // cmp eax, 5; ja end; jmp rcx; end: ret
    check(&[0x83, 0xf8, 5, 0x77, 2, 0xff, 0xe1, 0xc3], &[0, 5, 7], &[], "");
}

#[test]
fn stack_guards_stay() {
    // cmp rax, fs:[0x28]; jne +0; ret
    let code = [0x64, 0x48, 0x3b, 0x04, 0x25, 0x28, 0, 0, 0, 0x75, 0, 0xc3];
    check(&code, &[0, 11], &[], "");
}

#[test]
fn other_code_is_refused() {
    let code = [0x74, 0x01, 0x90, 0xc3];
    let function = FunctionCode { bytes: &code, at: 0, start: 0, relas: Vec::new() };
    let check = |kind, offset, before: &[u8], fits| {
        let patch = Patch { kind, offset, before: before.to_vec() };
        let applied = function.apply(&code, &patch);
        assert_eq!(applied.is_ok(), fits, "{patch:?} {applied:?}");
    };
    check(PatchKind::Invert, 0, &[0x74, 0x01], true);
    check(PatchKind::Invert, 0, &[0x75, 0x01], false);
    check(PatchKind::Invert, 2, &[0x90], false);
    check(PatchKind::Invert, 9, &[0x74, 0x01], false);
    check(PatchKind::Increment, 0, &[0x74, 0x01], false);
    check(PatchKind::Skip { end: 9 }, 0, &[0x74, 0x01, 0x90, 0xc3], false);
    check(PatchKind::Skip { end: 4 }, 0, &[0x74, 0x01], false);
}
