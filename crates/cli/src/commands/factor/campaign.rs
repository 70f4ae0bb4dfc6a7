//! `warpmp ecm --campaign DIR`: curves that go on after a kill.

use std::path::Path;

use num_bigint::BigUint;
use serde_json::json;
use warpmp::Selector;
use warpmp_numtheory::factor::{
    Bounds, Engine, Job, Sigma, Verdict,
    campaign::{Begun, Campaign, Certificate, FolderError, Opened, Specification, Status},
};

use super::{FactorError, any_seed, digits_of, report};
use crate::{
    args::{Ecm, SummaryArgs},
    console,
    error::{Error, Result, plural},
    interrupt::Closing,
    progress::Progress,
    summary::scaled_seconds,
};
use report::Finds;

/// Seconds that a unit takes about.
const UNIT_SECONDS: f64 = 20.0;
/// Seconds of a core for a curve of 512 bits, both stages, in units of B1. It only decides how large a unit is.
const SECONDS_OF_A_CURVE: f64 = 8e-7;
/// Factors whose expected curves `status` tells.
const DIGITS: [u32; 10] = [20, 25, 30, 35, 40, 45, 50, 55, 60, 65];

/// Begins a campaign or goes on with it.
pub(super) fn run(args: &Ecm, folder: &Path, numbers: &[BigUint], bounds: Bounds, curves: u64) -> Result<()> {
    let attempts = curves.saturating_mul(numbers.len() as u64);
    let engine = super::engine_for(args.device.selector, attempts, args.common.summary.hides_notes())?;
    // The first curve, the curves of a unit, and all curves, as the directory has them.
    let (sigma, unit, there) = match Campaign::begun(folder).map_err(failed)? {
        Begun::Nothing => (None, None, 0),
        Begun::Campaign(there) => (there.sigma(), Some(there.unit_curves()), there.curves()),
        Begun::Certificates(there) => (
            there.first().and_then(Certificate::sigma),
            there.first().map(Certificate::unit_curves),
            there.iter().map(Certificate::end).max().unwrap_or(0),
        ),
    };
    let sigma = args.sigma.clone().or(sigma);
    let sigma = sigma.unwrap_or_else(|| Sigma::suyama(args.seed.unwrap_or_else(any_seed) >> 1));
    let unit = unit.or(args.unit).unwrap_or_else(|| unit_curves(&engine, numbers, bounds));
    // Fewer curves than before take none away.
    let wanted = Specification::new(numbers, bounds, &sigma, curves.max(there), unit).map_err(FactorError::from)?;
    work(&engine, folder, &wanted, args.common.summary)
}

/// Goes on with the campaign of a directory.
pub(crate) fn resume(folder: &Path, selector: Selector, summary: SummaryArgs) -> Result<()> {
    let specification = Campaign::open(folder).map_err(failed)?.specification().clone();
    let curves = specification.curves().saturating_mul(specification.numbers().len() as u64);
    let engine = super::engine_for(selector, curves, summary.hides_notes())?;
    work(&engine, folder, &specification, summary)
}

fn failed(error: FolderError) -> Error {
    warpmp_numtheory::Error::from(error).into()
}

/// Curves of a unit on each integer: as many as fill a device, or whole vectors on all cores for some seconds.
fn unit_curves(engine: &Engine, numbers: &[BigUint], bounds: Bounds) -> u64 {
    let threads = rayon::current_num_threads() as u64;
    let most = numbers.iter().map(BigUint::bits).max().unwrap_or(1);
    let bits = most as f64;
    let seconds = SECONDS_OF_A_CURVE * bounds.b1() as f64 * (bits / 512.0).powi(2).max(0.05);
    let integers = (numbers.len() as u64).clamp(1, 256);
    let fit = (UNIT_SECONDS * threads as f64 / seconds / integers as f64) as u64;
    let least = (engine.curves_together(most) as u64).div_ceil(integers).max(1);
    if engine.device().is_some() {
        return least;
    }
    (fit / least * least).clamp(least, least.max(1 << 16))
}

