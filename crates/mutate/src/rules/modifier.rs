//! `unsigned`, `signed`, `short` and `long`, added to and removed from the
//! integer types of declarations. Adding one takes the place of its opposite; a
//! typedef's name is replaced by the type it stands for.
//!
//! **Invariant:** the type changes, and C knows the new one: no `short char`, no
//! `long long long`, no `long double`. The size of a thing that a pointer leads
//! to, or that `printf` gets, stays as it is.

use crate::edit::Edit;
use crate::program::{Declaration, Declarator, Owner, Program, Word};
use crate::rule::{Action, Modifier};
use crate::rules::{Outcome, Spot, targets, what};
use crate::types::{Integer, Rank, Type, TypeKind};

pub(super) fn spots(program: &Program, word: Modifier, action: Action) -> Vec<Spot> {
    let of = program.declarations.iter().enumerate();
    of.filter(|(_, declaration)| changed(program, declaration, word, action).is_some())
        .map(|(element, declaration)| Spot {
            offset: first_type_word(declaration).unwrap_or(declaration.span.start),
            statement: declaration.site.statement,
            element,
            part: 0,
        })
        .collect()
}

pub(super) fn outcomes(
    program: &Program,
    word: Modifier,
    action: Action,
    spot: Spot,
) -> Vec<Outcome> {
    let declaration = &program.declarations[spot.element];
    let text = program.text();
    let Some(new) = changed(program, declaration, word, action) else { return Vec::new() };
    let words: Vec<_> =
        declaration.specifiers.iter().filter(|specifier| is_type_word(specifier.word)).collect();
    let Some((first, rest)) = words.split_first() else { return Vec::new() };
    let mut edits = vec![Edit::replace(first.span, new.as_str())];
    edits.extend(rest.iter().map(|specifier| Edit::remove_word(text, specifier.span)));
    let old: Vec<&str> = words.iter().map(|specifier| specifier.span.of(text)).collect();
    let names: Vec<&str> = declaration.declarators.iter().map(|one| one.name.as_str()).collect();
    let names = names.join(", ");
    let what = what(&format!("{} {names}", old.join(" ")), &format!("{new} {names}"));
    vec![Outcome { edits, what }]
}

fn is_type_word(word: Word) -> bool {
    matches!(
        word,
        Word::Unsigned
            | Word::Signed
            | Word::Short
            | Word::Long
            | Word::Int
            | Word::Char
            | Word::TypeName
    )
}

fn first_type_word(declaration: &Declaration) -> Option<usize> {
    let first = declaration.specifiers.iter().find(|specifier| is_type_word(specifier.word))?;
    Some(first.span.start)
}

/// The new type, where the rule applies.
fn changed(
    program: &Program,
    declaration: &Declaration,
    word: Modifier,
    action: Action,
) -> Option<String> {
    let is_foreign = |specifier: &&crate::program::Specifier| {
        matches!(specifier.word, Word::Tag | Word::Other | Word::Double)
    };
    if !targets::is_open(program, declaration)
        || !targets::is_own_type(program, declaration)
        || declaration.specifiers.iter().find(is_foreign).is_some()
    {
        return None;
    }
    let first = declaration.declarators.first()?;
    let TypeKind::Integer(old) = specified(program, declaration, first)?.kind else { return None };
    let is_plain_char = old.rank == Rank::Char
        && specified(program, declaration, first).is_some_and(|ty| ty.bare == "char");
    if old.rank == Rank::Char && word == Modifier::Signed {
        // `char` and `signed char` are two types, whatever their values are.
        return match (action, is_plain_char, old.is_signed) {
            (Action::Add, true, _) => Some("signed char".to_owned()),
            (Action::Remove, false, true) => Some("char".to_owned()),
            (Action::Add, false, false) => Some("signed char".to_owned()),
            (Action::Add, false, true) | (Action::Remove, _, _) => None,
        }
        .filter(|_| declaration.declarators.iter().all(|one| !one.ty.is_pointer()));
    }
    let new = change(old, is_plain_char, word, action)?;
    for declarator in &declaration.declarators {
        let ty = specified(program, declaration, declarator)?;
        let is_direct = !declarator.has_star && !declarator.ty.is_pointer();
        let is_pointed_to = targets::is_pointed_to(program, declarator);
        let is_sized = declarator.variable.is_some_and(|it| program.variables[it].is_sized);
        let fits = match old.rank == new.rank {
            // Pointers to either sign are exchangeable, pointers to those are not.
            true => is_direct || (!is_pointed_to && is_simple_pointer(&declarator.ty)),
            false => is_direct && !is_pointed_to && !is_sized,
        };
        let fits_bits = declarator.bit_width.is_none_or(|width| width <= bits(new.rank));
        if ty.kind != TypeKind::Integer(old) || !fits || !fits_bits {
            return None;
        }
    }
    Some(spelling(new))
}

