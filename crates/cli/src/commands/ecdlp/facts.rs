//! What a page tells about a search for a logarithm.

use std::path::Path;

use warpmp_campaign::Cell;
use warpmp_curves::campaign::{Estimate, status};

use super::{look, meetings_text, part, status::QUANTILES};
use crate::{
    commands::campaign::{
        facts::{Alarm, Facts, MOST_CELLS, Span},
        shell::quoted,
    },
    error::Result,
    summary::{duration, scaled},
};

/// Gathers the facts of a directory.
pub(crate) fn gather(folder: &Path) -> Result<Facts> {
    let campaign = look(&folder.to_string_lossy())?;
    let contents = campaign.contents()?;
    let status = status(&campaign)?;
    let spans = status.sessions.iter().map(|it| Span {
        host: it.host.clone(),
        device: it.device.clone(),
        end: it.begun.saturating_add(it.seconds as u64),
        seconds: it.seconds,
        amount: it.steps as f64,
    });
    let mut facts = Facts { spans: spans.collect(), ..Facts::of(&campaign, &contents)? };
    let name = if status.problem.name.is_empty() { "a curve" } else { &status.problem.name };
    facts.title = format!("Discrete logarithm on {name}, {} bits", status.problem.group.p.bits());
    facts.is_complete = status.solution.is_some();
    facts.share = if facts.is_complete { 1.0 } else { Estimate::probability(status.share()) };
    facts.cell_name = "sessions";
    // Sessions have random numbers: the map has those that there are, the earliest first.
    let size = status.sessions.len().div_ceil(MOST_CELLS as usize).max(1);
    facts.map = (status.sessions.chunks(size).enumerate())
        .map(|(number, sessions)| {
            let done = sessions.iter().filter(|session| session.ended).count() as u128;
            let units = sessions.len() as u128;
            Cell { first: (number * size) as u128, units, done, claimed: units - done, alarms: 0 }
        })
        .collect();
    facts.amount_name = "steps";
    facts.summary = vec![
        ("probability", "of a logarithm after so many steps".into()),
        ("steps", format!("{} in {} of engines", scaled(status.steps as f64), duration(status.seconds, ""))),
        ("points", format!("{}: walks of {} steps", status.points, scaled(status.work))),
        ("share", format!("{} of the expected {} steps", part(status.work, status.expected), scaled(status.expected))),
        ("meetings", meetings_text(status.meetings)),
        ("sessions", status.sessions.len().to_string()),
    ];
    if facts.is_complete {
        facts.estimate = vec![("left", "nothing".into())];
    } else {
        let estimate = status.estimate();
        let time = |share: f64| match status.steps {
            0 => String::new(),
            _ => format!(", {}", duration(86400.0 * status.days(share), "engine-")),
        };
        let line = |share: f64| format!("{} steps{}", scaled(share * status.expected), time(share));
        facts.estimate = vec![("on average", line(estimate.mean()))];
        let names = ["one in ten", "one in two", "nine in ten"];
        for (name, probability) in names.into_iter().zip(QUANTILES) {
            facts
                .estimate
                .push((name, format!("of all searches take at most {}", line(estimate.quantile(probability)))));
        }
    }
    facts.finds = status.solution.iter().map(|k| ("k", k.clone())).collect();
    if status.meetings.wrong > 0 {
        let what = format!("{} points", status.meetings.wrong);
        facts.alarms.push(Alarm { what, why: "their walks do not lead to them: an engine made mistakes".into() });
    }
    facts.verify.push((
        format!("warpmp ecdlp check {} --sample 100", quoted(folder)),
        "reads all files, makes 100 walks again by independent code, and checks the logarithm",
    ));
    Ok(facts)
}
