//! What the doctor found on this machine: compilers, tools, and what the kernel
//! can do.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Everything the doctor found.
#[derive(Clone, Debug, Serialize)]
pub struct Findings {
    /// The LLVMs, oldest first.
    pub llvms: Vec<LlvmFinding>,
    /// Compilers as their users call them, by family and version; a family
    /// without any has one that is missing.
    pub drivers: Vec<DriverFinding>,
    pub tools: Vec<ToolFinding>,
    /// What this kernel can do to fence programs in.
    pub kernel: KernelFinding,
}

#[derive(Clone, Debug, Serialize)]
pub struct LlvmFinding {
    /// `19`.
    pub major: u32,
    /// `19.1.7`; empty if it does not answer.
    pub version: String,
    /// Whether workers can be built from it.
    pub usable: bool,
    /// Its parts: `archives`, `headers`, `clang`, `opt`, `llc`, `llvm-reduce`,
    /// `libclang`, `sanitizers`.
    pub parts: Vec<Part>,
    /// Why it cannot be used at all.
    pub problem: Option<String>,
    /// What instrumentation did to it; `None` before its first coverage.
    pub instrumentation: Option<Instrumentation>,
}

/// One compiler as its users call it.
#[derive(Clone, Debug, Serialize)]
pub struct DriverFinding {
    /// `gcc-12`; the family alone where there is none.
    pub name: String,
    /// `gcc` or `clang`.
    pub family: &'static str,
    /// `12.2.0`.
    pub version: Option<String>,
    pub path: Option<PathBuf>,
    /// How to install some, where there is none and apt has some.
    pub install: Option<String>,
    /// Of a gcc: what its plug-in is compiled with, to bisect its passes by function.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plugin: Vec<Part>,
}

/// One part of an LLVM, or of a gcc.
#[derive(Clone, Debug, Serialize)]
pub struct Part {
    pub name: &'static str,
    pub purpose: &'static str,
    /// Whether nothing works without it.
    pub required: bool,
    pub path: Option<PathBuf>,
    /// How to install it, where it is missing and apt has it.
    pub install: Option<String>,
}

/// A tool that is no compiler.
#[derive(Clone, Debug, Serialize)]
pub struct ToolFinding {
    pub name: &'static str,
    pub purpose: &'static str,
    pub path: Option<PathBuf>,
    /// What it says of itself.
    pub version: Option<String>,
    /// How to install it, where it is missing and apt has it.
    pub install: Option<String>,
}

/// What the kernel offers to fence programs in.
#[derive(Clone, Debug, Serialize)]
pub struct KernelFinding {
    /// System calls can be filtered: no network, no signals to others, no forks.
    pub seccomp: bool,
    /// Writing can be confined to the private directory.
    pub landlock: bool,
    /// Addresses can be fixed, so that runs repeat exactly.
    pub fixed_addresses: bool,
}

impl Findings {
    /// Whether at least one LLVM can be used and programs can be executed.
    pub fn is_healthy(&self) -> bool {
        self.llvms.iter().any(|llvm| llvm.usable) && self.kernel.seccomp
    }
}

/// A member that was linked as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftAlone {
    /// `libLLVMSupport.a`.
    pub archive: String,
    /// `blake3_avx2_x86-64_unix.S.o`.
    pub member: String,
    pub reason: String,
}

/// What putting probes into an LLVM's archives came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Instrumentation {
    pub n_members: usize,
    /// Members with probes.
    pub n_instrumented: usize,
    /// Members without probes.
    pub left_alone: Vec<LeftAlone>,
    /// Blocks that the linker kept.
    pub n_blocks: usize,
    pub rewrite_seconds: f64,
    pub link_seconds: f64,
}