fn work(engine: &Engine, folder: &Path, specification: &Specification, summary: SummaryArgs) -> Result<()> {
    let (opened, aside) = Opened::new(folder, specification)?;
    let shown = folder.display();
    if let (Some(holder), false) = (opened.stale(), summary.quiet) {
        console::note(&format!("note: {shown} was left by {holder}, which has ended; going on from its certificates"));
    }
    if let Some(restored) = opened.restored() {
        let certificates = restored.certificates;
        console::note(&format!("note: {shown}/campaign.json is written anew; {certificates} certificates fit it"));
    }
    for aside in &aside {
        console::note(&format!("{aside}, and its curves are made again"));
    }
    let before = opened.status();
    let mut finds = Finds::new(summary.hides_notes());
    let mut each = |bounds: Bounds, job: &Job, verdict: &Verdict| finds.tell(bounds, job, verdict);
    let status = {
        let _closing = Closing::new();
        let progress = Progress::new(Some(super::STEPS), "curves", summary.quiet);
        opened.run(engine, &progress, &mut each)
    };
    let status = status.map_err(|error| match error {
        warpmp_numtheory::Error::Stopped => FactorError::Interrupted { folder: shown.to_string() }.into(),
        error => Error::from(error),
    })?;
    let lines = report::lines(&status.known.numbers);
    if !summary.json {
        console::print(&lines)?;
    }
    let (attempts, seconds) = (status.attempts - before.attempts, status.seconds - before.seconds);
    let text = format!(
        "{attempts} curve{} now, {} in all, in {}; {}",
        plural(attempts),
        status.attempts,
        scaled_seconds(seconds),
        level(&status),
    );
    console::summary(summary, !summary.json, &object(specification, &status), &text)?;
    match status.slips {
        0 => Ok(()),
        count => Err(FactorError::Slips { count, attempts: status.attempts }.into()),
    }
}

/// The level that is reached.
fn level(status: &Status) -> String {
    let reached = status.effort.level();
    format!("t{reached:.1}: a factor of {reached:.1} digits is still hidden with a probability of 1/e")
}

/// Tells how far the campaign of a directory is.
pub(crate) fn status(folder: &Path, json: bool) -> Result<()> {
    let campaign = Campaign::open(folder).map_err(failed)?;
    let contents = campaign.contents().map_err(failed)?;
    let specification = campaign.specification();
    let status = Status::new(specification, &contents);
    if json {
        return console::report(&(object(specification, &status) + "\n"));
    }
    let complete = status.known.numbers.iter().filter(|it| it.is_complete()).count();
    let (curves, done) = (specification.curves(), status.effort.curves());
    let bounds = specification.bounds().map_or_else(String::new, |it| format!("B1 {}, B2 {}", it.b1(), it.b2()));
    let sigma = specification.sigma().map(|sigma| sigma.to_string()).unwrap_or_default();
    let expected = DIGITS.map(|digits| (digits, Status::expected(specification, digits)));
    // One level that is reached, and two that are not.
    let first = expected.iter().take_while(|(_, expected)| *expected <= done as f64).count().saturating_sub(1);
    let expected: Vec<String> =
        expected[first..].iter().take(3).map(|(d, curves)| format!("{d}: {curves:.0}")).collect();
    let left = match status.seconds_left() {
        Some(seconds) => format!("{} left", scaled_seconds(seconds)),
        None => "nothing is done yet".into(),
    };
    let mut lines = vec![
        format!("integers   {}, {complete} factored completely", status.known.numbers.len()),
        format!("curves     {done} of {curves} on each integer, {} of {} units", status.units[0], status.units[1]),
        format!("           from sigma {sigma} on, {bounds}"),
        format!("level      {}", level(&status)),
        format!("expected   curves for a factor of so many digits, {}", expected.join(", ")),
        format!("time       {} of work, {left}", scaled_seconds(status.seconds)),
    ];
    let found = contents.done.iter().flat_map(|it| &it.made.found);
    lines.extend(found.map(|it| format!("found      {} by sigma {}, stage {}", it.divisor, it.sigma, it.stage)));
    lines.extend(contents.damaged.iter().map(|(path, damage)| format!("not trusted  {}: {damage}", path.display())));
    if status.slips > 0 {
        lines.push(format!("slips      {} of {} curves: the processor made mistakes", status.slips, status.attempts));
    }
    console::report(&(lines.join("\n") + "\n"))
}

fn object(specification: &Specification, status: &Status) -> String {
    let mut numbers = status.known.numbers.iter().map(report::object).collect::<Vec<_>>();
    for number in &mut numbers {
        // Certificates count the attempts of a unit, not those on an integer.
        number.as_object_mut().and_then(|it| it.remove("attempts"));
    }
    let expected = DIGITS.map(|digits| json!({ "digits": digits, "curves": Status::expected(specification, digits) }));
    let longest = status.known.numbers.iter().flat_map(|it| &it.composites).map(digits_of).max();
    let object = json!({
        "op": "ecm", "integers": numbers.len(), "complete": status.known.numbers.iter().filter(|it| it.is_complete()).count(),
        "curves": specification.curves(), "curves_done": status.effort.curves(), "units": status.units[1],
        "units_done": status.units[0], "sigma": specification.sigma().map(|it| it.to_string()),
        "b1": specification.bounds().map(Bounds::b1), "b2": specification.bounds().map(Bounds::b2),
        "attempts": status.attempts, "slips": status.slips, "level": status.effort.level(), "expected": expected,
        "seconds": status.seconds, "seconds_left": status.seconds_left(), "numbers": numbers,
        "longest_composite_digits": longest,
    });
    object.to_string()
}
