//! `volatile`, `const` and `restrict`, added to and removed from declarations.
//!
//! In `int *p`, a qualifier may go before `int`, for what `p` points to, or
//! before `p`, for `p` itself. Part 0 of a spot is the former, for all
//! declarators at once; part `n + 1` is the latter for declarator `n`.
//!
//! **Invariant:** nothing becomes `const` that is written to or pointed to, and
//! nothing but a pointer to an object becomes `restrict`.

use crate::edit::Edit;
use crate::program::{Declaration, Declarator, Owner, Program, Specifier};
use crate::rule::{Action, Qualifier};
use crate::rules::{Outcome, Spot, targets, what};
use crate::types::TypeKind;

pub(super) fn spots(program: &Program, word: Qualifier, action: Action) -> Vec<Spot> {
    let mut found = Vec::new();
    for (element, declaration) in program.declarations.iter().enumerate() {
        if !targets::is_open(program, declaration) {
            continue;
        }
        let statement = declaration.site.statement;
        let spot = |offset, part| Spot { offset, statement, element, part };
        let base = position(&declaration.specifiers, word, action, declaration.span.start);
        if let Some(offset) = base.filter(|_| fits_base(program, declaration, word, action)) {
            found.push(spot(offset, 0));
        }
        for (number, declarator) in declaration.declarators.iter().enumerate() {
            let name = declarator.name_span.start;
            let own = position(&declarator.own_qualifiers, word, action, name);
            if let Some(offset) = own.filter(|_| fits_own(program, declarator, word, action)) {
                found.push(spot(offset, number + 1));
            }
        }
    }
    found
}

/// Where the word is, or would go.
fn position(
    words: &[Specifier],
    word: Qualifier,
    action: Action,
    otherwise: usize,
) -> Option<usize> {
    let there = words.iter().find(|specifier| specifier.word == word.word());
    match (action, there) {
        (Action::Add, None) => Some(otherwise),
        (Action::Remove, Some(specifier)) => Some(specifier.span.start),
        (Action::Add, Some(_)) | (Action::Remove, None) => None,
    }
}

/// Whether the qualifier of the specifiers may change.
fn fits_base(
    program: &Program,
    declaration: &Declaration,
    word: Qualifier,
    action: Action,
) -> bool {
    let declarators = &declaration.declarators;
    let is_direct = declarators.iter().all(|declarator| {
        !declarator.has_star && !matches!(declarator.ty.kind, TypeKind::Pointer(_))
    });
    // A qualifier of a parameter itself is no part of the function's type.
    let is_private = targets::is_own_type(program, declaration)
        || declarators.iter().all(|declarator| !declarator.ty.is_array() && is_direct);
    let calls =
        declarators.iter().any(|declarator| declarator.ty.innermost().kind == TypeKind::Function);
    let is_deep = declarators.iter().any(|declarator| pointer_depth(declarator) > 1);
    match (word, action) {
        (Qualifier::Restrict, _) => false,
        (Qualifier::Volatile, _) | (Qualifier::Const, Action::Remove) => {
            is_private && !calls && !is_deep
        }
        (Qualifier::Const, Action::Add) => {
            is_direct
                && is_private
                && !calls
                && declaration.owner != Owner::Record
                && declarators.iter().all(|declarator| stays(program, declarator))
        }
    }
}

/// Whether the qualifier of the name itself may change.
fn fits_own(program: &Program, declarator: &Declarator, word: Qualifier, action: Action) -> bool {
    if !declarator.has_star {
        return false;
    }
    let is_deep = pointer_depth(declarator) > 1 && declarator.ty.is_array();
    let leads_to_object = match &declarator.ty.kind {
        TypeKind::Pointer(to) => to.kind != TypeKind::Function,
        _ => false,
    };
    match (word, action) {
        (Qualifier::Restrict, _) => leads_to_object,
        (Qualifier::Volatile, _) | (Qualifier::Const, Action::Remove) => {
            !is_deep && !targets::is_pointed_to(program, declarator)
        }
        (Qualifier::Const, Action::Add) => {
            declarator.variable.is_some() && stays(program, declarator)
        }
    }
}

/// Whether nothing writes to it or could.
fn stays(program: &Program, declarator: &Declarator) -> bool {
    declarator.variable.is_some_and(|variable| {
        let variable = &program.variables[variable];
        !variable.is_written && !variable.is_address_taken
    })
}

fn pointer_depth(declarator: &Declarator) -> usize {
    let mut depth = 0;
    let mut ty = &*declarator.ty;
    loop {
        match &ty.kind {
            TypeKind::Pointer(to) => {
                depth += 1;
                ty = to;
            }
            TypeKind::Array { element, .. } => ty = element,
            _ => return depth,
        }
    }
}

pub(super) fn outcomes(
    program: &Program,
    word: Qualifier,
    action: Action,
    spot: Spot,
) -> Vec<Outcome> {
    let text = program.text();
    let declaration = &program.declarations[spot.element];
    let declarator = spot.part.checked_sub(1).map(|number| &declaration.declarators[number]);
    let words = declarator.map_or(&declaration.specifiers, |one| &one.own_qualifiers);
    let names: Vec<&str> = match declarator {
        Some(one) => vec![&one.name],
        None => declaration.declarators.iter().map(|one| one.name.as_str()).collect(),
    };
    let names = names.join(", ");
    let star = if declarator.is_some() { "*" } else { "" };
    let with = format!("{star}{} {names}", word.text());
    let without = format!("{star}{names}");
    let (edits, what) = match action {
        Action::Add => {
            (vec![Edit::insert(spot.offset, format!("{} ", word.text()))], what(&without, &with))
        }
        // All of them: C takes `const const` for `const`.
        Action::Remove => (
            words
                .iter()
                .filter(|specifier| specifier.word == word.word())
                .map(|specifier| Edit::remove_word(text, specifier.span))
                .collect(),
            what(&with, &without),
        ),
    };
    vec![Outcome { edits, what }]
}
