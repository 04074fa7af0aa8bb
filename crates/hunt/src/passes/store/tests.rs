//! Rounds are kept, and go on where they ended.

use optsleuth_model::{BlockId, CaseKind, PassSettings};

use super::*;
use crate::campaign::{Beginning, Mark, TestId};

fn new_store() -> (tempfile::TempDir, Store) {
    let settings = PassSettings {
        llvm: "19.1.7".to_owned(),
        sequences: "random".to_owned(),
        selection: "all".to_owned(),
        length: (50, 200),
        passes: vec!["sroa".to_owned()],
        sequence_pool: (10, 10),
        program_pool: (4, 4),
        shard: (1, 1),
        auto_exclude: false,
    };
    let beginning = Beginning {
        seed: 7,
        source: "csmith".to_owned(),
        workers: 2,
        n_blocks: 100,
        notes: Vec::new(),
    };
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), &FORMAT, &beginning, &settings).unwrap();
    store.mark_begun().unwrap();
    assert_eq!(store.settings::<PassSettings>().unwrap(), settings);
    (folder, store)
}

#[test]
fn a_batch_is_there_when_the_campaign_is_opened_again() {
    let (folder, store) = new_store();
    store.begin_round(0, &["a.c".to_owned(), "b.c".to_owned()]).unwrap();
    let deviation = Deviation {
        id: TestId { unit: 0, program: 1, position: 2 },
        test: 3,
        seconds: 0.5,
        compiler: "llvm-19".to_owned(),
        mark: Mark { kind: CaseKind::Crash, pass: Some("gvn".into()), signature: "boom".into() },
    };
    let batch = Batch {
        outcomes: "..C".to_owned(),
        deviations: vec![deviation],
        kept: vec![(1, "sroa".to_owned())],
    };
    let coverage = Coverage::of([BlockId(7)]);
    store.add_batch(0, 1, 41, &batch, Some(&coverage)).unwrap();
    drop(store);
    let store = Store::open(folder.path(), &FORMAT).unwrap();
    assert_eq!(store.letters_of(0, 1).unwrap(), "..C");
    assert_eq!(store.letters_of(0, 0).unwrap(), "");
    assert!(!store.is_finished(0, 1).unwrap());
    let counts = store.round_counts().unwrap();
    assert_eq!((counts.tests, counts.programs, counts.letters.as_str()), (3, 1, "..C"));
    assert_eq!(store.coverage().unwrap(), coverage);
    assert_eq!(store.open_deviations(0, 1).unwrap(), batch.deviations);
    assert_eq!(store.kept_before(1).unwrap(), [(41, "sroa".to_owned())]);
    assert_eq!(store.kept_before(0).unwrap(), []);
    // A round that begins again keeps what it has.
    store.begin_round(0, &["a.c".to_owned(), "b.c".to_owned()]).unwrap();
    assert_eq!(store.n_round_tests().unwrap(), 3);
    store.finish_program(0, 1).unwrap();
    assert!(store.is_finished(0, 1).unwrap());
}

#[test]
fn shards_take_turns() {
    let (_folder, store) = new_store();
    assert_eq!(store.next_round((1, 2)).unwrap(), 0);
    assert_eq!(store.next_round((2, 2)).unwrap(), 1);
    store.begin_round(1, &[]).unwrap();
    assert_eq!(store.next_round((2, 2)).unwrap(), 1);
    store.finish_round(1).unwrap();
    assert_eq!(store.next_round((2, 2)).unwrap(), 3);
    assert_eq!(store.next_round((1, 1)).unwrap(), 0);
}

#[test]
fn sequences_that_show_wrong_code_are_kept_in_their_order() {
    let (_folder, store) = new_store();
    let sequences = ["function(sroa)", "function(gvn)"].map(|text| text.parse().unwrap());
    for (number, passes) in (1..).zip(&sequences) {
        store.add_wrong_code(number, passes).unwrap();
    }
    let [first, second] = sequences;
    assert_eq!(store.wrong_code().unwrap(), [(1, first), (2, second)]);
}

#[test]
fn a_full_disk_is_named_and_loses_nothing() {
    let (folder, store) = new_store();
    store.begin_round(0, &["a.c".to_owned()]).unwrap();
    let pages: i64 = store.db.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    // SQLite answers as it does when the disk has no room for another page.
    store.db.pragma_query_value(None, "max_page_count", |_| Ok(())).unwrap();
    store.db.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(())).unwrap();
    let batch = |n: usize| Batch { outcomes: ".".repeat(n), ..Batch::default() };
    store.add_batch(0, 0, 0, &batch(5), None).unwrap();
    let full = store.add_batch(0, 0, 0, &batch(100_000), None).unwrap_err();
    assert!(matches!(full, HuntError::DiskFull(_)), "{full}");
    drop(store);
    let store = Store::open(folder.path(), &FORMAT).unwrap();
    assert_eq!(store.n_round_tests().unwrap(), 5);
}
