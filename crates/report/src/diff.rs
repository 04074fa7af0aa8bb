//! Two lists -> what both have and what one of them has. Pure.
//!
//! **Invariant:** the changes without the inserted ones are the first list, and
//! those without the deleted ones are the second.

use similar::{Algorithm, ChangeTag, capture_diff_slices};

/// An item, and whether both lists have it or only one of them.
pub(crate) type Change<'a> = (ChangeTag, &'a str);

/// The first list turned into the second. In each place, what goes stands before
/// what comes.
pub(crate) fn diff<'a>(first: &'a [String], second: &'a [String]) -> Vec<Change<'a>> {
    let mut changes = Vec::new();
    for operation in capture_diff_slices(Algorithm::Myers, first, second) {
        for (tag, items) in operation.iter_slices(first, second) {
            changes.extend(items.iter().map(|item| (tag, item.as_str())));
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn check(first: &str, second: &str, expected: &str) {
        let (first, second) = (words(first), words(second));
        let changes = diff(&first, &second);
        let texts: Vec<String> = changes
            .iter()
            .map(|(tag, item)| match tag {
                ChangeTag::Equal => (*item).to_owned(),
                ChangeTag::Delete => format!("-{item}"),
                ChangeTag::Insert => format!("+{item}"),
            })
            .collect();
        assert_eq!(texts.join(" "), expected);
        let without = |dropped: ChangeTag| -> Vec<&str> {
            changes.iter().filter(|(tag, _)| *tag != dropped).map(|(_, item)| *item).collect()
        };
        assert_eq!(without(ChangeTag::Insert), first);
        assert_eq!(without(ChangeTag::Delete), second);
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
        check("sroa gvn licm dce", "sroa licm gvn dce", "sroa +licm gvn -licm dce");
    }

    #[test]
    fn most_is_kept_where_items_repeat() {
        check("a b a b a", "b a a", "-a b a -b a");
        check("a a a", "a a", "a a -a");
        check("p q r s t", "q x s t p", "-p q -r +x s t +p");
    }

    #[test]
    fn very_long_lists_that_share_their_ends_alone_are_laid_over_each_other() {
        let list = |name: &str| -> Vec<String> {
            let inner = (0..3000).map(|i| format!("{name}{i}"));
            std::iter::once("head".to_owned()).chain(inner).chain(["tail".to_owned()]).collect()
        };
        let (first, second) = (list("a"), list("b"));
        let changes = diff(&first, &second);
        assert_eq!(changes.len(), 6002);
        assert_eq!(
            (changes[0], changes[6001]),
            ((ChangeTag::Equal, "head"), (ChangeTag::Equal, "tail"))
        );
        assert_eq!(changes[3001], (ChangeTag::Insert, "b0"));
    }
}
