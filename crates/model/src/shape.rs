//! The shape of an unoptimized program: its control flow, regions and calls.
//!
//! What representative programs are chosen by. A worker hands it out; nothing
//! here says how programs are compared.

/// A program as graphs: functions that call each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramShape {
    /// The functions with a body, in the module's order.
    pub functions: Vec<FunctionShape>,
}

/// A function as a graph of blocks; the first block is its entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionShape {
    /// As in the IR.
    pub name: String,
    /// In the order of the IR; those that nothing reaches are among them.
    pub blocks: Vec<BlockShape>,
    /// Its regions, each after the one around it; the first is the whole
    /// function.
    pub regions: Vec<RegionShape>,
    /// The functions of the program that it calls directly, each once,
    /// ascending: indices into [`ProgramShape::functions`].
    pub callees: Vec<usize>,
}

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockShape {
    /// LLVM's names of its instructions, such as `load`, in order.
    pub opcodes: Vec<String>,
    /// Where control may go from here, each once: indices into
    /// [`FunctionShape::blocks`].
    pub successors: Vec<usize>,
    /// The innermost region it is in: an index into
    /// [`FunctionShape::regions`]. `None` where nothing reaches it.
    pub region: Option<usize>,
    /// Whether a loop is entered here.
    pub is_loop_entry: bool,
}

/// A part of a function with one way in and one way out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionShape {
    /// How many regions are around it.
    pub depth: u32,
    /// Its first block.
    pub entry: usize,
    /// The block behind it; `None` if it ends with the function.
    pub exit: Option<usize>,
}
