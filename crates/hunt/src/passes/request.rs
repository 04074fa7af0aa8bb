//! The runs of a hunt: tests, and failures that are run again.

use std::time::Duration;

use optsleuth_case::loaded::failing_request;
use optsleuth_model::{CaseKind, Execute, Limits, PassSequence, Pipeline, RunRequest};

/// What a test may use: less than usual, because most need next to nothing, and
/// what needs more is looked at again.
pub const TEST_LIMITS: Limits = Limits {
    compile: Duration::from_secs(4),
    execute: Duration::from_secs(2),
    memory: 4 << 30,
    output: 1 << 20,
    with_shadows: false,
};

/// One test in so many has its IR verified after every pass; all others at the
/// end. Verifying takes twice as long as all passes together, and what it finds
/// on the way mostly shows at the end as well.
const VERIFIED: u64 = 8;

/// The run of a test, by its number.
pub(super) fn test_request(
    passes: Option<PassSequence>,
    test: u64,
    coverage_every: u64,
) -> RunRequest {
    RunRequest {
        verify_each: test % VERIFIED == 1,
        execute: Execute::InChild,
        coverage: test.is_multiple_of(coverage_every),
        limits: TEST_LIMITS,
        ..RunRequest::new(passes)
    }
}

/// The run that shows a failure of this kind, and no more than that.
pub(super) fn request(kind: CaseKind, passes: &PassSequence) -> RunRequest {
    let pipeline = Pipeline::Passes(passes.to_string());
    // The unoptimized program ended in a fraction of this.
    let execute = TEST_LIMITS.execute;
    RunRequest {
        limits: Limits { execute, ..Limits::STANDARD },
        // What a later pass mends was broken all the same.
        verify_each: kind == CaseKind::InvalidIr,
        ..failing_request(kind, &pipeline, passes.clone())
    }
}
