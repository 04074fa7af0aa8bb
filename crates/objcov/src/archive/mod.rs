//! Archive bytes -> archive bytes: every member instrumented, or kept as it is with the reason.
//!
//! Members are independent and handled in parallel; the result does not depend on how.
//! Thin archives only name their members, so the caller provides those.

mod read;
mod write;

use std::borrow::Cow;

use rayon::prelude::*;

use crate::error::ObjcovError;
use crate::index::FunctionIndex;
use crate::instrument::{Options, instrument_object};

/// Provides the contents of a thin archive's member, named as in the archive (relative to its folder).
pub type ThinMember<'a> = &'a (dyn Fn(&str) -> Option<Vec<u8>> + Sync);

/// What the caller decides about an archive.
pub struct ArchiveOptions<'a> {
    /// The number of the first member; the following members count on.
    pub first_object_id: u32,
    pub thin_member: ThinMember<'a>,
}

/// An archive with instrumented members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveResult {
    /// A regular archive with a symbol index, the members in their old order.
    pub bytes: Vec<u8>,
    /// What became of each member, in order.
    pub members: Vec<MemberReport>,
}

/// What became of one member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberReport {
    /// The member's name; several members may share it. Invalid UTF-8 is replaced.
    pub name: String,
    /// The number in the member's probe symbols.
    pub object_id: u32,
    /// The blocks, or why the member was kept as it is.
    pub outcome: Result<Vec<FunctionIndex>, ObjcovError>,
}

/// Instruments every member of a regular or thin archive.
///
/// # Errors
/// Only if the archive itself cannot be read; members that cannot be instrumented are kept.
pub fn instrument_archive(
    bytes: &[u8],
    options: &ArchiveOptions<'_>,
) -> Result<ArchiveResult, ObjcovError> {
    let archive = read::read(bytes, options.thin_member)?;
    let numbered = archive.members.into_par_iter().enumerate();
    let done = numbered.map(|(index, member)| {
        let object_id = options.first_object_id.wrapping_add(index as u32);
        let (data, outcome) = match instrument_object(&member.data, &Options { object_id }) {
            Ok(instrumented) => (instrumented.bytes.into(), Ok(instrumented.functions)),
            Err(skip) => (member.data, Err(skip)),
        };
        let name = String::from_utf8_lossy(&member.name).into_owned();
        (write::Member { name: member.name, data }, MemberReport { name, object_id, outcome })
    });
    let (members, reports): (Vec<_>, Vec<_>) = done.collect::<Vec<_>>().into_iter().unzip();
    let bytes = write::write(&members, archive.symbols)?;
    Ok(ArchiveResult { bytes, members: reports })
}

/// A member's name and contents.
pub type NamedMember<'a> = (String, Cow<'a, [u8]>);

/// The members of a regular or thin archive, in order.
///
/// # Errors
/// If the archive cannot be read.
pub fn members<'a>(
    bytes: &'a [u8],
    thin_member: ThinMember<'_>,
) -> Result<Vec<NamedMember<'a>>, ObjcovError> {
    let archive = read::read(bytes, thin_member)?;
    let named = |member: write::Member<'a>| {
        (String::from_utf8_lossy(&member.name).into_owned(), member.data)
    };
    Ok(archive.members.into_iter().map(named).collect())
}

/// The archive with other contents for one member, which define the same symbols; order and symbol index
/// stay. A thin archive becomes a regular one.
///
/// # Errors
/// If the archive cannot be read, or has no such member.
pub fn replace_member(
    bytes: &[u8],
    position: usize,
    data: Vec<u8>,
    thin_member: ThinMember<'_>,
) -> Result<Vec<u8>, ObjcovError> {
    let mut archive = read::read(bytes, thin_member)?;
    let member = archive.members.get_mut(position);
    member.ok_or(ObjcovError::NoSuchMember(position))?.data = data.into();
    write::write(&archive.members, archive.symbols)
}
