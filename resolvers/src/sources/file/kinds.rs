//! What binary content is, by its first bytes.

/// How many bytes [`describe`] wants.
pub(super) const HEAD_BYTES: u64 = 4_096;

/// First bytes and what they mean.
const MAGIC: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xFF\xD8\xFF", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"BM", "BMP image"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1F\x8B", "gzip data"),
    (b"\x28\xB5\x2F\xFD", "Zstandard data"),
    (b"\xFD7zXZ\0", "XZ data"),
    (b"BZh", "bzip2 data"),
    (b"\x7FELF", "ELF program or library"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"\0asm", "WebAssembly module"),
    (b"\xCA\xFE\xBA\xBE", "Java class or Mach-O program"),
    (b"\xCF\xFA\xED\xFE", "Mach-O program"),
    (b"MZ", "Windows program"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"!<arch>\n", "archive of objects"),
];

/// A few words on what the content is.
pub(super) fn describe(head: &[u8]) -> String {
    if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        return "WebP image".to_owned();
    }
    if head.get(4..8) == Some(b"ftyp") {
        return "MP4 media".to_owned();
    }
    let Some((_, kind)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) else {
        return "binary file".to_owned();
    };
    match pixels(head) {
        Some((width, height)) => format!("{kind} of {width}x{height} pixels"),
        None => (*kind).to_owned(),
    }
}

/// Width and height from the header of a PNG, GIF or JPEG.
fn pixels(head: &[u8]) -> Option<(u32, u32)> {
    let be32 = |at: usize| Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?));
    let le16 =
        |at: usize| Some(u32::from(u16::from_le_bytes(head.get(at..at + 2)?.try_into().ok()?)));
    let be16 =
        |at: usize| Some(u32::from(u16::from_be_bytes(head.get(at..at + 2)?.try_into().ok()?)));
    if head.starts_with(b"\x89PNG") {
        return Some((be32(16)?, be32(20)?));
    }
    if head.starts_with(b"GIF8") {
        return Some((le16(6)?, le16(8)?));
    }
    if !head.starts_with(b"\xFF\xD8") {
        return None;
    }
    let mut at = 2;
    // Segments follow one another until the frame header, which has the size.
    while let (0xFF, kind) = (*head.get(at)?, *head.get(at + 1)?) {
        if (0xC0..=0xCF).contains(&kind) && ![0xC4, 0xC8, 0xCC].contains(&kind) {
            return Some((be16(at + 7)?, be16(at + 5)?));
        }
        at += 2 + usize::try_from(be16(at + 2)?).ok()?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_have_a_size() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0DIHDR\0\0\0\x20\0\0\0\x10";
        assert_eq!(describe(png), "PNG image of 32x16 pixels");
        assert_eq!(describe(b"GIF89a\x0A\0\x05\0"), "GIF image of 10x5 pixels");
        let jpeg = b"\xFF\xD8\xFF\xE0\0\x04ab\xFF\xC0\0\x11\x08\0\x07\0\x09";
        assert_eq!(describe(jpeg), "JPEG image of 9x7 pixels");
        assert_eq!(describe(b"\xFF\xD8\xFF\xE0"), "JPEG image");
        assert_eq!(describe(b"\x01\x02"), "binary file");
    }
}
