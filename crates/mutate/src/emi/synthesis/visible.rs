//! What code at a point may name, whether or not anything is known about its
//! values: for code that is never executed, but has to be C.
//!
//! **Invariant:** everything offered is visible at the point, defined in the
//! program, and can be used as said without an error of gcc or clang.

use crate::outline::ItemKind;
use crate::program::{Function, Program, Storage, Variable};
use crate::types::{Type, TypeKind};

/// So many pointers in a row are followed.
const LEVELS: usize = 3;

/// A point, and what is there.
#[derive(Debug)]
pub(crate) struct Visible<'p> {
    program: &'p Program,
    offset: usize,
    /// Integers: variables, and what pointers lead to.
    pub(super) places: Vec<Place>,
    /// Arrays of integers.
    pub(super) arrays: Vec<Array<'p>>,
    /// Variables of other types than arrays.
    pub(super) variables: Vec<&'p Variable>,
    /// Functions of the program.
    pub(super) callees: Vec<&'p Function>,
    /// Whether `printf` is declared.
    pub(super) has_printf: bool,
    /// What the function around it returns.
    pub(super) result: Option<&'p Type>,
}

/// An integer object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// As C; it may stand beside any operator.
    pub text: String,
    pub is_writable: bool,
}

/// An array of integers, of one or more dimensions.
#[derive(Clone, Debug)]
pub(super) struct Array<'p> {
    pub name: &'p str,
    /// The length of each dimension, where that is known.
    pub lengths: Vec<Option<u64>>,
    pub element: &'p Type,
    pub is_writable: bool,
}

impl<'p> Visible<'p> {
    /// What is there at an offset of the text.
    pub(crate) fn new(program: &'p Program, offset: usize) -> Visible<'p> {
        let mut visible = Visible {
            program,
            offset,
            places: Vec::new(),
            arrays: Vec::new(),
            variables: Vec::new(),
            callees: Vec::new(),
            has_printf: false,
            result: None,
        };
        for index in program.visible_at(offset) {
            let variable = &program.variables[index];
            // What is declared elsewhere may be defined nowhere.
            if !variable.is_frozen && !variable.is_external {
                visible.add_variable(variable);
            }
        }
        let functions = || program.functions.iter();
        visible.callees = functions().filter(|function| visible.is_callable(function)).collect();
        visible.has_printf = functions().any(|function| {
            function.name == "printf" && function.is_variadic && visible.is_declared(function)
        });
        let around = functions().find(|function| {
            function.body.is_some_and(|body| program.blocks[body].span.contains(offset))
        });
        visible.result = around.map(|function| &*function.result);
        visible
    }

    fn add_variable(&mut self, variable: &'p Variable) {
        match &variable.ty.kind {
            TypeKind::Integer(_) | TypeKind::Enum => {
                let is_writable = !variable.ty.is_const;
                self.places.push(Place { text: variable.name.clone(), is_writable });
            }
            TypeKind::Pointer(pointee) => self.add_pointee(&variable.name, pointee),
            TypeKind::Array { .. } => {
                if !variable.is_register {
                    self.arrays.extend(array(variable));
                }
                return;
            }
            TypeKind::Record | TypeKind::Floating => {}
            TypeKind::Void | TypeKind::Function | TypeKind::Other => return,
        }
        self.variables.push(variable);
    }

    /// The integer that a pointer leads to.
    fn add_pointee(&mut self, name: &str, pointee: &Type) {
        let mut ty = pointee;
        for level in 1..=LEVELS {
            match &ty.kind {
                TypeKind::Integer(_) | TypeKind::Enum => {
                    let text = format!("({}{name})", "*".repeat(level));
                    self.places.push(Place { text, is_writable: !ty.is_const });
                    return;
                }
                TypeKind::Pointer(inner) => ty = inner,
                TypeKind::Void
                | TypeKind::Floating
                | TypeKind::Array { .. }
                | TypeKind::Record
                | TypeKind::Function
                | TypeKind::Other => return,
            }
        }
    }

    /// Whether two types that are written the same are the same: tags may mean
    /// something else in a function.
    pub(super) fn is_same(&self, left: &Type, right: &Type) -> bool {
        let locals = &self.program.outline.locals;
        let is_local = |ty: &Type| {
            ty.innermost().kind == TypeKind::Record
                && locals.iter().any(|local| ty.innermost().bare.ends_with(&local.name))
        };
        left.bare == right.bare && !is_local(left)
    }

    /// Whether a declaration of a function counts here.
    fn is_declared(&self, function: &Function) -> bool {
        let outline = &self.program.outline;
        let item = outline.item_at(function.name_span.start).map(|item| &outline.items[item]);
        let at_file_scope = item.is_some_and(|item| item.declares.contains(&function.name));
        at_file_scope && function.name_span.end < self.offset && !self.hides(&function.name)
    }

    /// Whether a name of the file means something else here.
    fn hides(&self, name: &str) -> bool {
        let outline = &self.program.outline;
        let by_variable = self.program.variables.iter().any(|variable| {
            variable.storage != Storage::Global
                && variable.name == name
                && variable.scope.contains(self.offset)
        });
        let item = outline.item_at(self.offset);
        let is_here = |start| outline.item_at(start) == item;
        let mut locals = outline.locals.iter();
        by_variable || locals.any(|local| local.name == name && is_here(local.span.start))
    }

    /// Whether a definition can be called from here, and linked whatever the
    /// compiler makes of it.
    fn is_callable(&self, function: &Function) -> bool {
        let declarations =
            || self.program.functions.iter().filter(|other| other.name == function.name);
        function.body.is_some()
            && !function.is_frozen
            && !function.is_variadic
            && function.name != "main"
            // Its parameters are mixed up with those of what it returns.
            && function.result.innermost().kind != TypeKind::Function
            && declarations().any(|declaration| self.is_declared(declaration))
            && declarations().all(|declaration| self.is_ordinary(declaration))
    }

    /// Whether nothing special is said about a function. An attribute can make
    /// a call an error, and what is inline for others may be defined nowhere.
    fn is_ordinary(&self, function: &Function) -> bool {
        let outline = &self.program.outline;
        let Some(item) = outline.item_at(function.name_span.start) else { return false };
        let item = &outline.items[item];
        let end = match (item.kind, function.body) {
            (ItemKind::Definition, Some(body)) => self.program.blocks[body].span.start,
            (ItemKind::Definition, None) => return false,
            (ItemKind::Prototype | ItemKind::Other, _) => item.span.end,
        };
        let head = self.program.text.get(item.span.start..end).unwrap_or_default();
        let is_special = ["__attribute", "[[", "asm"].iter().any(|word| head.contains(word));
        !is_special && (function.is_static || !head.contains("inline"))
    }
}

/// An array's view, if integers are in it.
fn array(variable: &Variable) -> Option<Array<'_>> {
    let mut lengths = Vec::new();
    let mut is_const = variable.ty.is_const;
    let mut ty = &*variable.ty;
    while let TypeKind::Array { element, length } = &ty.kind {
        lengths.push(*length);
        ty = element;
        is_const |= ty.is_const;
    }
    let is_writable = !is_const;
    ty.is_integer().then_some(Array { name: &variable.name, lengths, element: ty, is_writable })
}
