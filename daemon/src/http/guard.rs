//! Who may speak to the HTTP door.
//!
//! A page in a browser can make it send requests to loopback, under a name that it controls (DNS
//! rebinding) or from its own origin. So the name must be a loopback name, the origin too, and the
//! token, which no page knows, is needed in any case.

use axum::http::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};

use super::Token;

/// Why a request is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The `Host` is missing, doubled, or no loopback name.
    Host,
    /// The `Origin` is doubled or no loopback origin.
    Origin,
    /// The token is missing or wrong.
    Token,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Self::Host => {
                (StatusCode::FORBIDDEN, "the host must be a loopback name\n").into_response()
            }
            Self::Origin => {
                (StatusCode::FORBIDDEN, "the origin must be a loopback page\n").into_response()
            }
            Self::Token => {
                let challenge = [(WWW_AUTHENTICATE, "Bearer")];
                (StatusCode::UNAUTHORIZED, challenge, "a bearer token is needed\n").into_response()
            }
        }
    }
}

/// Checks name, origin and token, in this order.
pub(super) fn check(headers: &HeaderMap, token: &Token) -> Result<(), Refusal> {
    let host = only(headers, &HOST).ok_or(Refusal::Host)?;
    if !host.is_some_and(is_loopback) {
        return Err(Refusal::Host);
    }
    let origin = only(headers, &ORIGIN).ok_or(Refusal::Origin)?;
    if !origin.is_none_or(is_loopback_origin) {
        return Err(Refusal::Origin);
    }
    let authorization = only(headers, &AUTHORIZATION).flatten().unwrap_or_default();
    match authorization.split_once(' ') {
        Some((scheme, candidate))
            if scheme.eq_ignore_ascii_case("bearer")
                && token.matches(candidate.trim().as_bytes()) =>
        {
            Ok(())
        }
        _ => Err(Refusal::Token),
    }
}

/// The value of a header that may occur once; `None` when it occurs twice or is no text.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Option<&'a str>> {
    let mut values = headers.get_all(name).iter();
    let first = values.next().map(|value| value.to_str().ok());
    match (first, values.next()) {
        (None, _) => Some(None),
        (Some(Some(value)), None) => Some(Some(value)),
        _ => None,
    }
}

fn is_loopback_origin(origin: &str) -> bool {
    let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    host.is_some_and(is_loopback)
}

/// Whether `host` is a loopback name with or without a port.
fn is_loopback(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    };
    let named = name.eq_ignore_ascii_case("localhost") || matches!(name, "127.0.0.1" | "[::1]");
    named && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_names_pass() {
        for good in ["localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:8080", "[::1]", "[::1]:1"]
        {
            assert!(is_loopback(good), "{good}");
        }
        for bad in [
            "",
            "evil.com",
            "localhost.evil.com",
            "127.0.0.1.evil.com:80",
            "::1",
            "localhost:x",
            "127.0.0.1:99999",
            "[::1]x",
            "a@localhost",
        ] {
            assert!(!is_loopback(bad), "{bad}");
        }
        assert!(is_loopback_origin("http://localhost:3000"));
        for bad in ["null", "localhost", "file://", "http://evil.com", "http://localhost@evil.com"]
        {
            assert!(!is_loopback_origin(bad), "{bad}");
        }
    }

    #[test]
    fn name_origin_and_token_are_all_needed() {
        let token = Token::random();
        let bearer = format!("bearer {}", token.reveal());
        let checked = |pairs: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.append(*name, value.parse().unwrap());
            }
            check(&headers, &token)
        };
        let host = ("host", "localhost:1");
        assert_eq!(checked(&[host, ("authorization", &bearer)]), Ok(()));
        assert_eq!(
            checked(&[host, ("origin", "http://127.0.0.1:1"), ("authorization", &bearer)]),
            Ok(())
        );
        assert_eq!(checked(&[("authorization", &bearer)]), Err(Refusal::Host));
        assert_eq!(checked(&[host, host, ("authorization", &bearer)]), Err(Refusal::Host));
        assert_eq!(
            checked(&[("host", "evil.com"), ("authorization", &bearer)]),
            Err(Refusal::Host)
        );
        assert_eq!(
            checked(&[host, ("origin", "http://evil.com"), ("authorization", &bearer)]),
            Err(Refusal::Origin)
        );
        assert_eq!(
            checked(&[host, ("origin", "null"), ("authorization", &bearer)]),
            Err(Refusal::Origin)
        );
        assert_eq!(checked(&[host]), Err(Refusal::Token));
        assert_eq!(checked(&[host, ("authorization", "Bearer wrong")]), Err(Refusal::Token));
        assert_eq!(
            checked(&[host, ("authorization", &bearer.replace("bearer", "basic"))]),
            Err(Refusal::Token)
        );
    }
}
