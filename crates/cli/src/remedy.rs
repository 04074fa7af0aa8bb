//! Errors for people: the whole story, the way out, and the exit code.

use optsleuth_compiler::c_front_end::FrontEndError;
use optsleuth_compiler::clang::ProgramError;
use optsleuth_compiler::distribution::DistributionError;
use optsleuth_compiler::doctor::{install_command, llvm_packages};
use optsleuth_compiler::driver::DriverError;
use optsleuth_compiler::llvm::{InstallError, NEWEST, OLDEST, ProvisionError, RunError};
use optsleuth_lab::{
    CampaignError, CaseFolderError, CheckStatus, ImportError, LabError, StoreError,
};
use optsleuth_model::PassesError;

use crate::exit::Exit;

/// What to do about it, where that is known.
pub(crate) fn remedy(error: &LabError) -> Option<String> {
    match error {
        LabError::Install(error) => install_remedy(error),
        LabError::Driver(error) => driver_remedy(error),
        LabError::Provision(error) => provision_remedy(error),
        LabError::Program(error) => program_remedy(error),
        LabError::Syntax { .. } => Some(
            "a sequence looks like `sroa,instcombine` or `function(sroa,loop(indvars))`".into(),
        ),
        LabError::Passes(error) => passes_remedy(error),
        LabError::Case(error) => case_remedy(error),
        LabError::Import(error) => import_remedy(error),
        LabError::NoFailure { status: CheckStatus::Unstable, .. } => {
            Some("a compiler may do anything with a program whose behaviour is not defined".into())
        }
        LabError::NoFailure { .. } => {
            Some("is it the right LLVM, are `--passes`, `--level` and `--option` right?".into())
        }
        LabError::NotReproduced { status, .. } => Some(match status {
            CheckStatus::Flaky | CheckStatus::Unstable => {
                "a case has to fail the same way every time; `optsleuth case check` shows how it varies"
                    .into()
            }
            CheckStatus::FailsUnmodified => {
                "a case with a fault has to pass without it; remove `fault` to make it a case of LLVM itself"
                    .into()
            }
            CheckStatus::Reproduces | CheckStatus::Passes | CheckStatus::FailsOtherwise => {
                "`optsleuth case check` says more; is it the right LLVM, are `flags` and `kind` right?"
                    .into()
            }
        }),
        LabError::NoReference { .. } => {
            Some(
                "wrong code needs a program with `main` that runs without optimization; \
                 `--timeout` and `--memory` set its limits"
                    .into(),
            )
        }
        LabError::NoWitness { runs, discarded, .. } if discarded * 2 > *runs => Some(
            "most sequences fail in another way or take too long: give them more time \
             (`--candidate-timeout 10`), or try `--method locseq-wc`"
                .into(),
        ),
        LabError::NoWitness { .. } => Some(
            "give it more time (`--budget 60s`) or another seed (`--seed`), reduce the case first, or \
             take another method: `locseq-wc` has no constraint, `culprit` needs no witness"
                .into(),
        ),
        LabError::NoReducer(_) => {
            Some("`--tool built-in` needs nothing else; `--tool auto` uses what is there".into())
        }
        LabError::Campaign(error) => campaign_remedy(error),
        LabError::NothingToDraw => Some("exclude less, or name passes with `--passes-from`".into()),
        LabError::NoPasses(_) => Some("write one pass a line, as `optsleuth passes` lists them".into()),
        LabError::NoCases(_) => Some("a case is a folder with a case.toml; docs/case-format.md describes it".into()),
        LabError::SameName(_) => Some("measure them one after the other, into different folders (`-o`)".into()),
        LabError::NoTruth => Some("write the culprit into case.toml, under [truth]".into()),
        LabError::Troubled(_) => Some("start it again when the machine is quiet".into()),
        LabError::Store(StoreError::OtherBudget { .. }) => {
            Some("measure into another folder (`-o`), or with the same `--budget` or `--runs`".into())
        }
        LabError::Store(_) => Some("measure into another folder (`-o`), or remove that file".into()),
        LabError::NoSuchInvocation { .. } => {
            Some("`optsleuth run ... --invocations` lists them".into())
        }
        LabError::NoLines => Some(
            "build LLVM with -g and name it with `--llvm-config`; files and functions need none"
                .into(),
        ),
        LabError::OtherLlvm { .. } => Some(
            "leave `--llvm` out: a fault is a change to the code of one build of LLVM".into(),
        ),
        LabError::OtherArguments { .. } => {
            Some("name another folder with `-o`, or give the arguments it was begun with".into())
        }
        LabError::NoFault(_) => {
            Some("`optsleuth bench seed` makes cases of compilers that are broken on purpose".into())
        }
        LabError::FaultNotTested(llvm) => {
            Some(format!("name it with `--compilers llvm-{llvm}`; drivers cannot be broken"))
        }
        LabError::BadFault(_) => Some("hunt into another folder (`-o`), with `--fault`".into()),
        LabError::NoPrograms(_) => {
            Some("name a folder of other C or IR programs with `--programs`, or let csmith write them".into())
        }
        LabError::NoCsmith => {
            let command = install_command(&["csmith".to_owned()]);
            Some(format!("install it with: {command}\n      or name a folder with `--programs`"))
        }
        LabError::EmptyFolder(_) => {
            Some("name a folder of C or IR programs with `--programs`, or let csmith write them".into())
        }
        LabError::NoCPrograms(_) => Some("name a folder of .c files with `--pool`".into()),
        LabError::NotInC(_) => Some(
            "name a .c file; for a case in LLVM IR, `--method culprit` and `--method locseq` do".into(),
        ),
        // It says so itself.
        LabError::FrontEnd(_) => None,
        LabError::Run(error) => run_remedy(error),
        LabError::Distribution(DistributionError::Missing { major, .. }) => {
            Some(format!("install it with: {}", install_command(&[format!("llvm-{major}")])))
        }
        LabError::Libclang(_) | LabError::Load(_) => {
            Some(format!("install it with: {}", install_command(&["libclang1-19".to_owned()])))
        }
        LabError::NotC { .. } => Some("give what it is compiled with behind `--`, as in `-- -std=gnu89`".into()),
        LabError::NoPlace { .. } => Some("`--list --rule NAME` shows the places, `--list` all rules".into()),
        LabError::NoNumberedPlaces(_) => Some("leave `--place` and `--list` out, or give another `--seed`".into()),
        LabError::NothingToInsert(_) => Some("give other programs with `--pool`, or another `--seed`".into()),
        LabError::NothingToMutate => Some("`--list` shows what there is".into()),
        LabError::Distribution(_)
        | LabError::Alphabet(_)
        | LabError::Faulty(_)
        | LabError::Lines(_)
        | LabError::Tool(_)
        | LabError::Io { .. } => None,
    }
}

