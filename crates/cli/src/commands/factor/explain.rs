//! `warpmp explain ecm`: how curves would be computed, without doing it.

use warpmp_numtheory::factor::{CurveLayout, CurvePlan, Engine, SecondStage};

use super::bounds_of;
use crate::{
    args::ExplainEcm,
    console,
    engine::cpu_name,
    error::{Result, plural},
    summary::scaled,
};

/// Runs the command.
pub(crate) fn run(args: &ExplainEcm) -> Result<()> {
    let bounds = bounds_of(args.b2, args.b1)?;
    let (engine, name) = super::engine_of(args.device.selector, false)?;
    let plan = engine.explain(args.bits, bounds, args.curves.map(|curves| curves as usize));
    let is_too_long = engine.device().is_some() && matches!(plan.layout, CurveLayout::Cores { .. });
    let name = if is_too_long {
        let most = Engine::MOST_DEVICE_BITS;
        format!("{}: the curves of integers with more than {most} bits are not for {name}", cpu_name())
    } else {
        name
    };
    console::print(&format!(
        "command    ecm: curves of family 3 modulo integers of {} bits, B1 {}, B2 {}\n\
         device     {name}\n\
         layout     {}\n\
         together   {} curves{}\n\
         stage 1    {}\n\
         stage 2    {}\n\
         memory     {}\n\
         why        {}\n",
        args.bits,
        bounds.b1(),
        bounds.b2(),
        layout(&plan.layout),
        plan.together,
        plan.launch.map_or_else(String::new, |launch| format!(", {launch} a launch: the launches take turns")),
        first(&plan),
        plan.second.as_ref().map_or_else(|| "none: B2 is not above B1".into(), |it| second(it, &plan.layout)),
        memory(&plan),
        why(&plan.layout),
    ))
}

fn layout(layout: &CurveLayout) -> String {
    match layout {
        CurveLayout::Cores { instructions, curves } => {
            format!("{curves} curve{} of a thread side by side, by {instructions}", plural(*curves as u64))
        }
        CurveLayout::Device { limbs, lanes, limbs_of_lane, is_lazy, .. } => {
            let spare = if *is_lazy { "residues are not reduced" } else { "residues are reduced: no bits to spare" };
            format!(
                "{limbs} limbs of 32 bits; {lanes} lane{} a curve, {limbs_of_lane} limb{} each; {spare}",
                plural((*lanes).into()),
                plural((*limbs_of_lane).into()),
            )
        }
    }
}

fn first(plan: &CurvePlan) -> String {
    let bits = format!("{:.0} bits of the exponent", plan.exponent_bits);
    match &plan.layout {
        CurveLayout::Cores { .. } => format!("{bits}; 5 products and 4 squares a bit"),
        CurveLayout::Device { wide_products, .. } => {
            let products = wide_products[0];
            format!("{bits}; 4 products, 4 squares and a product by a word a bit: {products:.0} wide products")
        }
    }
}

fn second(stage: &SecondStage, layout: &CurveLayout) -> String {
    let SecondStage { width, reach, babies, giants, pairs } = stage;
    let points = format!(
        "w {width}, U {}: {babies} baby steps up to {reach}, {giants} giant steps, {} pairs",
        stage.ratio(),
        scaled(*pairs)
    );
    match layout {
        CurveLayout::Cores { .. } => points,
        CurveLayout::Device { wide_products, .. } => {
            format!("{points}: {} wide products, and an inversion for 64 giant steps", scaled(wide_products[1]))
        }
    }
}

fn memory(plan: &CurvePlan) -> String {
    match &plan.layout {
        CurveLayout::Cores { .. } => "the points of the baby steps, in the caches".into(),
        CurveLayout::Device { bytes, .. } => format!("{bytes} bytes a curve"),
    }
}

const fn why(layout: &CurveLayout) -> &'static str {
    match layout {
        CurveLayout::Cores { .. } => "the fastest instructions of this processor; w and U with the fewest products",
        CurveLayout::Device { .. } => {
            "the fewest lanes a curve whose registers hold its points, more where few curves leave the device idle; \
             w and U with the fewest products"
        }
    }
}
