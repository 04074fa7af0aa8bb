//! Archive bytes -> members and symbol index.
//!
//! The symbol index is taken over as it is: instrumenting adds local symbols only.

use std::borrow::Cow;
use std::collections::HashMap;

use object::read::archive::{ArchiveFile, ArchiveMember};

use super::write::Member;
use crate::error::ObjcovError;

/// An archive's contents.
#[derive(Debug)]
pub(super) struct Archive<'a> {
    pub(super) members: Vec<Member<'a>>,
    /// Symbol names and the number of the member that defines each; absent if the archive has no index.
    pub(super) symbols: Option<Vec<(&'a [u8], usize)>>,
}

/// Reads a regular or thin archive.
pub(super) fn read<'a>(
    bytes: &'a [u8],
    thin_member: &(dyn Fn(&str) -> Option<Vec<u8>> + Sync),
) -> Result<Archive<'a>, ObjcovError> {
    let malformed = |error: object::Error| ObjcovError::MalformedArchive(error.to_string());
    let file = ArchiveFile::parse(bytes).map_err(malformed)?;
    let mut members = Vec::new();
    let mut number_at = HashMap::new();
    let mut total = 0usize;
    for member in file.members() {
        let member = member.map_err(malformed)?;
        if let Some(at) = position(bytes, &member) {
            number_at.insert(at, members.len());
        }
        let data = if member.is_thin() {
            let name = String::from_utf8_lossy(member.name());
            Cow::Owned(
                thin_member(&name).ok_or_else(|| ObjcovError::MissingMember(name.into_owned()))?,
            )
        } else {
            let data = member.data(bytes).map_err(malformed)?;
            total = total.saturating_add(data.len());
            Cow::Borrowed(data)
        };
        if total > bytes.len() {
            return Err(ObjcovError::MalformedArchive("members overlap".to_owned()));
        }
        members.push(Member { name: file_name(member.name()).to_vec(), data });
    }
    let mut symbols = None;
    if let Some(index) = file.symbols().map_err(malformed)? {
        let mut known = Vec::new();
        for symbol in index {
            let symbol = symbol.map_err(malformed)?;
            let member = file.member(symbol.offset()).map_err(malformed)?;
            let number = position(bytes, &member).and_then(|at| number_at.get(&at));
            let number = number
                .ok_or_else(|| ObjcovError::MalformedArchive("symbol of no member".to_owned()))?;
            known.push((symbol.name(), *number));
        }
        symbols = Some(known);
    }
    Ok(Archive { members, symbols })
}

/// Where the member's header is: unlike names and contents, never shared.
fn position(bytes: &[u8], member: &ArchiveMember<'_>) -> Option<usize> {
    let header = std::ptr::from_ref(member.header()?) as usize;
    header.checked_sub(bytes.as_ptr() as usize)
}

/// Thin archives name paths; in a regular one only the last part is left.
fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}
