//! The kinds of query, each as we and as ripgrep write it.
//!
//! They fit any larger collection of Rust sources. Case is always given explicitly, so that no
//! side's default counts.

/// A query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Query {
    /// What kind it is.
    pub(super) name: &'static str,
    /// As the `search` tool takes it.
    pub(super) ours: &'static str,
    /// As ripgrep takes it.
    pub(super) pattern: &'static str,
    /// Whether ripgrep is told that it is no regex.
    pub(super) is_literal: bool,
    /// Whether upper and lower case differ.
    pub(super) case_sensitive: bool,
    /// Left out of a quick look.
    pub(super) costly: bool,
}

impl Query {
    const fn literal(name: &'static str, text: &'static str) -> Self {
        Self {
            name,
            ours: text,
            pattern: text,
            is_literal: true,
            case_sensitive: true,
            costly: false,
        }
    }
}

/// All kinds. The word of the second must not be in any corpus, so it is put together here: the
/// registry could hold this very file one day.
pub(super) const QUERIES: &[Query] = &[
    Query::literal("literal, few hits", "try_reserve_exact"),
    Query::literal("literal, no hit", concat!("zqxj", "kvbnwy")),
    Query::literal("common word", "return"),
    Query {
        name: "regex, literal prefix",
        ours: r"regex:impl\s+\w+\s+for\s+Vec",
        pattern: r"impl\s+\w+\s+for\s+Vec",
        is_literal: false,
        case_sensitive: true,
        costly: false,
    },
    Query { case_sensitive: false, ..Query::literal("any case", "deserializeowned") },
    Query {
        name: "regex, no literal prefix",
        ours: "regex:[0-9]{4}-[0-9]{2}-[0-9]{2}",
        pattern: "[0-9]{4}-[0-9]{2}-[0-9]{2}",
        is_literal: false,
        case_sensitive: true,
        costly: true,
    },
];
