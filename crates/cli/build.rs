//! Tells the tests whether LLVM 14 is installed: many of them show its bugs, and
//! are reported as ignored, with that reason, on a release that has no LLVM 14.

use std::path::Path;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_llvm_14)");
    // Where the package puts a link: the folder changes when one comes or goes.
    println!("cargo::rerun-if-changed=/usr/bin");
    if Path::new("/usr/lib/llvm-14/bin/llvm-config").exists() {
        println!("cargo::rustc-cfg=has_llvm_14");
    }
}
