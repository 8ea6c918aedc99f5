//! `subscriptions/listen`: the stateless era's way to hear of changed lists.

use std::sync::Arc;

use protocol::ErrorObject;
use protocol::names::{code, meta, method};
use serde::Deserialize;
use serde_json::json;

use super::super::peer::{Listen, notification};
use super::super::request::{Params, Reply, invalid_params};
use crate::limits::MAX_LISTENS;

/// What the client wants to hear of; of this only the tool list ever changes.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Filter {
    tools_list_changed: Option<bool>,
}

/// Opens a subscription: the acknowledgement first, then changes, and a result only at our end.
pub(super) fn open(reply: &Reply, params: &Params<'_>) {
    let filter = match params.notifications.map(|raw| serde_json::from_str::<Filter>(raw.get())) {
        Some(Ok(filter)) => filter,
        Some(Err(error)) => return reply.fail(&invalid_params(error)),
        None => return reply.fail(&invalid_params("`notifications` is missing")),
    };
    if reply.batched {
        let reason = "a subscription cannot be part of a batch";
        return reply.fail(&ErrorObject::new(code::INVALID_REQUEST, reason));
    }
    if reply.peer.listens() >= MAX_LISTENS {
        let reason = format!("a client has at most {MAX_LISTENS} subscriptions");
        return reply.fail(&ErrorObject::new(code::SERVER_ERROR, reason));
    }
    let tools_changed = filter.tools_list_changed == Some(true);
    let honoured = if tools_changed { json!({"toolsListChanged": true}) } else { json!({}) };
    let acknowledged = json!({
        "_meta": {meta::SUBSCRIPTION_ID: reply.id},
        "notifications": honoured,
    });
    let outlet = Arc::clone(&reply.outlet);
    outlet.notify(notification(method::SUBSCRIPTIONS_ACKNOWLEDGED, &acknowledged));
    reply.peer.listen(Listen { id: reply.id.clone(), tools_changed, outlet });
}
