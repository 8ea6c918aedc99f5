//! The built-in sources of `read`, one file each.

mod directory;
mod docs;
mod file;
mod raw;
mod temp;

pub use directory::DirectorySource;
pub use docs::{DocsSource, GUIDES, Guide};
pub use file::FileSource;
pub use raw::RawSource;
pub use temp::TempSource;
