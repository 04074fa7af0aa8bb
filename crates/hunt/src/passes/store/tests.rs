//! A store keeps what it was given, for one hunt at a time.

use optsleuth_model::Growth;

use super::*;

fn settings() -> HuntSettings {
    HuntSettings {
        seed: 7,
        sequences: "random".to_owned(),
        selection: "all".to_owned(),
        source: "csmith".to_owned(),
        length: (50, 200),
        passes: vec!["sroa".to_owned()],
        sequence_pool: (10, 10),
        program_pool: (4, 4),
        shard: (1, 1),
        auto_exclude: false,
    }
}

fn finding(number: u64) -> Finding {
    Finding {
        number,
        case: format!("cases/{number:03}-crash-gvn"),
        kind: CaseKind::Crash,
        pass: "gvn".to_owned(),
        signature: "boom".to_owned(),
        what: "it crashes".to_owned(),
        passes: "function(sroa,gvn)".to_owned(),
        n_passes: 100,
        program: "csmith-000001".to_owned(),
        test: 3,
        seconds: 1.5,
        duplicates: 0,
        levels: vec!["O2".to_owned()],
        default_passes_only: true,
        confirmed: true,
        guilty: None,
        instructions: 12,
    }
}

fn deviation(sequence: usize, mark: &str) -> Deviation {
    let kind = CaseKind::Crash;
    Deviation { sequence, test: sequence as u64 + 1, seconds: 0.5, kind, mark: mark.to_owned() }
}

fn new_store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), "19.1.7", &settings()).unwrap();
    store.is_begun().unwrap();
    (folder, store)
}

#[test]
fn a_batch_is_there_when_the_campaign_is_opened_again() {
    let (folder, store) = new_store();
    store.begin_round(0, &["a.c".to_owned(), "b.c".to_owned()]).unwrap();
    let batch = Batch {
        outcomes: "..C".to_owned(),
        deviations: vec![deviation(2, "crash: gvn: boom")],
        kept: vec![(1, "sroa".to_owned())],
    };
    let coverage = Coverage::of([optsleuth_model::BlockId(7)]);
    store.add_batch(0, 1, 41, &batch, Some(&coverage)).unwrap();
    drop(store);
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(store.settings().unwrap(), settings());
    assert_eq!(store.progress_of(0, 1).unwrap(), (3, false));
    assert_eq!(store.progress_of(0, 0).unwrap(), (0, false));
    assert_eq!(store.n_tests().unwrap(), 3);
    assert_eq!(store.n_programs().unwrap(), 1);
    assert_eq!(store.coverage().unwrap(), coverage);
    assert_eq!(store.open_deviations(0, 1).unwrap(), batch.deviations);
    assert_eq!(store.kept_before(1).unwrap(), [(41, "sroa".to_owned())]);
    assert_eq!(store.kept_before(0).unwrap(), []);
    // A round that begins again keeps what it has.
    store.begin_round(0, &["a.c".to_owned(), "b.c".to_owned()]).unwrap();
    assert_eq!(store.n_tests().unwrap(), 3);
}

#[test]
fn deviations_become_findings_duplicates_or_nothing() {
    let (_folder, store) = new_store();
    store.begin_round(0, &["a.c".to_owned()]).unwrap();
    let marks = ["new", "new", "odd"];
    let deviations = marks.iter().enumerate().map(|(at, mark)| deviation(at, mark)).collect();
    let batch = Batch { outcomes: "CCC".to_owned(), deviations, kept: Vec::new() };
    store.add_batch(0, 0, 0, &batch, None).unwrap();
    assert_eq!(store.known("new").unwrap(), None);
    let fate = Fate::Finding(1);
    store.settle((0, 0, 0), &fate, Some("new"), Some(("key", &finding(1)))).unwrap();
    assert_eq!(store.known("new").unwrap(), Some(1));
    store.settle((0, 0, 1), &fate, None, None).unwrap();
    store.settle((0, 0, 2), &Fate::Dismissed("flaky".to_owned()), Some("odd"), None).unwrap();
    // One that was no finding says nothing about the next.
    assert_eq!(store.known("odd").unwrap(), None);
    assert_eq!(store.n_dismissed("odd").unwrap(), 1);
    assert_eq!(store.settled_alike(0, 0, "new").unwrap(), Some((2, Fate::Finding(1))));
    assert_eq!(store.open_deviations(0, 0).unwrap(), []);
    let findings = store.findings().unwrap();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].1, Finding { duplicates: 1, ..finding(1) });
    assert_eq!(store.finding_of_key("key").unwrap(), Some(1));
    assert_eq!(store.dismissed().unwrap(), [("flaky".to_owned(), 1)]);
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
fn a_folder_is_one_hunts_and_one_campaigns() {
    let (folder, store) = new_store();
    let again = Store::open(folder.path()).unwrap_err();
    assert!(matches!(again, HuntError::InUse(_)), "{again}");
    // Looking is allowed.
    assert_eq!(Store::read(folder.path()).unwrap().llvm().unwrap(), "19.1.7");
    drop(store);
    let again = Store::create(folder.path(), "19.1.7", &settings()).unwrap_err();
    assert!(matches!(again, HuntError::CampaignExists(_)), "{again}");
    let none = Store::open(&folder.path().join("other")).unwrap_err();
    assert!(matches!(none, HuntError::NoCampaign(_)), "{none}");
}

#[test]
fn what_was_killed_at_birth_can_be_begun_anew() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::create(folder.path(), "19.1.7", &settings()).unwrap());
    let store = Store::create(folder.path(), "22.1.8", &settings()).unwrap();
    assert_eq!(store.llvm().unwrap(), "22.1.8");
}

#[test]
fn another_versions_campaign_is_refused() {
    let (folder, store) = new_store();
    store.db.pragma_update(None, "user_version", 99).unwrap();
    drop(store);
    let other = Store::open(folder.path()).unwrap_err();
    assert!(matches!(other, HuntError::OtherVersion { found: 99, .. }), "{other}");
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
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(store.n_tests().unwrap(), 5);
}

#[test]
fn coverage_and_growth_are_kept() {
    let (_folder, store) = new_store();
    assert!(store.coverage().unwrap().is_empty());
    let coverage = Coverage::of([optsleuth_model::BlockId(3), optsleuth_model::BlockId(900)]);
    store.cover(&coverage).unwrap();
    assert_eq!(store.coverage().unwrap(), coverage);
    let growth = Growth { seconds: 2.0, tests: 10, findings: 1, blocks: 2 };
    store.grow(&growth).unwrap();
    assert_eq!(store.growth().unwrap(), [growth]);
    store.reject("too small", 2).unwrap();
    store.reject("too small", 3).unwrap();
    assert_eq!(store.rejected().unwrap(), [("too small".to_owned(), 5)]);
}
