//! Ctrl-C and termination signals.
//!
//! Most jobs end at once. One that can end early with a result asks
//! [`requested`] now and then; from its first question on, the first Ctrl-C is
//! an answer to it, and only the second one ends everything.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::Exit;

static IS_ASKED: AtomicBool = AtomicBool::new(false);
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// From now on signals are handled here.
pub(crate) fn handle() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| {
        let is_first = !REQUESTED.swap(true, Ordering::SeqCst);
        if is_first && IS_ASKED.load(Ordering::SeqCst) {
            return;
        }
        // Workers see their host go and clean up after themselves; other
        // children have to be ended.
        optsleuth_compiler::spawn::kill_all_tools();
        std::process::exit(Exit::Interrupted as i32);
    })
}

/// Whether the job is to end with what it has.
pub(crate) fn requested() -> bool {
    IS_ASKED.store(true, Ordering::SeqCst);
    REQUESTED.load(Ordering::SeqCst)
}
