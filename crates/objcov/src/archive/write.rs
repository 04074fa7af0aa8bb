//! Members -> a regular archive in GNU format, with symbol index and without time stamps.

use std::borrow::Cow;

use object::elf;

use crate::elf::{Place, read};
use crate::error::ObjcovError;

const MAGIC: &[u8] = b"!<arch>\n";
const HEADER_LEN: usize = 60;

/// Names up to this length stand in the header itself.
const MAX_SHORT_NAME: usize = 15;

/// A file in an archive.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) name: Vec<u8>,
    pub(super) data: Cow<'a, [u8]>,
}

/// Writes `members`. `symbols` names the member that defines each symbol; by default the members are asked.
pub(super) fn write(
    members: &[Member<'_>],
    symbols: Option<Vec<(&[u8], usize)>>,
) -> Result<Vec<u8>, ObjcovError> {
    let own_names;
    let symbols = match symbols {
        Some(symbols) => symbols,
        None => {
            own_names = defined_symbols(members);
            own_names.iter().map(|(name, number)| (&name[..], *number)).collect()
        }
    };
    let (long_names, name_fields) = name_fields(members);
    let index_len = 4 + symbols.iter().map(|(name, _)| 4 + name.len() + 1).sum::<usize>();
    let mut at = MAGIC.len() + HEADER_LEN + even(index_len);
    if !long_names.is_empty() {
        at += HEADER_LEN + even(long_names.len());
    }
    let mut positions = Vec::with_capacity(members.len());
    for member in members {
        // The index holds 32-bit positions.
        positions.push(u32::try_from(at).map_err(|_| ObjcovError::ArchiveTooLarge)?);
        at += HEADER_LEN + even(member.data.len());
    }

    let mut out = Vec::with_capacity(at);
    out.extend_from_slice(MAGIC);
    let mut index = Vec::with_capacity(index_len);
    index.extend_from_slice(&(symbols.len() as u32).to_be_bytes());
    for (_, number) in &symbols {
        index.extend_from_slice(&positions[*number].to_be_bytes());
    }
    for (name, _) in &symbols {
        index.extend_from_slice(name);
        index.push(0);
    }
    push(&mut out, b"/", &index)?;
    if !long_names.is_empty() {
        push(&mut out, b"//", &long_names)?;
    }
    for (member, name) in members.iter().zip(&name_fields) {
        push(&mut out, name, &member.data)?;
    }
    Ok(out)
}

fn even(len: usize) -> usize {
    len + len % 2
}

/// Appends a header and its contents.
fn push(out: &mut Vec<u8>, name: &[u8], data: &[u8]) -> Result<(), ObjcovError> {
    let size = data.len().to_string();
    if size.len() > 10 {
        return Err(ObjcovError::ArchiveTooLarge);
    }
    let fields: [(&[u8], usize); 6] =
        [(name, 16), (b"0", 12), (b"0", 6), (b"0", 6), (b"100644", 8), (size.as_bytes(), 10)];
    for (field, width) in fields {
        out.extend_from_slice(field);
        out.resize(out.len() + width.saturating_sub(field.len()), b' ');
    }
    out.extend_from_slice(b"`\n");
    out.extend_from_slice(data);
    if data.len() % 2 == 1 {
        out.push(b'\n');
    }
    Ok(())
}

/// The table of long names, and each member's name field.
fn name_fields(members: &[Member<'_>]) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut table = Vec::new();
    let mut fields = Vec::with_capacity(members.len());
    for member in members {
        if member.name.len() <= MAX_SHORT_NAME && !member.name.is_empty() {
            fields.push([&member.name[..], b"/"].concat());
        } else {
            fields.push(format!("/{}", table.len()).into_bytes());
            table.extend_from_slice(&member.name);
            table.extend_from_slice(b"/\n");
        }
    }
    (table, fields)
}

/// The global symbols each object defines.
fn defined_symbols(members: &[Member<'_>]) -> Vec<(Vec<u8>, usize)> {
    let mut found = Vec::new();
    for (number, member) in members.iter().enumerate() {
        let Ok(object) = read::parse(&member.data) else {
            continue;
        };
        for symbol in &object.symbols[object.n_locals..] {
            let is_defined = match symbol.place {
                Place::Undefined => false,
                Place::Section(_) | Place::Reserved(elf::SHN_ABS | elf::SHN_COMMON) => true,
                Place::Reserved(_) => false,
            };
            if is_defined {
                found.push((object.symbol_name(symbol).to_vec(), number));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::read::read;
    use super::*;

    #[track_caller]
    fn check(files: &[(&str, &[u8])], symbols: &[(&[u8], usize)]) {
        let members = files
            .iter()
            .map(|(name, data)| Member { name: name.as_bytes().to_vec(), data: (*data).into() });
        let bytes = write(&members.collect::<Vec<_>>(), Some(symbols.to_vec())).expect("written");
        let archive = read(&bytes, &|_| None).expect("read back");
        let found = archive
            .members
            .iter()
            .map(|m| (std::str::from_utf8(&m.name).expect("name"), &m.data[..]));
        assert_eq!(found.collect::<Vec<_>>(), files);
        assert_eq!(archive.symbols.as_deref(), Some(symbols));
    }

    #[test]
    fn what_is_written_is_read_back() {
        check(&[("a.o", b"odd")], &[(b"f", 0)]);
        check(
            &[("a-name-longer-than-fifteen.cpp.o", b"even"), ("b.o", b""), ("b.o", b"x")],
            &[(b"f", 2), (b"g", 0)],
        );
        check(&[], &[]);
    }
}
