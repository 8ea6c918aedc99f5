//! Planning, committing and reporting the edits of one batch.

use std::sync::Arc;

use anchors::{ContentHash, SourceId};
use editor::guard::GuardSession;
use editor::mutation::Mutation;
use editor::plan::{Plan, PlanContext, Planned, PlannedFile};
use editor::receipt::{Change, Fate, FileReceipt, Receipt};
use editor::transaction::{Cause, CommitError, Content, Effect, FileChange};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{ATTEMPTS, Files, Request, targets};
use crate::answer::Answer;
use crate::call::Call;
use crate::engine::Engine;
use crate::failure::Failure;
use crate::session::Session;
use crate::tool::ToolOutput;

/// The lines of a text larger than this, in bytes, are indexed while it is on its way to the disk: that
/// takes about as long as starting a thread, from here on longer.
const INDEXED_ASIDE_BYTES: usize = 1 << 20;

/// What became of each request so far.
type Outcomes = Vec<Option<ToolOutput>>;

pub(super) fn run(call: &Call<'_>, requests: Vec<Result<Request, Failure>>) -> Vec<ToolOutput> {
    let mut outcomes: Outcomes = Vec::new();
    let mut open: Vec<(usize, Request)> = Vec::new();
    for (at, request) in requests.into_iter().enumerate() {
        match request {
            Ok(request) => {
                open.push((at, request));
                outcomes.push(None);
            }
            Err(failure) => outcomes.push(Some(failure.into())),
        }
    }
    for attempt in 1.. {
        match once(call, &open, &mut outcomes, attempt == ATTEMPTS) {
            Next::Done => break,
            Next::Again => open.retain(|(at, _)| outcomes[*at].is_none()),
        }
    }
    let missing =
        || Failure::new(anchors::ErrorCode::Internal, "the edit was not worked out").into();
    outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(missing)).collect()
}

/// What to do after an attempt.
enum Next {
    Done,
    /// Somebody else was faster, or a file of some requests can't be written: without those.
    Again,
}

/// Works out and commits all open requests together.
fn once(call: &Call<'_>, open: &[(usize, Request)], outcomes: &mut Outcomes, last: bool) -> Next {
    let mut files = Files::default();
    let mut planned: Vec<usize> = Vec::new();
    let mut mutations: Vec<Mutation> = Vec::new();
    for (at, request) in open {
        match targets::mutation(call, &mut files, request) {
            Ok(mutation) => {
                planned.push(*at);
                mutations.push(mutation);
            }
            Err(failure) => outcomes[*at] = Some(failure.into()),
        }
    }
    let plan = match plan(call, &mutations) {
        Ok(plan) => plan,
        Err(failure) => {
            for at in planned {
                outcomes[at] = Some(failure.clone().into());
            }
            return Next::Done;
        }
    };
    let committed = commit(call, &plan, &mut files);
    for ((at, mutation), outcome) in planned.iter().zip(&mutations).zip(&plan.outcomes) {
        outcomes[*at] = match (outcome, &committed) {
            (Err(error), _) => {
                Some(Failure::new(error.code(), named(call, error, mutation)).into())
            }
            (Ok(done), Ok(())) => Some(receipt(call, &plan, done)),
            (Ok(done), Err(error)) => failed(call, &plan, done, error, last).map(Into::into),
        };
    }
    if committed.is_err() && planned.iter().any(|at| outcomes[*at].is_none()) {
        return Next::Again;
    }
    Next::Done
}

/// An error in words that name files as the caller does.
fn named(call: &Call<'_>, error: &editor::plan::PlanError, mutation: &Mutation) -> String {
    let mut text = error.to_string();
    let sources = mutation.targets().iter().map(|target| &target.source);
    let written = match mutation {
        Mutation::Write(write) => Some(&write.source),
        _ => None,
    };
    for source in sources.chain(written) {
        text = text.replace(&format!("`{source}`"), &format!("`{}`", call.name(source)));
    }
    text
}

fn plan(call: &Call<'_>, mutations: &[Mutation]) -> Result<Plan, Failure> {
    let guards = Engine::guards(&call.modules, &call.config);
    let session = &call.context.session;
    let context = PlanContext {
        is_live: &|id: Uuid| session.state.memory().references.is_live(id),
        guards: &guards,
        session: &Known(session),
        cancel: &call.context.cancel,
    };
    Ok(Plan::batch(mutations, &context)?)
}

/// What guards may ask about a session.
struct Known<'a>(&'a Arc<Session>);

impl GuardSession for Known<'_> {
    fn has_seen(&self, source: &SourceId, content: ContentHash) -> bool {
        self.0.state.memory().ledger.has_seen(source, content)
    }

    fn is_repeat(&self, call: u128) -> bool {
        self.0.state.held.is_repeat(call)
    }
}

