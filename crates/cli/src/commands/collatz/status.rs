//! `warpmp collatz status`: the starts that are covered, and the missing ones.

use serde_json::json;
use warpmp_collatz::campaign::{Campaign, Contents, Sums};

use super::{
    args::Status,
    draw,
    folder::{LISTED, complete, line, look, names},
    range::starts,
};
use crate::{console, error::Result, io::output::Output, summary::scaled};

/// Runs the command.
pub(super) fn run(args: &Status) -> Result<()> {
    let campaign = look(&args.folder)?;
    let contents = campaign.contents()?;
    if let Some(file) = &args.plot {
        let svg = draw::campaign(&campaign, &contents).svg()?;
        Output::to(file)?.write(svg.as_bytes())?;
    }
    if args.object.json {
        print_json(&campaign, &contents)?;
    } else {
        print(&campaign, &contents)?;
    }
    if args.complete { complete(&args.folder, &campaign, &contents) } else { Ok(()) }
}

fn print(campaign: &Campaign, contents: &Contents) -> Result<()> {
    let specification = campaign.specification();
    let range = specification.whole();
    let gaps = specification.gaps(&contents.done);
    let sums: Sums = contents.done.iter().collect();
    let Sums { tested, overflowed, finished, seconds, .. } = sums;
    let covered = specification.covered(&contents.done);
    let mut lines = vec![
        format!("range      {}", starts(&range)),
        format!(
            "covered    {covered} numbers ({:.4} %), {} of {} windows",
            covered as f64 * 100.0 / range.count() as f64,
            contents.done.len(),
            specification.windows()
        ),
        format!("tested     {tested}, of them {finished} step by step on the host, {overflowed} in wide arithmetic"),
        format!("time       {seconds:.1} s of engines, {} numbers/s", scaled(covered as f64 / seconds.max(1e-9))),
    ];
    let parts = specification.parts().map(|part| {
        let range = if specification.extensions.is_empty() { String::new() } else { starts(part.range) + ": " };
        format!("scheme     {range}{}, windows of {} numbers", part.scheme, part.window_size())
    });
    lines.splice(1..1, parts);
    lines.push(format!("highest    {}", highest(&sums)));
    let [name, checksum] = specification.scheme.checksum(sums.checksum);
    lines.push(format!("{name:<10} {checksum}"));
    let missing = gaps.iter().take(LISTED);
    lines.extend(missing.map(|gap| format!("missing    {} numbers from {}", gap.count(), gap.from())));
    if gaps.len() > LISTED {
        lines.push(format!("missing    … and {} more gaps", gaps.len() - LISTED));
    }
    lines.extend(contents.damaged.iter().map(|damaged| format!("not trusted  {}", line(damaged))));
    lines.extend(
        contents.disputed.iter().map(|path| format!("disputed   {}: other figures for its window", path.display())),
    );
    lines.extend(
        names(contents).iter().take(LISTED).map(|name| format!("left alone  {name}: no certificate of this campaign")),
    );
    if contents.others.len() > LISTED {
        lines.push(format!("left alone  … and {} more files", contents.others.len() - LISTED));
    }
    if gaps.is_empty() {
        lines.push("complete: no gaps".into());
    }
    console::report(&(lines.join("\n") + "\n"))
}

fn print_json(campaign: &Campaign, contents: &Contents) -> Result<()> {
    let specification = campaign.specification();
    let sums: Sums = contents.done.iter().collect();
    let damaged: Vec<_> = contents
        .damaged
        .iter()
        .map(|(path, damage)| json!({"file": path.display().to_string(), "reason": damage.to_string()}))
        .collect();
    console::report_object(&json!({
        "range": specification.whole(), "scheme": specification.scheme, "extensions": specification.extensions,
        "windows": specification.windows().to_string(), "windows_done": contents.done.len(),
        "covered": specification.covered(&contents.done).to_string(), "gaps": specification.gaps(&contents.done),
        "complete": specification.missing(&contents.done) == 0,
        "tested": sums.tested.to_string(), "overflowed": sums.overflowed.to_string(),
        "finished": sums.finished.to_string(), "seconds": sums.seconds,
        "numbers_per_second": specification.covered(&contents.done) as f64 / sums.seconds.max(1e-9),
        "highest": sums.highest().map(|(start, value)| json!({"start": start.to_string(), "value": value.to_string()})),
        "highest_not_seen": sums.not_seen, "checksum": format!("{:016x}", sums.checksum),
        "not_trusted": damaged, "disputed": contents.disputed, "left_alone": names(contents),
    }))
}

/// The steps after which the highest value is taken: the rules of all schemes speak of them.
const STEPS: &str = "after steps of T: n/2 or (3n+1)/2";

/// The highest value, for people.
pub(super) fn highest(sums: &Sums) -> String {
    match (sums.highest(), sums.not_seen) {
        (Some((start, value)), 0) => format!("{value} from {start}, {STEPS}"),
        (Some((start, value)), windows) => format!("{value} from {start}, {STEPS}; not seen in {windows} windows"),
        (None, _) => "not seen by this scheme or engine".into(),
    }
}
