//! csmith's probabilities, drawn anew for every program: swarm testing.
//!
//! The two variants are those that Jiang et al. compare ("CTOS: compiler
//! testing for optimization sequences of LLVM", Section 4.3): each option is 0
//! or 100 (Groce et al., "Swarm testing", ISSTA 2012), or anything in between
//! (Chen et al., ASE 2019).
//!
//! **Invariant:** text and random numbers in, text out; the same ones give the
//! same configuration.

use std::fmt;
use std::str::FromStr;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::HuntError;

/// How csmith's probabilities are chosen for a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Swarm {
    /// They are left as they are.
    Default,
    /// Each is 0 or 100.
    OnOff,
    /// Each is anything from 0 to 100.
    Graded,
}

impl Swarm {
    /// All of them, the plain one first.
    pub const ALL: [Swarm; 3] = [Swarm::Default, Swarm::OnOff, Swarm::Graded];

    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Swarm::Default => "default",
            Swarm::OnOff => "on-off",
            Swarm::Graded => "graded",
        }
    }
}

impl fmt::Display for Swarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Swarm {
    type Err = HuntError;

    fn from_str(text: &str) -> Result<Swarm, HuntError> {
        let named = Swarm::ALL.into_iter().find(|swarm| swarm.name() == text);
        named.ok_or_else(|| HuntError::UnknownSwarm(text.to_owned()))
    }
}

/// They count only together with flags that hunts do not give.
const WITHOUT_EFFECT: [&str; 3] =
    ["float_as_ltype_prob", "builtin_function_prob", "access_once_var_prob"];
/// With 100, csmith 2.3 looks for an end that it never comes to.
const NEVER_CERTAIN: [&str; 2] = ["more_struct_union_type_prob", "select_deref_pointer_prob"];
const NEARLY_CERTAIN: u32 = 90;
/// The statement that all others end in, and one that is never made by itself.
const ASSIGNMENT: &str = "statement_assign_prob";
const BLOCK: &str = "statement_block_prob";

/// A configuration for csmith; `defaults` is the one that it dumps. `None`:
/// csmith needs none.
pub(super) fn configuration(swarm: Swarm, defaults: &str, rng: &mut ChaCha8Rng) -> Option<String> {
    let mut draw: Box<dyn FnMut() -> u32 + '_> = match swarm {
        Swarm::Default => return None,
        Swarm::OnOff => Box::new(|| if rng.random() { 100 } else { 0 }),
        Swarm::Graded => Box::new(|| rng.random_range(0..=100)),
    };
    let lines = defaults.lines().map(str::trim).filter(|line| !line.is_empty());
    let drawn = lines.map(|line| configured(line, &mut *draw));
    Some(drawn.map(|line| format!("{line}\n\n")).collect())
}

fn configured(line: &str, draw: &mut dyn FnMut() -> u32) -> String {
    let inside = |open, close| line.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    if let Some(group) = inside('[', ']') {
        return format!("[{}]", shares(group, draw));
    }
    if let Some(group) = inside('(', ')') {
        return format!("({})", switches(group, draw));
    }
    match line.split_once('=') {
        Some((name, _)) if !WITHOUT_EFFECT.contains(&name) => {
            let most = if NEVER_CERTAIN.contains(&name) { NEARLY_CERTAIN } else { 100 };
            format!("{name}={}", draw().min(most))
        }
        _ => line.to_owned(),
    }
}

/// Kinds of statements exclude each other: what is drawn is their weight. csmith
/// wants the sums of the shares up to each; 0 stands for never. The last, of
/// 100, are the assignments, so that a block can always be filled.
fn shares(group: &str, draw: &mut dyn FnMut() -> u32) -> String {
    let mut parts = group.split(',');
    let heading = parts.next().unwrap_or_default();
    let weights: Vec<(&str, u32)> = parts
        .map(|part| part.split_once('=').map_or(part, |(name, _)| name))
        .map(|name| match name {
            ASSIGNMENT => (name, 100),
            BLOCK => (name, 0),
            _ => (name, draw()),
        })
        .collect();
    let total: u32 = weights.iter().map(|(_, weight)| weight).sum();
    let mut sum = 0;
    weights.iter().fold(heading.to_owned(), |text, &(name, weight)| {
        let share = weight * 100 / total.max(1);
        sum += if name == ASSIGNMENT { 0 } else { share };
        let value = match name {
            ASSIGNMENT => 100,
            _ if share == 0 => 0,
            _ => sum,
        };
        format!("{text},{name}={value}")
    })
}

