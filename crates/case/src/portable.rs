//! A compiler's flags -> those of them that every C compiler knows.
//!
//! A second opinion is asked of another family's compiler, and a sanitizer of
//! clang. What a program means has to be the same there; how it is optimized is
//! the tested one's own business.

/// Flags of their own, with what they say in the same word.
const PREFIXES: [&str; 5] = ["-D", "-U", "-I", "-std=", "--std="];
/// Those whose next word belongs to them.
const WITH_A_WORD: [&str; 8] =
    ["-D", "-U", "-I", "-include", "-isystem", "-iquote", "-idirafter", "-imacros"];
/// Those that change what C means.
const WHOLE: [&str; 15] = [
    "-ansi",
    "-m32",
    "-m64",
    "-pthread",
    "-ffreestanding",
    "-fno-strict-aliasing",
    "-fstrict-aliasing",
    "-fwrapv",
    "-fno-wrapv",
    "-fno-strict-overflow",
    "-funsigned-char",
    "-fsigned-char",
    "-fshort-enums",
    "-fms-extensions",
    "-fgnu89-inline",
];

/// What of these says what a program means, in their order.
pub(crate) fn portable(flags: &[String]) -> Vec<String> {
    let mut portable = Vec::new();
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        if WITH_A_WORD.contains(&flag.as_str()) {
            portable.push(flag.clone());
            portable.extend(flags.next().cloned());
        } else if WHOLE.contains(&flag.as_str())
            || PREFIXES.iter().any(|prefix| flag.starts_with(prefix))
        {
            portable.push(flag.clone());
        }
    }
    portable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_program_means_is_everybodys_business() {
        let given = "-O2 -DX=1 -D Y -fno-tree-vrp -I dir -Idir2 -mllvm -x -std=gnu11 -Xclang \
                     -disable-llvm-passes -fwrapv -march=native -include a.h -m32 -include";
        let given: Vec<String> = given.split(' ').map(str::to_owned).collect();
        let expected = "-DX=1 -D Y -I dir -Idir2 -std=gnu11 -fwrapv -include a.h -m32 -include";
        assert_eq!(portable(&given).join(" "), expected);
    }
}
