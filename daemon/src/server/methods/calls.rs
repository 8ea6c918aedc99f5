//! `tools/call`: from checked parameters to a running call and its answer.

use std::sync::Arc;
use std::time::Instant;

use anchors::ErrorCode;
use protocol::capstan::Event;
use protocol::mcp::{Implementation, ProgressParams, Status, ToolError};
use protocol::names::{code, method};
use protocol::{ErrorObject, Id};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::super::Server;
use super::super::drain::{CallGuard, Phase};
use super::super::outlet::Outlet;
use super::super::peer::notification;
use super::super::request::{
    Envelope, Era, Params, Reply, capstan_error, invalid_params, server_info,
};
use crate::session::RunningGuard;
use crate::tool::{CallContext, Progress, ToolCall, ToolOutput, ToolRegistry};

/// A call that is ready to run.
pub(in super::super) struct Prepared {
    call: ToolCall,
    pending: Pending,
}

/// What is left of a call while it runs: how to answer it, and what it counts against.
struct Pending {
    server: Arc<Server>,
    reply: Reply,
    structured: bool,
    tool: &'static str,
    session: Uuid,
    started: Instant,
    registered: bool,
    _running: CallGuard,
    _in_session: RunningGuard,
}

impl Server {
    /// Checks a `tools/call` and registers it; one that cannot run is answered at once.
    pub(super) fn prepare(
        self: &Arc<Self>,
        reply: Reply,
        params: &Params<'_>,
        envelope: Envelope,
    ) -> Option<Prepared> {
        let (tool, arguments, session) = match self.check(&reply, params) {
            Ok(checked) => checked,
            Err(error) => {
                reply.fail(&error);
                return None;
            }
        };
        let Some(cancel) = reply.peer.register(&reply.id) else {
            let reason = format!("id `{}` is in use by a request that still runs", reply.id);
            reply.fail(&ErrorObject::new(code::INVALID_REQUEST, reason));
            return None;
        };
        let token = params.meta.as_ref().and_then(|meta| meta.progress_token);
        let context = CallContext {
            progress: progress(token, &reply.outlet),
            session: Arc::clone(&session),
            cancel,
            structured: envelope.structured,
        };
        let pending = Pending {
            server: Arc::clone(self),
            structured: envelope.structured,
            tool: tool.name(),
            session: session.id(),
            started: Instant::now(),
            registered: true,
            _running: self.run_call(),
            _in_session: session.enter(),
            reply,
        };
        Some(Prepared { call: ToolCall { tool, arguments, context }, pending })
    }

    /// Finds what the parameters name.
    fn check(&self, reply: &Reply, params: &Params<'_>) -> Result<Checked, ErrorObject> {
        if self.drain().phase() != Phase::Running {
            return Err(capstan_error(
                ErrorCode::ShuttingDown,
                "the daemon is stopping and takes no new calls",
            ));
        }
        let name = params.name.as_deref().ok_or_else(|| invalid_params("`name` is missing"))?;
        let tools = self.tools();
        let tool = tools.get(name).ok_or_else(|| unknown_tool(name, &tools))?;
        let arguments = match params.arguments {
            Some(raw) if raw.get().starts_with('{') => raw.to_owned(),
            None => empty_object(),
            Some(raw) if raw.get() == "null" => empty_object(),
            Some(_) => return Err(invalid_params("`arguments` must be an object")),
        };
        let session = self.session_of(&reply.peer, params.meta.as_ref())?;
        Ok((Arc::clone(tool), arguments, session))
    }
}

type Checked = (Arc<dyn crate::tool::Tool>, Box<RawValue>, Arc<crate::session::Session>);

/// Runs one call on a blocking thread, as soon as its client has a place.
pub(in super::super) fn start(prepared: Prepared) {
    let places = Arc::clone(&prepared.pending.reply.peer.places);
    if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
        tokio::task::spawn_blocking(move || {
            let _place = place;
            prepared.run();
        });
        return;
    }
    tokio::spawn(async move {
        // The semaphore is never closed.
        let place = places.acquire_owned().await;
        tokio::task::spawn_blocking(move || {
            let _place = place;
            prepared.run();
        });
    });
}

