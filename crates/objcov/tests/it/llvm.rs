//! Coverage of all of LLVM is exactly right: equal, block for block, to what a debugger sees in the plain one.
//!
//! Where LLVM 19 with its archives, clang and lld is missing, this fails: `make test` installs them.
#![expect(clippy::print_stdout, reason = "the figures are evidence")]

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::time::Instant;

use optsleuth_objcov::{
    ArchiveOptions, FunctionIndex, PAGE, PROBE_SECTION, START_SYMBOL, STOP_SYMBOL,
    instrument_archive,
};
use rayon::prelude::*;

use crate::tools::{self, Bench, Method, Setup, programs};

/// Object numbers per archive; no archive has more members.
const STRIDE: u32 = 100_000;

/// The two programs. Names of equal length: they lie on the stack, whose addresses must not differ either.
const PLAIN: &str = "./plain";
const MARKED: &str = "./marks";

/// One variable, so that little is executed.
const VARIABLE: &str = "
define i32 @variable(i32 %value) {
  %slot = alloca i32
  store i32 %value, ptr %slot
  %same = load i32, ptr %slot
  ret i32 %same
}
";

/// Sums a table: a loop, a switch and memory.
const TABLE: &str = "
define i32 @table(ptr %data, i32 %n) {
entry:
  %sum = alloca i32
  %index = alloca i32
  store i32 0, ptr %sum
  store i32 0, ptr %index
  br label %head
head:
  %i = load i32, ptr %index
  %more = icmp slt i32 %i, %n
  br i1 %more, label %body, label %done
body:
  %at = getelementptr inbounds i32, ptr %data, i32 %i
  %value = load i32, ptr %at
  %kind = and i32 %value, 3
  switch i32 %kind, label %other [ i32 0, label %zero
                                   i32 1, label %one ]
zero:
  br label %next
one:
  %double = mul i32 %value, 2
  br label %next
other:
  %flipped = xor i32 %value, -1
  br label %next
next:
  %term = phi i32 [ 0, %zero ], [ %double, %one ], [ %flipped, %other ]
  %old = load i32, ptr %sum
  %new = add i32 %old, %term
  store i32 %new, ptr %sum
  %step = add nsw i32 %i, 1
  store i32 %step, ptr %index
  br label %head
done:
  %result = load i32, ptr %sum
  ret i32 %result
}
";

/// Calls, recursion, floating point, a structure, and loops to unroll and to vectorize.
const CALLS: &str = "
%pair = type { i64, double }
@weights = internal constant [4 x i32] [i32 3, i32 1, i32 4, i32 1]
declare void @use(ptr)
define internal i64 @power(i64 %base, i32 %n) {
  %last = icmp eq i32 %n, 0
  br i1 %last, label %one, label %more
one:
  ret i64 1
more:
  %less = sub i32 %n, 1
  %rest = call i64 @power(i64 %base, i32 %less)
  %product = mul i64 %rest, %base
  ret i64 %product
}
define internal i32 @weight(i32 %which) {
  %masked = and i32 %which, 3
  %at = getelementptr inbounds [4 x i32], ptr @weights, i32 0, i32 %masked
  %value = load i32, ptr %at
  ret i32 %value
}
define double @scale(ptr noalias %to, ptr noalias %from, i64 %n, i64 %k) {
entry:
  %slot = alloca %pair
  %second = getelementptr inbounds %pair, ptr %slot, i32 0, i32 1
  %cube = call i64 @power(i64 %k, i32 3)
  store i64 %cube, ptr %slot
  store double 0.0, ptr %second
  %empty = icmp eq i64 %n, 0
  br i1 %empty, label %done, label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %source = getelementptr inbounds i32, ptr %from, i64 %i
  %target = getelementptr inbounds i32, ptr %to, i64 %i
  %value = load i32, ptr %source
  %index = trunc i64 %k to i32
  %weight = call i32 @weight(i32 %index)
  %scaled = mul i32 %value, %weight
  store i32 %scaled, ptr %target
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %few
few:
  %j = phi i32 [ 0, %loop ], [ %j.next, %few ]
  %old = load double, ptr %second
  %real = sitofp i32 %j to double
  %new = fadd double %old, %real
  store double %new, ptr %second
  %j.next = add nuw i32 %j, 1
  %again = icmp ult i32 %j.next, 3
  br i1 %again, label %few, label %done
done:
  call void @use(ptr %slot)
  %result = load double, ptr %second
  ret double %result
}
";

