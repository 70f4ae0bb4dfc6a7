//! How far a campaign is, and how long it may take.

use std::f64::consts::PI;
use std::path::PathBuf;

use warpmp_campaign::Damage;

use super::keeper::solution;
use super::{Folder, Meetings, Part, Session, session};
use crate::error::Result;
use crate::problem::Problem;

/// A campaign's progress, by the logs of its sessions.
#[derive(Clone, Debug)]
pub struct Status {
    /// The logarithm's problem.
    pub problem: Problem,
    /// All sessions, the earliest first.
    pub sessions: Vec<Session>,
    /// Steps of all walks.
    pub steps: u64,
    /// Points.
    pub points: u64,
    /// Seconds of all engines.
    pub seconds: f64,
    /// Steps of the walks that have reported: `2^d` a point on average.
    pub work: f64,
    /// Expected steps.
    pub expected: f64,
    /// Meetings that told nothing.
    pub meetings: Meetings,
    /// Files of unfinished walks, which the next sessions take.
    pub saved: usize,
    /// Sealed files that are not trusted.
    pub damaged: Vec<(PathBuf, Damage)>,
    /// `k`, in decimal.
    pub solution: Option<String>,
}

/// Reads the logs of a campaign.
///
/// # Errors
/// [`Error::Campaign`](crate::Error::Campaign).
pub fn status(campaign: &Folder) -> Result<Status> {
    let contents = campaign.contents()?;
    let problem = campaign.specification().problem()?;
    let mut sessions: Vec<Session> = contents
        .done
        .into_iter()
        .filter_map(|certificate| match certificate.part {
            Part::Session(session) => Some(session),
            Part::Solution(_) => None,
        })
        .collect();
    sessions.sort_by_key(|session| (session.begun, session.number));
    let points = sessions.iter().map(|session| session.points).sum();
    let distinguished_bits = campaign.specification().settings().distinguished_bits;
    Ok(Status {
        steps: sessions.iter().map(|session| session.steps).sum(),
        points,
        seconds: sessions.iter().map(|session| session.seconds).sum(),
        work: points as f64 * f64::from(distinguished_bits).exp2(),
        expected: problem.expected_steps(),
        meetings: Meetings::of(campaign)?,
        saved: session::saved(campaign.folder())?.len(),
        damaged: contents.damaged,
        solution: solution(campaign, &problem)?.map(|found| found.k),
        sessions,
        problem,
    })
}

impl Status {
    /// Steps a second of one engine, on average.
    pub fn rate(&self) -> f64 {
        self.steps as f64 / self.seconds.max(1e-9)
    }

    /// The share of the expected steps that is done.
    pub fn share(&self) -> f64 {
        self.work / self.expected
    }

    /// What remains, in units of the expected steps.
    pub fn estimate(&self) -> Estimate {
        Estimate { done: self.share() }
    }

    /// Days of one engine for so many expected steps.
    pub fn days(&self, share: f64) -> f64 {
        share * self.expected / self.rate() / 86400.0
    }
}

/// When two walks meet, after a part of the steps without a meeting. Steps are in units of the expected number `√(πn/4)`; the number
/// of steps follows Rayleigh's distribution: `exp(−π·s²/4)` of the searches take more than `s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The part.
    pub done: f64,
}

impl Estimate {
    /// The probability that a search of so many steps has met.
    pub fn probability(steps: f64) -> f64 {
        -(-PI * steps * steps / 4.0).exp_m1()
    }

    /// The steps that remain at most, with this probability.
    pub fn quantile(self, probability: f64) -> f64 {
        let square = self.done * self.done - 4.0 / PI * (-probability).ln_1p();
        square.sqrt() - self.done
    }

    /// The steps that remain on average: the mean of the quantiles.
    pub fn mean(self) -> f64 {
        // The middle of each of many equal parts of the probability; the last part ends at infinity and counts little.
        let parts = 20_000;
        (0..parts).map(|part| self.quantile((f64::from(part) + 0.5) / f64::from(parts))).sum::<f64>() / f64::from(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-3, "{found}, {expected} expected");
    }

    #[test]
    fn quantiles_of_rayleighs_distribution() {
        let fresh = Estimate { done: 0.0 };
        near(fresh.mean(), 1.0);
        // One search in five takes 1.43 times the mean, one in twenty 1.95 times.
        near(fresh.quantile(0.8), 1.4315);
        near(fresh.quantile(0.95), 1.953);
        near(fresh.quantile(0.5), 0.9394);
        near(Estimate::probability(0.9394), 0.5);
        // After the expected number of steps: erfc(√π/2)·exp(π/4).
        near(Estimate { done: 1.0 }.mean(), 0.46055);
        near(Estimate { done: 100.0 }.mean(), 2.0 / (PI * 100.0));
    }
}
