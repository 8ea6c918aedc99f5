//! Bytes to text and back, losslessly or not at all.
//!
//! A file is text when it decodes *and* encodes back to the very same bytes; anything else is
//! binary. So an edit can never change a byte that it did not mean to, whatever the encoding.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

/// How many leading bytes decide whether content looks binary.
const SNIFF_BYTES: usize = 8 * 1024;
/// How many leading bytes the legacy-encoding detector looks at; more does not change its mind.
const DETECT_BYTES: usize = 256 * 1024;
/// Content is binary when more than one in this many sniffed characters is a control character.
const CONTROL_RATIO: usize = 50;

const UTF8_BOM: &[u8] = b"\xEF\xBB\xBF";
const UTF16_LE_BOM: &[u8] = b"\xFF\xFE";
const UTF16_BE_BOM: &[u8] = b"\xFE\xFF";
/// The first of them starts like UTF-16.
const UTF32_BOMS: [&[u8]; 2] = [b"\xFF\xFE\0\0", b"\0\0\xFE\xFF"];

/// A character encoding that Capstan edits and round-trips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    Utf8,
    /// UTF-16, little-endian, recognised by its byte order mark.
    Utf16Le,
    /// UTF-16, big-endian, recognised by its byte order mark.
    Utf16Be,
    /// A legacy encoding that was detected from the bytes, such as windows-1252 or Shift_JIS.
    Legacy(&'static encoding_rs::Encoding),
}

/// Encoding and byte order mark of one file: what must be the same after an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The character encoding.
    pub encoding: Encoding,
    /// Whether the file starts with a byte order mark. Always true for UTF-16.
    pub bom: bool,
}

/// Why bytes are not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the content is binary ({reason})")]
pub struct NotText {
    /// What gave it away, as part of a sentence.
    pub reason: &'static str,
}

/// A character that the file's encoding cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{character}` (U+{:04X}) cannot be written in {encoding}; use other text or convert the file first", *character as u32)]
pub struct Unencodable {
    /// The first such character.
    pub character: char,
    /// Its byte offset in the text that was to be encoded.
    pub offset: usize,
    /// The encoding's name.
    pub encoding: &'static str,
}

impl Format {
    /// UTF-8 without a byte order mark: what new files get.
    pub const UTF8: Self = Self { encoding: Encoding::Utf8, bom: false };

    /// The name that people know the encoding by.
    pub fn name(self) -> &'static str {
        match (self.encoding, self.bom) {
            (Encoding::Utf8, false) => "UTF-8",
            (Encoding::Utf8, true) => "UTF-8 with BOM",
            (Encoding::Utf16Le, _) => "UTF-16 LE",
            (Encoding::Utf16Be, _) => "UTF-16 BE",
            (Encoding::Legacy(encoding), _) => encoding.name(),
        }
    }

    /// The bytes of `text` in this format, byte order mark included.
    ///
    /// # Errors
    /// [`Unencodable`] names the first character that the encoding cannot hold.
    pub fn encode(self, text: &str) -> Result<Vec<u8>, Unencodable> {
        match self.encoding {
            Encoding::Utf8 if self.bom => Ok([UTF8_BOM, text.as_bytes()].concat()),
            Encoding::Utf8 => Ok(text.as_bytes().to_vec()),
            Encoding::Utf16Le => Ok(encode_utf16(UTF16_LE_BOM, text, u16::to_le_bytes)),
            Encoding::Utf16Be => Ok(encode_utf16(UTF16_BE_BOM, text, u16::to_be_bytes)),
            Encoding::Legacy(encoding) => encode_legacy(encoding, text),
        }
    }
}

/// Text that was decoded, still with the byte order mark of UTF-8 (`skip` bytes of it).
pub(crate) struct Decoded {
    pub(crate) content: String,
    pub(crate) skip: usize,
    pub(crate) format: Format,
}

