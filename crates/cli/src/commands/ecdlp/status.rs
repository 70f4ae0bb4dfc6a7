//! `warpmp ecdlp status`: how far a campaign is, and how long it may take.

use serde_json::{Value, json};
use warpmp_curves::campaign::{self, Status};

use super::{args, draw, look, meetings_text, part};
use crate::{
    console,
    error::{Result, plural},
    io::output::Output,
    summary::{duration, scaled},
};

/// The probabilities whose quantiles are told.
pub(super) const QUANTILES: [f64; 3] = [0.1, 0.5, 0.9];

/// Runs the command.
pub(super) fn run(args: &args::Status) -> Result<()> {
    let campaign = look(&args.folder)?;
    let status = campaign::status(&campaign)?;
    if let Some(file) = &args.plot {
        let svg = draw::campaign(&status).svg()?;
        Output::to(file)?.write(svg.as_bytes())?;
    }
    if args.object.json { console::report_object(&object(&status)) } else { console::report(&for_people(&status)) }
}

fn object(status: &Status) -> Value {
    let estimate = status.estimate();
    let sessions: Vec<_> = status
        .sessions
        .iter()
        .map(|session| {
            json!({
                "number": format!("{:08x}", session.number), "device": session.device, "walks": session.walks,
                "begun": session.begun, "seconds": session.seconds, "steps": session.steps, "points": session.points,
                "ended": session.ended,
            })
        })
        .collect();
    let left = QUANTILES.map(|probability| {
        json!({"probability": probability, "steps": estimate.quantile(probability) * status.expected,
               "card_days": days(status, estimate.quantile(probability))})
    });
    let damaged: Vec<_> = status
        .damaged
        .iter()
        .map(|(path, damage)| json!({"file": path.display().to_string(), "reason": damage.to_string()}))
        .collect();
    json!({
        "curve": status.problem.name, "bits": status.problem.group.p.bits(), "solved": status.solution,
        "steps": status.steps, "points": status.points, "work": status.work, "expected_steps": status.expected,
        "share": status.share(), "seconds": status.seconds, "steps_per_second": status.rate(),
        "left_steps": estimate.mean() * status.expected, "left_card_days": days(status, estimate.mean()), "left": left,
        "meetings": status.meetings, "saved_walks_files": status.saved, "sessions": sessions,
        "not_trusted": damaged,
    })
}

/// Days of one engine; none before it has made a step.
fn days(status: &Status, share: f64) -> Option<f64> {
    (status.steps > 0).then(|| status.days(share))
}

fn for_people(status: &Status) -> String {
    let name = if status.problem.name.is_empty() { "a curve" } else { &status.problem.name };
    let open = status.sessions.iter().filter(|session| !session.ended).count();
    let mut lines = vec![
        format!("curve      {name}, {} bits", status.problem.group.p.bits()),
        format!(
            "steps      {} in {} of engines, {} steps/s an engine",
            scaled(status.steps as f64),
            duration(status.seconds, ""),
            scaled(status.rate())
        ),
        format!("points     {}: walks of {} steps", status.points, scaled(status.work)),
        format!("share      {} of the expected {} steps", part(status.work, status.expected), scaled(status.expected)),
        format!("meetings   {}", meetings_text(status.meetings)),
        format!(
            "sessions   {}, {open} of them at work or killed; {} file{} of walks that wait",
            status.sessions.len(),
            status.saved,
            plural(status.saved as u64)
        ),
    ];
    match &status.solution {
        Some(k) => lines.push(format!("solved     k = {k}")),
        None => lines.extend(left(status)),
    }
    lines.extend(status.damaged.iter().map(|(path, damage)| format!("not trusted  {}: {damage}", path.display())));
    lines.join("\n") + "\n"
}

/// The steps that remain, and the time of one engine.
fn left(status: &Status) -> Vec<String> {
    let estimate = status.estimate();
    // Sessions of the processor have no cards.
    let of = if status.sessions.iter().all(|session| session.device == "cpu") { "" } else { "card-" };
    let line = |share: f64| {
        let time = days(status, share).map(|days| format!(", {}", duration(86400.0 * days, of)));
        format!("{} steps{}", scaled(share * status.expected), time.unwrap_or_default())
    };
    let quantile = |probability: f64| {
        format!("           {} at most, with a probability of {probability}", line(estimate.quantile(probability)))
    };
    let mean = format!("left       {} on average", line(estimate.mean()));
    std::iter::once(mean).chain(QUANTILES.map(quantile)).collect()
}