fn is_simple_pointer(ty: &Type) -> bool {
    matches!(&ty.kind, TypeKind::Pointer(to) if to.is_integer())
}

fn change(old: Integer, is_plain_char: bool, word: Modifier, action: Action) -> Option<Integer> {
    let Integer { rank, is_signed } = old;
    let is_changeable = !matches!(rank, Rank::Bool | Rank::Int128);
    let (rank, is_signed) = match (word, action) {
        (Modifier::Unsigned, Action::Add) => (rank, false),
        (Modifier::Signed, Action::Add) => (rank, true),
        (Modifier::Unsigned, Action::Remove) if !is_plain_char && !is_signed => (rank, true),
        // `signed int` is `int`.
        (Modifier::Unsigned | Modifier::Signed, Action::Remove) => return None,
        (Modifier::Short, Action::Add) if rank > Rank::Short => (Rank::Short, is_signed),
        (Modifier::Long, Action::Add) if rank == Rank::Long => (Rank::LongLong, is_signed),
        (Modifier::Long, Action::Add) if rank > Rank::Char && rank < Rank::Long => {
            (Rank::Long, is_signed)
        }
        (Modifier::Short, Action::Remove) if rank == Rank::Short => (Rank::Int, is_signed),
        (Modifier::Long, Action::Remove) if rank == Rank::Long => (Rank::Int, is_signed),
        (Modifier::Long, Action::Remove) if rank == Rank::LongLong => (Rank::Long, is_signed),
        (Modifier::Short | Modifier::Long, _) => return None,
    };
    let new = Integer { rank, is_signed };
    (is_changeable && new != old).then_some(new)
}

/// On LP64.
fn bits(rank: Rank) -> u32 {
    match rank {
        Rank::Bool => 1,
        Rank::Char => 8,
        Rank::Short => 16,
        Rank::Int => 32,
        Rank::Long | Rank::LongLong => 64,
        Rank::Int128 => 128,
    }
}

fn spelling(Integer { rank, is_signed }: Integer) -> String {
    let sign = match (is_signed, rank) {
        (true, Rank::Char) => "signed ",
        (true, _) => "",
        (false, _) => "unsigned ",
    };
    let name = match rank {
        Rank::Bool => "_Bool",
        Rank::Char => "char",
        Rank::Short => "short",
        Rank::Int => "int",
        Rank::Long => "long",
        Rank::LongLong => "long long",
        Rank::Int128 => "__int128",
    };
    format!("{sign}{name}")
}

/// The type that the specifiers alone say, seen from one declarator: its type
/// without what its own stars and brackets add. `None` where parentheses make
/// that hard to tell.
fn specified<'p>(
    program: &'p Program,
    declaration: &Declaration,
    declarator: &'p Declarator,
) -> Option<&'p Type> {
    let text = program.text();
    let behind = text.get(declarator.name_span.end..)?.trim_start();
    let mut ty = &*declarator.ty;
    if behind.starts_with('[') {
        // A parameter's array is a pointer.
        let is_parameter = matches!(declaration.owner, Owner::Function(_));
        ty = match &ty.kind {
            TypeKind::Array { element, .. } => element,
            TypeKind::Pointer(to) if is_parameter => to,
            _ => return None,
        };
        while let TypeKind::Array { element, .. } = &ty.kind {
            ty = element;
        }
    } else if behind.starts_with('(')
        || behind.starts_with(')') && declaration.owner == Owner::Record
    {
        return None;
    }
    let from = declaration.specifiers.last().map_or(declaration.span.start, |last| last.span.end);
    let own = declarator
        .own_qualifiers
        .first()
        .map_or(declarator.name_span.start, |first| first.span.start);
    let before = text.get(..own).unwrap_or_default().trim_end();
    let stars = before.len() - before.trim_end_matches(['*', ' ']).len();
    let n_stars = before.get(before.len() - stars..)?.matches('*').count();
    if before.trim_end_matches(['*', ' ']).ends_with('(') && from < before.len() {
        let is_parameter = matches!(declaration.owner, Owner::Function(_));
        if !is_parameter || n_stars > 0 {
            return None;
        }
    }
    for _ in 0..n_stars {
        let TypeKind::Pointer(to) = &ty.kind else { return None };
        ty = to;
    }
    Some(ty)
}
