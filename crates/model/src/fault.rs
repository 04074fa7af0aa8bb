//! A planted fault: one changed instruction in one function of the compiler.
//!
//! One line of text holds all of it, so that a case with a fault can be made
//! again from its `case.toml` alone:
//!
//! ```text
//! invert _ZN4llvm7GVNPass8runImplE+0x1a4 in libLLVMScalarOpts.a(GVN.cpp.o), was 751a, code 0123456789ab
//! ```
//!
//! **Invariant:** offsets and bytes are those of the object as it was installed;
//! what the linker makes of them never shows here.

use std::fmt;
use std::str::FromStr;

use crate::ModelError;

/// One changed instruction, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// What is done to the code.
    pub change: Change,
    /// The function, as the linker knows it.
    pub symbol: String,
    /// Where the change begins, counted from the function's start.
    pub offset: u32,
    /// The object that holds the function.
    pub object: FaultObject,
    /// The bytes that are replaced.
    pub was: Vec<u8>,
    /// [`CODE_DIGITS`] hexadecimal digits: a hash of the whole function.
    pub code: String,
}

/// The object that holds a changed function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FaultObject {
    /// The archive's file name.
    pub archive: String,
    pub member: String,
    /// Of several members with that name, which one, from 1 on.
    pub nth: u32,
    /// The object is not the archive's own, but was compiled anew in its place.
    pub zoomed: bool,
}

/// What is done to the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Change {
    /// A conditional branch goes the other way.
    Invert,
    /// A block does nothing: control goes to where it ends, counted from the
    /// function's start.
    Skip {
        /// Where it ends.
        end: u32,
    },
    /// A constant is one larger.
    Increment,
    /// A constant is one smaller.
    Decrement,
}

/// How many digits [`Fault::code`] has.
pub const CODE_DIGITS: usize = 12;

/// Longer than any instruction, or any change.
const MAX_BYTES: usize = 32;

impl Change {
    /// The word for it, as in a case.
    pub fn name(self) -> &'static str {
        match self {
            Change::Invert => "invert",
            Change::Skip { .. } => "skip",
            Change::Increment => "increment",
            Change::Decrement => "decrement",
        }
    }
}

impl fmt::Display for FaultObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FaultObject { archive, member, nth, zoomed } = self;
        if *zoomed {
            f.write_str(ZOOMED)?;
        }
        match nth {
            0 | 1 => write!(f, "{archive}({member})"),
            _ => write!(f, "{archive}({member}#{nth})"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}+{:#x}", self.change.name(), self.symbol, self.offset)?;
        if let Change::Skip { end } = self.change {
            write!(f, "..{end:#x}")?;
        }
        write!(f, " in {}, was ", self.object)?;
        for byte in &self.was {
            write!(f, "{byte:02x}")?;
        }
        write!(f, ", code {}", self.code)
    }
}

impl FromStr for Fault {
    type Err = ModelError;

    fn from_str(text: &str) -> Result<Fault, ModelError> {
        let wrong = |what: &str| ModelError::Fault { text: text.to_owned(), what: what.to_owned() };
        let (change, rest) = text
            .split_once(' ')
            .ok_or_else(|| wrong("it looks like `invert symbol+0x1a in archive(member), ...`"))?;
        let (place, rest) = rest.split_once(" in ").ok_or_else(|| wrong("` in ` is missing"))?;
        let (object, rest) =
            rest.rsplit_once(", was ").ok_or_else(|| wrong("`, was ` is missing"))?;
        let (was, code) =
            rest.split_once(", code ").ok_or_else(|| wrong("`, code ` is missing"))?;
        let (symbol, offsets) =
            place.rsplit_once('+').ok_or_else(|| wrong("the function has no `+0x` offset"))?;
        if symbol.is_empty() || symbol.contains(char::is_whitespace) {
            return Err(wrong("it names no function"));
        }
        let (offset, end) = match offsets.split_once("..") {
            Some((offset, end)) => (offset, Some(end)),
            None => (offsets, None),
        };
        let number = |text: &str| {
            let digits = text.strip_prefix("0x").filter(|digits| is_lower_hex(digits));
            let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            number.ok_or_else(|| wrong(&format!("`{text}` is not an offset, as in 0x1a")))
        };
        let offset = number(offset)?;
        let change = match (change, end) {
            ("invert", None) => Change::Invert,
            ("increment", None) => Change::Increment,
            ("decrement", None) => Change::Decrement,
            ("skip", Some(end)) => Change::Skip { end: number(end)? },
            ("skip", None) => return Err(wrong("a skipped block has an end, as in +0x1a..0x2b")),
            ("invert" | "increment" | "decrement", Some(_)) => {
                return Err(wrong("only a skipped block has an end"));
            }
            _ => return Err(wrong("it is none of invert, skip, increment and decrement")),
        };
        if matches!(change, Change::Skip { end } if end <= offset) {
            return Err(wrong("the block ends before it begins"));
        }
        let object = object_of(object).ok_or_else(|| wrong("no `archive.a(member.o)`"))?;
        let was = bytes_of(was).ok_or_else(|| wrong("`was` has no hexadecimal bytes"))?;
        if code.len() != CODE_DIGITS || !is_lower_hex(code) {
            return Err(wrong(&format!("`code` has no {CODE_DIGITS} hexadecimal digits")));
        }
        let (symbol, code) = (symbol.to_owned(), code.to_owned());
        Ok(Fault { change, symbol, offset, object, was, code })
    }
}

