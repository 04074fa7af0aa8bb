//! The distribution's own tools: what a user of this LLVM would type.
//!
//! A finding counts only if these agree with it. The commands are run as they
//! are printed, in a directory of their own.
//!
//! **Invariant:** no worker is involved, except to fence a finished program in.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use optsleuth_model::{CodegenLevel, Limits, PassSequence, Program, signal_name};

use crate::CompilerError;
use crate::driver::backtrace;
use crate::llvm::{Install, link};
use crate::spawn::{Tool, ToolEnd, ToolOutput};
use crate::workdir::Workdir;

/// A pipeline pass by pass, as `opt` prints it.
pub fn print_pipeline(install: &Install, passes: &PassSequence) -> Result<String, CompilerError> {
    let missing = || CompilerError::NoTool { major: install.major, tool: "opt" };
    let printed = Tool::new(install.tool("opt").ok_or_else(missing)?)
        .arg(format!("-passes={passes}"))
        .args(["-print-pipeline-passes", "-disable-output", "/dev/null"])
        .text()?;
    Ok(printed)
}

/// One job for the tools.
#[derive(Debug)]
pub struct Job<'a> {
    /// The LLVM whose own `opt` and `llc` do the work.
    pub install: &'a Install,
    /// IR, as workers load it.
    pub program: &'a Program,
    /// Passed to `opt` as they are.
    pub options: &'a [String],
    /// The passes; `None` runs none.
    pub passes: Option<&'a PassSequence>,
    /// Verify after every pass.
    pub verify_each: bool,
    /// Generate code for the result, with this effort.
    pub codegen: Option<CodegenLevel>,
    /// Make a program of that code.
    pub link: bool,
    /// What it is linked with.
    pub link_words: &'a [String],
    /// Each tool gets more than these, because it has to start up and read its input.
    pub limits: Limits,
}

/// What the tools made of a job.
#[derive(Debug)]
pub struct Answer {
    /// Every command, in order, ready to be pasted where `input` lies.
    pub commands: Vec<String>,
    /// The input's name in the commands.
    pub input: String,
    /// The step that failed, and how; `None` if all went well.
    pub failure: Option<(Step, ToolOutput)>,
    /// The module that `opt` printed; empty if it failed.
    pub module: Vec<u8>,
    /// The finished program, if one was asked for.
    pub program: Option<PathBuf>,
    // Holds the program.
    _folder: Workdir,
}

/// A crash of `opt` or `llc`.
#[derive(Debug)]
pub struct OptCrash {
    /// In words.
    pub how: String,
    /// The functions that its stack names, innermost first.
    pub frames: Vec<String>,
}

impl Answer {
    /// How `opt` or `llc` crashed, if one did.
    pub fn crash(&self) -> Option<OptCrash> {
        let (step, ToolOutput { end: ToolEnd::Signaled(signal), stderr, .. }) =
            self.failure.as_ref()?
        else {
            return None;
        };
        let tool = match step {
            Step::Opt => "opt",
            Step::Llc => "llc",
            Step::Link => return None,
        };
        let frames = backtrace::of_clang(&String::from_utf8_lossy(stderr));
        Some(OptCrash { how: format!("{tool} is ended by {}", signal_name(*signal)), frames })
    }
}

/// The tools, in the order in which they work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `opt` runs the passes.
    Opt,
    /// `llc` generates an object.
    Llc,
    /// The C compiler links a program.
    Link,
}

