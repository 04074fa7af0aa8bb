//! Which declarations may be given other specifiers.
//!
//! **Invariant:** two declarations of one thing never come to disagree: what is
//! declared twice, and what is passed through function pointers, is left alone.

use crate::program::{Declaration, Declarator, Owner, Program, Word};

/// Whether its specifiers may be changed at all.
pub(super) fn is_open(program: &Program, declaration: &Declaration) -> bool {
    let has_type = declaration.specifiers.iter().any(|specifier| {
        !matches!(specifier.word, Word::Const | Word::Volatile | Word::Restrict | Word::Storage)
    });
    has_type
        && !declaration.site.is_frozen
        && declaration.declarators.iter().all(|declarator| is_free(program, declarator))
        && match declaration.owner {
            Owner::Function(function) => program.functions[function].name != "main",
            Owner::File | Owner::Block | Owner::Record => true,
        }
}

fn is_free(program: &Program, declarator: &Declarator) -> bool {
    declarator.variable.is_none_or(|variable| {
        let variable = &program.variables[variable];
        !variable.is_frozen
            && !variable.is_external
            && !variable.is_pinned
            && variable.n_declarations == 1
            && !variable.name.is_empty()
    })
}

/// Whether the type of a parameter may change: no other file knows it.
pub(super) fn is_own_type(program: &Program, declaration: &Declaration) -> bool {
    match declaration.owner {
        Owner::Function(function) => {
            let function = &program.functions[function];
            function.n_declarations == 1 && !program.addressed_functions.contains(&function.name)
        }
        Owner::File | Owner::Block | Owner::Record => true,
    }
}

/// Whether something may point to what is declared.
pub(super) fn is_pointed_to(program: &Program, declarator: &Declarator) -> bool {
    match declarator.variable {
        Some(variable) => program.variables[variable].is_address_taken,
        None => program.addressed_fields.contains(&declarator.name_span.start),
    }
}
