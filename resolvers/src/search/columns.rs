//! Counting UTF-16 units, in which editors and language servers give columns.

/// UTF-16 units of a piece of UTF-8 text.
pub(super) fn utf16_len(utf8: &[u8]) -> usize {
    // Every character has one leading byte; one of four bytes needs two units.
    utf8.iter().map(|b| usize::from(b & 0xC0 != 0x80) + usize::from(*b >= 0xF0)).sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn counts_as_the_standard_library_does() {
        for text in ["", "abc", "é→x", "a😀b", "\u{10FFFF}"] {
            assert_eq!(super::utf16_len(text.as_bytes()), text.encode_utf16().count(), "{text}");
        }
    }
}
