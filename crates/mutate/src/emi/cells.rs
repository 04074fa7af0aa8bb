//! Cells: what of a program's variables can be read at a point.
//!
//! **Invariant:** a cell's text means that object at the point, the object has a
//! value there whichever way control came, and reading it shows nowhere: what is
//! volatile, a pointer, a member of a union, or may hold garbage is no cell.

use std::collections::{BTreeMap, BTreeSet};

use rand::Rng;
use rand::seq::SliceRandom as _;

use crate::emi::entries::Entries;
use crate::emi::environment::Cell;
use crate::program::{Program, Record, Storage, Variable};
use crate::types::{Integer, Rank, Type, TypeKind};

/// More would make a record slow, and few of them are used.
const PER_POINT: usize = 40;
/// Of these, so many are a function's own at most.
const LOCAL: usize = 20;
/// So that no array fills a point.
const PER_VARIABLE: usize = 6;
/// So many of an array's elements come into question.
const ELEMENTS: u64 = 4;
/// So many cells of a variable come into question.
const CANDIDATES: usize = 256;

/// Functions that give memory without values.
const ALLOCATORS: &[&str] = &[
    "malloc",
    "realloc",
    "reallocarray",
    "aligned_alloc",
    "posix_memalign",
    "memalign",
    "valloc",
    "alloca",
    "__builtin_alloca",
    "__builtin_malloc",
];
/// Functions that copy memory, with or without values.
const COPIERS: &[&str] = &[
    "memcpy",
    "memmove",
    "mempcpy",
    "bcopy",
    "__builtin_memcpy",
    "__builtin_memmove",
    "__builtin___memcpy_chk",
    "__builtin___memmove_chk",
];

/// Every cell of a program, by variable.
pub(super) struct Cells<'p> {
    program: &'p Program,
    of_variable: Vec<Vec<Cell>>,
}

/// What is known about the whole program.
struct Survey<'p> {
    program: &'p Program,
    records: BTreeMap<&'p str, &'p Record>,
    entries: Entries,
    /// Names that may mean something else than a variable in some function.
    other_names: BTreeSet<&'p str>,
    /// Whether an object may be a copy of one that was never written.
    has_raw_copies: bool,
    /// The same for structures, which are copied as a whole.
    has_raw_records: bool,
}

impl<'p> Cells<'p> {
    pub(super) fn of(program: &'p Program) -> Cells<'p> {
        let survey = Survey::of(program);
        let cells_of = |index: usize| match survey.is_sure(&program.variables[index]) {
            true => survey.cells(index),
            false => Vec::new(),
        };
        Cells { program, of_variable: (0..program.variables.len()).map(cells_of).collect() }
    }

    /// Cells before a statement, in the order of their variables; a random part
    /// of them where there are many.
    pub(super) fn at(&self, statement: usize, rng: &mut impl Rng) -> Vec<Cell> {
        let offset = self.program.statements[statement].span.start;
        let (mut own, mut shared): (Vec<&Cell>, Vec<&Cell>) = (Vec::new(), Vec::new());
        for variable in 0..self.of_variable.len() {
            let cells = &self.of_variable[variable];
            if cells.is_empty() || !self.program.is_visible(variable, offset) {
                continue;
            }
            let some = sample(cells.iter().collect(), PER_VARIABLE, rng);
            match self.program.variables[variable].storage {
                Storage::Global => shared.extend(some),
                Storage::Local | Storage::LocalStatic | Storage::Parameter => own.extend(some),
            }
        }
        let own = sample(own, LOCAL, rng);
        let shared = sample(shared, PER_POINT - own.len(), rng);
        let mut cells: Vec<Cell> = own.into_iter().chain(shared).cloned().collect();
        cells.sort_by(|a, b| (a.variable, &a.text).cmp(&(b.variable, &b.text)));
        cells
    }
}

/// So many at random.
fn sample<'c>(mut cells: Vec<&'c Cell>, n_cells: usize, rng: &mut impl Rng) -> Vec<&'c Cell> {
    cells.partial_shuffle(rng, n_cells).0.to_vec()
}

