//! Names for what snippets declare.
//!
//! **Invariant:** no name is given twice, and none occurs in the text that
//! snippets are made for, in whatever generation.

/// Gives new names for one variant.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    ending: String,
    n_given: usize,
}

impl Names {
    /// For snippets of this text, which has those of earlier generations.
    pub(crate) fn new(text: &str) -> Names {
        let mut generation = 1;
        let mut ending = "_e1_".to_owned();
        while text.contains(&ending) {
            generation += 1;
            ending = format!("_e{generation}_");
        }
        Names { ending, n_given: 0 }
    }

    /// The next one; it begins with what it is for.
    pub(super) fn fresh(&mut self, purpose: &str) -> String {
        self.n_given += 1;
        format!("{purpose}{}{}", self.ending, self.n_given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_two_generations_are_different() {
        let mut first = Names::new("int a;");
        assert_eq!([first.fresh("v"), first.fresh("v")], ["v_e1_1", "v_e1_2"]);
        let mut second = Names::new("int a; { int v_e1_1; }");
        assert_eq!(second.fresh("v"), "v_e2_1");
    }
}
