//! A compiler of three files, four functions and twelve blocks, for the unit
//! tests of this crate. In no build but those.

use optsleuth_model::{BlockId, CodeFunction, CodeMap, Coverage, FileId, HEADERS, Origin};

pub(crate) fn coverage(blocks: impl IntoIterator<Item = u32>) -> Coverage {
    Coverage::of(blocks.into_iter().map(BlockId))
}

/// `f` and `h` in `a.cpp`, `g` in `b.cpp` and in a header. Block 5 is padding.
pub(crate) fn map() -> CodeMap {
    named(&[
        ("f()", "a.cpp", &[(0, 3)]),
        ("g(int)", "b.cpp", &[(3, 5), (8, 10)]),
        ("h()", "a.cpp", &[(6, 8)]),
        ("g(int)", HEADERS, &[(10, 12)]),
    ])
}

/// A function's name, file and blocks.
type Named<'a> = (&'a str, &'a str, &'a [(u32, u32)]);

/// These functions, in their files.
pub(crate) fn named(functions: &[Named<'_>]) -> CodeMap {
    let mut map = CodeMap::default();
    for &(name, path, blocks) in functions {
        let known = map.files.iter().position(|file| file == path);
        let file = known.unwrap_or_else(|| {
            map.files.push(path.to_owned());
            map.files.len() - 1
        });
        map.n_blocks = blocks.iter().map(|&(_, end)| end).fold(map.n_blocks, u32::max);
        map.functions.push(CodeFunction {
            symbol: format!("_Z{}", map.functions.len()),
            name: name.to_owned(),
            file: FileId(file as u32),
            blocks: blocks.to_vec(),
            host: None,
            origin: Origin::default(),
        });
    }
    map
}
