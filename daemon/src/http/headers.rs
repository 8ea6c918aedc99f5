//! The headers of streamable HTTP, and the rule of 2026-07-28 that they repeat what the body says.
//!
//! Whoever routes by header must see the same request as whoever reads the body, so a header that
//! is missing, doubled or different is refused.

use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use protocol::ErrorObject;
use protocol::names::{HANDSHAKE_VERSIONS, code, method};

/// The session of a handshake client.
pub(super) const SESSION_ID: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// The revision in the headers.
pub(super) fn version(headers: &HeaderMap) -> Option<&str> {
    headers.get(VERSION).and_then(|value| value.to_str().ok()).map(str::trim)
}

/// Whether the headers name a revision without handshake, a known one or not.
pub(super) fn is_modern(headers: &HeaderMap) -> bool {
    version(headers).is_some_and(|version| !HANDSHAKE_VERSIONS.contains(&version))
}

/// Checks that the body is JSON and that the client takes both kinds of answer.
pub(super) fn check_media(headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
    let content =
        headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = content.split(';').next().unwrap_or_default().trim();
    if !media.eq_ignore_ascii_case("application/json") {
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body must be `application/json`\n"));
    }
    if !accepts(headers, "application/json") || !accepts(headers, "text/event-stream") {
        let reason = "accept both `application/json` and `text/event-stream`\n";
        return Err((StatusCode::NOT_ACCEPTABLE, reason));
    }
    Ok(())
}

/// Whether the client takes `wanted`.
pub(super) fn accepts(headers: &HeaderMap, wanted: &str) -> bool {
    let family = wanted.split('/').next().unwrap_or_default();
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|range| {
            let media = range.split(';').next().unwrap_or_default().trim();
            media.eq_ignore_ascii_case(wanted)
                || media == "*/*"
                || media.strip_suffix("/*").is_some_and(|start| start.eq_ignore_ascii_case(family))
        })
}

/// What the body of a request says, as far as headers repeat it.
pub(super) struct Said<'a> {
    pub method: &'a str,
    pub version: &'a str,
    /// The tool's or prompt's name, or the resource's URI.
    pub name: Option<&'a str>,
}

/// Checks that the headers repeat what the body says.
pub(super) fn check_repeated(headers: &HeaderMap, said: &Said<'_>) -> Result<(), ErrorObject> {
    repeated(headers, VERSION, said.version)?;
    repeated(headers, METHOD, said.method)?;
    if let Some(name) = said.name.filter(|_| bears_name(said.method)) {
        repeated(headers, NAME, name)?;
    }
    Ok(())
}

/// Whether a method's header repeats a name.
fn bears_name(name: &str) -> bool {
    matches!(name, method::TOOLS_CALL | method::RESOURCES_READ | "prompts/get")
}

fn repeated(headers: &HeaderMap, header: &'static str, body: &str) -> Result<(), ErrorObject> {
    let mismatch = |what: &str| {
        Err(ErrorObject::new(
            code::HEADER_MISMATCH,
            format!("the header `{header}` {what} the body"),
        ))
    };
    let mut values = headers.get_all(header).iter();
    let (first, second) = (values.next(), values.next());
    if second.is_some() {
        return mismatch("occurs more than once, so it cannot repeat");
    }
    let Some(value) = first.and_then(|value| value.to_str().ok()) else {
        return mismatch("must repeat");
    };
    if decode(value.trim()).is_some_and(|value| value == body) {
        Ok(())
    } else {
        mismatch("contradicts")
    }
}

/// Undoes `=?base64?…?=`, which carries values that a header cannot. `None` when it is malformed.
fn decode(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(base64(encoded)?).ok(),
        None => Some(value.to_owned()),
    }
}

/// Decodes canonical, padded base64.
fn base64(text: &str) -> Option<Vec<u8>> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let digits = text.trim_end_matches('=');
    if text.len() - digits.len() > 2 {
        return None;
    }
    let (mut bytes, mut bits, mut have) = (Vec::with_capacity(text.len() / 4 * 3), 0_u32, 0);
    for digit in digits.bytes() {
        let value = ALPHABET.iter().position(|&letter| letter == digit)?;
        bits = bits << 6 | u32::try_from(value).ok()?;
        have += 6;
        if have >= 8 {
            have -= 8;
            bytes.push(u8::try_from(bits >> have & 0xFF).ok()?);
        }
    }
    // What is left over must be zero, else two texts would mean the same bytes.
    (bits & ((1 << have) - 1) == 0 && bytes.len() == digits.len() * 6 / 8).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_values_are_read_and_malformed_ones_match_nothing() {
        for (header, value) in [
            ("read", Some("read")),
            ("=?base64?cmVhZA==?=", Some("read")),
            ("=?base64?w6k=?=", Some("é")),
            ("=?base64??=", Some("")),
            ("=?base64?cmVhZA?=", None),
            ("=?base64?cmVhZB==?=", None),
            ("=?base64?cm=hZA==?=", None),
            ("=?base64?cm!hZA==?=", None),
            ("=?base64?/w==?=", None),
            ("=?base64?====?=", None),
        ] {
            assert_eq!(decode(header).as_deref(), value, "{header}");
        }
    }

    #[test]
    fn headers_must_repeat_the_body() {
        let check = |pairs: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.append(*name, value.parse().unwrap());
            }
            let said = Said { method: "tools/call", version: "2026-07-28", name: Some("read") };
            check_repeated(&headers, &said).is_ok()
        };
        let (version, method, name) =
            ((VERSION, "2026-07-28"), (METHOD, "tools/call"), (NAME, "read"));
        assert!(check(&[version, method, name]));
        assert!(check(&[version, method, (NAME, "  read ")]));
        assert!(!check(&[version, method]));
        assert!(!check(&[method, name]));
        assert!(!check(&[version, name]));
        assert!(!check(&[version, method, name, name]));
        assert!(!check(&[version, (METHOD, "TOOLS/CALL"), name]));
        assert!(!check(&[version, method, (NAME, "write")]));
    }

    #[test]
    fn both_kinds_of_answer_must_be_accepted() {
        let check = |accept: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, "application/json; charset=utf-8".parse().unwrap());
            headers.insert(ACCEPT, accept.parse().unwrap());
            check_media(&headers).is_ok()
        };
        assert!(check("application/json, text/event-stream"));
        assert!(check("*/*"));
        assert!(check("application/*;q=0.5, text/*"));
        assert!(!check("application/json"));
        assert!(!check("text/event-stream"));
        assert!(!check("text/html"));
    }
}
