//! What a sanitizer wrote about a program -> what it found, and where.
//!
//! A fenced program cannot start a symbolizer. It names addresses in its own file,
//! and LLVM's symbolizer turns them into lines afterwards.

use std::path::Path;

use crate::llvm::Install;
use crate::spawn::Tool;

/// What ends a program under a sanitizer, and is not undefined.
const NO_FINDINGS: [&str; 3] = ["stack-overflow", "out-of-memory", "allocation-size-too-big"];

/// One finding of a sanitizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// `UndefinedBehaviorSanitizer`, `AddressSanitizer`.
    pub by: String,
    /// `ov.c:3:40`, where that could be found out.
    pub place: Option<String>,
    /// In the sanitizer's own words.
    pub what: String,
}

/// Reads what a program wrote to stderr that was compiled of `source` with this
/// clang and a sanitizer; `None` if that found nothing undefined.
pub fn read_report(
    install: &Install,
    source: &Path,
    program: &Path,
    stderr: &str,
) -> Option<Report> {
    let mut report = found(stderr)?;
    if report.place.is_none() {
        let offsets = offsets(stderr, program);
        report.place = place_of(install, source, program, &offsets);
    }
    Some(report)
}

/// Whether this is a finding, and not a sanitizer's complaint about the machine.
pub fn is_finding(text: &str) -> bool {
    found(text).is_some()
}

/// The finding itself.
fn found(stderr: &str) -> Option<Report> {
    const RUNTIME: &str = ": runtime error: ";
    let runtime = stderr.lines().find_map(|line| {
        let (place, what) = line.split_once(RUNTIME)?;
        Some((with_file_name(place)?, what))
    });
    if let Some((place, what)) = runtime {
        let by = "UndefinedBehaviorSanitizer".to_owned();
        let what = what.replace(" in type 'int'", " in int");
        return Some(Report { by, place: Some(place), what });
    }
    let lines: Vec<&str> = stderr.lines().collect();
    let (number, by, what) = lines.iter().enumerate().find_map(|(number, line)| {
        let said = line.split_once("ERROR: ").or_else(|| line.split_once("WARNING: "))?.1;
        let (by, what) = said.split_once(": ")?;
        by.ends_with("Sanitizer").then_some((number, by, what))
    })?;
    let kind = what.split_whitespace().next().unwrap_or_default();
    if NO_FINDINGS.contains(&kind) || kind.is_empty() {
        return None;
    }
    // `READ of size 4 at 0x7f with type int accesses an existing object of type float`
    let access = lines.get(number + 1).and_then(|line| line.split_once(" at 0x"));
    let access = access.map(|(access, rest)| match rest.split_once(" with type ") {
        Some((_, types)) => format!("{access} with type {types}"),
        None => access.to_owned(),
    });
    let what = match access {
        Some(access) => format!("{kind}, {access}"),
        None => kind.to_owned(),
    };
    Some(Report { by: by.to_owned(), place: None, what })
}

/// Addresses in the program's file, of the first stack that is listed.
fn offsets(stderr: &str, program: &Path) -> Vec<String> {
    let marker = format!("({}+0x", program.display());
    let is_frame = |line: &&str| line.trim_start().starts_with('#');
    let frames = stderr.lines().skip_while(|line| !is_frame(line)).take_while(is_frame);
    let offset = |line: &str| {
        let (_, rest) = line.split_once(&marker)?;
        Some(format!("0x{}", rest.split_once(')')?.0))
    };
    frames.filter_map(offset).collect()
}

/// The first of these addresses that is code of `source`.
fn place_of(
    install: &Install,
    source: &Path,
    program: &Path,
    offsets: &[String],
) -> Option<String> {
    if offsets.is_empty() {
        return None;
    }
    let said = Tool::new(install.tool("llvm-symbolizer")?)
        .arg(format!("--obj={}", program.display()))
        .args(["--functions=none", "--no-inlines"])
        .args(offsets)
        .text()
        .ok()?;
    let name = source.file_name()?.to_string_lossy();
    said.lines().filter_map(with_file_name).find(|place| place.starts_with(&format!("{name}:")))
}

/// A place without the folders before its file.
fn with_file_name(place: &str) -> Option<String> {
    let mut parts = place.rsplitn(3, ':');
    let (column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let file = Path::new(file).file_name()?.to_string_lossy();
    (is_number(column) && is_number(line)).then(|| format!("{file}:{line}:{column}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stderr: &str, by: &str, place: Option<&str>, what: &str) {
        let place = place.map(str::to_owned);
        let expected = Report { by: by.to_owned(), place, what: what.to_owned() };
        assert_eq!(found(stderr), Some(expected));
    }

    #[test]
    fn what_was_found_is_said_in_the_sanitizers_words() {
        check(
            "/t/ov.c:2:29: runtime error: signed integer overflow: 2147483647 + 1 cannot be \
             represented in type 'int'\nSUMMARY: UndefinedBehaviorSanitizer: undefined-behavior",
            "UndefinedBehaviorSanitizer",
            Some("ov.c:2:29"),
            "signed integer overflow: 2147483647 + 1 cannot be represented in int",
        );
        check(
            "=====\n==7==ERROR: AddressSanitizer: global-buffer-overflow on address 0x56 at pc \
             0x56 bp 0x7f sp 0x7f\nREAD of size 4 at 0x56123f3f0b70 thread T0\n",
            "AddressSanitizer",
            None,
            "global-buffer-overflow, READ of size 4",
        );
        check(
            "==9==WARNING: MemorySanitizer: use-of-uninitialized-value\n    #0 0x55 (/t/p+0xce)\n",
            "MemorySanitizer",
            None,
            "use-of-uninitialized-value",
        );
        check(
            "==1==ERROR: TypeSanitizer: type-aliasing-violation on address 0x7f (pc 0x56)\nWRITE \
             of size 4 at 0x7f with type float accesses an existing object of type int\n",
            "TypeSanitizer",
            None,
            "type-aliasing-violation, WRITE of size 4 with type float accesses an existing \
             object of type int",
        );
    }

    #[test]
    fn what_only_ran_out_is_no_finding() {
        assert_eq!(found("==1==ERROR: AddressSanitizer: stack-overflow on address 0x7f\n"), None);
        // Under a limit for addresses.
        let shadow = "==1==ERROR: AddressSanitizer failed to allocate 0xdfff0001000 (15392894357504) \
                      bytes at address 2008fff7000 (errno: 12)\n==1==ReserveShadowMemoryRange failed";
        assert!(!is_finding(shadow));
        assert_eq!(found("the program's own words: ERROR: none\n"), None);
        assert_eq!(found("the program: runtime error: none\n"), None);
    }

    #[test]
    fn addresses_are_those_of_the_first_stack() {
        let stderr = "text\n    #0 0x56  (/t/p+0x115853) (BuildId: ba)\n    #1 0x7f  \
                      (/lib/libc.so.6+0x27) (BuildId: 93)\n    #2 0x56  (/t/p+0x2d)\n\n    #0 \
                      0x56  (/t/p+0x99)\n";
        assert_eq!(offsets(stderr, Path::new("/t/p")), ["0x115853", "0x2d"]);
    }
}
