//! Running the calls of one batch: independent ones side by side, planned ones together.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use anchors::ErrorCode;

use super::{BatchPlanner, ToolCall, ToolOutput};
use crate::limits::BATCH_THREADS;

/// Runs all calls and gives their outputs in order.
pub(super) fn run(planner: Option<&BatchPlanner>, calls: Vec<ToolCall>) -> Vec<ToolOutput> {
    let mut outputs: Vec<Option<ToolOutput>> = calls.iter().map(|_| None).collect();
    let (mut planned_at, mut planned) = (Vec::new(), Vec::new());
    let mut alone = Vec::new();
    for (at, call) in calls.into_iter().enumerate() {
        if call.tool.planned_together() {
            planned_at.push(at);
            planned.push(call);
        } else {
            alone.push((at, call));
        }
    }
    for (at, output) in side_by_side(alone) {
        outputs[at] = Some(output);
    }
    for (at, output) in planned_at.into_iter().zip(together(planner, &planned)) {
        outputs[at] = Some(output);
    }
    outputs.into_iter().map(|output| output.unwrap_or_else(missing)).collect()
}

/// Runs independent calls on a few threads.
fn side_by_side(calls: Vec<(usize, ToolCall)>) -> Vec<(usize, ToolOutput)> {
    if calls.len() < 2 {
        return calls.into_iter().map(|(at, call)| (at, call.run())).collect();
    }
    let threads = calls.len().min(BATCH_THREADS);
    let queue = Mutex::new(calls.into_iter());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    // A poisoned lock cannot be: `run` catches panics and the iterator has none.
                    let Some((at, call)) = queue.lock().ok().and_then(|mut queue| queue.next())
                    else {
                        break;
                    };
                    let output = call.run();
                    if let Ok(mut done) = done.lock() {
                        done.push((at, output));
                    }
                }
            });
        }
    });
    done.into_inner().unwrap_or_default()
}

/// Hands the calls to the planner; without one, or with a single call, they run in order.
fn together(planner: Option<&BatchPlanner>, calls: &[ToolCall]) -> Vec<ToolOutput> {
    match planner {
        Some(planner) if calls.len() > 1 => catch_unwind(AssertUnwindSafe(|| planner(calls)))
            .unwrap_or_else(|_| {
                tracing::error!(calls = calls.len(), "planning a batch panicked");
                Vec::new()
            }),
        _ => calls.iter().map(ToolCall::run).collect(),
    }
}

/// Stands in for an output that a broken planner did not give.
fn missing() -> ToolOutput {
    ToolOutput::failure(
        ErrorCode::Internal,
        "the batch failed inside Capstan; this is a bug, the daemon goes on",
    )
}
