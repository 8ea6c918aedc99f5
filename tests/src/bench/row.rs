//! One line of the table: a figure of ours, that of a peer, and what we aim at.

use std::fmt;
use std::time::Duration;

/// A figure with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub enum Measure {
    /// A time.
    Time(Duration),
    /// A size in bytes.
    Bytes(u64),
    /// Something counted.
    Count(u64),
}

impl Measure {
    /// The figure in its base unit: seconds, bytes, pieces.
    pub fn value(self) -> f64 {
        match self {
            Self::Time(time) => time.as_secs_f64(),
            // Exact below 2^53, far above every size here.
            Self::Bytes(count) | Self::Count(count) => count as f64,
        }
    }

    /// The name of its base unit.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Time(_) => "s",
            Self::Bytes(_) => "B",
            Self::Count(_) => "",
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scaled = |f: &mut fmt::Formatter<'_>, value: f64, unit: &str| {
            let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
            write!(f, "{value:.digits$} {unit}")
        };
        match *self {
            Self::Time(time) => match time.as_secs_f64() {
                seconds if seconds >= 1.0 => scaled(f, seconds, "s"),
                seconds if seconds >= 1e-3 => scaled(f, seconds * 1e3, "ms"),
                seconds => scaled(f, seconds * 1e6, "µs"),
            },
            Self::Bytes(_) => scaled(f, self.value() / f64::from(1 << 20), "MiB"),
            Self::Count(count) => count.fmt(f),
        }
    }
}

/// What a row aims at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// Ours is at most this many times the peer's.
    Ratio(f64),
    /// Ours is below this.
    Below(Measure),
}

impl fmt::Display for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ratio(most) => write!(f, "≤ {most}×"),
            Self::Below(bound) => write!(f, "< {bound}"),
        }
    }
}

/// A line of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// The letter of its bench.
    pub bench: char,
    /// What was measured.
    pub name: String,
    /// Our figure.
    pub ours: Measure,
    /// Who or what it is compared with, and the figure.
    pub peer: Option<(String, Measure)>,
    /// The smallest and the largest ratio of repetitions, where there were some.
    pub range: Option<(f64, f64)>,
    /// What we aim at; `None` for rows that only inform.
    pub aim: Option<Aim>,
    /// Footnotes: unequal work, how it was measured.
    pub notes: Vec<String>,
}

impl Row {
    /// A row that only informs.
    pub fn new(bench: char, name: impl Into<String>, ours: Measure) -> Self {
        Self {
            bench,
            name: name.into(),
            ours,
            peer: None,
            range: None,
            aim: None,
            notes: Vec::new(),
        }
    }

    /// A row of times.
    pub fn time(bench: char, name: impl Into<String>, ours: Duration) -> Self {
        Self::new(bench, name, Measure::Time(ours))
    }

    /// Adds the peer.
    #[must_use]
    pub fn against(mut self, peer: impl Into<String>, figure: Measure) -> Self {
        self.peer = Some((peer.into(), figure));
        self
    }

    /// Adds the peer's time.
    #[must_use]
    pub fn against_time(self, peer: impl Into<String>, time: Duration) -> Self {
        self.against(peer, Measure::Time(time))
    }

    /// Adds the range of the ratios of repetitions.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Adds the aim.
    #[must_use]
    pub fn aim(mut self, aim: Aim) -> Self {
        self.aim = Some(aim);
        self
    }

    /// Adds a footnote.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Ours divided by the peer's.
    pub fn ratio(&self) -> Option<f64> {
        let (_, peer) = self.peer.as_ref()?;
        (peer.value() > 0.0).then(|| self.ours.value() / peer.value())
    }

    /// Whether the aim is met; `None` without one.
    pub fn is_met(&self) -> Option<bool> {
        match self.aim? {
            Aim::Ratio(most) => self.ratio().map(|ratio| ratio <= most),
            Aim::Below(bound) => Some(self.ours < bound),
        }
    }

    /// Whether some repetitions met the aim and others did not: the verdict is then no more than a
    /// tendency.
    pub fn is_unclear(&self) -> bool {
        match (self.aim, self.range) {
            (Some(Aim::Ratio(most)), Some((low, high))) => low <= most && most < high,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(count: u64) -> Measure {
        Measure::Time(Duration::from_millis(count))
    }

    #[test]
    fn figures_have_three_digits_and_a_fitting_unit() {
        assert_eq!(Measure::Time(Duration::from_nanos(41_230)).to_string(), "41.2 µs");
        assert_eq!(millis(2).to_string(), "2.00 ms");
        assert_eq!(millis(1_234).to_string(), "1.23 s");
        assert_eq!(Measure::Bytes(20 << 20).to_string(), "20.0 MiB");
    }

    #[test]
    fn aims_are_judged_by_ratio_or_bound() {
        let row = Row::new('b', "x", millis(30)).against("copy", millis(20));
        assert_eq!(row.clone().is_met(), None);
        assert_eq!(row.clone().aim(Aim::Ratio(1.5)).is_met(), Some(true));
        assert_eq!(row.clone().aim(Aim::Ratio(1.4)).is_met(), Some(false));
        assert_eq!(row.clone().aim(Aim::Below(millis(30))).is_met(), Some(false));
        assert_eq!(row.aim(Aim::Below(millis(31))).is_met(), Some(true));
    }

    #[test]
    fn a_range_on_both_sides_of_the_aim_is_unclear() {
        let row = Row::new('c', "x", millis(10)).against("sed", millis(10)).aim(Aim::Ratio(1.2));
        assert!(!row.is_unclear());
        assert!(row.clone().range(0.8, 2.0).is_unclear());
        assert!(!row.clone().range(0.8, 1.2).is_unclear());
        assert!(!row.range(1.3, 2.0).is_unclear());
    }

    #[test]
    fn a_ratio_without_a_peer_is_not_judged() {
        assert_eq!(Row::new('b', "x", millis(1)).aim(Aim::Ratio(1.0)).is_met(), None);
    }
}