impl Job<'_> {
    /// The commands, without running them.
    pub fn commands(&self) -> Result<Vec<String>, CompilerError> {
        let steps = self.steps(&self.input_name())?;
        Ok(steps.iter().map(|(_, tool)| tool.command_line()).collect())
    }

    /// Runs the tools, up to the first that fails.
    pub fn run(&self) -> Result<Answer, CompilerError> {
        let folder = Workdir::new()?;
        let input = self.input_name();
        fs_err::write(folder.file(&input), &self.program.ir)?;
        let time = self.limits.compile * 4 + Duration::from_secs(5);
        let mut answer = Answer {
            commands: Vec::new(),
            input: input.clone(),
            failure: None,
            module: Vec::new(),
            program: None,
            _folder: folder,
        };
        let folder = answer._folder.path().to_owned();
        let prepare =
            |tool: Tool| tool.confined_to(&folder).time(time).memory(self.limits.memory + ROOM);
        let steps = self.steps(&input)?;
        for (step, tool) in steps {
            let tool = prepare(tool);
            answer.commands.push(tool.command_line());
            let output = tool.output()?;
            if output.end != ToolEnd::Exited(0) {
                answer.failure = Some((step, output));
                return Ok(answer);
            }
            if step == Step::Opt {
                answer.module = fs_err::read(folder.join(OPTIMIZED))?;
            }
        }
        if self.codegen.is_some() && self.link {
            answer.program = Some(folder.join(PROGRAM));
        }
        Ok(answer)
    }

    fn steps(&self, input: &str) -> Result<Vec<(Step, Tool)>, CompilerError> {
        let mut steps = Vec::new();
        // Without passes and for code alone, `opt` would do nothing.
        let is_codegen = self.passes.is_none() && self.codegen.is_some() && !self.verify_each;
        if !is_codegen {
            steps.push((Step::Opt, self.opt(input)?));
        }
        if let Some(level) = self.codegen {
            let llc = Tool::new(self.tool("llc")?).arg(format!("-O{}", level as u32));
            let llc = llc.args(self.options_of_llc()?);
            let input = if is_codegen { input } else { OPTIMIZED };
            let flags = ["-relocation-model=pic", "-filetype=obj", input, "-o", OBJECT];
            steps.push((Step::Llc, llc.args(flags)));
        }
        if self.codegen.is_some() && self.link {
            let linked = link::link_command(
                self.install,
                &self.program.ir,
                Path::new(OBJECT),
                Path::new(PROGRAM),
                self.link_words,
            );
            steps.push((Step::Link, linked));
        }
        Ok(steps)
    }

    fn opt(&self, input: &str) -> Result<Tool, CompilerError> {
        let mut opt = Tool::new(self.tool("opt")?);
        if let Some(passes) = self.passes {
            opt = opt.arg(format!("-passes={passes}"));
        }
        if self.verify_each {
            opt = opt.arg("-verify-each");
        }
        Ok(opt.args(self.options).args(["-S", input, "-o", OPTIMIZED]))
    }

    /// Those options that `llc` has, too. Code is position-independent, whatever was said.
    fn options_of_llc(&self) -> Result<Vec<&String>, CompilerError> {
        let name_of = |option: &str| {
            let bare = option.trim_start_matches('-');
            bare.split('=').next().unwrap_or(bare).to_owned()
        };
        let mut options: Vec<&String> = self.options.iter().collect();
        options.retain(|option| name_of(option) != "relocation-model");
        if options.is_empty() {
            return Ok(options);
        }
        let help = Tool::new(self.tool("llc")?).arg("--help-hidden").text()?;
        let flag = |line: &str| {
            let word = line.trim_start().strip_prefix('-')?.split_whitespace().next()?;
            Some(name_of(word))
        };
        let known: HashSet<String> = help.lines().filter_map(flag).collect();
        options.retain(|option| known.contains(&name_of(option)));
        Ok(options)
    }

    fn tool(&self, tool: &'static str) -> Result<PathBuf, CompilerError> {
        let missing = CompilerError::NoTool { major: self.install.major, tool };
        self.install.tool(tool).ok_or(missing)
    }

    /// The last part of the program's name: what is in the text and what is
    /// bitcode, `opt` finds out itself.
    fn input_name(&self) -> String {
        let name = Path::new(&self.program.name).file_name();
        name.map_or_else(|| "input.ll".to_owned(), |name| name.to_string_lossy().into_owned())
    }
}

/// The limit is meant for what a tool uses; its own image and libraries come on
/// top. A worker gets the same.
const ROOM: u64 = 2 << 30;
const OPTIMIZED: &str = "optimized.ll";
const OBJECT: &str = "optimized.o";
const PROGRAM: &str = "program";