/// Decodes `bytes`, or says why they are not text.
pub(crate) fn decode(bytes: Vec<u8>) -> Result<Decoded, NotText> {
    if UTF32_BOMS.iter().any(|bom| bytes.starts_with(bom)) {
        return Err(NotText { reason: "UTF-32" });
    }
    if bytes.starts_with(UTF16_LE_BOM) {
        return decode_utf16(&bytes, Encoding::Utf16Le, u16::from_le_bytes);
    }
    if bytes.starts_with(UTF16_BE_BOM) {
        return decode_utf16(&bytes, Encoding::Utf16Be, u16::from_be_bytes);
    }
    match String::from_utf8(bytes) {
        // ISO-2022-JP is all ASCII; only its escape sequences give it away.
        Ok(content) if content.contains("\x1B$") || content.contains("\x1B(J") => {
            match legacy(content.as_bytes(), encoding_rs::ISO_2022_JP)? {
                Some(decoded) => Ok(decoded),
                None => Ok(Decoded { content, skip: 0, format: Format::UTF8 }),
            }
        }
        Ok(content) => {
            let bom = content.as_bytes().starts_with(UTF8_BOM);
            let skip = if bom { UTF8_BOM.len() } else { 0 };
            refuse_controls(&content)?;
            Ok(Decoded { content, skip, format: Format { encoding: Encoding::Utf8, bom } })
        }
        Err(error) => decode_legacy(error.as_bytes()),
    }
}

fn decode_utf16(
    bytes: &[u8],
    encoding: Encoding,
    unit: fn([u8; 2]) -> u16,
) -> Result<Decoded, NotText> {
    let (pairs, rest) = bytes[UTF16_LE_BOM.len()..].as_chunks::<2>();
    if !rest.is_empty() {
        return Err(NotText { reason: "UTF-16 with an odd number of bytes" });
    }
    let content: String = char::decode_utf16(pairs.iter().map(|pair| unit(*pair)))
        .collect::<Result<_, _>>()
        .map_err(|_| NotText { reason: "UTF-16 with unpaired surrogates" })?;
    refuse_controls(&content)?;
    Ok(Decoded { content, skip: 0, format: Format { encoding, bom: true } })
}

fn decode_legacy(bytes: &[u8]) -> Result<Decoded, NotText> {
    if bytes.contains(&0) {
        return Err(NotText { reason: "it has NUL bytes and is not valid UTF-8" });
    }
    if is_broken_utf8(bytes) {
        return Err(NotText { reason: "it is UTF-8 with invalid bytes in it" });
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&bytes[..bytes.len().min(DETECT_BYTES)], bytes.len() <= DETECT_BYTES);
    let guess = detector.guess(None, Utf8Detection::Deny);
    // windows-1252 maps every byte to one character and back, so it is always lossless.
    for encoding in [guess, encoding_rs::WINDOWS_1252] {
        if let Some(decoded) = legacy(bytes, encoding)? {
            return Ok(decoded);
        }
    }
    Err(NotText { reason: "no known encoding reproduces its bytes" })
}

/// The bytes in this encoding, if it reproduces them.
fn legacy(
    bytes: &[u8],
    encoding: &'static encoding_rs::Encoding,
) -> Result<Option<Decoded>, NotText> {
    let Some(content) = encoding.decode_without_bom_handling_and_without_replacement(bytes) else {
        return Ok(None);
    };
    refuse_controls(&content)?;
    let content = content.into_owned();
    let format = Format { encoding: Encoding::Legacy(encoding), bom: false };
    let same = format.encode(&content).is_ok_and(|back| back == bytes);
    Ok(same.then_some(Decoded { content, skip: 0, format }))
}

/// Whether the bytes were meant to be UTF-8: most of what is not ASCII in them is. Text in a legacy
/// encoding hardly ever has a valid sequence of several bytes.
fn is_broken_utf8(bytes: &[u8]) -> bool {
    let (mut valid, mut invalid) = (0, 0);
    for chunk in bytes[..bytes.len().min(DETECT_BYTES)].utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    valid > invalid
}

/// Control characters are rare in text and common everywhere else.
fn refuse_controls(content: &str) -> Result<(), NotText> {
    let sniff = &content[..content.floor_char_boundary(SNIFF_BYTES)];
    let odd =
        |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0C' | '\x1B' | '\x08');
    let controls = sniff.chars().filter(|c| odd(*c)).count();
    // A few stray controls (a page break, a lone NUL) do not make a small text binary.
    if controls > 4 && controls * CONTROL_RATIO > sniff.len() {
        return Err(NotText { reason: "it is full of control characters" });
    }
    Ok(())
}

