//! `warpmp ecm --campaign DIR`: curves that go on after a kill.

use std::path::Path;

use num_bigint::BigUint;
use serde_json::{Value, json};
use warpmp::Selector;
use warpmp_numtheory::factor::{
    Bounds, Effort, Engine, Job, Sigma, Verdict,
    campaign::{Aside, Begun, Campaign, Certificate, FolderError, Mode, Opened, Specification, Status},
};

use super::{FactorError, any_seed, digits_of, report};
use crate::{
    args::{Ecm, SummaryArgs},
    commands::{campaign::shell, note_opened},
    console,
    error::{Error, Result, plural},
    interrupt::Closing,
    progress::Progress,
    summary::scaled_seconds,
};
use report::Finds;

/// Seconds that a unit takes about on the processor's cores.
const UNIT_SECONDS: f64 = 20.0;
/// Seconds of a core for a curve of 512 bits, both stages, in units of B1. It only decides how large a unit is.
const SECONDS_OF_A_CURVE: f64 = 8e-7;
/// Factors whose expected curves `status` tells.
const DIGITS: [u32; 10] = [20, 25, 30, 35, 40, 45, 50, 55, 60, 65];

/// Begins a campaign or goes on with it.
pub(super) fn run(args: &Ecm, folder: &Path, numbers: &[BigUint], bounds: Bounds, curves: u64) -> Result<()> {
    let attempts = curves.saturating_mul(numbers.len() as u64);
    let engine = super::engine_for(args.device.selector, attempts, args.common.summary.hides_notes())?;
    let mode = args.sharing.mode(None)?;
    let attempt = || {
        let wanted = wanted(args, folder, &engine, numbers, bounds, curves)?;
        Ok((Opened::new(folder, &wanted, mode)?, wanted))
    };
    // Of several processes that begin a campaign at the same time one writes its specification, and the others take part in that campaign.
    let (entered, specification) = match attempt() {
        Err(Error::Factor(FactorError::Campaign(error)))
            if mode.is_shared && matches!(*error, FolderError::OtherCampaign { .. }) =>
        {
            attempt()
        }
        attempted => attempted,
    }?;
    work(&engine, (folder, mode), entered, &specification, args.common.summary)
}

/// The campaign that is asked for; what is not named is the directory's.
fn wanted(
    args: &Ecm,
    folder: &Path,
    engine: &Engine,
    numbers: &[BigUint],
    bounds: Bounds,
    curves: u64,
) -> Result<Specification> {
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
    // A first curve that is asked for is never passed over: if the directory has another one, it has another campaign.
    let asked = args.sigma.clone().or_else(|| args.seed.map(|seed| Sigma::suyama(seed >> 1)));
    let sigma = asked.or(sigma).unwrap_or_else(|| Sigma::suyama(any_seed() >> 1));
    let unit = unit.or(args.unit).unwrap_or_else(|| unit_curves(engine, numbers, bounds));
    // Fewer curves than before take none away.
    Ok(Specification::new(numbers, bounds, &sigma, curves.max(there), unit).map_err(FactorError::from)?)
}

/// Goes on with the campaign of a directory.
pub(crate) fn resume(folder: &Path, selector: Selector, mode: Mode, summary: SummaryArgs) -> Result<()> {
    let specification = Campaign::open(folder).map_err(failed)?.specification().clone();
    let curves = specification.curves().saturating_mul(specification.numbers().len() as u64);
    let engine = super::engine_for(selector, curves, summary.hides_notes())?;
    let entered = Opened::new(folder, &specification, mode)?;
    work(&engine, (folder, mode), entered, &specification, summary)
}

pub(super) fn failed(error: FolderError) -> Error {
    warpmp_numtheory::Error::from(error).into()
}

