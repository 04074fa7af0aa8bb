//! The plug-in in a real gcc: numbering, skipping, watching, printing.

use std::path::Path;

use optsleuth_compiler::driver::{Compiled, Driver, GccPlugin, PluginLog, PluginOrders};
use optsleuth_model::{IndexSet, Limits, OptLevel};

/// `fold` has a constant in it from ccp1 on.
const PROGRAM: &str = "int fold(void) { int a = 1234000, b = 567; return a + b; }
int twice(int x) { return fold() + 2 * x; }
int main(void) { return twice(1) & 1; }
";
/// What gcc cannot do without on such a program at -O1.
const REQUIRED: [&str; 14] = [
    "ipa-free-fnsummary",
    "ipa-visibility",
    "rtl-dfinish",
    "rtl-dfinit",
    "rtl-final",
    "rtl-init-regs",
    "rtl-ira",
    "rtl-outof_cfglayout",
    "rtl-pro_and_epilogue",
    "rtl-reload",
    "rtl-shorten",
    "rtl-split",
    "rtl-vregs",
    "tree-local-fnsummary",
];

/// Compiles the program under these orders: its assembly, and the log.
fn compile(orders: &PluginOrders) -> (Compiled, PluginLog) {
    let driver = Driver::find("gcc-12").unwrap();
    let plugin = GccPlugin::provision(&driver).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    std::fs::write(&source, PROGRAM).unwrap();
    let mut flags = plugin.flags(orders, folder.path()).unwrap();
    flags.push("-fno-ipa-cp".to_owned());
    let program: &Path = &folder.path().join("program");
    let limits = Limits::STANDARD;
    let compiled = driver.compile(&source, OptLevel::O1, &flags, program, limits).unwrap();
    (compiled, plugin.log(folder.path()).unwrap())
}

fn orders(skips: IndexSet) -> PluginOrders {
    let required = REQUIRED.iter().map(|&name| name.to_owned()).collect();
    PluginOrders { skips, required, ..PluginOrders::default() }
}

fn number_of(log: &PluginLog, pass: &str, unit: &str) -> u32 {
    let is_it = |one: &&optsleuth_model::Invocation| one.pass == pass && one.unit == unit;
    log.invocations.iter().find(is_it).unwrap_or_else(|| panic!("no {pass} on {unit}")).index
}

#[test]
fn invocations_are_numbered_watched_and_printed() {
    let (compiled, log) = compile(&PluginOrders { watch: true, ..orders(IndexSet::none()) });
    assert_eq!(compiled, Compiled::Program);
    let numbers = log.invocations.iter().map(|one| one.index);
    assert!(numbers.eq(0..u32::try_from(log.invocations.len()).unwrap()));
    let folding = number_of(&log, "tree-ccp1", "function fold");
    let cfg = number_of(&log, "tree-cfg", "function fold");
    assert!(log.invocations[cfg as usize].required, "later passes rely on it");
    assert!(!log.invocations[folding as usize].required);
    assert_eq!(log.changed[folding as usize], Some(true));
    let (_, again) = compile(&PluginOrders { dump: Some(folding), ..orders(IndexSet::none()) });
    assert_eq!(again.invocations, log.invocations, "the same every time");
    let (before, after) = (again.before.unwrap(), again.after.unwrap());
    assert!(!before.contains("1234567") && after.contains("return 1234567"), "{before}{after}");
}

#[test]
fn what_is_skipped_keeps_the_numbers_before_it() {
    let (_, whole) = compile(&orders(IndexSet::none()));
    let folding = number_of(&whole, "tree-ccp1", "function fold");
    let (compiled, one) = compile(&orders(IndexSet::of([folding])));
    assert_eq!(compiled, Compiled::Program);
    let upto = folding as usize;
    assert_eq!(one.invocations[..upto], whole.invocations[..upto]);
    assert!(one.invocations[upto].skipped);
    // Everything that can be skipped, and still a program.
    let (compiled, none) = compile(&orders(IndexSet::from(0)));
    assert_eq!(compiled, Compiled::Program);
    assert!(none.invocations.iter().all(|one| one.skipped != one.required));
    // Passes that others rely on: nothing good comes of it, and the log is there.
    let bold = PluginOrders { required: Vec::new(), ..orders(IndexSet::from(0)) };
    let (compiled, log) = compile(&bold);
    assert_ne!(compiled, Compiled::Program);
    assert!(!log.invocations.is_empty());
}
