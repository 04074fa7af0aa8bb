//! Two lists -> what both have and what one of them has. Pure.
//!
//! **Invariant:** the edits without the added ones are the first list, and
//! those without the removed ones are the second.

/// One item of two lists laid over each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edit<'a> {
    /// Both have it.
    Kept(&'a str),
    /// The first has it.
    Removed(&'a str),
    /// The second has it.
    Added(&'a str),
}

/// How large a table may become; lists that would need a larger one are laid
/// over each other at their ends only.
const MAX_CELLS: usize = 4_000_000;

/// The first list turned into the second by a longest common subsequence. In
/// each place, what goes stands before what comes.
pub(crate) fn diff<'a>(first: &'a [String], second: &'a [String]) -> Vec<Edit<'a>> {
    let prefix = first.iter().zip(second).take_while(|(a, b)| a == b).count();
    let (head, a) = first.split_at(prefix);
    let b = &second[prefix..];
    let suffix = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, tail) = a.split_at(a.len() - suffix);
    let b = &b[..b.len() - suffix];

    let mut edits: Vec<Edit<'a>> = kept(head).collect();
    if a.len().saturating_mul(b.len()) > MAX_CELLS {
        edits.extend(a.iter().map(|item| Edit::Removed(item)));
        edits.extend(b.iter().map(|item| Edit::Added(item)));
    } else {
        middle(a, b, &mut edits);
    }
    edits.extend(kept(tail));
    edits
}

fn kept(items: &[String]) -> impl Iterator<Item = Edit<'_>> {
    items.iter().map(|item| Edit::Kept(item))
}

fn middle<'a>(a: &'a [String], b: &'a [String], edits: &mut Vec<Edit<'a>>) {
    // The length of the longest common subsequence of `a[i..]` and `b[j..]`.
    let width = b.len() + 1;
    let mut common = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i * width + j] = if a[i] == b[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            edits.push(Edit::Kept(&a[i]));
            (i, j) = (i + 1, j + 1);
        } else if common[(i + 1) * width + j] >= common[i * width + j + 1] {
            edits.push(Edit::Removed(&a[i]));
            i += 1;
        } else {
            edits.push(Edit::Added(&b[j]));
            j += 1;
        }
    }
    edits.extend(a[i..].iter().map(|item| Edit::Removed(item)));
    edits.extend(b[j..].iter().map(|item| Edit::Added(item)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn check(first: &str, second: &str, expected: &str) {
        let (first, second) = (words(first), words(second));
        let edits = diff(&first, &second);
        let texts: Vec<String> = edits
            .iter()
            .map(|edit| match edit {
                Edit::Kept(item) => (*item).to_owned(),
                Edit::Removed(item) => format!("-{item}"),
                Edit::Added(item) => format!("+{item}"),
            })
            .collect();
        assert_eq!(texts.join(" "), expected);
        let side = |drop: fn(&Edit<'_>) -> bool| -> Vec<String> {
            let rest = edits.iter().filter(|edit| !drop(edit));
            rest.map(|(Edit::Kept(i) | Edit::Removed(i) | Edit::Added(i))| (*i).to_owned())
                .collect()
        };
        assert_eq!(side(|edit| matches!(edit, Edit::Added(_))), first);
        assert_eq!(side(|edit| matches!(edit, Edit::Removed(_))), second);
    }

    #[test]
    fn equal_lists_are_kept() {
        check("", "", "");
        check("a b c", "a b c", "a b c");
    }

    #[test]
    fn ends_may_differ() {
        check("a b", "", "-a -b");
        check("", "a b", "+a +b");
        check("x a", "a", "-x a");
        check("a", "a x", "a +x");
    }

    #[test]
    fn what_goes_stands_before_what_comes() {
        check("a x b", "a y b", "a -x +y b");
        check("sroa gvn licm dce", "sroa licm gvn dce", "sroa -gvn licm +gvn dce");
    }

    #[test]
    fn most_is_kept_where_items_repeat() {
        check("a b a b a", "b a a", "-a b a -b a");
        check("a a a", "a a", "a a -a");
        check("p q r s t", "q x s t p", "-p q -r +x s t +p");
    }

    #[test]
    fn very_long_lists_are_laid_over_each_other_at_their_ends() {
        let list = |name: &str| -> Vec<String> {
            let inner = (0..3000).map(|i| format!("{name}{i}"));
            std::iter::once("head".to_owned()).chain(inner).chain(["tail".to_owned()]).collect()
        };
        let (first, second) = (list("a"), list("b"));
        let edits = diff(&first, &second);
        assert_eq!(edits.len(), 6002);
        assert_eq!((edits[0], edits[6001]), (Edit::Kept("head"), Edit::Kept("tail")));
        assert_eq!(edits[3001], Edit::Added("b0"));
    }
}