fn install_remedy(error: &InstallError) -> Option<String> {
    match error {
        InstallError::Missing(major) => Some(format!(
            "install it with: {}\n      or name another one; `optsleuth doctor` lists what is here",
            install_command(&llvm_packages(*major))
        )),
        InstallError::None => {
            Some(format!("install one with: {}", install_command(&llvm_packages(19))))
        }
        InstallError::Unsupported(_) => Some(format!("choose one from {OLDEST} to {NEWEST}")),
        InstallError::Odd { .. } | InstallError::Tool(_) => {
            Some("`--llvm-config` takes the path of an `llvm-config` program".into())
        }
    }
}

fn driver_remedy(error: &DriverError) -> Option<String> {
    match error {
        DriverError::Missing { package, .. } => Some(format!(
            "install it with: {}\n      or name another one; `optsleuth doctor` lists what is here",
            install_command(std::slice::from_ref(package))
        )),
        // They say so themselves.
        DriverError::NoName(_) | DriverError::NoProgram(_) | DriverError::Disguised { .. } => None,
        DriverError::NoCompiler { .. } | DriverError::Tool(_) => {
            Some("name a gcc or a clang; `optsleuth doctor` lists those that are here".into())
        }
    }
}

fn provision_remedy(error: &ProvisionError) -> Option<String> {
    match error {
        ProvisionError::NoArchives { major, .. } => Some(format!(
            "install them with: {}\n      in a build tree of your own, build with BUILD_SHARED_LIBS=OFF",
            install_command(&llvm_packages(*major))
        )),
        ProvisionError::NoCompiler(major) => {
            Some(format!("install one with: {}", install_command(&[format!("clang-{major}")])))
        }
        ProvisionError::NoCache => Some("set XDG_CACHE_HOME to a directory".into()),
        ProvisionError::Build { major, .. } => Some(format!(
            "`optsleuth doctor` says what is missing; often it is: {}",
            install_command(&llvm_packages(*major))
        )),
        ProvisionError::Cache { .. } => {
            Some("set XDG_CACHE_HOME to a directory that can be written".into())
        }
        ProvisionError::Faulty { .. } => Some(
            "a fault fits only the build of LLVM it was seeded in: install that one, or seed anew \
             with `optsleuth bench seed`"
                .into(),
        ),
        ProvisionError::Unusable { .. }
        | ProvisionError::Cover { .. }
        | ProvisionError::Tool(_) => None,
    }
}

