//! The text model: snapshots, lines, spans, selections, anchors and the reference store.
//!
//! This room is pure: no I/O, no async, no serde, no clock. Whatever it says about text can be
//! tested with a string. Everything above it (resolvers, editor, daemon) speaks in its words.

pub mod anchor;
pub mod cancel;
pub mod code;
pub mod encoding;
pub mod hash;
pub mod ledger;
pub mod lines;
pub mod rebase;
pub mod reference;
pub mod search_ref;
pub mod selection;
pub mod snapshot;
pub mod span;

pub use anchor::{AnchorError, AnchorForm, AnchorRegistry, Rebased, Resolved};
pub use cancel::{Cancel, Cancelled};
pub use code::ErrorCode;
pub use encoding::{Encoding, Format, NotText, Unencodable};
pub use hash::{LineHash, Salt};
pub use ledger::{Issued, Ledger, LineEdit};
pub use lines::{Line, LineIndex};
pub use rebase::rebase;
pub use reference::{Found, Reference, ReferenceError, ReferenceStore};
pub use search_ref::{Extent, Hit, SearchFile, SearchRef, Which};
pub use selection::{Part, Range, Selection, SourceId};
pub use snapshot::{ContentHash, Snapshot};
pub use span::Span;
