//! The text that `worker/shape.cpp` writes -> [`ProgramShape`].
//!
//! ```text
//! shape <number of functions>
//! function <number of blocks> <number of regions> <name>     per function:
//! calls <function> ...                                        ascending
//! region <depth> <entry> <exit or ->                          per region
//! block <region or -> <loop or -> <successors or -> <opcode> ...
//! ```
//!
//! All numbers count from 0 within the program or the function. A name is
//! printed as LLVM escapes it, `\0A` for a line's end.
//!
//! **Invariant:** strict. A text that does not say exactly this is an error,
//! never a panic and never a shape with holes.

use std::str::{FromStr, SplitAsciiWhitespace};

use optsleuth_model::{BlockShape, FunctionShape, ProgramShape, RegionShape};

/// A text that is no shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the program's shape is wrong: {what}")]
pub(crate) struct ShapeError {
    /// Counted from 1.
    line: usize,
    what: &'static str,
}

pub(crate) fn parse(text: &str) -> Result<ProgramShape, ShapeError> {
    let mut lines = Lines { rest: text.lines(), line: 0 };
    let mut heading = lines.next("shape")?;
    let n_functions: usize = heading.number()?;
    heading.end()?;
    let mut functions = Vec::new();
    for _ in 0..n_functions {
        functions.push(function(&mut lines, n_functions)?);
    }
    match lines.rest.next() {
        Some(_) => Err(ShapeError { line: lines.line + 1, what: "there is more than it says" }),
        None => Ok(ProgramShape { functions }),
    }
}

fn function(lines: &mut Lines<'_>, n_functions: usize) -> Result<FunctionShape, ShapeError> {
    let line = lines.text("function")?;
    let fail = |what| ShapeError { line: lines.line, what };
    let mut parts = line.splitn(3, ' ');
    let mut count = || parts.next().and_then(plain_number::<usize>);
    let (n_blocks, n_regions) =
        count().zip(count()).ok_or_else(|| fail("a count of blocks and regions is missing"))?;
    let name = parts.next().and_then(unescaped).ok_or_else(|| fail("a name is missing"))?;
    if n_blocks == 0 || n_regions == 0 {
        return Err(fail("a function has a block and a region at least"));
    }
    let mut words = lines.next("calls")?;
    let mut callees: Vec<usize> = Vec::new();
    while let Some(word) = words.words.next() {
        let callee = words.below(word, n_functions)?;
        if callees.last().is_some_and(|&last| last >= callee) {
            return Err(words.wrong("callees ascend"));
        }
        callees.push(callee);
    }
    let mut regions = Vec::new();
    for _ in 0..n_regions {
        regions.push(region(lines, n_blocks, &regions)?);
    }
    let mut blocks = Vec::new();
    for _ in 0..n_blocks {
        blocks.push(block(lines, n_blocks, n_regions)?);
    }
    Ok(FunctionShape { name, blocks, regions, callees })
}

/// One more region behind those `before` it.
fn region(
    lines: &mut Lines<'_>,
    n_blocks: usize,
    before: &[RegionShape],
) -> Result<RegionShape, ShapeError> {
    let mut words = lines.next("region")?;
    let depth: u32 = words.number()?;
    let entry = words.word().and_then(|word| words.below(word, n_blocks))?;
    let exit = words.word().and_then(|word| words.maybe_below(word, n_blocks))?;
    words.end()?;
    let fits = match before.last() {
        None => depth == 0 && entry == 0 && exit.is_none(),
        Some(last) => depth > 0 && depth <= last.depth + 1,
    };
    match fits {
        true => Ok(RegionShape { depth, entry, exit }),
        false => Err(words.wrong("a region comes after the one around it, the function first")),
    }
}

fn block(
    lines: &mut Lines<'_>,
    n_blocks: usize,
    n_regions: usize,
) -> Result<BlockShape, ShapeError> {
    let mut words = lines.next("block")?;
    let region = words.word().and_then(|word| words.maybe_below(word, n_regions))?;
    let is_loop_entry = match words.word()? {
        "loop" => true,
        "-" => false,
        _ => return Err(words.wrong("it is a loop's entry or not")),
    };
    let successors: Vec<usize> = match words.word()? {
        "-" => Vec::new(),
        list => {
            list.split(',').map(|word| words.below(word, n_blocks)).collect::<Result<_, _>>()?
        }
    };
    let opcodes: Vec<String> = words.words.by_ref().map(str::to_owned).collect();
    if opcodes.is_empty() {
        return Err(words.wrong("a block has an instruction at least"));
    }
    Ok(BlockShape { opcodes, successors, region, is_loop_entry })
}

struct Lines<'a> {
    rest: std::str::Lines<'a>,
    line: usize,
}

