//! `resources/list`, `resources/templates/list` and `resources/read`.

use protocol::ErrorObject;
use protocol::names::{code, method};
use serde_json::json;

use super::super::Server;
use super::super::request::{Era, Params, Reply, invalid_params};

impl Server {
    /// Answers one of the three.
    pub(super) fn resources(&self, reply: &Reply, name: &str, params: &Params<'_>) {
        let Some(resources) = &self.resources else {
            return reply.fail(&super::method_not_found(name));
        };
        match name {
            method::RESOURCES_LIST => reply.cacheable(json!({"resources": resources.list()})),
            method::RESOURCES_TEMPLATES => reply.cacheable(json!({"resourceTemplates": []})),
            _ => {
                let Some(uri) = params.uri.as_deref() else {
                    return reply.fail(&invalid_params("`uri` is missing"));
                };
                match resources.read(uri) {
                    Some(content) => reply.cacheable(json!({"contents": [
                        {"uri": uri, "mimeType": content.mime_type, "text": content.text},
                    ]})),
                    None => reply.fail(&not_found(uri, reply.era)),
                }
            }
        }
    }
}

/// The error for an unknown resource, whose code the eras do not agree on.
fn not_found(uri: &str, era: Era) -> ErrorObject {
    let code = match era {
        Era::Handshake => code::RESOURCE_NOT_FOUND,
        Era::Modern => code::INVALID_PARAMS,
    };
    ErrorObject::new(code, format!("resource `{uri}` not found")).with_data(json!({"uri": uri}))
}
