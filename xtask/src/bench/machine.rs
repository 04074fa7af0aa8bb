//! What this machine is, and which day it is; nothing that names it.

use std::fs;
use std::num::NonZero;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use optsleuth_compiler::llvm;

use super::raw::Machine;

/// Describes this machine, before anything is measured.
pub(super) fn describe() -> anyhow::Result<Machine> {
    let cpu = field(&fs::read_to_string("/proc/cpuinfo")?, "model name");
    let memory = field(&fs::read_to_string("/proc/meminfo")?, "MemTotal");
    let memory = memory.and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let load = fs::read_to_string("/proc/loadavg")?;
    let found = llvm::discover().into_iter().filter_map(|(_, found)| found.ok());
    Ok(Machine {
        cpu: cpu.unwrap_or_else(|| "unknown".to_owned()),
        cores: std::thread::available_parallelism().map_or(1, NonZero::get),
        memory_mib: memory.context("no MemTotal")? / 1024,
        kernel: format!("Linux {}", kernel.trim()),
        llvms: found.map(|install| install.version).collect(),
        load: load.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or_default(),
    })
}

/// What follows `name:` in a file of `/proc`.
fn field(text: &str, name: &str) -> Option<String> {
    let values = text.lines().filter_map(|line| line.split_once(':'));
    let mut values = values.filter(|(key, _)| key.trim() == name);
    values.next().map(|(_, value)| value.trim().to_owned())
}

/// Today, as in `2026-05-31`, in UTC.
pub(super) fn today() -> anyhow::Result<String> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    Ok(date(seconds / 86_400))
}

/// Days since 1970-01-01 -> the date.
///
/// Howard Hinnant, `civil_from_days`: years begin in March, so that the leap
/// day is the last, and come in eras of 400.
fn date(days: u64) -> String {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(11_017), "2000-03-01");
        assert_eq!(date(20_453), "2025-12-31");
        assert_eq!(date(20_454), "2026-01-01");
    }

    #[test]
    fn fields_are_found_by_their_whole_names() {
        let text = "MemTotal2: 1 kB\nMemTotal:   8141636 kB\n";
        assert_eq!(field(text, "MemTotal").as_deref(), Some("8141636 kB"));
        assert_eq!(field(text, "Mem"), None);
    }
}
