//! Which programs a profile says nothing about: what is true in one run need not
//! be true in the next, or where another compiler made the code.
//!
//! **Invariant:** a program that is fit has, at each point, values that follow
//! from its text and input alone, as far as its text tells; and its own
//! declarations make no promise that an inserted read or write would break.

use crate::program::Program;
use crate::types::{Type, TypeKind};

/// Why no variant is derived from a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Control or values come by ways that the text does not show.
    Calls(String),
    /// Addresses differ from one executable to the next.
    Addresses,
    /// C11 6.7.3.1: one more access to the same object may be undefined.
    Restricted(String),
    /// One more access would break what an attribute promises; or the function
    /// may run when the profile is written already.
    Attribute(String),
}

/// Calls by which a run is a matter of more than text and input: other threads,
/// jumps that leave variables without a value (C11 7.13.2.1), clocks, and
/// builtins that tell how far the compiler got.
const CALLS: &[&str] = &[
    "setjmp",
    "_setjmp",
    "sigsetjmp",
    "__sigsetjmp",
    "__builtin_setjmp",
    "longjmp",
    "siglongjmp",
    "__builtin_longjmp",
    "getcontext",
    "swapcontext",
    "signal",
    "sigaction",
    "fork",
    "vfork",
    "clone",
    "pthread_create",
    "thrd_create",
    "time",
    "clock",
    "clock_gettime",
    "gettimeofday",
    "getpid",
    "random_r",
    "getrandom",
    "__builtin_constant_p",
    "__builtin_object_size",
    "__builtin_dynamic_object_size",
    "__builtin_frame_address",
    "__builtin_return_address",
    "__builtin_readcyclecounter",
];

/// Attributes of functions that a read or write of a global breaks, that allow
/// no C at all, or that have them run when everything else is over.
const ATTRIBUTES: &[&str] =
    &["pure", "__pure__", "__const__", "naked", "__naked__", "destructor", "__destructor__"];

impl Program {
    /// Why no variant can be derived from it; `None` if nothing speaks against.
    pub fn unfit(&self) -> Option<Unfit> {
        let is_own = |function: Option<usize>| {
            function.is_some_and(|function| !self.functions[function].is_frozen)
        };
        let mut calls = self.calls.iter().filter(|call| is_own(call.site.function));
        let wild = calls.find_map(|call| {
            let callee = call.callee.as_deref()?;
            CALLS.contains(&callee).then(|| Unfit::Calls(callee.to_owned()))
        });
        let addresses = || self.has_numeric_addresses.then_some(Unfit::Addresses);
        wild.or_else(addresses).or_else(|| self.restricted()).or_else(|| self.bound())
    }

    fn restricted(&self) -> Option<Unfit> {
        let own = self.declarations.iter().filter(|declaration| !declaration.site.is_frozen);
        let mut declarators = own.flat_map(|declaration| &declaration.declarators);
        let found = declarators.find(|declarator| is_restricted(&declarator.ty))?;
        Some(Unfit::Restricted(found.name.clone()))
    }

    fn bound(&self) -> Option<Unfit> {
        let own = self.functions.iter().filter(|it| it.body.is_some() && !it.is_frozen);
        let names: Vec<&str> = own.map(|function| function.name.as_str()).collect();
        let items = self.outline.items.iter();
        items
            .flat_map(|item| item.declares.iter().map(move |name| (name, &item.key)))
            .filter(|(name, _)| names.contains(&name.as_str()))
            .find(|(_, key)| {
                let head = key.split(" {").next().unwrap_or_default();
                head.contains("( ( const ")
                    || head.split(' ').any(|word| ATTRIBUTES.contains(&word))
            })
            .map(|(name, _)| Unfit::Attribute(name.clone()))
    }
}

fn is_restricted(ty: &Type) -> bool {
    let inner = match &ty.kind {
        TypeKind::Pointer(inner) | TypeKind::Array { element: inner, .. } => Some(inner),
        TypeKind::Void
        | TypeKind::Integer(_)
        | TypeKind::Enum
        | TypeKind::Floating
        | TypeKind::Record
        | TypeKind::Function
        | TypeKind::Other => None,
    };
    ty.is_restrict || inner.is_some_and(|inner| is_restricted(inner))
}
