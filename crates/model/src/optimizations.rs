//! A pass sequence as a list of single optimizations, and back.
//!
//! A search over sequences deletes, inserts and swaps optimizations. One
//! optimization is one pass with the adaptors around it, as in
//! `function(loop-mssa(licm))`, so that it can stand anywhere in a list.

use crate::{Element, PassSequence};

impl PassSequence {
    /// The passes one by one, each inside its own adaptors.
    pub fn optimizations(&self) -> Vec<Element> {
        let mut out = Vec::new();
        split(self.elements(), &mut Vec::new(), &mut out);
        out
    }

    /// The sequence of these optimizations; neighbours in the same adaptor
    /// share it, as a flat list is nested. So a sequence that was nested that
    /// way comes back, and one that was split further does not. Adaptors that
    /// repeat their passes are not shared: that would change the order.
    /// `None` if there are none.
    pub fn of_optimizations(optimizations: impl IntoIterator<Item = Element>) -> Option<Self> {
        let mut elements = Vec::new();
        for optimization in optimizations {
            join(&mut elements, optimization);
        }
        PassSequence::new(elements)
    }
}

fn split<'a>(elements: &'a [Element], around: &mut Vec<&'a str>, out: &mut Vec<Element>) {
    for element in elements {
        match &element.inner {
            None => {
                let pass = Element::pass(&element.name);
                let wrap = |inner, name: &&str| Element {
                    name: (*name).to_owned(),
                    inner: Some(vec![inner]),
                };
                out.push(around.iter().rev().fold(pass, wrap));
            }
            Some(inner) => {
                around.push(&element.name);
                split(inner, around, out);
                around.pop();
            }
        }
    }
}

fn repeats(adaptor: &str) -> bool {
    adaptor.starts_with("repeat<") || adaptor.starts_with("devirt<")
}

fn join(elements: &mut Vec<Element>, next: Element) {
    match (elements.last_mut(), next.inner) {
        (Some(Element { name, inner: Some(list) }), Some(inner))
            if *name == next.name && !repeats(name) =>
        {
            for element in inner {
                join(list, element);
            }
        }
        (_, inner) => elements.push(Element { name: next.name, inner }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sequence: &str, expected: &[&str]) {
        let sequence: PassSequence = sequence.parse().unwrap();
        let optimizations = sequence.optimizations();
        let texts: Vec<String> = optimizations.iter().map(ToString::to_string).collect();
        assert_eq!(texts, expected);
        assert_eq!(PassSequence::of_optimizations(optimizations), Some(sequence));
    }

    #[test]
    fn adaptors_are_split_and_joined() {
        check("globaldce,constmerge", &["globaldce", "constmerge"]);
        check(
            "function(sroa,loop-mssa(licm,loop-rotate),gvn),globaldce",
            &[
                "function(sroa)",
                "function(loop-mssa(licm))",
                "function(loop-mssa(loop-rotate))",
                "function(gvn)",
                "globaldce",
            ],
        );
        check("loop(a,a)", &["loop(a)", "loop(a)"]);
    }

    #[test]
    fn reordered_optimizations_share_adaptors_with_their_neighbours_only() {
        let sequence: PassSequence = "function(sroa,gvn),globaldce".parse().unwrap();
        let mut optimizations = sequence.optimizations();
        optimizations.swap(1, 2);
        let joined = PassSequence::of_optimizations(optimizations).unwrap();
        assert_eq!(joined.to_string(), "function(sroa),globaldce,function(gvn)");
        assert_eq!(PassSequence::of_optimizations([]), None);
        let repeated: PassSequence = "function(repeat<2>(a,b))".parse().unwrap();
        let joined = PassSequence::of_optimizations(repeated.optimizations()).unwrap();
        assert_eq!(joined.to_string(), "function(repeat<2>(a),repeat<2>(b))");
    }
}
