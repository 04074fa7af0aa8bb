//! Archive and member, or a path in debug information -> source file of LLVM.
//!
//! LLVM's build gives every library a folder, and names a member after its
//! source file. The names of the libraries have changed little from 14 to 22;
//! the table has all of them. A library that is not in it keeps its own name,
//! so nothing is ever attributed to a file that does not exist.

/// Library, without `libLLVM` and `.a`, and its folder below `llvm/`.
const FOLDERS: &[(&str, &str)] = &[
    ("ABI", "lib/ABI"),
    ("AggressiveInstCombine", "lib/Transforms/AggressiveInstCombine"),
    ("Analysis", "lib/Analysis"),
    ("AsmParser", "lib/AsmParser"),
    ("AsmPrinter", "lib/CodeGen/AsmPrinter"),
    ("BinaryFormat", "lib/BinaryFormat"),
    ("BitReader", "lib/Bitcode/Reader"),
    ("BitWriter", "lib/Bitcode/Writer"),
    ("BitstreamReader", "lib/Bitstream/Reader"),
    ("CAS", "lib/CAS"),
    ("CFGuard", "lib/Transforms/CFGuard"),
    ("CFIVerify", "tools/llvm-cfi-verify/lib"),
    ("CGData", "lib/CGData"),
    ("CodeGen", "lib/CodeGen"),
    ("CodeGenData", "lib/CodeGenData"),
    ("CodeGenTypes", "lib/CodeGenTypes"),
    ("Core", "lib/IR"),
    ("Coroutines", "lib/Transforms/Coroutines"),
    ("Coverage", "lib/ProfileData/Coverage"),
    ("DTLTO", "lib/DTLTO"),
    ("DWARFCFIChecker", "lib/DWARFCFIChecker"),
    ("DWARFLinker", "lib/DWARFLinker"),
    ("DWARFLinkerClassic", "lib/DWARFLinker/Classic"),
    ("DWARFLinkerParallel", "lib/DWARFLinker/Parallel"),
    ("DWP", "lib/DWP"),
    ("DebugInfoBTF", "lib/DebugInfo/BTF"),
    ("DebugInfoCodeView", "lib/DebugInfo/CodeView"),
    ("DebugInfoDWARF", "lib/DebugInfo/DWARF"),
    ("DebugInfoDWARFLowLevel", "lib/DebugInfo/DWARF/LowLevel"),
    ("DebugInfoGSYM", "lib/DebugInfo/GSYM"),
    ("DebugInfoLogicalView", "lib/DebugInfo/LogicalView"),
    ("DebugInfoMSF", "lib/DebugInfo/MSF"),
    ("DebugInfoPDB", "lib/DebugInfo/PDB"),
    ("Debuginfod", "lib/Debuginfod"),
    ("Demangle", "lib/Demangle"),
    ("Diff", "tools/llvm-diff/lib"),
    ("DlltoolDriver", "lib/ToolDrivers/llvm-dlltool"),
    ("ExecutionEngine", "lib/ExecutionEngine"),
    ("Exegesis", "tools/llvm-exegesis/lib"),
    ("ExegesisAArch64", "tools/llvm-exegesis/lib/AArch64"),
    ("ExegesisMips", "tools/llvm-exegesis/lib/Mips"),
    ("ExegesisPowerPC", "tools/llvm-exegesis/lib/PowerPC"),
    ("ExegesisRISCV", "tools/llvm-exegesis/lib/RISCV"),
    ("ExegesisX86", "tools/llvm-exegesis/lib/X86"),
    ("Extensions", "lib/Extensions"),
    ("FileCheck", "lib/FileCheck"),
    ("FrontendAtomic", "lib/Frontend/Atomic"),
    ("FrontendDirective", "lib/Frontend/Directive"),
    ("FrontendDriver", "lib/Frontend/Driver"),
    ("FrontendHLSL", "lib/Frontend/HLSL"),
    ("FrontendOffloading", "lib/Frontend/Offloading"),
    ("FrontendOpenACC", "lib/Frontend/OpenACC"),
    ("FrontendOpenMP", "lib/Frontend/OpenMP"),
    ("FuzzMutate", "lib/FuzzMutate"),
    ("FuzzerCLI", "lib/FuzzMutate"),
    ("GlobalISel", "lib/CodeGen/GlobalISel"),
    ("HipStdPar", "lib/Transforms/HipStdPar"),
    ("IRPrinter", "lib/IRPrinter"),
    ("IRReader", "lib/IRReader"),
    ("InstCombine", "lib/Transforms/InstCombine"),
    ("Instrumentation", "lib/Transforms/Instrumentation"),
    ("InterfaceStub", "lib/InterfaceStub"),
    ("Interpreter", "lib/ExecutionEngine/Interpreter"),
    ("JITLink", "lib/ExecutionEngine/JITLink"),
    ("LTO", "lib/LTO"),
    ("LibDriver", "lib/ToolDrivers/llvm-lib"),
    ("LineEditor", "lib/LineEditor"),
    ("Linker", "lib/Linker"),
    ("MC", "lib/MC"),
    ("MCA", "lib/MCA"),
    ("MCDisassembler", "lib/MC/MCDisassembler"),
    ("MCJIT", "lib/ExecutionEngine/MCJIT"),
    ("MCParser", "lib/MC/MCParser"),
    ("MIRParser", "lib/CodeGen/MIRParser"),
    ("ObjCARCOpts", "lib/Transforms/ObjCARC"),
    ("ObjCopy", "lib/ObjCopy"),
    ("Object", "lib/Object"),
    ("ObjectYAML", "lib/ObjectYAML"),
    ("OptDriver", "tools/opt"),
    ("Option", "lib/Option"),
    ("OrcDebugging", "lib/ExecutionEngine/Orc/Debugging"),
    ("OrcJIT", "lib/ExecutionEngine/Orc"),
    ("OrcShared", "lib/ExecutionEngine/Orc/Shared"),
    ("OrcTargetProcess", "lib/ExecutionEngine/Orc/TargetProcess"),
    ("Passes", "lib/Passes"),
    ("PerfJITEvents", "lib/ExecutionEngine/PerfJITEvents"),
    ("Plugins", "lib/Plugins"),
    ("ProfileData", "lib/ProfileData"),
    ("Remarks", "lib/Remarks"),
    ("RuntimeDyld", "lib/ExecutionEngine/RuntimeDyld"),
    ("SandboxIR", "lib/SandboxIR"),
    ("ScalarOpts", "lib/Transforms/Scalar"),
    ("SelectionDAG", "lib/CodeGen/SelectionDAG"),
    ("Support", "lib/Support"),
    ("SupportLSP", "lib/Support/LSP"),
    ("Symbolize", "lib/DebugInfo/Symbolize"),
    ("TableGen", "lib/TableGen"),
    ("TableGenBasic", "utils/TableGen/Basic"),
    ("TableGenCommon", "utils/TableGen/Common"),
    ("TableGenGlobalISel", "utils/TableGen/GlobalISel"),
    ("Target", "lib/Target"),
    ("TargetParser", "lib/TargetParser"),
    ("Telemetry", "lib/Telemetry"),
    ("TextAPI", "lib/TextAPI"),
    ("TextAPIBinaryReader", "lib/TextAPI/BinaryReader"),
    ("TransformUtils", "lib/Transforms/Utils"),
    ("Vectorize", "lib/Transforms/Vectorize"),
    ("WindowsDriver", "lib/WindowsDriver"),
    ("WindowsManifest", "lib/WindowsManifest"),
    ("XRay", "lib/XRay"),
    ("ipo", "lib/Transforms/IPO"),
];