fn is_lower_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Stands before an object that was compiled anew.
const ZOOMED: &str = "zoomed ";

fn object_of(text: &str) -> Option<FaultObject> {
    let (zoomed, text) = match text.strip_prefix(ZOOMED) {
        Some(text) => (true, text),
        None => (false, text),
    };
    let (archive, member) = text.strip_suffix(')')?.split_once('(')?;
    let (member, nth) = match member.rsplit_once('#') {
        Some((member, nth)) => (member, nth.parse().ok().filter(|&nth: &u32| nth > 1)?),
        None => (member, 1),
    };
    let is_name = |name: &str| !name.is_empty() && !name.contains('/');
    (is_name(archive) && is_name(member)).then(|| FaultObject {
        archive: archive.to_owned(),
        member: member.to_owned(),
        nth,
        zoomed,
    })
}

fn bytes_of(text: &str) -> Option<Vec<u8>> {
    if !is_lower_hex(text) || text.len() % 2 == 1 || text.len() > MAX_BYTES * 2 {
        return None;
    }
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).ok();
    (0..text.len()).step_by(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GOOD: &str = "skip _ZN4llvm3GVNEv.part.0+0x1a4..0x1c0 in libLLVMScalarOpts.a(GVN.cpp.o), \
                        was 4889df4c, code 0123456789ab";

    fn check_error(from: &str, to: &str, message: &str) {
        assert!(GOOD.contains(from), "{from}");
        let error = GOOD.replace(from, to).parse::<Fault>().unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }

    #[test]
    fn a_line_says_everything() {
        let fault: Fault = GOOD.parse().unwrap();
        assert_eq!(fault.change, Change::Skip { end: 0x1c0 });
        assert_eq!((fault.symbol.as_str(), fault.offset), ("_ZN4llvm3GVNEv.part.0", 0x1a4));
        assert_eq!(fault.object.archive, "libLLVMScalarOpts.a");
        assert_eq!((fault.object.member.as_str(), fault.object.nth), ("GVN.cpp.o", 1));
        assert_eq!(fault.was, [0x48, 0x89, 0xdf, 0x4c]);
        let second = GOOD.replace("GVN.cpp.o", "GVN.cpp.o#2").parse::<Fault>().unwrap();
        assert_eq!((second.object.member.as_str(), second.object.nth), ("GVN.cpp.o", 2));
        let anew = GOOD.replace(" in lib", " in zoomed lib").parse::<Fault>().unwrap();
        assert!(anew.object.zoomed && anew.object.archive == fault.object.archive);
    }

    #[test]
    fn mistakes_are_named() {
        check_error("skip ", "skop ", "none of invert");
        check_error("..0x1c0", "", "has an end");
        check_error("skip ", "invert ", "only a skipped block");
        check_error("..0x1c0", "..0x1a4", "ends before it begins");
        check_error("+0x1a4", "+420", "not an offset");
        check_error("+0x1a4..0x1c0", "", "no `+0x` offset");
        check_error("_ZN4llvm3GVNEv.part.0", "", "no function");
        check_error(" in ", " of ", "` in ` is missing");
        check_error("(GVN.cpp.o)", "", "archive.a(member.o)");
        check_error("GVN.cpp.o", "GVN.cpp.o#1", "archive.a(member.o)");
        check_error("libLLVM", "/usr/lib/libLLVM", "archive.a(member.o)");
        check_error("4889df4c", "4889df4", "hexadecimal bytes");
        check_error("4889df4c", "4889DF4C", "hexadecimal bytes");
        check_error("0123456789ab", "0123", "12 hexadecimal digits");
        check_error(", code", ", hash", "`, code ` is missing");
        assert!("".parse::<Fault>().is_err());
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(
            kind in 0..4u32,
            symbol in "[A-Za-z_.$][A-Za-z0-9_.$]{0,40}",
            offset in 0..u32::MAX - 1000,
            length in 1..1000u32,
            archive in "[A-Za-z0-9_+-]{1,20}\\.a",
            member in "[A-Za-z0-9_+.-]{1,20}",
            nth in 1..5u32,
            zoomed in any::<bool>(),
            was in proptest::collection::vec(any::<u8>(), 1..MAX_BYTES),
            code in "[0-9a-f]{12}",
        ) {
            let change = match kind {
                0 => Change::Invert,
                1 => Change::Skip { end: offset + length },
                2 => Change::Increment,
                _ => Change::Decrement,
            };
            let object = FaultObject { archive, member, nth, zoomed };
            let fault = Fault { change, symbol, offset, object, was, code };
            prop_assert_eq!(fault.to_string().parse(), Ok(fault));
        }

        #[test]
        fn no_text_makes_it_panic(text in "(invert|skip|x)? ?.{0,80}") {
            let _ = text.parse::<Fault>();
        }
    }
}
