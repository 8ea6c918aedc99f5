//! The seam through which MCP resources are served.

use protocol::mcp::Resource;

/// The text of one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceContent {
    /// Its media type.
    pub mime_type: String,
    /// The text.
    pub text: String,
}

/// What `resources/*` serves. The answers must be ready in memory: they are given in the
/// connection's own task.
pub trait Resources: Send + Sync {
    /// All resources.
    fn list(&self) -> Vec<Resource>;

    /// The content of one; `None` when there is no such resource.
    fn read(&self, uri: &str) -> Option<ResourceContent>;
}
