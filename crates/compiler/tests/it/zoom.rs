//! A worker with a zoomed file, made of the one file in `testdata/zoom`.

use std::path::Path;

use optsleuth_compiler::llvm::{
    self, Flavor, SourceChoice, SourceLines, SourceTree, Targets, Variant, ZoomPlan,
};

use crate::ready::{install, testdata};

const FILE: &str = "llvm/lib/Transforms/IPO/ForceFunctionAttrs.cpp";

#[test]
fn a_zoomed_workers_map_names_archives_that_are_there_and_lines() {
    let install = install();
    let covered = llvm::provision(&install, Targets::Native, Flavor::Covered, &mut |_| {});
    let map = covered.unwrap().code_map().unwrap();
    let folder = testdata("zoom");
    let tree = SourceTree::find(&install, &SourceChoice::Folder(folder), &mut |_| {}).unwrap();
    let files = [FILE.to_owned(), "llvm/lib/IR/Value.cpp".to_owned()];
    let plan = ZoomPlan {
        tree: &tree,
        files: &files,
        variant: Variant::Lines,
        deadline: None,
        fault: None,
    };
    let zoomed = llvm::zoom(&install, Targets::Native, &map, &plan, &mut |_| {}).unwrap();
    assert_eq!((&zoomed.files[..], zoomed.left_out.len()), (&files[..1], 1));

    let map = zoomed.provisioned.unwrap().code_map().unwrap();
    assert_eq!(map.objects.iter().filter(|object| object.zoomed.is_some()).count(), 1);
    // Others of its archive are the distribution's, wherever the copy was.
    let missing = |archive: &&str| !Path::new(archive).is_file();
    let archives = map.objects.iter().map(|object| object.archive.as_str());
    assert_eq!(archives.into_iter().find(|archive| missing(archive)), None);

    let own = map.functions.iter().find(|function| function.name.starts_with("isMeant"));
    let block = own.unwrap().block_ids().next().unwrap();
    let mut lines = SourceLines::new(&map);
    let place = lines.place(block, 0).unwrap();
    let text = lines.text(&place.path).unwrap();
    let line = text.lines().nth(place.line as usize - 1).unwrap();
    assert_eq!(place.path, FILE);
    assert!(line.contains("isMeant"), "{place}: {line}");
}