/// The libraries of a target end in one of these and lie in its folder.
const TARGET_PARTS: &[(&str, &str)] = &[
    ("AsmParser", "/AsmParser"),
    ("CodeGen", ""),
    ("Desc", "/MCTargetDesc"),
    ("Disassembler", "/Disassembler"),
    ("Info", "/TargetInfo"),
    ("TargetMCA", "/MCA"),
    ("Utils", "/Utils"),
    ("Analysis", "/Analysis"),
];

const TARGETS: &[&str] = &[
    "AArch64",
    "AMDGPU",
    "ARM",
    "AVR",
    "BPF",
    "Hexagon",
    "Lanai",
    "LoongArch",
    "M68k",
    "MSP430",
    "Mips",
    "NVPTX",
    "PowerPC",
    "RISCV",
    "SPIRV",
    "Sparc",
    "SystemZ",
    "VE",
    "WebAssembly",
    "X86",
    "XCore",
    "Xtensa",
];

/// Members whose source lies in a folder below their library's.
const DEEPER: &[(&str, &str, &str)] = &[
    ("CodeGen", "InstrRefBasedImpl.cpp", "LiveDebugValues/"),
    ("CodeGen", "LiveDebugValues.cpp", "LiveDebugValues/"),
    ("CodeGen", "VarLocBasedImpl.cpp", "LiveDebugValues/"),
];

