//! A store keeps what it was given, for one hunt at a time.

use optsleuth_model::{BlockId, PassTrigger, Trigger};

use super::super::database::CampaignKind;
use super::*;

const FORMAT: Format = Format { kind: CampaignKind::Passes, tables: "" };

fn beginning() -> Beginning {
    Beginning {
        seed: 7,
        source: "csmith".to_owned(),
        workers: 2,
        n_blocks: 100,
        notes: vec!["there is no gcc here".to_owned()],
    }
}

fn finding(number: u64) -> Finding {
    Finding {
        number,
        case: format!("cases/{number:03}-crash-gvn"),
        kind: CaseKind::Crash,
        pass: Some("gvn".to_owned()),
        signature: "boom".to_owned(),
        what: "it crashes".to_owned(),
        levels: vec!["O2".to_owned()],
        program: "csmith-000001".to_owned(),
        test: 3,
        seconds: 1.5,
        duplicates: 0,
        confirmed: true,
        guilty: None,
        trigger: Trigger::Passes(PassTrigger {
            passes: "function(sroa,gvn)".to_owned(),
            n_passes: 100,
            default_passes_only: true,
            instructions: 12,
        }),
    }
}

fn crash(position: u64, signature: &str) -> Deviation {
    let mark = Mark {
        kind: CaseKind::Crash,
        pass: Some("gvn".to_owned()),
        signature: signature.to_owned(),
    };
    let id = TestId { unit: 0, program: 1, position };
    Deviation { id, test: position + 1, seconds: 0.5, compiler: "llvm-19".to_owned(), mark }
}

fn new_store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), &FORMAT, &beginning(), &()).unwrap();
    store.mark_begun().unwrap();
    (folder, store)
}

fn with_deviations(deviations: &[Deviation]) -> (tempfile::TempDir, Store) {
    let (folder, store) = new_store();
    store.transact(|transaction| add_deviations(transaction, deviations)).unwrap();
    (folder, store)
}

#[test]
fn deviations_become_findings_duplicates_or_nothing() {
    let [new, again, odd] = [crash(0, "new"), crash(1, "new"), crash(2, "odd")];
    let (_folder, store) = with_deviations(&[new.clone(), again.clone(), odd.clone()]);
    assert_eq!(store.known(&new).unwrap(), None);
    let fate = Fate::Finding(1);
    store.settle(&[new.id], &fate, Some(&new), Some(("key", &finding(1)))).unwrap();
    assert_eq!(store.known(&again).unwrap(), Some(1));
    // The same of another compiler is another bug.
    let other = Deviation { compiler: "llvm-14".to_owned(), ..again.clone() };
    assert_eq!(store.known(&other).unwrap(), None);
    store.settle(&[again.id], &fate, None, None).unwrap();
    let why = Fate::Dismissed("flaky".to_owned());
    store.settle(&[odd.id], &why, Some(&odd), None).unwrap();
    // One that was no finding says nothing about the next.
    assert_eq!(store.known(&odd).unwrap(), None);
    assert_eq!(store.n_dismissed(&odd).unwrap(), 1);
    assert_eq!(store.fates_alike(&new).unwrap(), [fate.clone(), fate.clone()]);
    assert_eq!(store.fate(odd.id).unwrap(), Some(why));
    assert_eq!(store.open_deviations(0, 1).unwrap(), []);
    let findings = store.findings().unwrap();
    assert_eq!(findings, [("key".to_owned(), Finding { duplicates: 1, ..finding(1) })]);
    assert_eq!(store.dismissed().unwrap(), [("flaky".to_owned(), 1)]);
}

#[test]
fn findings_count_the_tests_that_show_them() {
    let deviations = [crash(0, "x"), crash(1, "y"), crash(2, "x")];
    let (folder, store) = with_deviations(&deviations);
    let (first, fate) = (&deviations[0], Fate::Finding(1));
    let ids = [first.id, deviations[1].id];
    store.settle(&ids, &fate, Some(first), Some(("key", &finding(1)))).unwrap();
    store.settle(&[deviations[2].id], &fate, None, None).unwrap();
    drop(store);
    let findings = Store::read(folder.path(), &FORMAT).unwrap().findings().unwrap();
    assert_eq!((findings[0].0.as_str(), findings[0].1.duplicates), ("key", 2));
}

#[test]
fn a_mark_that_does_not_tell_shows_nothing() {
    let mut wrong = crash(0, "0123");
    wrong.mark = Mark { kind: CaseKind::WrongCode, pass: None, signature: "0123".to_owned() };
    let (_folder, store) = with_deviations(std::slice::from_ref(&wrong));
    store.settle(&[wrong.id], &Fate::Finding(1), Some(&wrong), Some(("key", &finding(1)))).unwrap();
    assert_eq!(store.known(&wrong).unwrap(), None);
}

#[test]
fn a_folder_is_one_hunts_and_one_campaigns() {
    let (folder, store) = new_store();
    let again = Store::open(folder.path(), &FORMAT).unwrap_err();
    assert!(matches!(again, HuntError::InUse(_)), "{again}");
    // Looking is allowed.
    assert_eq!(Store::read(folder.path(), &FORMAT).unwrap().beginning().unwrap().seed, 7);
    drop(store);
    let again = Store::create(folder.path(), &FORMAT, &beginning(), &()).unwrap_err();
    assert!(matches!(again, HuntError::CampaignExists(_)), "{again}");
    let none = Store::open(&folder.path().join("other"), &FORMAT).unwrap_err();
    assert!(matches!(none, HuntError::NoCampaign(_)), "{none}");
    assert!(none.to_string().contains("campaign.db"), "{none}");
}

#[test]
fn what_was_killed_at_birth_can_be_begun_anew() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::create(folder.path(), &FORMAT, &beginning(), &()).unwrap());
    let other = Beginning { seed: 8, ..beginning() };
    let store = Store::create(folder.path(), &FORMAT, &other, &()).unwrap();
    assert_eq!(store.beginning().unwrap().seed, 8);
}

#[test]
fn another_versions_campaign_is_refused() {
    for version in [1, 99] {
        let (folder, store) = new_store();
        store.db.pragma_update(None, "user_version", version).unwrap();
        drop(store);
        let other = Store::open(folder.path(), &FORMAT).unwrap_err();
        assert!(matches!(other, HuntError::OtherVersion { .. }), "{other}");
        let said = other.to_string();
        let formats =
            format!("made by another version of optsleuth: format {version}, and this one has 2");
        assert!(said.contains(&formats), "{said}");
    }
}

#[test]
fn coverage_and_growth_are_kept() {
    let (_folder, store) = new_store();
    assert!(store.coverage().unwrap().is_empty());
    let coverage = Coverage::of([BlockId(3), BlockId(900)]);
    store.transact(|transaction| put_coverage(transaction, Some(&coverage))).unwrap();
    assert_eq!(store.coverage().unwrap(), coverage);
    let growth = Growth { seconds: 2.0, tests: 10, findings: 1, blocks: 2 };
    store.grow(&growth).unwrap();
    assert_eq!((store.growth().unwrap(), store.seconds().unwrap()), (vec![growth], 2.0));
    store.reject(0, "too small", 2).unwrap();
    store.reject(0, "too small", 3).unwrap();
    store.reject(4, "too small", 1).unwrap();
    assert_eq!(store.rejected().unwrap(), [("too small".to_owned(), 6)]);
}
