//! Line coverage in lcov's trace format, for the tools that show it.
//!
//! The format is that of `geninfo`: a record per file with `DA:line,count`. A
//! count here is 0 or 1: blocks say whether they ran, not how often.

use std::fmt::Write as _;

use optsleuth_model::{BlockLines, Coverage};

/// A trace file.
pub fn lcov(lines: &BlockLines, coverage: &Coverage) -> String {
    let mut out = String::from("TN:\n");
    let hits = lines.hits(coverage);
    let mut rest = hits.iter().peekable();
    while let Some(&(&(file, _), _)) = rest.peek() {
        let _ = writeln!(out, "SF:{file}");
        let (mut found, mut hit) = (0, 0);
        while let Some((&(_, line), &is_hit)) = rest.next_if(|((other, _), _)| *other == file) {
            let _ = writeln!(out, "DA:{line},{}", u8::from(is_hit));
            found += 1;
            hit += usize::from(is_hit);
        }
        let _ = writeln!(out, "LF:{found}\nLH:{hit}\nend_of_record");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use optsleuth_model::BlockId;

    #[test]
    fn files_and_lines_become_records() {
        let lines = BlockLines {
            files: vec!["b.c".to_owned(), "a.c".to_owned()],
            lines: [(0, (0, 7)), (1, (1, 3)), (2, (1, 4)), (3, (1, 4))]
                .map(|(block, line)| (BlockId(block), line))
                .into(),
        };
        assert_eq!(
            lcov(&lines, &Coverage::of([BlockId(0), BlockId(3)])),
            "TN:\nSF:a.c\nDA:3,0\nDA:4,1\nLF:2\nLH:1\nend_of_record\n\
             SF:b.c\nDA:7,1\nLF:1\nLH:1\nend_of_record\n"
        );
    }
}