/// The folder of a library below `llvm/`.
fn folder(library: &str) -> Option<String> {
    if let Some((_, folder)) = FOLDERS.iter().find(|(name, _)| *name == library) {
        return Some((*folder).to_owned());
    }
    let target = TARGETS.iter().find(|target| library.starts_with(**target))?;
    let rest = &library[target.len()..];
    let (_, part) = TARGET_PARTS.iter().find(|(name, _)| *name == rest)?;
    Some(format!("lib/Target/{target}{part}"))
}

/// The source file of an archive's member: `llvm/lib/...` where the archive is
/// one of LLVM's, else archive and member.
pub(crate) fn source_file(archive: &str, member: &str) -> String {
    let archive = archive.rsplit('/').next().unwrap_or(archive);
    let source = member.strip_suffix(".o").unwrap_or(member);
    let library = archive.strip_prefix("libLLVM").and_then(|name| name.strip_suffix(".a"));
    match library.and_then(|library| Some((library, folder(library)?))) {
        Some((library, folder)) => {
            let is_this = |(of, name, _): &&(&str, &str, &str)| *of == library && *name == source;
            let deeper = DEEPER.iter().find(is_this).map_or("", |(_, _, deeper)| deeper);
            format!("llvm/{folder}/{deeper}{source}")
        }
        None => format!("{archive}/{source}"),
    }
}

/// The path of one of LLVM's files, as people know it: `llvm/lib/...` in its
/// source, `llvm/include/...` where headers are installed. `None` for others'.
pub(crate) fn known_as(llvm: &str, file: &str) -> Option<String> {
    if let Some(below) = file.strip_prefix(llvm) {
        return Some(format!("llvm{below}"));
    }
    let at = file.rfind("/include/llvm")?;
    Some(format!("llvm{}", &file[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(archive: &str, member: &str, expected: &str) {
        assert_eq!(source_file(archive, member), expected);
    }

    #[test]
    fn members_become_the_files_they_were_compiled_from() {
        check(
            "/usr/lib/llvm-19/lib/libLLVMInstCombine.a",
            "InstCombineAddSub.cpp.o",
            "llvm/lib/Transforms/InstCombine/InstCombineAddSub.cpp",
        );
        check("libLLVMCore.a", "Verifier.cpp.o", "llvm/lib/IR/Verifier.cpp");
        check(
            "libLLVMX86CodeGen.a",
            "X86ISelLowering.cpp.o",
            "llvm/lib/Target/X86/X86ISelLowering.cpp",
        );
        check(
            "libLLVMX86Desc.a",
            "X86MCCodeEmitter.cpp.o",
            "llvm/lib/Target/X86/MCTargetDesc/X86MCCodeEmitter.cpp",
        );
        check(
            "libLLVMCodeGen.a",
            "LiveDebugValues.cpp.o",
            "llvm/lib/CodeGen/LiveDebugValues/LiveDebugValues.cpp",
        );
        check("libz.a", "inflate.o", "libz.a/inflate");
        check("libLLVMNovelty.a", "New.cpp.o", "libLLVMNovelty.a/New.cpp");
    }

    #[test]
    fn every_archive_of_every_installed_llvm_has_its_folder() {
        for (_, install) in crate::llvm::discover() {
            let lib = install.unwrap().lib;
            for entry in std::fs::read_dir(&lib).unwrap().flatten() {
                let name = entry.file_name().into_string().unwrap();
                // BOLT is a project beside LLVM.
                let is_ours = name.starts_with("libLLVM") && name.ends_with(".a");
                if is_ours && !name.starts_with("libLLVMBOLT") {
                    assert!(
                        source_file(&name, "X.cpp.o").starts_with("llvm/"),
                        "{} has no folder",
                        entry.path().display()
                    );
                }
            }
        }
    }
}
