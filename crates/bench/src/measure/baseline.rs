//! A failing run of LLVM -> the file of its last pass, which a plain ranking puts first.

use optsleuth_model::{
    CodeMap, Coverage, FileId, FunctionName, HEADERS, Invocation, Outcome, RunRequest,
};
use optsleuth_rank::Precedence;
use optsleuth_triage::localize::CoveredFailure;

use crate::BenchError;

/// The file of the pass that ran last: of a crash or a hang the pass it
/// happened in, of invalid IR the pass that made it.
pub(super) fn of_last_pass(failure: &mut CoveredFailure) -> Result<Precedence, BenchError> {
    let request = RunRequest {
        list_invocations: true,
        verify_each: matches!(
            failure.failing.reproduction.first.outcome,
            Outcome::InvalidIr { .. }
        ),
        ..failure.failing.loaded.request.clone()
    };
    let request = match failure.failing.reproduction.first.outcome {
        // Every hang costs all of its time.
        Outcome::Timeout { .. } => RunRequest { limits: failure.input.template.limits, ..request },
        _ => request,
    };
    let worker = failure.failing.loaded.workers.pool.first();
    let listed = worker.run(&request)?;
    let Some(last) = last_pass(&listed.outcome, &listed.invocations) else {
        return Ok(Precedence::default());
    };
    let window = Some((last.index, last.index + 1));
    let inside = worker.run(&RunRequest { window, ..request })?.window.unwrap_or_default();
    let map = &failure.input.map;
    let file = file_of_pass(map, &inside, &last.pass);
    Ok(file.map_or_else(Precedence::default, |file| Precedence::of_file(map, file)))
}

fn last_pass(outcome: &Outcome, invocations: &[Invocation]) -> Option<Invocation> {
    let named = match outcome {
        Outcome::Crash(crash) => crash.invocation.clone(),
        Outcome::InvalidIr { invocation, .. }
        | Outcome::Timeout { invocation }
        | Outcome::OutOfMemory { invocation } => invocation.clone(),
        Outcome::Ok(_) | Outcome::CodegenFailure { .. } => None,
    };
    let is_telling = |invocation: &&Invocation| !invocation.skipped && !invocation.required;
    named.or_else(|| invocations.iter().rev().find(is_telling).cloned())
}

/// Where `GVNPass::run` and the like stands, of what a pass executed. Where
/// there are several, one pass calls another: the one named like the pass.
fn file_of_pass(map: &CodeMap, executed: &Coverage, pass: &str) -> Option<FileId> {
    let owners = map.owners();
    let mut candidates: Vec<(FileId, String)> = Vec::new();
    for block in executed.blocks() {
        let Some(&Some(id)) = owners.get(block.0 as usize) else { continue };
        let function = map.function(id);
        if !function.name.contains("Pass::run(") || map.file(function.file) == HEADERS {
            continue;
        }
        let name = FunctionName::parse(&function.name).short();
        if !candidates.iter().any(|(_, known)| *known == name) {
            candidates.push((function.file, name));
        }
    }
    let letters = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
    };
    let pass = letters(pass.split('<').next().unwrap_or(pass));
    let likeness = |name: &str| {
        let class = name.strip_suffix("Pass::run").unwrap_or(name);
        let class = letters(class.rsplit("::").next().unwrap_or(class));
        let shared = class.chars().zip(pass.chars()).take_while(|(a, b)| a == b).count();
        (class == pass, shared)
    };
    // Of equals the first: no order among them is better than another.
    let best = candidates.iter().rev().max_by_key(|(_, name)| likeness(name));
    best.map(|(file, _)| *file)
}

#[cfg(test)]
mod tests {
    use optsleuth_model::{BlockId, CodeFunction, Origin};

    use super::*;

    /// Functions with one block each, all executed -> the file of the pass.
    fn check(pass: &str, functions: &[(&str, &str)], expected: Option<&str>) {
        let mut map = CodeMap { n_blocks: functions.len() as u32, ..CodeMap::default() };
        for (block, (name, file)) in (0u32..).zip(functions) {
            map.files.push((*file).to_owned());
            map.functions.push(CodeFunction {
                symbol: format!("_Z{block}"),
                name: (*name).to_owned(),
                file: FileId(block),
                blocks: vec![(block, block + 1)],
                host: None,
                origin: Origin::default(),
            });
        }
        let executed = Coverage::of((0..map.n_blocks).map(BlockId));
        let found = file_of_pass(&map, &executed, pass);
        assert_eq!(found.map(|file| map.file(file)), expected, "{pass}");
    }

    #[test]
    fn the_file_of_a_pass_is_where_it_is_run() {
        let run = |class: &str| format!("llvm::{class}::run(llvm::Function&, llvm::AM&)");
        let (gvn, simplify, indvars) =
            (run("GVNPass"), run("LoopSimplifyPass"), run("IndVarSimplifyPass"));
        let analysis = run("DominatorTreeAnalysis");
        check("gvn", &[(&analysis, "dom.cpp"), (&gvn, "gvn.cpp")], Some("gvn.cpp"));
        check("indvars", &[(&indvars, "indvars.cpp")], Some("indvars.cpp"));
        check("gvn", &[(&gvn, HEADERS), (&analysis, "dom.cpp")], None);
        // Several: the one that is named like the pass, or begins like it.
        let both = [(&*simplify, "simplify.cpp"), (&*indvars, "indvars.cpp"), (&*gvn, "gvn.cpp")];
        check("gvn<no-pre>", &both, Some("gvn.cpp"));
        check("indvars", &both, Some("indvars.cpp"));
        check("loop-simplify", &both, Some("simplify.cpp"));
        check("licm", &[], None);
    }
}