/// Writes the files of the plan, then lets the session know its own edits.
fn commit(call: &Call<'_>, plan: &Plan, files: &mut Files) -> Result<(), CommitError> {
    let changes: Vec<FileChange> = plan.files.iter().map(|file| change(file, files)).collect();
    let large = plan.files.iter().map(|file| file.after.snapshot());
    let large = large.filter(|snapshot| snapshot.bytes() > INDEXED_ASIDE_BYTES);
    let committed = std::thread::scope(|scope| {
        for snapshot in large {
            scope.spawn(|| snapshot.line_count());
        }
        call.engine.journal.commit(&changes, &call.context.cancel)
    })?;
    for (file, written) in plan.files.iter().zip(&committed.files) {
        if let Some(stat) = written.stat {
            call.engine.cache.put(&written.path, file.after.snapshot().clone(), stat);
        }
    }
    let mut memory = call.memory();
    for file in &plan.files {
        let after = file.after.snapshot();
        match file.before.snapshot() {
            Some(before) => {
                memory.ledger.edit(&file.source, before.hash(), &file.line_edits(), after);
            }
            None => memory.ledger.see(&file.source, after.hash()),
        }
    }
    if let [file] = &plan.files[..] {
        memory.last = Some(file.source.clone());
    }
    Ok(())
}

fn change(file: &PlannedFile, files: &mut Files) -> FileChange {
    let before = files.0.get(&file.source).map(|loaded| loaded.before.clone());
    FileChange {
        path: file.path.clone(),
        before: before.expect("every planned file was loaded in this attempt"),
        after: Content::hashed(file.after.clone(), file.after.snapshot().hash()),
    }
}

/// The failure of a mutation whose transaction failed; `None` when it is to be tried again: it
/// does not touch the file that failed, or that file was changed by somebody else.
fn failed(
    call: &Call<'_>,
    plan: &Plan,
    planned: &Planned,
    error: &CommitError,
    last: bool,
) -> Option<Failure> {
    let unknown = error.effects.iter().any(|(_, effect)| *effect == Effect::Unknown);
    let retry = match culprit(&error.cause) {
        Some(culprit) => {
            let mut files = planned.parts.iter().filter_map(|part| plan.files.get(part.file?));
            let mine = files.any(|file| {
                file.path == culprit
                    || culprit.starts_with(&file.path)
                    || file.path.starts_with(culprit)
            });
            !mine || matches!(error.cause, Cause::FileChanged { .. })
        }
        None => false,
    };
    if retry && !unknown && !last {
        return None;
    }
    let mut failure = Failure::new(error.code(), error.cause.to_string());
    let states: Vec<String> = error
        .effects
        .iter()
        .filter(|(_, effect)| *effect != Effect::NotApplied)
        .map(|(path, effect)| format!("{}: {effect:?}", call.path_name(path)))
        .collect();
    if !states.is_empty() {
        failure.help = format!("State of the files:\n{}", states.join("\n"));
    }
    Some(failure)
}

/// The one file that a transaction failed at.
fn culprit(cause: &Cause) -> Option<&std::path::Path> {
    match cause {
        Cause::ReadOnly { path }
        | Cause::ReadOnlyFolder { path }
        | Cause::FileChanged { path }
        | Cause::NotAFile { path, .. }
        | Cause::NotAFolder { path }
        | Cause::LinkLoop { path }
        | Cause::PermissionDenied { path, .. } => Some(path),
        _ => None,
    }
}

fn receipt(call: &Call<'_>, plan: &Plan, planned: &Planned) -> ToolOutput {
    let receipt = Receipt::new(plan, planned, |source| {
        let file = plan.files.iter().find(|file| file.source == *source);
        let salt = file.map(|file| call.memory().ledger.salt(source, file.after.snapshot()));
        Fate { salt: salt.unwrap_or_default(), ..Fate::default() }
    });
    for file in &receipt.files {
        let planned = plan.files.iter().find(|planned| planned.source == file.source);
        let Some(planned) = planned else { continue };
        let mut memory = call.memory();
        for (first, last) in &file.shown {
            memory.ledger.show(&file.source, planned.after.snapshot(), *first, *last);
        }
    }
    let text = format!("{}\n", receipt.render(|source| call.name(source)));
    let data = if call.context.structured { data(call, &receipt) } else { Value::Null };
    Answer::new(text).selecting(Some(receipt.selection)).with_data(data).register(call)
}

/// The receipt for clients that asked for structured results; its schema is [`super::schema`].
fn data(call: &Call<'_>, receipt: &Receipt) -> Value {
    let file = |file: &FileReceipt| {
        let change = match file.change {
            Change::None => "none",
            Change::Edited => "edited",
            Change::Created => "created",
            Change::Replaced => "replaced",
        };
        json!({
            "path": call.name(&file.source), "change": change, "replacements": file.replacements,
            "added": file.added, "removed": file.removed, "lines": file.lines,
            "rebasedFrom": file.rebased.map(|rebased| rebased.from),
        })
    };
    json!({"files": receipt.files.iter().map(file).collect::<Vec<_>>()})
}
