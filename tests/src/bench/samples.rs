//! Times of repeated runs, and how runs of several sides take turns.

use std::time::Duration;

use super::interrupt;

/// One side of a comparison: does its run and says how long the part that counts took.
pub type Side<'a> = &'a mut dyn FnMut() -> anyhow::Result<Duration>;

/// Times, sorted. Never empty once measured; an empty one has only zeroes.
#[derive(Clone, Debug, Default)]
pub struct Samples(Vec<Duration>);

impl Samples {
    /// Sorts the times.
    pub fn new(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// The time that `percent` of the runs did not exceed (nearest rank).
    pub fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        self.0.get(rank - 1).or(self.0.last()).copied().unwrap_or_default()
    }

    /// The median.
    pub fn median(&self) -> Duration {
        self.percentile(50)
    }

    /// The slowest run.
    pub fn max(&self) -> Duration {
        self.0.last().copied().unwrap_or_default()
    }

    /// How many runs.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

/// Runs every side once per round, in turn, and gives the times of each side. The rounds of
/// `warm_up` come first and are not counted.
///
/// # Errors
/// The first error of a side, or a signal.
pub fn interleave(
    warm_up: usize,
    rounds: usize,
    sides: &mut [Side<'_>],
) -> anyhow::Result<Vec<Samples>> {
    let mut times = vec![Vec::with_capacity(rounds); sides.len()];
    for round in 0..warm_up + rounds {
        interrupt::check()?;
        for (side, times) in sides.iter_mut().zip(&mut times) {
            let took = side()?;
            if round >= warm_up {
                times.push(took);
            }
        }
    }
    Ok(times.into_iter().map(Samples::new).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(all: &[u64]) -> Samples {
        Samples::new(all.iter().copied().map(Duration::from_millis).collect())
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let samples = millis(&[5, 1, 4, 2, 3]);
        assert_eq!(samples.median(), Duration::from_millis(3));
        assert_eq!(samples.percentile(99), Duration::from_millis(5));
        assert_eq!(samples.percentile(0), Duration::from_millis(1));
        assert_eq!(millis(&[1, 2]).median(), Duration::from_millis(1));
        assert_eq!(Samples::default().max(), Duration::ZERO);
    }

    #[test]
    fn sides_take_turns_and_warm_up_rounds_do_not_count() {
        let order = std::cell::RefCell::new(String::new());
        let side = |name: char| {
            let order = &order;
            move || {
                order.borrow_mut().push(name);
                Ok(Duration::from_millis(1))
            }
        };
        let (mut ours, mut peer) = (side('o'), side('p'));
        let samples = interleave(1, 2, &mut [&mut ours, &mut peer]).unwrap();
        assert_eq!(order.borrow().as_str(), "opopop");
        assert_eq!(samples.iter().map(Samples::count).collect::<Vec<_>>(), [2, 2]);
    }
}
