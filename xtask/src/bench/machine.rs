//! What this machine is, and which day it is; nothing that names it.

use std::fs;
use std::num::NonZero;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use optsleuth_compiler::llvm;

use super::raw::Machine;

/// Describes this machine, before anything is measured.
pub(super) fn describe() -> anyhow::Result<Machine> {
    let cpu = field(&fs::read_to_string("/proc/cpuinfo")?, "model name");
    let memory = field(&fs::read_to_string("/proc/meminfo")?, "MemTotal");
    let memory = memory.and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let found = llvm::discover().into_iter().filter_map(|(_, found)| found.ok());
    Ok(Machine {
        cpu: cpu.unwrap_or_else(|| "unknown".to_owned()),
        cores: std::thread::available_parallelism().map_or(1, NonZero::get),
        memory_mib: memory.context("no MemTotal")? / 1024,
        kernel: format!("Linux {}", kernel.trim()),
        llvms: found.map(|install| install.version).collect(),
        load: busy_cores()?,
    })
}

/// How many cores are at work, over two seconds. The system's load average
/// would still remember that this program was compiled a minute ago.
fn busy_cores() -> anyhow::Result<f64> {
    let before = fs::read_to_string("/proc/stat")?;
    std::thread::sleep(Duration::from_secs(2));
    let after = fs::read_to_string("/proc/stat")?;
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    busy_share(&before, &after).map(|share| share * cores as f64).context("no CPU times")
}

/// The part of the time between two readings of `/proc/stat` in which cores
/// did not idle or wait for a disk.
fn busy_share(before: &str, after: &str) -> Option<f64> {
    let times = |text: &str| -> Option<Vec<u64>> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        line.split_whitespace().map(|time| time.parse().ok()).collect()
    };
    let (before, after) = (times(before)?, times(after)?);
    let passed: Vec<u64> = after.iter().zip(&before).map(|(a, b)| a.saturating_sub(*b)).collect();
    let (all, idle) = (passed.iter().take(8).sum::<u64>(), passed.get(3)? + passed.get(4)?);
    (all > 0).then(|| (all - idle) as f64 / all as f64)
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
    fn what_neither_idles_nor_waits_is_busy() {
        let stat = |times: &str| format!("cpu  {times}\ncpu0 1 1 1 1 1\n");
        let before = stat("100 0 100 1000 50 0 0 0 7 7");
        // Of 200 ticks 30 idle and 20 wait; guests' time is in the first already.
        let after = stat("190 10 140 1030 70 5 5 0 99 99");
        assert_eq!(busy_share(&before, &after), Some(0.75));
        assert_eq!(busy_share(&before, &before), None);
        assert_eq!(busy_share("", &after), None);
    }

    #[test]
    fn fields_are_found_by_their_whole_names() {
        let text = "MemTotal2: 1 kB\nMemTotal:   8141636 kB\n";
        assert_eq!(field(text, "MemTotal").as_deref(), Some("8141636 kB"));
        assert_eq!(field(text, "Mem"), None);
    }
}
