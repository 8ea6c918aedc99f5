//! The text model: snapshots, lines, spans, selections, anchors and the reference store.
//!
//! This room is pure: no I/O, no async, no serde, no clock. Whatever it says about text can be
//! tested with a string. Everything above it (resolvers, editor, daemon) speaks in its words.

pub mod cancel;
pub mod code;
pub mod encoding;
pub mod hash;
pub mod lines;
pub mod selection;
pub mod snapshot;
pub mod span;

pub use cancel::{Cancel, Cancelled};
pub use code::ErrorCode;
pub use encoding::{Encoding, Format, NotText, Unencodable};
pub use hash::LineHash;
pub use lines::{Line, LineIndex};
pub use selection::{Part, Range, Selection, SourceId};
pub use snapshot::{ContentHash, Snapshot};
pub use span::Span;
