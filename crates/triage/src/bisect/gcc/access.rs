//! How passes of a gcc are skipped: by a plug-in, or by its own options.
//!
//! The plug-in skips one pass on one function. `-fdisable-tree-NAME`,
//! `-fdisable-rtl-NAME` and `-fdisable-ipa-NAME` skip a pass on every function; gcc
//! lists their names with `-fdump-passes`. There, an invocation is a pass on all
//! functions, and numbers mean the same in every run.

use std::path::Path;

use optsleuth_case::CaseError;
use optsleuth_case::driver::DriverUnderTest;
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::driver::{GccPlugin, PluginLog, PluginOrders};
use optsleuth_model::{GccAccess, Invocation};

use super::required::{ALWAYS, is_among};
use crate::TriageError;

/// How passes are skipped.
#[derive(Clone, Debug)]
pub(super) enum Access {
    Plugin(GccPlugin),
    /// With all passes that gcc runs at the case's level.
    Options(Vec<Invocation>),
}

impl Access {
    /// The plug-in, where it can be compiled; options elsewhere, with the reason.
    pub(super) fn find(tested: &DriverUnderTest) -> Result<(Access, GccAccess), TriageError> {
        match GccPlugin::provision(&tested.driver) {
            Ok(plugin) => Ok((Access::Plugin(plugin), GccAccess::Plugin)),
            Err(CompilerError::NoPluginPart { package, .. }) => {
                let DriverUnderTest { driver, level, flags, .. } = tested;
                let list = driver.passes(*level, flags)?;
                Ok((Access::Options(invocations(&list)), GccAccess::Options { missing: package }))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The flags for one compilation, with a folder of its own.
    pub(super) fn flags(
        &self,
        orders: &PluginOrders,
        folder: &Path,
    ) -> Result<Vec<String>, CaseError> {
        match self {
            Access::Plugin(plugin) => Ok(plugin.flags(orders, folder)?),
            Access::Options(all) => Ok(all
                .iter()
                .filter(|one| is_skipped(one, orders))
                .map(|one| format!("-fdisable-{}", one.pass))
                .collect()),
        }
    }

    /// What that compilation came to.
    pub(super) fn log(
        &self,
        orders: &PluginOrders,
        folder: &Path,
    ) -> Result<PluginLog, CompilerError> {
        match self {
            Access::Plugin(plugin) => plugin.log(folder),
            Access::Options(all) => {
                let as_run = |one: &Invocation| Invocation {
                    skipped: is_skipped(one, orders),
                    required: one.required || is_among(&one.pass, &orders.required),
                    ..one.clone()
                };
                let invocations: Vec<Invocation> = all.iter().map(as_run).collect();
                let changed = vec![None; invocations.len()];
                Ok(PluginLog { invocations, changed, ..PluginLog::default() })
            }
        }
    }

    /// Whether the last line of a log is where gcc was when it ended.
    pub(super) fn logs_as_it_goes(&self) -> bool {
        match self {
            Access::Plugin(_) => true,
            Access::Options(_) => false,
        }
    }
}

fn is_skipped(invocation: &Invocation, orders: &PluginOrders) -> bool {
    !invocation.required
        && orders.skips.contains(invocation.index)
        && !is_among(&invocation.pass, &orders.required)
}

fn invocations(passes: &[String]) -> Vec<Invocation> {
    let one = |(index, pass): (u32, &String)| Invocation {
        index,
        pass: pass.clone(),
        unit: "all functions".to_owned(),
        skipped: false,
        required: is_among(pass, ALWAYS),
        changed: false,
    };
    (0..).zip(passes).map(one).collect()
}

#[cfg(test)]
mod tests {
    use optsleuth_model::IndexSet;

    use super::*;

    #[test]
    fn without_a_plugin_passes_are_skipped_by_options() {
        let names = ["tree-cfg", "tree-dse1", "rtl-split1", "tree-pre", "rtl-combine"];
        let all = invocations(&names.map(str::to_owned));
        let access = Access::Options(all);
        let required = vec!["tree-pre".to_owned()];
        let orders = PluginOrders { skips: IndexSet::from(0), required, ..PluginOrders::default() };
        let flags = access.flags(&orders, Path::new("")).expect("flags");
        assert_eq!(flags, ["-fdisable-tree-dse1", "-fdisable-rtl-combine"]);
        let log = access.log(&orders, Path::new("")).expect("a log").invocations;
        let skipped: Vec<bool> = log.iter().map(|one| one.skipped).collect();
        assert_eq!(skipped, [false, true, false, false, true]);
        assert!(log.iter().all(|one| one.skipped != one.required));
    }
}
