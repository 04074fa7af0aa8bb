//! What is on this machine, what works, and the command that installs the rest.
//!
//! Looks only; builds and changes nothing.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated, RulesetError,
};
use optsleuth_model::doctor::{
    DriverFinding, Findings, KernelFinding, LlvmFinding, Part, ToolFinding,
};

use crate::csmith;
use crate::driver::{Driver, Family, PluginParts};
use crate::llvm::{self, FrontEndParts, Install};
use crate::packages::{install_command, packaged_llvms, suggested_llvm};
use crate::sanitize;
use crate::spawn::{Tool, find_on_path};
use crate::workdir::Workdir;

/// Library headers that LLVM's archives ask for at link time: what the linker
/// is told, and the package that has it.
const LINK_LIBRARIES: [(&str, &str); 4] = [
    ("zstd", "libzstd-dev"),
    ("z", "zlib1g-dev"),
    ("xml2", "libxml2-dev"),
    ("tinfo", "libncurses-dev"),
];

/// Looks around; at one LLVM, or at all.
pub fn examine(only: Option<u32>) -> Findings {
    let mut llvms: Vec<LlvmFinding> = llvm::discover()
        .into_iter()
        .filter(|(major, _)| only.is_none_or(|only| only == *major))
        .map(|(major, found)| match found {
            Ok(install) => examine_llvm(&install),
            Err(error) => LlvmFinding {
                major,
                version: String::new(),
                usable: false,
                parts: Vec::new(),
                problem: Some(error.to_string()),
                instrumentation: None,
            },
        })
        .collect();
    if llvms.is_empty() {
        let major = only.unwrap_or_else(suggested_llvm);
        llvms.push(LlvmFinding {
            major,
            version: String::new(),
            usable: false,
            parts: Vec::new(),
            problem: Some(format!("not installed; {}", how_to_get(major))),
            instrumentation: None,
        });
    }
    let (drivers, tools) = (examine_drivers(), examine_tools());
    Findings { llvms, drivers, tools, kernel: examine_kernel() }
}

/// The packages that make an LLVM of this number complete.
fn llvm_packages(major: u32) -> Vec<String> {
    let mut packages =
        [format!("llvm-{major}-dev"), format!("llvm-{major}"), format!("clang-{major}")].to_vec();
    packages.extend(LINK_LIBRARIES.iter().map(|(_, package)| (*package).to_owned()));
    packages
}

/// How to get a complete LLVM, or which ones apt has instead.
pub fn how_to_get(major: u32) -> String {
    if let Some(command) = install_command(&llvm_packages(major)) {
        return format!("install it with: {command}");
    }
    let others: Vec<String> = packaged_llvms().iter().map(u32::to_string).collect();
    match others.is_empty() {
        true => "apt has no LLVM here that could be used".to_owned(),
        false => format!("apt has LLVM {} here, and not {major}", others.join(", ")),
    }
}

/// What is missing has a command, if apt has it.
fn how_to_install(is_missing: bool, packages: &[String]) -> Option<String> {
    is_missing.then(|| install_command(packages)).flatten()
}

fn examine_llvm(install: &Install) -> LlvmFinding {
    let major = install.major;
    let archive = install.lib.join("libLLVMPasses.a");
    let header = Tool::new(&install.llvm_config)
        .arg("--includedir")
        .text()
        .map(|folder| Path::new(&folder).join("llvm/Passes/PassBuilder.h"));
    let dev = format!("llvm-{major}-dev");
    let tools = format!("llvm-{major}");
    let part = |name, purpose, required, path: Option<PathBuf>, package: &str| Part {
        name,
        purpose,
        required,
        install: how_to_install(path.is_none(), &[package.to_owned()]),
        path,
    };
    let existing = |path: PathBuf| path.is_file().then_some(path);
    let mut parts = vec![
        part("archives", "what a worker is linked from", true, existing(archive), &dev),
        part(
            "headers",
            "what a worker is compiled against",
            true,
            header.ok().and_then(existing),
            &dev,
        ),
        part(
            "clang",
            "compiles C programs to IR",
            false,
            install.tool("clang"),
            &format!("clang-{major}"),
        ),
        part("opt", "confirms what a worker finds", false, install.tool("opt"), &tools),
        part("llc", "confirms what a worker executes", false, install.tool("llc"), &tools),
        part("llvm-reduce", "reduces IR", false, install.tool("llvm-reduce"), &tools),
    ];
    let inside = FrontEndParts::find(install);
    let complete = inside.are_complete();
    parts.push(part(
        "libclang",
        "compiles many C programs quickly",
        false,
        inside.archive.filter(|_| complete),
        &format!("libclang-{major}-dev"),
    ));
    parts.push(part(
        "sanitizers",
        "watch C programs for undefined behaviour",
        false,
        sanitize::library(install),
        &sanitize::package(major),
    ));
    parts.extend(link_libraries(install));
    let compiler = llvm::cxx_compiler(install);
    parts.push(part(
        "C++ compiler",
        "compiles the worker",
        true,
        compiler,
        &format!("clang-{major}"),
    ));
    let lld = llvm::lld(install);
    parts.push(part("lld", "links the worker in a second", false, lld, &format!("lld-{major}")));
    LlvmFinding {
        major,
        version: install.version.clone(),
        usable: parts.iter().all(|part| !part.required || part.path.is_some()),
        parts,
        problem: None,
        instrumentation: llvm::instrumentation(install),
    }
}

