//! Old offset -> new offset, per section: the result of layout, the input of all rewriting.
//!
//! An offset can be asked for as the start of something or as its end; the two differ where probes
//! or padding were inserted in between.

use std::collections::HashMap;

use crate::error::ObjcovError;

/// "Not a place that may be referred to."
const NONE: u32 = u32::MAX;

/// The new offsets of one section.
#[derive(Debug, Clone)]
pub(crate) struct OffsetMap {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl OffsetMap {
    /// A map for a section of `size` bytes without any known offset.
    pub(crate) fn new(size: usize) -> OffsetMap {
        OffsetMap { starts: vec![NONE; size + 1], ends: vec![NONE; size + 1] }
    }

    pub(crate) fn set_start(&mut self, old: u32, new: u32) {
        self.starts[old as usize] = new;
    }

    pub(crate) fn set_end(&mut self, old: u32, new: u32) {
        self.ends[old as usize] = new;
    }
}

/// The new offsets of all sections; contents of sections without a map stay in place.
#[derive(Debug, Default)]
pub(crate) struct Moved {
    pub(crate) maps: HashMap<u32, OffsetMap>,
}

impl Moved {
    /// The new offset of what starts at `offset`.
    pub(crate) fn start(&self, section: u32, offset: u64) -> Result<u64, ObjcovError> {
        self.look_up(section, offset, |map| &map.starts)
    }

    /// The new offset of where something ends that ends at `offset`.
    pub(crate) fn end(&self, section: u32, offset: u64) -> Result<u64, ObjcovError> {
        self.look_up(section, offset, |map| &map.ends)
    }

    fn look_up(
        &self,
        section: u32,
        offset: u64,
        side: fn(&OffsetMap) -> &Vec<u32>,
    ) -> Result<u64, ObjcovError> {
        let Some(map) = self.maps.get(&section) else {
            return Ok(offset);
        };
        let new = usize::try_from(offset).ok().and_then(|offset| side(map).get(offset).copied());
        new.filter(|&new| new != NONE)
            .map(u64::from)
            .ok_or(ObjcovError::MidInstruction { section, offset })
    }
}