fn encode_utf16(bom: &[u8], text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(bom.len() + text.len() * 2);
    bytes.extend_from_slice(bom);
    for code in text.encode_utf16() {
        bytes.extend_from_slice(&unit(code));
    }
    bytes
}

fn encode_legacy(
    encoding: &'static encoding_rs::Encoding,
    text: &str,
) -> Result<Vec<u8>, Unencodable> {
    let mut encoder = encoding.new_encoder();
    let capacity = encoder
        .max_buffer_length_from_utf8_without_replacement(text.len())
        .unwrap_or(text.len() * 4);
    let mut bytes = Vec::with_capacity(capacity);
    let (result, read) =
        encoder.encode_from_utf8_to_vec_without_replacement(text, &mut bytes, true);
    match result {
        encoding_rs::EncoderResult::InputEmpty => Ok(bytes),
        encoding_rs::EncoderResult::Unmappable(character) => Err(Unencodable {
            character,
            offset: read.saturating_sub(character.len_utf8()),
            encoding: encoding.name(),
        }),
        encoding_rs::EncoderResult::OutputFull => {
            unreachable!("the buffer has the size that the encoder asked for")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(bytes: &[u8]) -> Option<(&'static str, String)> {
        let decoded = decode(bytes.to_vec()).ok()?;
        let text = &decoded.content[decoded.skip..];
        assert_eq!(decoded.format.encode(text).unwrap(), bytes);
        Some((decoded.format.name(), text.to_owned()))
    }

    #[test]
    fn text_round_trips_in_every_encoding() {
        let of = |bytes: &[u8]| round_trip(bytes).map(|(name, _)| name);
        assert_eq!(of(b""), Some("UTF-8"));
        assert_eq!(of("naïve\r\n".as_bytes()), Some("UTF-8"));
        assert_eq!(of(b"\xEF\xBB\xBFa\n"), Some("UTF-8 with BOM"));
        assert_eq!(of(b"\xFF\xFEa\0\n\0"), Some("UTF-16 LE"));
        assert_eq!(of(b"\xFE\xFF\0a\0\n"), Some("UTF-16 BE"));
        assert_eq!(of(b"caf\xE9 cr\xE8me\n"), Some("windows-1252"));
        let japanese = encoding_rs::SHIFT_JIS.encode("日本語のテキストです。\nこんにちは\n").0;
        assert_eq!(of(&japanese), Some("Shift_JIS"));
        let japanese = encoding_rs::ISO_2022_JP.encode("日本語\n").0;
        assert_eq!(of(&japanese), Some("ISO-2022-JP"));
        assert_eq!(of(b"\x1B[1mbold\x1B[0m"), Some("UTF-8"));
    }

    #[test]
    fn what_cannot_round_trip_is_binary() {
        assert!(round_trip(b"\x7FELF\x02\x01\x01\0\0\0\xFF\xFE\0").is_none());
        assert!(round_trip(b"\xFF\xFEa").is_none());
        assert!(round_trip(b"\xFF\xFE\x00\xD8").is_none());
        assert!(round_trip(&[1u8; 100]).is_none());
        assert!(round_trip(b"\xFF\xFE\0\0a\0\0\0").is_none(), "UTF-32");
        assert!(round_trip("na\u{ef}ve, caf\u{e9}".as_bytes()).is_some());
        let mut broken = "na\u{ef}ve, caf\u{e9}".as_bytes().to_vec();
        broken.push(0xE9);
        assert!(round_trip(&broken).is_none(), "UTF-8 with one bad byte is no legacy text");
    }

    #[test]
    fn a_lone_nul_in_utf8_is_data() {
        assert_eq!(round_trip(b"a\0b\n"), Some(("UTF-8", "a\0b\n".into())));
    }

    #[test]
    fn names_the_character_that_does_not_fit() {
        let format = Format { encoding: Encoding::Legacy(encoding_rs::WINDOWS_1252), bom: false };
        let error = format.encode("ab→").unwrap_err();
        assert_eq!((error.character, error.offset), ('→', 2));
    }
}