fn case_remedy(error: &CaseFolderError) -> Option<String> {
    match error {
        CaseFolderError::NoCase(_) => {
            Some("name a folder with a case.toml; docs/case-format.md describes it".into())
        }
        CaseFolderError::Wrong { .. } => Some("docs/case-format.md describes case.toml".into()),
        CaseFolderError::NoInput(_) => {
            Some("`input` in case.toml names a file in the case's folder".into())
        }
        CaseFolderError::Driver(_) => Some(
            "`case check` and `reduce` work on it. A failure of clang may show in LLVM alone, too: \
             `compiler = { llvm = \"19\" }` with the same `level` and \
             `cflags = [\"-O2\", \"-Xclang\", \"-disable-llvm-passes\"]`"
                .into(),
        ),
        CaseFolderError::NotLocalized(folder) => {
            let case = folder.display();
            Some(format!("run `optsleuth localize {case}` or `optsleuth bisect {case}` first"))
        }
        CaseFolderError::Stale { kind, .. } => {
            Some(format!("remove it, and run `{}` again", kind.command()))
        }
        CaseFolderError::Unreadable { .. } => None,
    }
}

fn import_remedy(error: &ImportError) -> Option<String> {
    match error {
        ImportError::Wrong { .. } => Some(
            "a file of llvm-autofix or llvm-apr-benchmark is expected; \
             docs/case-format.md says what is read of it"
                .into(),
        ),
        ImportError::Exists(_) => Some("`--force` replaces it, `-o` names another folder".into()),
        ImportError::NotACase(_) => Some("`-o` names another folder".into()),
        ImportError::Unreadable { .. } | ImportError::NotWritten { .. } => None,
    }
}

fn program_remedy(error: &ProgramError) -> Option<String> {
    match error {
        ProgramError::NoClang(major) => {
            Some(format!("install it with: {}", install_command(&[format!("clang-{major}")])))
        }
        ProgramError::DoesNotCompile { .. } => {
            Some("pass what it needs with `-I DIR`, `-D NAME=VALUE` or `--cflag=-std=gnu89`".into())
        }
        ProgramError::UnknownLanguage(_) => Some("rename it to end in .c, .ll or .bc".into()),
        ProgramError::Unreadable { .. } | ProgramError::NoRoom(_) => None,
    }
}

fn passes_remedy(error: &PassesError) -> Option<String> {
    match error {
        PassesError::Unknown { similar, .. } if similar.is_empty() => {
            Some("`optsleuth passes` lists all of them".into())
        }
        PassesError::Unknown { similar, .. } => {
            let names: Vec<String> = similar.iter().map(|name| format!("`{name}`")).collect();
            Some(format!("did you mean {}?", names.join(" or ")))
        }
        PassesError::Misplaced { instead, .. } => Some(format!("write `{instead}`")),
        PassesError::EmptyAdaptor(name) => Some(format!("as in `{name}(sroa)`")),
        PassesError::Gone { .. } | PassesError::NotAnAdaptor(_) => None,
    }
}

fn campaign_remedy(error: &CampaignError) -> Option<String> {
    match error {
        CampaignError::NoCampaign(_) => {
            Some("`optsleuth hunt -o FOLDER` begins one, `optsleuth hunt --resume FOLDER` goes on".into())
        }
        CampaignError::Exists(folder) => Some(format!(
            "go on with `optsleuth hunt --resume {0}`, or hunt into another folder (`-o`)",
            folder.display()
        )),
        CampaignError::InUse(_) => {
            Some("wait for it, end it, or hunt into another folder (`-o`)".into())
        }
        CampaignError::OtherKind { .. } => {
            Some("campaigns of pass sequences and of variants are not joined".into())
        }
        CampaignError::OtherVersion { .. } => {
            Some("hunt into another folder (`-o`); the cases in it can be used as they are".into())
        }
        CampaignError::OtherSettings { what: "LLVM" | "list of passes" | "compiler", .. } => {
            Some("begin a campaign of its own for it, in another folder (`-o`)".into())
        }
        CampaignError::OtherSettings { .. } | CampaignError::Overlap { .. } => {
            Some("only parts of one campaign can be joined: same LLVM, seed and recipe, different `--shard`".into())
        }
        CampaignError::DiskFull(folder) => Some(format!(
            "make room, then go on with `optsleuth hunt --resume {}`",
            folder.display()
        )),
        CampaignError::Damaged { .. } => Some("hunt into another folder (`-o`)".into()),
        CampaignError::Database { .. } | CampaignError::Io { .. } => None,
    }
}

