//! The guides as MCP resources: the same texts that `read docs:` shows.

use protocol::mcp::Resource;
use resolvers::sources::GUIDES;

use crate::server::{ResourceContent, Resources};

/// What the guides are written in.
const MARKDOWN: &str = "text/markdown";

/// The guides, as `docs:ID`.
pub struct Guides;

impl Resources for Guides {
    fn list(&self) -> Vec<Resource> {
        let resource = |guide: &resolvers::sources::Guide| Resource {
            uri: format!("docs:{}", guide.id),
            name: guide.id.to_owned(),
            title: None,
            description: Some(guide.about.to_owned()),
            mime_type: Some(MARKDOWN.to_owned()),
        };
        GUIDES.iter().map(resource).collect()
    }

    fn read(&self, uri: &str) -> Option<ResourceContent> {
        let id = uri.strip_prefix("docs:")?;
        let guide = GUIDES.iter().find(|guide| guide.id == id)?;
        Some(ResourceContent { mime_type: MARKDOWN.to_owned(), text: guide.text.to_owned() })
    }
}