impl<'p> Survey<'p> {
    fn of(program: &'p Program) -> Survey<'p> {
        let mut records: BTreeMap<&str, &Record> = BTreeMap::new();
        let mut ambiguous = BTreeSet::new();
        for record in &program.records {
            if records.insert(&record.bare, record).is_some() {
                ambiguous.insert(record.bare.as_str());
            }
        }
        records.retain(|bare, record| !ambiguous.contains(bare) && !record.is_union);
        let calls_one_of = |names: &[&str]| {
            let own = program.calls.iter().filter(|call| {
                call.site.function.is_some_and(|function| !program.functions[function].is_frozen)
            });
            own.filter_map(|call| call.callee.as_deref()).any(|callee| names.contains(&callee))
        };
        let raw = || {
            program.variables.iter().filter(|variable| {
                variable.storage == Storage::Local
                    && !variable.is_initialized
                    && !variable.is_frozen
                    && !variable.is_external
            })
        };
        let allocates = calls_one_of(ALLOCATORS);
        Survey {
            program,
            records,
            entries: Entries::of(program),
            other_names: program.outline.locals.iter().map(|local| local.name.as_str()).collect(),
            has_raw_copies: calls_one_of(COPIERS) && (allocates || raw().next().is_some()),
            has_raw_records: allocates
                || raw().any(|variable| variable.ty.innermost_element().kind == TypeKind::Record),
        }
    }

    /// Whether a variable has a value wherever it is visible, and one that the
    /// program itself gave it.
    fn is_sure(&self, variable: &Variable) -> bool {
        let has_value = match variable.storage {
            Storage::Global | Storage::LocalStatic => !variable.is_external,
            Storage::Local => variable.is_initialized && !self.entries.lead_into_scope_of(variable),
            // What main is given depends on who calls it.
            Storage::Parameter => {
                let function = variable.function.map(|it| &self.program.functions[it].name);
                function.is_some_and(|name| name != "main")
            }
        };
        let may_be_raw = self.has_raw_copies && variable.is_address_taken;
        has_value
            && !may_be_raw
            && !variable.is_frozen
            && !variable.name.is_empty()
            && !self.other_names.contains(variable.name.as_str())
            && !self.is_tied(variable)
    }

    /// Whether a variable may be another one, or a register.
    fn is_tied(&self, variable: &Variable) -> bool {
        let text = self.program.text();
        let start = self.program.declarations[variable.declaration].span.start;
        let rest = text.get(variable.name_span.end..).unwrap_or_default();
        let end = variable.name_span.end + rest.find(';').unwrap_or(rest.len());
        let declaration = text.get(start..end).unwrap_or_default();
        ["asm", "alias", "weakref"].iter().any(|word| declaration.contains(word))
    }

    fn cells(&self, index: usize) -> Vec<Cell> {
        let variable = &self.program.variables[index];
        let mut cells = Vec::new();
        let whole = Cell {
            text: variable.name.clone(),
            // Replaced by that of each part.
            ty: Integer { rank: Rank::Int, is_signed: true },
            bit_width: None,
            is_const: false,
            is_volatile: false,
            variable: Some(index),
        };
        self.expand(whole, &variable.ty, &mut cells);
        // Through a pointer to its bytes, `_Bool` may have got what it cannot hold.
        let may_be_neither = |cell: &Cell| variable.is_address_taken && cell.ty.rank == Rank::Bool;
        cells.retain(|cell| !cell.is_volatile && !may_be_neither(cell));
        cells
    }

    /// The cells of a part of a variable; qualifiers hold for everything inside.
    fn expand(&self, mut part: Cell, ty: &Type, cells: &mut Vec<Cell>) {
        part.is_const |= ty.is_const;
        part.is_volatile |= ty.is_volatile;
        if cells.len() >= CANDIDATES {
            return;
        }
        match &ty.kind {
            TypeKind::Integer(Integer { rank: Rank::Int128, .. }) => {}
            TypeKind::Integer(integer) => cells.push(Cell { ty: *integer, ..part }),
            TypeKind::Array { element, length: Some(length) } => {
                for index in 0..(*length).min(ELEMENTS) {
                    let text = format!("{}[{index}]", part.text);
                    self.expand(Cell { text, ..part.clone() }, element, cells);
                }
            }
            TypeKind::Record if !self.has_raw_records => {
                let record = self.records.get(ty.bare.as_str());
                for field in record.into_iter().flat_map(|record| &record.fields) {
                    let text = format!("{}.{}", part.text, field.name);
                    let inner = Cell { text, bit_width: field.bit_width, ..part.clone() };
                    self.expand(inner, &field.ty, cells);
                }
            }
            TypeKind::Record
            | TypeKind::Array { length: None, .. }
            | TypeKind::Void
            | TypeKind::Enum
            | TypeKind::Floating
            | TypeKind::Pointer(_)
            | TypeKind::Function
            | TypeKind::Other => {}
        }
    }
}
