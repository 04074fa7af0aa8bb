//! Checked little-endian access and LEB128, the alphabet of ELF and DWARF tables.
//!
//! **Invariant:** no function here panics or reads past the slice; absence is `None`.

/// The fixed-size field at `at`, or `None` past the end.
fn field<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    data.get(at..at.checked_add(N)?)?.try_into().ok()
}

pub(crate) fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    field(data, at).map(u16::from_le_bytes)
}

pub(crate) fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    field(data, at).map(u32::from_le_bytes)
}

pub(crate) fn u64_at(data: &[u8], at: usize) -> Option<u64> {
    field(data, at).map(u64::from_le_bytes)
}

/// The bytes from `at` to the next NUL, which must exist.
pub(crate) fn c_string(data: &[u8], at: usize) -> Option<&[u8]> {
    let tail = data.get(at..)?;
    tail.iter().position(|&byte| byte == 0).map(|len| &tail[..len])
}

/// `value` rounded up to a multiple of `align`, a power of two.
pub(crate) fn align_up(value: u64, align: u64) -> u64 {
    value.saturating_add(align.max(1) - 1) & !(align.max(1) - 1)
}

/// A reading position in a table.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    data: &'a [u8],
    pos: usize,
}

impl<'a> Reader<'a> {
    /// Starts at `pos`; reading past the end of `data` gives `None`.
    pub(crate) fn new(data: &'a [u8], pos: usize) -> Self {
        Reader { data, pos }
    }

    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    pub(crate) fn at_end(&self) -> bool {
        self.pos >= self.data.len()
    }

    pub(crate) fn skip(&mut self, n: usize) -> Option<&'a [u8]> {
        let end = self.pos.checked_add(n)?;
        let taken = self.data.get(self.pos..end)?;
        self.pos = end;
        Some(taken)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.skip(1).map(|bytes| bytes[0])
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        let value = u16_at(self.data, self.pos)?;
        self.pos += 2;
        Some(value)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        let value = u32_at(self.data, self.pos)?;
        self.pos += 4;
        Some(value)
    }

    /// An unsigned LEB128 number below 2^63; longer encodings with redundant zeros are legal.
    pub(crate) fn uleb(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..140).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if bits != 0 {
                if shift > 56 {
                    return None;
                }
                value |= bits << shift;
            }
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// Passes over a LEB128 number of either signedness.
    pub(crate) fn skip_leb(&mut self) -> Option<()> {
        while self.u8()? & 0x80 != 0 {}
        Some(())
    }
}

/// Appends the shortest unsigned LEB128 form of `value`.
pub(crate) fn push_uleb(out: &mut Vec<u8>, value: u64) {
    push_wide_uleb(out, value, 1);
}

/// Appends `value` in at least `width` bytes; redundant bytes keep later fields aligned.
pub(crate) fn push_wide_uleb(out: &mut Vec<u8>, mut value: u64, width: usize) {
    let mut n_bytes = 0;
    loop {
        let byte = (value & 0x7f) as u8;
        value >>= 7;
        n_bytes += 1;
        if value == 0 && n_bytes >= width {
            out.push(byte);
            return;
        }
        out.push(byte | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_uleb(value: u64, width: usize, expect: &[u8]) {
        let mut out = Vec::new();
        push_wide_uleb(&mut out, value, width);
        assert_eq!(out, expect);
        let mut reader = Reader::new(&out, 0);
        assert_eq!(reader.uleb(), Some(value));
        assert!(reader.at_end());
    }

    #[test]
    fn uleb_is_minimal_unless_widened() {
        check_uleb(0, 1, &[0]);
        check_uleb(127, 1, &[0x7f]);
        check_uleb(128, 1, &[0x80, 1]);
        check_uleb(5, 3, &[0x85, 0x80, 0]);
    }

    #[test]
    fn uleb_that_overflows_or_ends_early_is_refused() {
        assert_eq!(Reader::new(&[0xff; 12], 0).uleb(), None);
        assert_eq!(Reader::new(&[0x80, 0x80], 0).uleb(), None);
    }

    #[test]
    fn fields_past_the_end_are_absent() {
        assert_eq!(u32_at(&[1, 2, 3], 0), None);
        assert_eq!(u64_at(&[0; 8], usize::MAX), None);
        assert_eq!(c_string(b"ab", 0), None);
        assert_eq!(c_string(b"ab\0c", 1), Some(&b"b"[..]));
    }
}