/// Runs the calls of one batch together on a blocking thread.
pub(in super::super) fn start_batch(server: &Arc<Server>, calls: Vec<Prepared>) {
    let Some(first) = calls.first() else { return };
    let places = Arc::clone(&first.pending.reply.peer.places);
    let tools = server.tools();
    tokio::spawn(async move {
        let place = places.acquire_owned().await;
        tokio::task::spawn_blocking(move || {
            let _place = place;
            run_batch(&tools, calls);
        });
    });
}

fn run_batch(tools: &ToolRegistry, prepared: Vec<Prepared>) {
    let (calls, pending): (Vec<_>, Vec<_>) =
        prepared.into_iter().map(|prepared| (prepared.call, prepared.pending)).unzip();
    let outputs = tools.call_batch(calls);
    for (pending, output) in pending.into_iter().zip(outputs) {
        pending.finish(&output);
    }
}

impl Prepared {
    fn run(self) {
        let output = self.call.run();
        self.pending.finish(&output);
    }
}

impl Pending {
    /// Answers the call, unless its client has cancelled it.
    fn finish(mut self, output: &ToolOutput) {
        // Before the answer, so that the client may use the id again as soon as it has it.
        self.registered = false;
        let wanted = self.reply.peer.unregister(&self.reply.id);
        if wanted {
            self.answer(output);
        }
        self.server.events().publish(|| Event::CallFinished {
            session: Some(self.session),
            tool: self.tool.to_owned(),
            ok: !output.is_error,
            elapsed_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
    }

    fn answer(&self, output: &ToolOutput) {
        let modern = self.reply.era == Era::Modern;
        let structured = self.structured.then_some(Structured {
            status: output.status,
            data: &output.data,
            errors: &output.errors,
        });
        let meta = ResultMeta { result: output.result_id, server: modern.then(server_info) };
        self.reply.send(&CallResult {
            content: [Text { kind: "text", text: &output.text }],
            is_error: output.is_error,
            structured_content: structured,
            result_type: modern.then_some("complete"),
            meta: (meta.result.is_some() || modern).then_some(meta),
        });
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // Only when the call was dropped before it ran, as when the runtime ends.
        if self.registered {
            self.reply.peer.unregister(&self.reply.id);
        }
    }
}

/// What `tools/call` answers.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    content: [Text<'a>; 1],
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Structured<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<ResultMeta>,
}

#[derive(Serialize)]
struct Text<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct Structured<'a> {
    status: Status,
    data: &'a Value,
    errors: &'a [ToolError],
}

#[derive(Serialize)]
struct ResultMeta {
    #[serde(rename = "capstan/result", skip_serializing_if = "Option::is_none")]
    result: Option<Uuid>,
    #[serde(
        rename = "io.modelcontextprotocol/serverInfo",
        skip_serializing_if = "Option::is_none"
    )]
    server: Option<Implementation>,
}

/// Progress notifications for the token of a request.
fn progress(token: Option<&RawValue>, outlet: &Arc<dyn Outlet>) -> Progress {
    let Some(progress_token) = token.and_then(|raw| serde_json::from_str::<Id>(raw.get()).ok())
    else {
        return Progress::default();
    };
    let outlet = Arc::clone(outlet);
    Progress::new(Box::new(move |progress, total, message| {
        let params = ProgressParams {
            progress_token: progress_token.clone(),
            progress,
            total,
            message: message.map(str::to_owned),
        };
        if let Ok(params) = serde_json::to_value(params) {
            outlet.notify(notification(method::PROGRESS, &params));
        }
    }))
}

fn empty_object() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).expect("`{}` is JSON")
}

fn unknown_tool(name: &str, tools: &ToolRegistry) -> ErrorObject {
    let names: Vec<&str> = tools.tools().iter().map(|tool| tool.name()).collect();
    invalid_params(format!("unknown tool `{name}`; there are: {}", names.join(", ")))
}