/// Curves of a unit on each integer: as many as fill a device, or whole vectors on all cores for some seconds.
fn unit_curves(engine: &Engine, numbers: &[BigUint], bounds: Bounds) -> u64 {
    let threads = rayon::current_num_threads() as u64;
    let bits = numbers.iter().map(BigUint::bits).max().unwrap_or(1) as f64;
    let seconds = SECONDS_OF_A_CURVE * bounds.b1() as f64 * (bits / 512.0).powi(2).max(0.05);
    let integers = (numbers.len() as u64).clamp(1, 256);
    let fit = (UNIT_SECONDS * threads as f64 / seconds / integers as f64) as u64;
    let together = engine.curves_together(numbers.iter().map(BigUint::bits), bounds);
    let least = (together as u64).div_ceil(integers).max(1);
    if engine.device().is_some() {
        return least;
    }
    (fit / least * least).clamp(least, least.max(1 << 16))
}

fn work(
    engine: &Engine,
    (folder, mode): (&Path, Mode),
    (opened, aside): (Opened, Vec<Aside>),
    specification: &Specification,
    summary: SummaryArgs,
) -> Result<()> {
    let resume = || shell::resume(folder, mode);
    if let ([(path, damage), ..], true) = (opened.damaged(), opened.is_shared()) {
        let (path, is_broken, damage) = (path.display().to_string(), damage.is_broken(), damage.to_string());
        return Err(FactorError::InTheWay { path, damage, is_broken }.into());
    }
    tell_opened(&opened, &aside, folder, specification, summary.quiet);
    let failed = |error| match error {
        warpmp_numtheory::Error::Stopped => FactorError::Interrupted { resume: resume() }.into(),
        error => Error::from(error),
    };
    let before = opened.status(&looking(summary.quiet)).map_err(failed)?;
    let composites: Vec<BigUint> = before.known.numbers.iter().flat_map(|number| number.composites.clone()).collect();
    super::tell_long(engine, &composites, summary.hides_notes());
    let mut finds = Finds::new(summary.hides_notes());
    let mut each = |bounds: Bounds, job: &Job, verdict: &Verdict| finds.tell(bounds, job, verdict);
    let (attempts, seconds) = (before.attempts, before.seconds);
    let status = {
        let _closing = Closing::new();
        let progress = Progress::new(Some(super::STEPS), "curves", summary.quiet);
        opened.run(before, engine, &progress, &mut each).map_err(failed)?
    };
    let lines = report::lines(&status.known.numbers);
    if !summary.json {
        console::print(&lines)?;
    }
    let (attempts, seconds) = (status.attempts - attempts, status.seconds - seconds);
    let text = format!(
        "{attempts} curve{} now, {} in all, in {}; {}",
        plural(attempts),
        status.attempts,
        scaled_seconds(seconds),
        level(&status.effort(specification)),
    );
    console::summary(summary, !summary.json, &object(specification, &status), &text)?;
    if let [path, ..] = &status.disputed[..] {
        return Err(FactorError::Disputed { path: path.display().to_string() }.into());
    }
    match status.slips {
        0 => Ok(()),
        _ if status.known.is_complete() => Ok(()),
        count => Err(FactorError::UnitSlips { count, resume: resume() }.into()),
    }
}

/// Progress of the look at all integers before any curve.
fn looking(quiet: bool) -> Progress {
    let progress = Progress::new(Some(super::STEPS), "integers", quiet);
    progress.phase("primality of the integers");
    progress
}

/// Tells what is found in a directory.
fn tell_opened(opened: &Opened, aside: &[Aside], folder: &Path, specification: &Specification, quiet: bool) {
    let shown = folder.display();
    note_opened(folder, opened.stale(), opened.restored(), quiet);
    if let (Some(before), false) = (opened.extended(), quiet) {
        let (before, now) = (before.curves(), specification.curves());
        console::note(&format!("note: {shown} is extended: {before} curves on each integer before, {now} from now on"));
    }
    for aside in aside {
        console::note(&format!("{aside}, and its curves are made again"));
    }
    match (opened.slipped() as u64, quiet) {
        (0, _) | (_, true) => {}
        (units, false) => console::note(&format!(
            "note: the processor made mistakes in {units} unit{}; their curves are made again",
            plural(units)
        )),
    }
}

