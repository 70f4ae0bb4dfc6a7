//! `warpmp ecdlp explain`: how a search would be done.

use warpmp_curves::{Instructions, campaign::points, kernels::Constants, search::Engine, walk::limbs};

use super::args::Explain;
use crate::{console, error::Result, summary::scaled};

/// Runs the command.
pub(super) fn run(args: &Explain) -> Result<()> {
    let problem = super::problem(&args.curve.curve, false)?;
    let engines = super::engines(args.device.selector, false)?;
    let plan = super::plan(&problem, &engines[0].0, engines.len(), args.curve.seed, &args.walk)?;
    let limbs = limbs(&problem.group.p);
    let expected = problem.expected_steps();
    let layout = plan.layout;
    // All engines together; each has the layout of the first one.
    let walks = layout.walks() as f64 * engines.len() as f64;
    let names: Vec<&str> = engines.iter().map(|(_, name)| name.as_str()).collect();
    let length = f64::from(plan.settings.distinguished_bits).exp2();
    let points = expected / length;
    let branches = 1_u32 << plan.settings.branch_bits;
    let place = match &engines[0].0 {
        Engine::Cpu | Engine::Cores(_) => format!(
            "all cores, {walks} walks by {}; walks of a group share an inversion\ntable      {branches} points in memory",
            Instructions::available(problem.group.p.bits())[0],
        ),
        Engine::Device(_) => format!(
            "{walks} walks: {}{} blocks of {} threads with {} points each; the points of a thread share an inversion\n\
             launch     {} rounds; a step takes {} wide products and {} bytes of memory, read and written\n\
             table      {branches} points, {} bytes of shared memory",
            if engines.len() > 1 { format!("{} engines, each of ", engines.len()) } else { String::new() },
            layout.blocks,
            layout.threads,
            layout.points,
            plan.rounds,
            Constants::new(problem.group.p.clone(), problem.group.a.clone(), limbs).step_products(),
            24 * limbs,
            8 * limbs * branches,
        ),
    };
    console::print(&format!(
        "curve      {}, {} bits, {limbs} limbs of 32 bits\n\
         device     {}\n\
         layout     {place}\n\
         points     distinguished: {} zero bits, one in {} steps\n\
         expected   {} steps, {} points, {} bytes of points\n\
         overhead   {} steps of walks that have not reported when two have met: {:.1} % of the expected steps\n",
        if problem.name.is_empty() { &args.curve.curve } else { &problem.name },
        problem.group.p.bits(),
        names.join(", "),
        plan.settings.distinguished_bits,
        scaled(length),
        scaled(expected),
        scaled(points),
        scaled(points * points::BYTES as f64),
        scaled(walks * length),
        100.0 * walks * length / expected,
    ))
}