fn run_remedy(error: &RunError) -> Option<String> {
    match error {
        RunError::ForeignTarget { .. } => {
            Some("build a worker with all code generators: `--targets all`".into())
        }
        RunError::Lost { .. } => {
            Some("something kills the workers: is the machine out of memory?".into())
        }
        RunError::DoesNotLink(_) => Some(
            "only programs that need nothing but libc, libm and libpthread can be executed".into(),
        ),
        RunError::NoSandbox => Some("leave out `--execute` on this machine".into()),
        RunError::BadModule { .. } | RunError::NoShape(_) => {
            Some("LLVM refuses it before any pass runs: the program itself is not valid IR".into())
        }
        RunError::NoClang(_) => Some("see what `optsleuth doctor` says of clang".into()),
        RunError::BadOptions(_)
        | RunError::DoesNotCompile(_)
        | RunError::BadPipeline(_)
        | RunError::BadEdit(_)
        | RunError::NotInstrumented
        | RunError::TooLarge { .. }
        | RunError::Protocol(_)
        | RunError::Trouble(_)
        | RunError::Registry(_)
        | RunError::Io { .. } => None,
    }
}

/// The code to end with.
pub(crate) fn exit(error: &LabError) -> Exit {
    match error {
        LabError::Install(InstallError::Missing(_) | InstallError::None)
        | LabError::Driver(DriverError::Missing { .. })
        | LabError::Provision(ProvisionError::NoArchives { .. } | ProvisionError::NoCompiler(_))
        | LabError::Program(ProgramError::NoClang(_))
        | LabError::NoCsmith
        | LabError::Libclang(_)
        | LabError::Load(_)
        | LabError::FrontEnd(FrontEndError::NoClang(_))
        | LabError::Distribution(DistributionError::Missing { .. }) => Exit::Missing,
        LabError::NotReproduced { status, .. } | LabError::NoFailure { status, .. } => match status
        {
            CheckStatus::Flaky | CheckStatus::Unstable => Exit::Unstable,
            CheckStatus::Reproduces
            | CheckStatus::Passes
            | CheckStatus::FailsOtherwise
            | CheckStatus::FailsUnmodified => Exit::NotReproduced,
        },
        LabError::NoWitness { interrupted: true, .. } => Exit::Interrupted,
        LabError::NoWitness { interrupted: false, .. } => Exit::NoWitness,
        LabError::Install(_)
        | LabError::Driver(_)
        | LabError::NoReducer(_)
        | LabError::NoCases(_)
        | LabError::NotC { .. }
        | LabError::NoPlace { .. }
        | LabError::NoNumberedPlaces(_)
        | LabError::NothingToInsert(_)
        | LabError::NothingToMutate
        | LabError::NoPasses(_)
        | LabError::NothingToDraw
        | LabError::Campaign(
            CampaignError::NoCampaign(_)
            | CampaignError::Exists(_)
            | CampaignError::InUse(_)
            | CampaignError::OtherKind { .. }
            | CampaignError::OtherVersion { .. }
            | CampaignError::OtherSettings { .. }
            | CampaignError::Overlap { .. },
        )
        | LabError::SameName(_)
        | LabError::NoTruth
        | LabError::Store(
            StoreError::Foreign { .. } | StoreError::OtherBudget { .. } | StoreError::OtherSetup(_),
        )
        | LabError::Case(_)
        | LabError::Import(
            ImportError::Unreadable { .. }
            | ImportError::Wrong { .. }
            | ImportError::Exists(_)
            | ImportError::NotACase(_),
        )
        | LabError::Provision(ProvisionError::Faulty { .. })
        | LabError::OtherLlvm { .. }
        | LabError::OtherArguments { .. }
        | LabError::NoFault(_)
        | LabError::FaultNotTested(_)
        | LabError::NoPrograms(_)
        | LabError::EmptyFolder(_)
        | LabError::NoCPrograms(_)
        | LabError::NotInC(_)
        | LabError::FrontEnd(FrontEndError::Flags(_) | FrontEndError::NotOneJob(_))
        | LabError::Alphabet(_)
        | LabError::NoReference { .. }
        | LabError::Program(_)
        | LabError::Syntax { .. }
        | LabError::Passes(_)
        | LabError::NoSuchInvocation { .. }
        | LabError::NoLines
        | LabError::Run(
            RunError::BadOptions(_)
            | RunError::BadModule { .. }
            | RunError::NoShape(_)
            | RunError::ForeignTarget { .. }
            | RunError::BadPipeline(_)
            | RunError::DoesNotLink(_)
            | RunError::TooLarge { .. },
        ) => Exit::Usage,
        LabError::FrontEnd(FrontEndError::NoRoom(_))
        | LabError::Provision(_)
        | LabError::Campaign(_)
        | LabError::Import(ImportError::NotWritten { .. })
        | LabError::Run(_)
        | LabError::Distribution(_)
        | LabError::Faulty(_)
        | LabError::Lines(_)
        | LabError::Tool(_)
        | LabError::Troubled(_)
        | LabError::BadFault(_)
        | LabError::Store(StoreError::Io { .. })
        | LabError::Io { .. } => Exit::Internal,
    }
}