/// The level that is reached.
pub(super) fn level(effort: &Effort) -> String {
    let reached = effort.level();
    format!("t{reached:.1}: a factor of {reached:.1} digits is still hidden with a probability of 1/e")
}

/// The expected curves for factors of so many digits: one level that is reached, and two that are not.
pub(super) fn expected(specification: &Specification, effort: &Effort) -> String {
    let expected = DIGITS.map(|digits| (digits, Status::expected(specification, digits)));
    let first = expected.iter().take_while(|(_, curves)| *curves <= effort.curves() as f64).count().saturating_sub(1);
    let expected = expected[first..].iter().take(3).map(|(digits, curves)| format!("{digits}: {curves:.0}"));
    expected.collect::<Vec<_>>().join(", ")
}

/// Tells how far the campaign of a directory is.
pub(crate) fn status(folder: &Path, json: bool) -> Result<()> {
    let campaign = Campaign::open(folder).map_err(failed)?;
    let contents = campaign.contents().map_err(failed)?;
    let specification = campaign.specification();
    let status = Status::new(specification, &contents, &looking(json))?;
    let effort = status.effort(specification);
    if json {
        return console::report_object(&object(specification, &status));
    }
    let complete = status.known.numbers.iter().filter(|it| it.is_complete()).count();
    let (curves, done) = (specification.curves(), effort.curves());
    let bounds = specification.bounds().map_or_else(String::new, |it| format!("B1 {}, B2 {}", it.b1(), it.b2()));
    let sigma = specification.sigma().map(|sigma| sigma.to_string()).unwrap_or_default();
    let left = match status.seconds_left() {
        Some(seconds) => format!("{} left", scaled_seconds(seconds)),
        None => "nothing is done yet".into(),
    };
    let mut lines = vec![
        format!("integers   {}, {complete} factored completely", status.known.numbers.len()),
        format!("curves     {done} of {curves} on each integer, {} of {} units", status.units[0], status.units[1]),
        format!("           from sigma {sigma} on, {bounds}"),
        format!("level      {}", level(&effort)),
        format!("expected   curves for a factor of so many digits, {}", expected(specification, &effort)),
        format!("time       {} of work, {left}", scaled_seconds(status.seconds)),
    ];
    let found = contents.done.iter().flat_map(|it| &it.made.found);
    lines.extend(found.map(|it| format!("found      {} by sigma {}, stage {}", it.divisor, it.sigma, it.stage)));
    lines.extend(contents.damaged.iter().map(|(path, damage)| format!("not trusted  {}: {damage}", path.display())));
    lines.extend(
        status.disputed.iter().map(|path| format!("disputed   {}: another result of its unit", path.display())),
    );
    if status.slips > 0 {
        lines.push(format!("slips      {} of {} curves: the processor made mistakes", status.slips, status.attempts));
    }
    console::report(&(lines.join("\n") + "\n"))
}

fn object(specification: &Specification, status: &Status) -> Value {
    let mut numbers = status.known.numbers.iter().map(report::object).collect::<Vec<_>>();
    for number in &mut numbers {
        // Certificates count the attempts of a unit, not those on an integer.
        number.as_object_mut().and_then(|it| it.remove("attempts"));
    }
    let expected = DIGITS.map(|digits| json!({ "digits": digits, "curves": Status::expected(specification, digits) }));
    let longest = status.known.numbers.iter().flat_map(|it| &it.composites).map(digits_of).max();
    let effort = status.effort(specification);
    json!({
        "op": "ecm", "integers": numbers.len(), "complete": status.known.numbers.iter().filter(|it| it.is_complete()).count(),
        "curves": specification.curves(), "curves_done": effort.curves(), "units": status.units[1],
        "units_done": status.units[0], "sigma": specification.sigma().map(|it| it.to_string()),
        "b1": specification.bounds().map(Bounds::b1), "b2": specification.bounds().map(Bounds::b2),
        "disputed": status.disputed, "attempts": status.attempts, "slips": status.slips, "level": effort.level(), "expected": expected,
        "seconds": status.seconds, "seconds_left": status.seconds_left(), "numbers": numbers,
        "longest_composite_digits": longest,
    })
}
