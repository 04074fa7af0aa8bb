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

impl PassSequence {
    /// How many passes there are, adaptors not counted.
    pub fn n_passes(&self) -> usize {
        self.optimizations().len()
    }

    /// These of its passes, counted from 0, in the adaptors they stand in.
    /// `None` if that leaves none.
    pub fn keeping(&self, kept: &[usize]) -> Option<PassSequence> {
        PassSequence::new(keep(self.elements(), kept, &mut 0))
    }

    /// The same passes with one parameter less, or with none at one place: all
    /// sequences of this kind.
    pub fn with_fewer_parameters(&self) -> Vec<PassSequence> {
        let rebuilt = |elements| PassSequence::new(elements);
        simpler(self.elements()).into_iter().filter_map(rebuilt).collect()
    }

    /// Its passes without any adaptors, for [`PassSequence::resolve`] to nest.
    pub fn flat(&self) -> Option<PassSequence> {
        fn leaves(elements: &[Element], out: &mut Vec<Element>) {
            for element in elements {
                match &element.inner {
                    None => out.push(element.clone()),
                    Some(inner) => leaves(inner, out),
                }
            }
        }
        let mut out = Vec::new();
        leaves(self.elements(), &mut out);
        PassSequence::new(out)
    }
}

fn keep(elements: &[Element], kept: &[usize], next: &mut usize) -> Vec<Element> {
    let mut out = Vec::new();
    for element in elements {
        match &element.inner {
            None => {
                if kept.binary_search(next).is_ok() {
                    out.push(element.clone());
                }
                *next += 1;
            }
            Some(inner) => {
                let inner = keep(inner, kept, next);
                if !inner.is_empty() {
                    out.push(Element { name: element.name.clone(), inner: Some(inner) });
                }
            }
        }
    }
    out
}

/// Every list that differs from this one in the parameters of one element.
fn simpler(elements: &[Element]) -> Vec<Vec<Element>> {
    let mut out = Vec::new();
    for (place, element) in elements.iter().enumerate() {
        let mut replace = |with: Element| {
            let mut list = elements.to_vec();
            list[place] = with;
            out.push(list);
        };
        for name in fewer_parameters(&element.name) {
            replace(Element { name, inner: element.inner.clone() });
        }
        for inner in element.inner.iter().flat_map(|inner| simpler(inner)) {
            replace(Element { name: element.name.clone(), inner: Some(inner) });
        }
    }
    out
}

/// `a<x;y>` -> `a`, `a<y>`, `a<x>`.
fn fewer_parameters(name: &str) -> Vec<String> {
    let Some((base, rest)) = name.split_once('<') else { return Vec::new() };
    let Some(parameters) = rest.strip_suffix('>') else { return Vec::new() };
    let parameters: Vec<&str> = parameters.split(';').collect();
    let mut out = vec![base.to_owned()];
    if parameters.len() > 1 {
        for dropped in 0..parameters.len() {
            let mut left = parameters.clone();
            left.remove(dropped);
            out.push(format!("{base}<{}>", left.join(";")));
        }
    }
    out
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
    fn passes_go_and_the_adaptors_of_the_others_stay() {
        let sequence: PassSequence =
            "cgscc(devirt<4>(inline,function(sroa,gvn))),globaldce".parse().unwrap();
        assert_eq!(sequence.n_passes(), 4);
        let keeping = |kept: &[usize]| sequence.keeping(kept).map(|left| left.to_string());
        assert_eq!(keeping(&[2]).as_deref(), Some("cgscc(devirt<4>(function(gvn)))"));
        assert_eq!(keeping(&[0, 3]).as_deref(), Some("cgscc(devirt<4>(inline)),globaldce"));
        assert_eq!(keeping(&[]), None);
        assert_eq!(sequence.flat().unwrap().to_string(), "inline,sroa,gvn,globaldce");
    }

    #[test]
    fn parameters_go_one_by_one_or_all_at_once() {
        let sequence: PassSequence = "function<eager>(a<x;y>,b)".parse().unwrap();
        let texts: Vec<String> =
            sequence.with_fewer_parameters().iter().map(ToString::to_string).collect();
        let expected = [
            "function(a<x;y>,b)",
            "function<eager>(a,b)",
            "function<eager>(a<y>,b)",
            "function<eager>(a<x>,b)",
        ];
        assert_eq!(texts, expected);
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