/// The libraries this LLVM's archives ask the linker for.
fn link_libraries(install: &Install) -> Vec<Part> {
    let wanted = Tool::new(&install.llvm_config)
        .args(["--link-static", "--system-libs"])
        .text()
        .unwrap_or_default();
    let mut parts = Vec::new();
    for (name, package) in LINK_LIBRARIES {
        if !wanted.split_whitespace().any(|flag| flag == format!("-l{name}")) {
            continue;
        }
        let path = library_folders()
            .into_iter()
            .map(|folder| folder.join(format!("lib{name}.so")))
            .find(|file| file.exists());
        parts.push(Part {
            name: package,
            purpose: "linked into the worker",
            required: true,
            install: how_to_install(path.is_none(), &[package.to_owned()]),
            path,
        });
    }
    parts
}

fn library_folders() -> Vec<PathBuf> {
    ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"]
        .map(PathBuf::from)
        .into()
}

fn examine_drivers() -> Vec<DriverFinding> {
    let installed = Driver::installed();
    let mut findings = Vec::new();
    for family in Family::ALL {
        let known = findings.len();
        let of_family = installed.iter().filter(|driver| driver.family == family);
        findings.extend(of_family.map(|driver| DriverFinding {
            name: driver.name.clone(),
            family: family.name(),
            version: Some(driver.version.clone()),
            path: Some(driver.path.clone()),
            install: None,
            plugin: plugin_parts(driver),
        }));
        if findings.len() == known {
            let packages = match family {
                Family::Clang => vec![format!("clang-{}", suggested_llvm())],
                Family::Gcc => vec!["gcc".to_owned()],
            };
            findings.push(DriverFinding {
                name: family.name().to_owned(),
                family: family.name(),
                version: None,
                path: None,
                install: install_command(&packages),
                plugin: Vec::new(),
            });
        }
    }
    findings
}

/// What a gcc's plug-in is compiled with.
fn plugin_parts(driver: &Driver) -> Vec<Part> {
    let Some(found) = PluginParts::find(driver) else { return Vec::new() };
    let part = |name, purpose, path: Option<PathBuf>, package: String| Part {
        name,
        purpose,
        required: false,
        install: how_to_install(path.is_none(), &[package]),
        path,
    };
    vec![
        part("plug-in", "bisects gcc by function", found.headers, found.headers_package),
        part("g++", "compiles the plug-in", found.compiler, found.compiler_package),
    ]
}

fn examine_tools() -> Vec<ToolFinding> {
    let tool = |name: &'static str, purpose, package: &str| {
        let path = find_on_path(name);
        let version = path.as_ref().and_then(|path| {
            // csmith leaves a file where it runs, whatever it is asked.
            let folder = Workdir::new().ok()?;
            let text = Tool::new(path).arg("--version").directory(folder.path()).text().ok()?;
            text.lines().find(|line| !line.trim().is_empty()).map(|line| line.trim().to_owned())
        });
        let install = how_to_install(path.is_none(), &[package.to_owned()]);
        ToolFinding { name, purpose, path, version, install }
    };
    let mut tools = vec![
        tool("csmith", "generates C programs", "csmith"),
        tool("cvise", "reduces C programs", "cvise"),
        tool("creduce", "reduces C programs", "creduce"),
    ];
    let headers = csmith::headers();
    tools.push(ToolFinding {
        name: "csmith.h",
        purpose: "included by csmith's programs",
        install: how_to_install(headers.is_none(), &["libcsmith-dev".to_owned()]),
        path: headers,
        version: None,
    });
    tools
}

fn examine_kernel() -> KernelFinding {
    let seccomp = std::fs::read_to_string("/proc/self/status")
        .is_ok_and(|status| status.lines().any(|line| line.starts_with("Seccomp:")));
    // Making a rule set restricts nothing; only entering it would.
    let ruleset = || -> Result<RulesetCreated, RulesetError> {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_write(ABI::V1))?
            .create()
    };
    let fixed_addresses = Tool::new("setarch").args(["-R", "true"]).check().is_ok();
    KernelFinding { seccomp, landlock: ruleset().is_ok(), fixed_addresses }
}