impl<'a> Lines<'a> {
    /// What stands behind the line's first word, which has to be this one.
    fn text(&mut self, keyword: &'static str) -> Result<&'a str, ShapeError> {
        self.line += 1;
        let line = self.rest.next().and_then(|line| line.strip_prefix(keyword));
        match line {
            Some("") => Ok(""),
            Some(rest) if rest.starts_with(' ') => Ok(&rest[1..]),
            _ => Err(ShapeError { line: self.line, what: "another line is due here" }),
        }
    }

    fn next(&mut self, keyword: &'static str) -> Result<Words<'a>, ShapeError> {
        let words = self.text(keyword)?.split_ascii_whitespace();
        Ok(Words { words, line: self.line })
    }
}

struct Words<'a> {
    words: SplitAsciiWhitespace<'a>,
    line: usize,
}

impl<'a> Words<'a> {
    fn wrong(&self, what: &'static str) -> ShapeError {
        ShapeError { line: self.line, what }
    }

    fn word(&mut self) -> Result<&'a str, ShapeError> {
        self.words.next().ok_or(ShapeError { line: self.line, what: "it ends early" })
    }

    fn number<T: FromStr>(&mut self) -> Result<T, ShapeError> {
        let word = self.word()?;
        plain_number(word).ok_or_else(|| self.wrong("a number is due here"))
    }

    fn below(&self, word: &str, end: usize) -> Result<usize, ShapeError> {
        let number = plain_number(word).filter(|&number| number < end);
        number.ok_or_else(|| self.wrong("there is no such function, block or region"))
    }

    fn maybe_below(&self, word: &str, end: usize) -> Result<Option<usize>, ShapeError> {
        match word {
            "-" => Ok(None),
            _ => self.below(word, end).map(Some),
        }
    }

    fn end(&mut self) -> Result<(), ShapeError> {
        match self.words.next() {
            Some(_) => Err(self.wrong("there is more on it than it should")),
            None => Ok(()),
        }
    }
}

/// Digits alone; `parse` would take a sign as well.
fn plain_number<T: FromStr>(word: &str) -> Option<T> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok()).flatten()
}

/// Takes LLVM's escapes back: `\` and two digits of base 16, `\\` for itself.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let first = rest.next()?;
        if first == b'\\' {
            bytes.push(b'\\');
            continue;
        }
        let digits = [first, rest.next()?];
        let digits = std::str::from_utf8(&digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "shape 2\n\
        function 3 2 f\\0Ag \\5C\n\
        calls 0 1\n\
        region 0 0 -\n\
        region 1 0 2\n\
        block 1 loop 0,2 load br\n\
        block - - 2 br\n\
        block 0 - - ret\n\
        function 1 1 main\n\
        calls\n\
        region 0 0 -\n\
        block 0 - - ret\n";

    #[test]
    fn a_whole_shape_is_read() {
        let shape = parse(WHOLE).unwrap();
        let [f, main] = &shape.functions[..] else { panic!("two functions") };
        assert_eq!(f.name, "f\ng \\");
        assert_eq!(f.callees, [0, 1]);
        assert_eq!(f.regions[1], RegionShape { depth: 1, entry: 0, exit: Some(2) });
        assert_eq!(
            f.blocks[0],
            BlockShape {
                opcodes: vec!["load".to_owned(), "br".to_owned()],
                successors: vec![0, 2],
                region: Some(1),
                is_loop_entry: true,
            }
        );
        assert_eq!(f.blocks[1].region, None);
        assert!(main.callees.is_empty());
    }

    #[test]
    fn a_shape_cut_anywhere_is_an_error() {
        let n_lines = WHOLE.lines().count();
        for kept in 0..n_lines {
            let cut: String = WHOLE.lines().take(kept).map(|line| format!("{line}\n")).collect();
            assert_eq!(parse(&cut).unwrap_err().line, kept + 1);
        }
    }

    #[test]
    fn more_than_announced_is_an_error() {
        assert_eq!(parse(&format!("{WHOLE}calls\n")).unwrap_err().line, 13);
    }

    #[track_caller]
    fn check(from: &str, to: &str, line: usize) {
        assert!(WHOLE.contains(from), "{from}");
        assert_eq!(parse(&WHOLE.replacen(from, to, 1)).unwrap_err().line, line, "{to}");
    }

    #[test]
    fn what_does_not_fit_is_an_error_with_its_line() {
        check("shape 2", "shape 1", 3);
        check("block 0 - - ret\nfunction 1 1 main", "block 0 - - ret\nmore", 9);
        check("shape 2", "shape +2", 1);
        check("function 3 2", "function 3", 2);
        check("function 3 2", "function 0 2", 2);
        check("f\\0A", "f\\0", 2);
        check("calls 0 1", "calls 1 0", 3);
        check("calls 0 1", "calls 2", 3);
        check("region 0 0 -", "region 1 0 -", 4);
        check("region 1 0 2", "region 2 0 2", 5);
        check("region 1 0 2", "region 1 3 2", 5);
        check("region 1 0 2", "region 1 0 2 2", 5);
        check("block 1 loop", "block 2 loop", 6);
        check("block 1 loop", "block 1 maybe", 6);
        check("0,2 load br", "0,,2 load br", 6);
        check("0,2 load br", "0,3 load br", 6);
        check("0,2 load br", "0,2", 6);
        check("block - -", "blocks - -", 7);
    }
}
