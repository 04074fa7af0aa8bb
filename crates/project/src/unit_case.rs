//! A guilty unit -> a case that the rest of OptSleuth works on, and the judge of its
//! objects.
//!
//! The case's program is the unit's IR, or its preprocessed source. Its check is a script that gives an object to
//! `optsleuth judge`, which puts it into the project, with every unit unoptimized that
//! need not be optimized, links, and runs the user's check.
//!
//! **Invariant:** the script names the project where it lies; a case of a project works
//! only beside it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err as fs;
use optsleuth_case::folder::{open_case, save_definedness};
use optsleuth_case::workers::LlvmChoice;
use optsleuth_case::write::write_case_with;
use optsleuth_compiler::spawn::quote;
use optsleuth_compiler::surroundings::NO_OBJECT;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    Case, CaseKind, CompilerSpec, Conditions, Definedness, Pipeline, ProjectFinding, Silent, Trust,
};

use crate::ProjectError;
use crate::guilty::{CodeForm, GuiltyCode};
use crate::project::Project;
use crate::tree::{Judged, Tree};

/// What `optsleuth judge` is told.
#[derive(Clone, Debug)]
pub struct JudgePlan {
    pub project: PathBuf,
    /// The unit whose object is to be judged.
    pub unit: usize,
    /// Units that are optimized besides.
    pub beside: Vec<usize>,
    /// What the check may take.
    pub limit: Duration,
    pub check: String,
    /// [`NO_OBJECT`] for the unit's own unoptimized one.
    pub object: PathBuf,
}

/// Whether the project is right with this object.
pub fn judge_object(plan: &JudgePlan) -> Result<Judged, ProjectError> {
    let project = Project::open(&plan.project)?;
    let is_reference = plan.object == Path::new(NO_OBJECT);
    let mut objects = project.unoptimized_but(|number| plan.beside.contains(&number))?;
    if !is_reference {
        objects.insert(plan.unit, fs::read(&plan.object)?);
    }
    let mut tree = Tree::new(&project, &plan.check, &Silent);
    tree.limit = plan.limit;
    tree.judge(&objects)
}

impl Project {
    /// Writes the case of a guilty unit. Nothing else of the project is in it but what
    /// its sanitizers said.
    pub fn write_case(
        &self,
        guilty: &GuiltyCode,
        finding: &ProjectFinding,
        optsleuth: &Path,
        folder: &Path,
        force: bool,
    ) -> Result<(), ProjectError> {
        let GuiltyCode { unit, level, beside, limit, form } = guilty;
        let name = self.name(&self.units[*unit]);
        let script = Path::new("execution/check.sh");
        let words = |path: &Path| quote(&path.display().to_string());
        let beside: Vec<String> =
            beside.iter().map(|number| format!(" --beside {number}")).collect();
        let text = format!(
            "#!/bin/sh\n\
             # Links an object of {name} into the project, and runs its check.\n\
             exec {} judge {} --unit {unit}{} --limit {} --check {} \"$1\"\n",
            words(optsleuth),
            words(&self.folder),
            beside.concat(),
            limit.as_secs(),
            quote(&finding.check),
        );
        let beside = Workdir::new()?;
        let file = beside.file("check.sh");
        fs::write(&file, text)?;
        fs::set_permissions(&file, Permissions::from_mode(0o755))?;
        let conditions =
            Conditions { check: Some(script.to_owned()), unlinked: true, ..Conditions::default() };
        let id = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut case = Case {
            id,
            title: Some(format!("{name}: `{}` fails", finding.check)),
            source: None,
            compiler: CompilerSpec::Llvm(String::new()),
            fault: None,
            input: String::new(),
            pipeline: Pipeline::Level(*level),
            front_end: None,
            flags: Vec::new(),
            cflags: Vec::new(),
            kind: CaseKind::WrongCode,
            signature: None,
            expected: None,
            observed: None,
            fails_in: Vec::new(),
            fixed_in: None,
            execution: conditions,
            truth: None,
        };
        let program = match form {
            CodeForm::Ir { llvm, fault, ir, options } => {
                case.compiler = match llvm {
                    LlvmChoice::Version(major) => CompilerSpec::Llvm(major.to_string()),
                    LlvmChoice::Newest => CompilerSpec::Llvm(llvm.find()?.major.to_string()),
                    LlvmChoice::Config(path) => {
                        CompilerSpec::LlvmConfig(path.display().to_string())
                    }
                };
                case.input = "unit.ll".to_owned();
                (case.fault, case.flags) = (fault.clone(), options.clone());
                ir.as_bytes()
            }
            CodeForm::Source { gcc, is_cxx, text, flags } => {
                case.compiler = CompilerSpec::Gcc(gcc.display().to_string());
                case.input = if *is_cxx { "unit.cpp" } else { "unit.c" }.to_owned();
                case.cflags.clone_from(flags);
                text
            }
        };
        let copies = [(file, script.to_owned())];
        write_case_with(folder, &case, program, &copies, force)?;
        let asked = vec![finding.asked.clone()];
        let said = Definedness { asked, ..Definedness::default() };
        Ok(save_definedness(&open_case(folder, Trust::Author)?, &said)?)
    }
}
