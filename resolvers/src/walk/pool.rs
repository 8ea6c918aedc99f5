//! A few threads that stay alive between searches, and the way in which they share one job.
//!
//! The thread that asks for work always works on it itself, so a call never waits for the pool;
//! helpers join when they are free and move on to the neediest job now and then, so that a long
//! walk can't keep them from a short one. Each thread works depth-first on a private stack and
//! gives half of it away (the oldest, thus largest, part) only when somebody is idle.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A helper looks for a needier job after this long: short enough that a new call gets help
/// before a person notices, long enough that moving costs nothing.
const TURN: Duration = Duration::from_millis(10);

/// Work that several threads can share.
pub(crate) trait Job: Send + Sync + 'static {
    /// One piece of work; handling it may add more.
    type Task: Send + 'static;
    /// What one thread gathers; merged when it leaves.
    type Local: Send;

    /// A thread joins.
    fn enter(&self) -> Self::Local;
    /// Does one task.
    fn run(&self, task: Self::Task, local: &mut Self::Local, tasks: &mut Tasks<'_, Self>);
    /// A thread leaves; it may join again later.
    fn leave(&self, local: Self::Local);
}

/// The private stack of one thread in one job.
pub(crate) struct Tasks<'a, J: Job + ?Sized> {
    stack: VecDeque<J::Task>,
    team: &'a Team<J>,
    pool: &'a Shared,
}

impl<J: Job + ?Sized> Tasks<'_, J> {
    /// Adds a task; the last one added is done first.
    pub(crate) fn push(&mut self, task: J::Task) {
        self.stack.push_back(task);
    }

    /// Gives work away if somebody is idle. Cheap: call it between pieces of a long task.
    pub(crate) fn share(&mut self) {
        let idle =
            self.pool.idle.load(Ordering::Relaxed) + self.team.waiting.load(Ordering::Relaxed);
        if idle > 0 && !self.stack.is_empty() {
            let count = self.stack.len().div_ceil(2);
            self.give(count);
        }
    }

    fn give(&mut self, count: usize) {
        self.team.lock().tasks.extend(self.stack.drain(..count));
        self.team.changed.notify_all();
        // Taking the lock makes sure that a helper is either before its look or in its wait.
        drop(self.pool.lock());
        self.pool.wake.notify_all();
    }
}

/// What the threads of one job share.
struct Team<J: Job + ?Sized> {
    queue: Mutex<Queue<J::Task>>,
    changed: Condvar,
    /// Whether the caller waits for tasks.
    waiting: AtomicUsize,
    job: Arc<J>,
}

struct Queue<T> {
    tasks: Vec<T>,
    /// Threads that are in the job, each of which may still add tasks.
    active: usize,
    panic: Option<Box<dyn std::any::Any + Send>>,
}

/// A job as the pool sees it.
trait Helped: Send + Sync {
    fn has_tasks(&self) -> bool;
    fn helpers(&self) -> usize;
    fn help(&self, pool: &Shared);
}

impl<J: Job> Team<J> {
    /// Works until there is nothing to take; a helper also stops when its turn is over and other
    /// jobs wait.
    fn work(&self, pool: &Shared, first: J::Task, turn: Option<Duration>) {
        let mut local = self.job.enter();
        let mut tasks = Tasks { stack: VecDeque::from([first]), team: self, pool };
        let started = Instant::now();
        loop {
            while let Some(task) = tasks.stack.pop_back() {
                tasks.share();
                self.job.run(task, &mut local, &mut tasks);
                let crowded = pool.jobs.load(Ordering::Relaxed) > 1;
                if crowded && turn.is_some_and(|turn| started.elapsed() > turn) {
                    let count = tasks.stack.len();
                    tasks.give(count);
                    self.job.leave(local);
                    return;
                }
            }
            match self.lock().tasks.pop() {
                Some(task) => tasks.stack.push_back(task),
                None => break,
            }
        }
        self.job.leave(local);
    }

    /// [`Team::work`], but a panic ends the whole job and is kept for the caller.
    fn work_safely(&self, pool: &Shared, first: J::Task, turn: Option<Duration>) {
        let result = catch_unwind(AssertUnwindSafe(|| self.work(pool, first, turn)));
        let mut queue = self.lock();
        queue.active -= 1;
        if let Err(panic) = result {
            queue.tasks.clear();
            queue.panic.get_or_insert(panic);
        }
        drop(queue);
        self.changed.notify_all();
    }

    fn take(&self) -> Option<J::Task> {
        let mut queue = self.lock();
        let task = queue.tasks.pop()?;
        queue.active += 1;
        Some(task)
    }

    /// The caller's part: work, wait for others, until all is done.
    fn finish(&self, pool: &Shared) {
        loop {
            if let Some(task) = self.take() {
                self.work_safely(pool, task, None);
                continue;
            }
            let mut queue = self.lock();
            self.waiting.store(1, Ordering::Relaxed);
            while queue.tasks.is_empty() && queue.active > 0 {
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            self.waiting.store(0, Ordering::Relaxed);
            if queue.tasks.is_empty() {
                if let Some(panic) = queue.panic.take() {
                    drop(queue);
                    resume_unwind(panic);
                }
                return;
            }
        }
    }
}

impl<J: Job + ?Sized> Team<J> {
    fn lock(&self) -> MutexGuard<'_, Queue<J::Task>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<J: Job> Helped for Team<J> {
    fn has_tasks(&self) -> bool {
        !self.lock().tasks.is_empty()
    }

