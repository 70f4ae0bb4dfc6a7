//! What a page tells about a campaign of curves.

use std::path::Path;

use warpmp_numtheory::factor::campaign::{Campaign, Status};

use super::campaign::{expected, failed, level};
use crate::{
    commands::campaign::{
        facts::{Alarm, Facts, Span},
        shell::quoted,
    },
    error::Result,
    summary::duration,
};

/// Gathers the facts of a directory.
pub(crate) fn gather(folder: &Path) -> Result<Facts> {
    let campaign = Campaign::open(folder).map_err(failed)?;
    let contents = campaign.contents().map_err(failed)?;
    let specification = campaign.specification();
    let status = Status::new(specification, &contents, &())?;
    let [done, all] = status.units;
    let effort = status.effort(specification);
    let spans = contents.done.iter().map(|it| Span {
        host: it.made.host.clone(),
        device: it.made.device.clone(),
        end: it.made.at,
        seconds: it.made.seconds,
        amount: it.made.attempts as f64,
    });
    let mut facts = Facts { spans: spans.collect(), ..Facts::of(&campaign, &contents)? };
    let numbers = specification.numbers();
    let complete = status.known.numbers.iter().filter(|it| it.is_complete()).count();
    facts.title = match &numbers[..] {
        [number] => format!("Elliptic curves on {number}"),
        numbers => format!("Elliptic curves on {} integers", numbers.len()),
    };
    facts.is_complete = status.known.is_complete() || done == all;
    facts.share = if facts.is_complete { 1.0 } else { done as f64 / all.max(1) as f64 };
    facts.amount_name = "curves";
    let bounds = specification.bounds().map_or_else(String::new, |it| format!("B1 {}, B2 {}", it.b1(), it.b2()));
    let sigma = specification.sigma().map(|sigma| sigma.to_string()).unwrap_or_default();
    facts.summary = vec![
        ("integers", format!("{}, {complete} factored completely", numbers.len())),
        ("curves", format!("{} of {} on each integer, from sigma {sigma} on", effort.curves(), specification.curves())),
        ("bounds", bounds),
        ("units", format!("{done} of {all}")),
        ("level", level(&effort)),
        ("time", format!("{} of work", duration(status.seconds, ""))),
    ];
    // Curves of the units that are left, as many as the units before had: less once integers are factored.
    let left = if facts.is_complete { 0.0 } else { status.attempts as f64 / done.max(1) as f64 * (all - done) as f64 };
    facts.estimate = facts.estimate_of(left);
    facts
        .estimate
        .push(("expected", format!("curves for a factor of so many digits, {}", expected(specification, &effort))));
    let found = contents.done.iter().flat_map(|it| &it.made.found);
    facts.finds = found
        .map(|it| {
            let number = numbers.get(it.number as usize).map_or_else(String::new, ToString::to_string);
            ("divisor", format!("{} of {number:.120}, by sigma {}, stage {}", it.divisor, it.sigma, it.stage))
        })
        .collect();
    if status.slips > 0 {
        facts.alarms.push(Alarm {
            what: format!("{} of {} curves", status.slips, status.attempts),
            why: "the processor made mistakes; without --shared `warpmp resume` makes their units again".into(),
        });
    }
    let (b1, b2) = specification.bounds().map_or((0, 0), |it| (it.b1(), it.b2()));
    if let Some(find) = contents.done.iter().flat_map(|it| &it.made.found).next()
        && let Some(number) = numbers.get(find.number as usize)
    {
        facts.verify.push((
            format!("warpmp ecm {number} --b1 {b1} --b2 {b2} --sigma {}", find.sigma),
            "repeats the first find; every divisor can be checked by a division",
        ));
    }
    facts
        .verify
        .push((format!("warpmp status {}", quoted(folder)), "reads all certificates, and divides by all divisors"));
    Ok(facts)
}
