//! Code in, code with probes out: layout and emission together.

use crate::emit;
use crate::error::ObjcovError;
use crate::layout::lay_out;
use crate::leaders::Blocks;
use crate::text;

/// Rewrites `code` with probes at the instructions numbered `probed`.
fn rewrite(code: &[u8], probed: &[usize], aligned: &[(u32, u32)]) -> Result<Vec<u8>, ObjcovError> {
    let text = text::decode(1, &text::tests::section(code), &[])?;
    let blocks = Blocks::for_test(text.insns.len(), probed, aligned);
    let layout = lay_out(&text, &blocks)?;
    let emitted = emit::emit(&text, &blocks, &layout, code, &[], 9)?;
    assert_eq!(emitted.blocks.len(), probed.len());
    assert_eq!(emitted.relas.len(), probed.len());
    assert_eq!(emitted.data.len(), layout.size as usize);
    Ok(emitted.data)
}

const PROBE: [u8; 7] = [0xc6, 5, 0, 0, 0, 0, 1];

#[track_caller]
fn check(code: &[u8], probed: &[usize], expect: &[&[u8]]) {
    assert_eq!(rewrite(code, probed, &[]).expect("fits"), expect.concat());
}

#[test]
fn branches_lead_to_the_probe_of_their_target() {
    check(&[0x74, 0x01, 0x90, 0xc3], &[2], &[&[0x74, 0x01, 0x90], &PROBE, &[0xc3]]);
}

#[test]
fn fall_through_passes_the_probe() {
    check(&[0x74, 0x01, 0x90, 0xc3], &[1, 2], &[&[0x74, 0x08], &PROBE, &[0x90], &PROBE, &[0xc3]]);
}

#[test]
fn backward_branches_grow_over_probes() {
    check(&[0x90, 0xeb, 0xfd], &[0], &[&PROBE, &[0x90, 0xeb, 0xf6]]);
}

#[test]
fn long_branches_shrink_when_they_can() {
    check(&[0xe9, 0, 0, 0, 0, 0xc3], &[], &[&[0xeb, 0, 0xc3]]);
    check(&[0x0f, 0x85, 0, 0, 0, 0, 0xc3], &[], &[&[0x75, 0, 0xc3]]);
}

#[test]
fn short_branches_grow_when_they_must() {
    let mut code = vec![0x75, 120];
    code.extend([0x90; 120]);
    code.push(0xc3);
    let probed = [1, 2];
    let mut expect = vec![0x0f, 0x85, 134, 0, 0, 0];
    for _ in 0..2 {
        expect.extend(PROBE);
        expect.push(0x90);
    }
    expect.extend([0x90; 118]);
    expect.push(0xc3);
    assert_eq!(rewrite(&code, &probed, &[]).expect("fits"), expect);
}

#[test]
fn loops_that_cannot_grow_are_refused() {
    let mut code = vec![0x90; 120];
    code.extend([0xe2, 0x86]); // loop to the start
    let refusal = rewrite(&code, &[1, 2], &[]).expect_err("refused");
    assert_eq!(refusal.kind(), "branch-range");
}

#[test]
fn prefixes_of_branches_are_kept() {
    check(&[0x3e, 0x74, 0x00, 0xc3], &[1], &[&[0x3e, 0x74, 0x00], &PROBE, &[0xc3]]);
}

#[test]
fn probes_stand_behind_gates() {
    check(
        &[0xf3, 0x0f, 0x1e, 0xfa, 0xc3],
        &[0, 1],
        &[&[0xf3, 0x0f, 0x1e, 0xfa], &PROBE, &PROBE, &[0xc3]],
    );
}

#[test]
fn aligned_symbols_stay_aligned() {
    let code = rewrite(&[0xc3, 0x90, 0x90, 0x90, 0xc3], &[0, 4], &[(4, 4)]).expect("fits");
    assert_eq!(code[..11], [&PROBE[..], &[0xc3, 0x90, 0x90, 0x90]].concat());
    assert_eq!(code[11..12], [0x90]); // Padding.
    assert_eq!(code[12..19], PROBE);
}

#[test]
fn address_computations_follow_their_label() {
    let code = [0x48, 0x8d, 0x05, 1, 0, 0, 0, 0x90, 0xc3];
    check(&code, &[1, 2], &[&[0x48, 0x8d, 0x05, 8, 0, 0, 0], &PROBE, &[0x90], &PROBE, &[0xc3]]);
}