    fn helpers(&self) -> usize {
        self.lock().active
    }

    fn help(&self, pool: &Shared) {
        if let Some(task) = self.take() {
            self.work_safely(pool, task, Some(TURN));
        }
    }
}

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    /// Helpers that wait for work.
    idle: AtomicUsize,
    /// Jobs under way.
    jobs: AtomicUsize,
}

#[derive(Default)]
struct State {
    jobs: Vec<Arc<dyn Helped>>,
    started: bool,
    stop: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a helper thread does all its life.
    fn serve(&self) {
        let mut state = self.lock();
        while !state.stop {
            let neediest =
                state.jobs.iter().filter(|job| job.has_tasks()).min_by_key(|job| job.helpers());
            if let Some(job) = neediest.cloned() {
                drop(state);
                job.help(self);
                state = self.lock();
            } else {
                self.idle.fetch_add(1, Ordering::Relaxed);
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                self.idle.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

/// The threads. Dropping it ends them once their current job is done.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: usize,
}

impl Pool {
    /// A pool in which a job runs on `threads` threads at once, the caller's included. Threads
    /// start with the first job.
    pub(crate) fn new(threads: usize) -> Self {
        let shared = Shared {
            state: Mutex::default(),
            wake: Condvar::new(),
            idle: AtomicUsize::new(0),
            jobs: AtomicUsize::new(0),
        };
        Self { shared: Arc::new(shared), threads: threads.max(1) }
    }

    /// Does all tasks that follow from `tasks`; returns when the last thread has left the job.
    ///
    /// # Panics
    /// When a task panics, with its payload.
    pub(crate) fn run<J: Job>(&self, job: &Arc<J>, tasks: Vec<J::Task>) {
        let queue = Queue { tasks, active: 0, panic: None };
        let team = Arc::new(Team {
            queue: Mutex::new(queue),
            changed: Condvar::new(),
            waiting: AtomicUsize::new(0),
            job: Arc::clone(job),
        });
        let listed: Arc<dyn Helped> = Arc::clone(&team) as _;
        self.list(&listed);
        let _guard = Listed { shared: &self.shared, job: &listed };
        team.finish(&self.shared);
    }

    fn list(&self, job: &Arc<dyn Helped>) {
        let mut state = self.shared.lock();
        if !state.started {
            state.started = true;
            for number in 1..self.threads {
                let shared = Arc::clone(&self.shared);
                let name = format!("search-{number}");
                // Without a helper the caller does the work alone, so a failure is no error.
                drop(std::thread::Builder::new().name(name).spawn(move || shared.serve()));
            }
        }
        state.jobs.push(Arc::clone(job));
        self.shared.jobs.store(state.jobs.len(), Ordering::Relaxed);
        drop(state);
        self.shared.wake.notify_all();
    }
}

/// Takes the job off the list, also when a panic passes through.
struct Listed<'a> {
    shared: &'a Shared,
    job: &'a Arc<dyn Helped>,
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.jobs.retain(|job| !Arc::ptr_eq(job, self.job));
        self.shared.jobs.store(state.jobs.len(), Ordering::Relaxed);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.wake.notify_all();
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("threads", &self.threads).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts down trees: a task of n adds n tasks of n - 1.
    struct Count(AtomicUsize);

    impl Job for Count {
        type Task = usize;
        type Local = usize;

        fn enter(&self) -> usize {
            0
        }

        fn run(&self, task: usize, local: &mut usize, tasks: &mut Tasks<'_, Self>) {
            assert!(task < 100, "too large");
            *local += 1;
            for _ in 0..task {
                tasks.push(task - 1);
            }
        }

        fn leave(&self, local: usize) {
            self.0.fetch_add(local, Ordering::Relaxed);
        }
    }

    /// 1 + n + n(n-1) + …
    fn expected(n: usize) -> usize {
        1 + n * if n == 0 { 0 } else { expected(n - 1) }
    }

    #[test]
    fn every_task_is_done_once() {
        let pool = Pool::new(4);
        for n in [0, 1, 5, 8] {
            let job = Arc::new(Count(AtomicUsize::new(0)));
            pool.run(&job, vec![n, n]);
            assert_eq!(job.0.load(Ordering::Relaxed), 2 * expected(n));
        }
    }

    #[test]
    fn jobs_run_side_by_side() {
        let pool = Pool::new(3);
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    let job = Arc::new(Count(AtomicUsize::new(0)));
                    pool.run(&job, vec![8]);
                    assert_eq!(job.0.load(Ordering::Relaxed), expected(8));
                });
            }
        });
    }

    #[test]
    fn a_panic_reaches_the_caller_and_spares_the_pool() {
        let pool = Pool::new(3);
        let job = Arc::new(Count(AtomicUsize::new(0)));
        let run = catch_unwind(AssertUnwindSafe(|| pool.run(&job, vec![3, 100, 3])));
        assert!(run.is_err());
        let job = Arc::new(Count(AtomicUsize::new(0)));
        pool.run(&job, vec![3]);
        assert_eq!(job.0.load(Ordering::Relaxed), expected(3));
    }
}