/// Operators and types are there or not, equally often; one of a group has to
/// be, and what is not there by default stays away.
fn switches(group: &str, draw: &mut dyn FnMut() -> u32) -> String {
    let mut parts = group.split(',');
    let heading = parts.next().unwrap_or_default();
    let members: Vec<(&str, bool)> = parts
        .map(|part| part.split_once('=').unwrap_or((part, "0")))
        .map(|(name, default)| (name, default != "0"))
        .collect();
    let usable = members.iter().filter(|(_, is_usable)| *is_usable).count();
    let mut on: Vec<bool> =
        members.iter().map(|&(_, is_usable)| is_usable && draw() > 50).collect();
    if usable > 0 && !on.contains(&true) {
        let chosen = draw() as usize % usable;
        let usable = members.iter().enumerate().filter(|(_, (_, is_usable))| *is_usable);
        if let Some((place, _)) = usable.into_iter().nth(chosen) {
            on[place] = true;
        }
    }
    members.iter().zip(on).fold(heading.to_owned(), |text, (&(name, _), is_on)| {
        format!("{text},{name}={}", u8::from(is_on))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    const DEFAULTS: &str = "regular_const_prob=10\n\nfloat_as_ltype_prob=0\n\n\
        select_deref_pointer_prob=80\n\n\
        [statement_prob,statement_assign_prob=100,statement_block_prob=0,statement_for_prob=30,\
        statement_goto_prob=50]\n\n\
        (simple_types_prob,void_prob=0,char_prob=1,int_prob=1)\n";

    fn values(text: &str) -> Vec<(String, u32)> {
        let names = text.split(['\n', ',', '[', ']', '(', ')']);
        let pair = |part: &str| {
            let (name, value) = part.split_once('=')?;
            Some((name.to_owned(), value.parse().ok()?))
        };
        names.filter_map(pair).collect()
    }

    fn drawn(swarm: Swarm, seed: u64) -> Vec<(String, u32)> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        values(&configuration(swarm, DEFAULTS, &mut rng).unwrap())
    }

    #[test]
    fn every_option_is_there_and_csmith_can_end() {
        for seed in 0..200 {
            for swarm in [Swarm::OnOff, Swarm::Graded] {
                let drawn = drawn(swarm, seed);
                let names: Vec<&String> = drawn.iter().map(|(name, _)| name).collect();
                let defaults = values(DEFAULTS);
                assert_eq!(names, defaults.iter().map(|(name, _)| name).collect::<Vec<_>>());
                let of = |name: &str| drawn.iter().find(|(known, _)| known == name).unwrap().1;
                assert_eq!((of("float_as_ltype_prob"), of("void_prob")), (0, 0));
                assert!(of("select_deref_pointer_prob") <= 90);
                assert!(of("char_prob") + of("int_prob") >= 1);
                assert_eq!(of("statement_assign_prob"), 100);
                assert!(of("statement_for_prob") < 100 && of("statement_goto_prob") < 100);
                if swarm == Swarm::OnOff {
                    assert!([0, 100].contains(&of("regular_const_prob")));
                }
            }
        }
    }

    #[test]
    fn draws_differ_and_repeat() {
        assert_eq!(drawn(Swarm::Graded, 1), drawn(Swarm::Graded, 1));
        assert_ne!(drawn(Swarm::Graded, 1), drawn(Swarm::Graded, 2));
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        assert_eq!(configuration(Swarm::Default, DEFAULTS, &mut rng), None);
    }

    #[test]
    fn names_are_read_back() {
        for swarm in Swarm::ALL {
            assert_eq!(swarm.to_string().parse::<Swarm>().unwrap(), swarm);
        }
        assert!("often".parse::<Swarm>().is_err());
    }
}
