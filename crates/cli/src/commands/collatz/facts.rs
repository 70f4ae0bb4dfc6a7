//! What a page tells about a campaign.

use std::path::Path;

use warpmp_collatz::campaign::Sums;

use super::{folder::look, range::starts, status::highest};
use crate::{
    commands::campaign::{
        facts::{Facts, Span},
        shell::quoted,
    },
    error::Result,
    summary::duration,
};

/// Gathers the facts of a directory.
pub(crate) fn gather(folder: &Path) -> Result<Facts> {
    let campaign = look(folder)?;
    let contents = campaign.contents()?;
    let specification = campaign.specification();
    let range = specification.whole();
    let sums: Sums = contents.done.iter().collect();
    let missing = range.count().saturating_sub(sums.numbers);
    let spans = contents.done.iter().map(|it| Span {
        host: it.host.clone(),
        device: it.device.clone(),
        end: it.at,
        seconds: it.seconds(),
        amount: it.window.count() as f64,
    });
    let mut facts = Facts { spans: spans.collect(), ..Facts::of(&campaign, &contents)? };
    facts.title = format!("Collatz: {}", starts(&range));
    facts.share = sums.numbers as f64 / range.count() as f64;
    facts.is_complete = missing == 0;
    facts.cell_name = "windows";
    facts.amount_name = "numbers";
    facts.summary = vec![
        ("covered", format!("{} of {} numbers", sums.numbers, range.count())),
        ("windows", format!("{} of {}", sums.windows, specification.windows())),
        ("tested", format!("{}, of them {} step by step on the host", sums.tested, sums.finished)),
        ("time", format!("{} of engines", duration(sums.seconds, ""))),
        ("scheme", specification.parts().map(|part| part.scheme.to_string()).collect::<Vec<_>>().join("; ")),
    ];
    facts.estimate = facts.estimate_of(missing as f64);
    let [name, checksum] = specification.scheme.checksum(sums.checksum);
    let gaps = specification.gaps(&contents.done);
    facts.finds = vec![("highest value", highest(&sums)), ("checksum", format!("{name} {checksum}"))];
    facts.finds.extend(gaps.first().map(|gap| ("first gap", format!("{} numbers from {}", gap.count(), gap.from()))));
    let folder = quoted(folder);
    facts.verify.extend([
        (
            format!("warpmp collatz check {folder} --complete"),
            "recomputes all windows by an independent path: some hundred times the work of the campaign",
        ),
        (
            format!("warpmp collatz check {folder} --sample 0.01 --complete"),
            "recomputes one window in a hundred, and the samples of all others",
        ),
    ]);
    Ok(facts)
}