/// The optimizer as it is and with instrumented LLVM, and what to compare between them.
struct Optimizers {
    bench: Bench,
    /// Where the plain one begins its work, its variables initialized.
    main: u64,
    blocks: Vec<Observed>,
}

/// A block that can be told apart in both programs.
struct Observed {
    /// Its first instruction in the plain program.
    address: u64,
    /// Its mark, counted from the first one.
    mark: usize,
    /// What to call it.
    name: String,
}

/// What `llvm-config-19` answers, word by word.
fn config(arguments: &[&str]) -> Vec<String> {
    let answer = tools::must(&[&["llvm-config-19"], arguments].concat(), Path::new("."));
    answer.split_whitespace().map(str::to_owned).collect()
}

fn texts(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

/// Writes an instrumented copy of each archive to the folder `marked`.
fn instrument(bench: &Bench, archives: &[&str]) -> (Vec<String>, Vec<FunctionIndex>) {
    fs::create_dir(bench.path().join("marked")).expect("folder");
    let one = |(number, archive): (usize, &&str)| {
        let path = Path::new(archive);
        let bytes = fs::read(path).unwrap_or_else(|error| panic!("{archive}: {error}"));
        let options =
            ArchiveOptions { first_object_id: number as u32 * STRIDE, thin_member: &|_| None };
        let result = instrument_archive(&bytes, &options)
            .unwrap_or_else(|error| panic!("{archive}: {error}"));
        let name = path.file_name().and_then(|name| name.to_str()).expect("name");
        let copy = format!("marked/{name}");
        fs::write(bench.path().join(&copy), &result.bytes).expect("write");
        let members = result.members.into_iter().filter_map(|member| member.outcome.ok());
        (copy, members.flatten().collect::<Vec<_>>())
    };
    let (copies, functions): (Vec<_>, Vec<_>) =
        archives.par_iter().enumerate().map(one).collect::<Vec<_>>().into_iter().unzip();
    (copies, functions.into_iter().flatten().collect())
}

impl Optimizers {
    fn new() -> Optimizers {
        let bench = Bench::new();
        let components = ["passes", "irreader", "native"];
        let ask = |what| config(&[&["--link-static", what], &components[..]].concat());
        let (archives, system) = (ask("--libfiles"), ask("--system-libs"));
        let bin = config(&["--bindir"]).concat();
        let (compiler, linker) = (format!("{bin}/clang++"), format!("--ld-path={bin}/ld.lld"));
        let flags = config(&["--cppflags"]);
        let script = format!("-Wl,-T,{}", tools::path(&programs().join("fixed-addresses.ld")));
        let setup = Setup {
            compiler: &compiler,
            flags: &[&["-O1"], &texts(&flags)[..]].concat(),
            // Relocated data need not become read-only, and a library that nothing needs only costs steps.
            link_flags: &["-no-pie", &linker, "-Wl,-z,norelro", "-Wl,--as-needed", &script],
        };
        bench.compile(setup, "optimizer.cpp", "optimizer.o");
        let (copies, functions) = instrument(&bench, &texts(&archives));
        let inputs = [&["optimizer.o"], &texts(&copies)[..], &texts(&system)].concat();
        bench.link_framed(setup, &inputs, MARKED);

        // The plain program gets as many marks, all unused, so that its heap starts at the same address.
        let symbols = bench.symbols(MARKED);
        // The first page is there already, begun by the first object.
        let size = symbols[STOP_SYMBOL] - symbols[START_SYMBOL] - PAGE;
        let fill = format!(".section {PROBE_SECTION},\"aw\",@nobits\n.zero {size}\n");
        fs::write(bench.path().join("fill.s"), fill).expect("write");
        tools::must(&[&compiler, "-c", "fill.s", "-o", "fill.o"], bench.path());
        let inputs = [&["fill.o", "optimizer.o"], &texts(&archives)[..], &texts(&system)].concat();
        bench.link_framed(setup, &inputs, PLAIN);
        let plain = bench.every_symbol(PLAIN);
        let is_end = |symbol: &(String, u64)| *symbol == (STOP_SYMBOL.into(), symbols[STOP_SYMBOL]);
        assert!(plain.iter().any(is_end), "the marks end at different addresses");
        let blocks = blocks(&functions, &plain, &symbols);
        let main = plain.iter().find(|(symbol, _)| symbol == "main").expect("main").1;
        Optimizers { bench, main, blocks }
    }

    /// Runs `passes` over `module` in both programs and compares every block.
    fn check(&self, module: &str, passes: &str, method: Method) {
        let start = Instant::now();
        fs::write(self.bench.path().join("input.ll"), module).expect("write");
        let arguments = ["input.ll", passes];
        let envs = [("OBJCOV_HITS", "hits")];
        // LLVM's tables of pointers make even the executed blocks depend on addresses.
        let marked = [&["setarch", "-R", MARKED], &arguments[..]].concat();
        let marked = tools::run(&marked, self.bench.path(), &envs);
        let stderr = String::from_utf8_lossy(&marked.stderr);
        assert!(marked.status.success(), "{passes}: {}: {stderr}", marked.status);
        // Read before the plain program overwrites it with its unused marks.
        let marks = fs::read(self.bench.path().join("hits")).expect("hits");

        let addresses = self.blocks.iter().map(|block| block.address);
        let addresses = addresses.chain([self.main]).collect::<BTreeSet<_>>();
        let plain = [&[PLAIN], &arguments[..]].concat();
        let (seen, plain) = self.bench.observe(&plain, &envs, &addresses, method);
        assert!(marked.stdout == plain.stdout && !plain.stdout.is_empty(), "{passes}: output");
        assert_eq!(stderr, String::from_utf8_lossy(&plain.stderr), "{passes}");

        let is_hit = |block: &Observed| marks[block.mark] != 0;
        let n_hit = self.blocks.iter().filter(|block| is_hit(block)).count();
        let is_wrong = |block: &&Observed| is_hit(block) != seen.contains(&block.address);
        let wrong = self.blocks.iter().filter(is_wrong).map(|block| &*block.name);
        let wrong = wrong.collect::<Vec<_>>();
        println!(
            "{passes}, {method}: {} blocks compared, {n_hit} hit, {} differ, {:.1} s",
            self.blocks.len(),
            wrong.len(),
            start.elapsed().as_secs_f64()
        );
        let some = &wrong[..wrong.len().min(20)];
        assert!(wrong.is_empty(), "{passes}: {} differ, such as {some:#?}", wrong.len());
        assert!(n_hit >= 5000, "{passes}: only {n_hit} blocks are hit");
    }
}

/// The blocks of the functions whose symbol means one function in both programs: static functions of the
/// same name cannot be told apart.
fn blocks(
    functions: &[FunctionIndex],
    plain: &[(String, u64)],
    marked: &HashMap<String, u64>,
) -> Vec<Observed> {
    let mut addresses: HashMap<&str, Vec<u64>> = HashMap::new();
    for (symbol, address) in plain {
        addresses.entry(symbol).or_default().push(*address);
    }
    // Others have no marks: the linker dropped them or kept another copy.
    let linked = functions.iter().filter(|function| marked.contains_key(&function.probe_symbol));
    let mut n_copies: HashMap<&str, usize> = HashMap::new();
    for function in linked.clone() {
        *n_copies.entry(&function.symbol).or_default() += 1;
    }
    let (mut found, mut n_functions, mut n_ambiguous) = (vec![], 0, 0);
    for function in linked {
        let symbol = &*function.symbol;
        let (1, Some(&[address])) = (n_copies[symbol], addresses.get(symbol).map(Vec::as_slice))
        else {
            n_ambiguous += 1;
            continue;
        };
        n_functions += 1;
        let marks = (marked[&function.probe_symbol] - marked[START_SYMBOL]) as usize;
        found.extend(function.blocks.iter().map(|block| Observed {
            address: address + u64::from(block.offset - function.start),
            mark: marks + block.slot as usize,
            name: format!("{symbol} block {:#x}", block.offset),
        }));
    }
    println!("{n_functions} functions compared, {n_ambiguous} ambiguous");
    assert!(found.len() >= 500_000, "only {} blocks to compare", found.len());
    found
}

#[test]
fn an_observer_sees_the_same_blocks_of_llvm() {
    let optimizers = Optimizers::new();
    optimizers.check(TABLE, "function(sroa,instcombine,simplifycfg)", Method::Traps);
    optimizers.check(CALLS, "default<O2>", Method::Traps);
    // Stepping through the start of the program as well would take minutes.
    optimizers.check(VARIABLE, "function(sroa)", Method::StepsFrom(optimizers.main));
}
