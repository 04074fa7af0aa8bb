//! Structural mutants of this project's own programs are C.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use optsleuth_compiler::llvm;
use optsleuth_compiler::spawn::Tool;
use optsleuth_mutate::{Insertion, Mutant, Pool, Program};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::read::{libclang, read};

/// Every C file below a folder, in order.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.extension().is_some_and(|extension| extension == "c") {
            _ if path.is_dir() => found.extend(sources(&path)),
            true => found.push(path),
            false => {}
        }
    }
    found.sort();
    found
}

fn clang() -> PathBuf {
    llvm::find(19).unwrap().tool("clang").unwrap()
}

/// The project's programs, preprocessed and read once.
fn programs() -> &'static [Program] {
    static PROGRAMS: OnceLock<Vec<Program>> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folders = [root.join("testdata"), root.join("crates/triage/src/baseline/programs")];
        let files = folders.iter().flat_map(|folder| sources(folder));
        let programs: Vec<Program> = files
            .map(|file| {
                let tool = Tool::new(clang()).args(["-E", "-P", "-w"]).arg(&file);
                read(&tool.text().unwrap())
            })
            .collect();
        assert!(programs.len() > 30, "{}", programs.len());
        programs
    })
}

/// So many statements of each program are tried.
const LOCATIONS: usize = 30;

/// A mutant for each of some statements, evenly spread, where the operator finds
/// something to do.
fn at_some_locations(program: &Program, insertion: Insertion, pool: &Pool) -> Vec<Mutant> {
    let mut rng = ChaCha8Rng::seed_from_u64(19);
    let n_statements = program.statements().len();
    let step = n_statements.div_ceil(LOCATIONS).max(1);
    (0..n_statements)
        .step_by(step)
        .filter_map(|only| program.insert(insertion, pool, &|it| it == only, &mut rng))
        .collect()
}

/// Checks that more than 95 % of the mutants are C; libclang is clang's own
/// front end.
fn check(operator: &str, mutants: &[Mutant]) {
    let errors_of = |part: &[Mutant]| -> Vec<String> {
        let error = |mutant: &Mutant| libclang().parse(&mutant.text, &[]).err();
        let told = |mutant| error(mutant).map(|error| format!("{}: {error}", mutant.what));
        part.iter().filter_map(told).collect()
    };
    let errors: Vec<String> = std::thread::scope(|scope| {
        let parts = mutants.chunks(mutants.len().div_ceil(4).max(1));
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || errors_of(part))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(mutants.len() > 100, "only {} of {operator}", mutants.len());
    assert!(
        errors.len() * 20 < mutants.len(),
        "{operator}: {} of {} are not C\n{}",
        errors.len(),
        mutants.len(),
        errors.join("\n")
    );
}

#[test]
fn insertions_into_our_own_programs_are_c() {
    let programs = programs();
    let pool = Pool::gather(programs);
    for insertion in Insertion::ALL {
        let mutants: Vec<Mutant> = programs
            .iter()
            .flat_map(|program| at_some_locations(program, insertion, &pool))
            .collect();
        check(insertion.name(), &mutants);
    }
}

#[test]
fn blends_of_our_own_programs_are_c() {
    let programs = programs();
    let pool = Pool::gather(programs);
    let mut rng = ChaCha8Rng::seed_from_u64(19);
    let mutants: Vec<Mutant> = programs
        .iter()
        .flat_map(|program| {
            (0..10).filter_map(|_| program.blend(&pool, &mut rng)).collect::<Vec<_>>()
        })
        .collect();
    check("blend", &mutants);
}

#[test]
fn clang_itself_compiles_a_mutant_of_each_kind() {
    let programs = programs();
    let pool = Pool::gather(programs);
    let folder = std::env::temp_dir().join(format!("optsleuth-mutants-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(19);
    let largest = programs.iter().max_by_key(|program| program.statements().len()).unwrap();
    let mut mutants: Vec<Mutant> = Insertion::ALL
        .into_iter()
        .filter_map(|insertion| largest.insert(insertion, &pool, &|_| true, &mut rng))
        .collect();
    mutants.extend(largest.blend(&pool, &mut rng));
    assert_eq!(mutants.len(), 5);
    for mutant in &mutants {
        let file = folder.join(format!("{}.c", mutant.by));
        std::fs::write(&file, &mutant.text).unwrap();
        Tool::new(clang()).args(["-fsyntax-only", "-w"]).arg(&file).check().unwrap();
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
