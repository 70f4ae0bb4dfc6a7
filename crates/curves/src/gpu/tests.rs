//! Walks of the simulator against the definition, and their cost.

use super::*;
use warpmp_kernel::ir::{Int, Op};

use crate::challenges;
use crate::kernels::Reduction;
use crate::search::residue_of;
use crate::walk::Settings;
use crate::walk::reference::Reference;

/// Every report of a small launch is the end of its walk, by the definition; walks in long cycles come out of them.
fn reports_are_true<const W: usize>(name: &str, branch_bits: u32) {
    let problem = challenges::named(name).unwrap();
    let settings = Settings { branch_bits, distinguished_bits: 5, seed: 3 };
    let walk = Arc::new(Walk::<W>::new(&problem, settings).unwrap());
    let device: Arc<dyn Device> = warpmp_device::open_sim();
    let layout = Layout { blocks: 1, threads: 64, points: 3, capacity: 1024 };
    let mut engine = Engine::new(&device, &walk, layout, 5).unwrap();
    let mut reports = engine.advance(20, &mut || {}).unwrap();
    reports.extend(engine.advance(17, &mut || {}).unwrap());
    let (more, left) = engine.look().unwrap();
    reports.extend(more);
    reports.extend(engine.advance(30, &mut || {}).unwrap());
    assert_eq!(engine.steps(), (20 + 17 + 24 + 30) * 192);
    let expected = 91 * 192 / 32;
    assert!(reports.len() > expected / 2 && reports.len() < 2 * expected, "{} reports", reports.len());
    if branch_bits < 5 {
        assert!(left > 0, "no walk was in a cycle");
    }
    let reference = Reference::new(&problem, settings).unwrap();
    for report in &reports {
        let end = walk.replay(report.start, 1 << 16, &|| true).unwrap();
        assert_eq!(hash_of(limbs_of(&end.x, walk.limbs)), report.hash, "{report:?}");
    }
    for report in reports.iter().step_by(23) {
        let x = reference.replay(report.start, 1 << 16).unwrap();
        let mut limbs = x.to_u32_digits();
        limbs.resize(walk.limbs as usize, 0);
        assert_eq!(hash_of(limbs), report.hash, "{report:?}");
    }
}

/// The limb products that the head of the walk's kernel names: 5 products and a square a step, and one product for the
/// next round; `2L²` wide products each, `L` less in each of `short` products, and `L² + L(L + 1)/2` a square (a product below 4 limbs).
fn wide_products<const W: usize>(name: &str, short: u64) {
    let problem = challenges::named(name).unwrap();
    let settings = Settings { branch_bits: 11, distinguished_bits: 30, seed: 3 };
    let walk = Arc::new(Walk::<W>::new(&problem, settings).unwrap());
    let device: Arc<dyn Device> = warpmp_device::open_sim();
    let layout = Layout { blocks: 1, threads: 32, points: 4, capacity: 64 };
    let mut engine = Engine::new(&device, &walk, layout, 0).unwrap();
    device.reset_counters();
    engine.advance(2, &mut || {}).unwrap();
    let counters = device.counters().unwrap();
    let round = counters.section("round").unwrap();
    let wide = |op: Op| round.op(op).threads;
    // Addresses of rows in global memory are wide products, too: of each piece of three numbers read and three written.
    let steps = 32 * 4 * 2;
    let limbs = u64::from(walk.limbs);
    let pieces = match limbs {
        4 => 1,
        _ => 2,
    };
    let square = if limbs < 4 { limbs * limbs } else { limbs * (limbs + 1) / 2 };
    let arithmetic = match engine.kernel.constants.reduction {
        Reduction::Montgomery => (5 * 2 * limbs - short) * limbs + square + limbs * limbs,
        // A fold is a row, and so is the factor of the slope's square; two canonical forms.
        Reduction::Fold(_) => 5 * (limbs * limbs + limbs) + square + limbs + limbs + 2 * limbs,
    };
    assert_eq!(engine.kernel.constants.step_products(), arithmetic);
    // The first point of a round is read by itself.
    let addresses = 6 * pieces * steps + 3 * pieces * 32 * 2;
    assert_eq!(wide(Op::MulWide(Int::U32)) + wide(Op::MadWide(Int::U32)), arithmetic * steps + addresses, "{name}");
}

#[test]
fn a_step_takes_five_products_and_a_square() {
    wide_products::<2>("eccp-79", 1);
    wide_products::<2>("eccp-89", 0);
    wide_products::<2>("eccp-97", 2);
    wide_products::<2>("eccp-109", 1);
    wide_products::<2>("secp112r1", 0);
    wide_products::<3>("eccp-131", 2);
}

#[test]
fn the_simulators_walks() {
    reports_are_true::<2>("eccp-79", 4);
    reports_are_true::<2>("eccp-109", 6);
    reports_are_true::<2>("secp112r1", 4);
    reports_are_true::<3>("eccp-131", 3);
}

/// The states of all walks, as an engine keeps them.
fn states<const W: usize>(engine: &mut Engine<W>) -> Vec<Spot<W>> {
    let limbs = engine.kernel.columns().limbs as usize;
    let mut spots = Vec::new();
    let spot = |walk: &[u32]| Spot { x: residue_of(&walk[2..2 + limbs]), y: residue_of(&walk[2 + limbs..]) };
    engine.suspend(&mut |walk| spots.push(spot(walk))).unwrap();
    spots
}

/// Walks in words, as an engine takes them.
fn in_words<const W: usize>(spots: &[Spot<W>], limbs: u32) -> Vec<u32> {
    let walk = |(start, spot): (usize, &Spot<W>)| -> Vec<u32> {
        [start as u32, 0].into_iter().chain(limbs_of(&spot.x, limbs)).chain(limbs_of(&spot.y, limbs)).collect()
    };
    spots.iter().enumerate().flat_map(walk).collect()
}

/// All walks are put into long cycles. Both engines leave them at the same points, and agree in each round before and after.
fn planted_cycles<const W: usize>(name: &str) {
    let problem = challenges::named(name).unwrap();
    let settings = Settings { branch_bits: 2, distinguished_bits: 30, seed: 3 };
    let walk = Arc::new(Walk::<W>::new(&problem, settings).unwrap());
    // With four branches every few steps begin a cycle; those of two points are left by themselves.
    let mut spots = walk.starts(0)[..640].to_vec();
    for _ in 0..100 {
        walk.round(&mut spots);
    }
    let mut ahead = spots.clone();
    for _ in 0..LOOK {
        walk.round(&mut ahead);
    }
    let mut trapped: Vec<Spot<W>> =
        spots.iter().zip(&ahead).filter(|(now, ahead)| now == ahead).map(|it| *it.0).collect();
    assert!(trapped.len() >= 64, "{} of 640 walks are in a cycle", trapped.len());
    trapped.truncate(64);
    let device: Arc<dyn Device> = warpmp_device::open_sim();
    let layout = Layout { blocks: 1, threads: 32, points: 2, capacity: 1024 };
    let mut engine = Engine::new(&device, &walk, layout, 0).unwrap();
    assert_eq!(engine.resume(&in_words(&trapped, walk.limbs)).unwrap(), 64);
    assert_eq!(states(&mut engine), trapped);
    let compare = |engine: &mut Engine<W>, spots: &mut Vec<Spot<W>>| {
        for round in 0..30 {
            engine.launch(1, false).unwrap();
            walk.round(spots);
            assert_eq!(states(engine), *spots, "{name}, round {round}");
        }
    };
    compare(&mut engine, &mut trapped);
    let before = trapped.clone();
    let (_, left) = engine.look().unwrap();
    for _ in 0..LOOK {
        walk.round(&mut trapped);
    }
    assert_eq!(walk.leave_cycles(&mut trapped), left as usize);
    assert_eq!((left, states(&mut engine)), (64, trapped.clone()));
    assert!(trapped.iter().zip(&before).all(|(now, before)| now != before && now.is_flagged()));
    compare(&mut engine, &mut trapped);
}

#[test]
fn cycles_planted_on_purpose_are_left() {
    planted_cycles::<2>("eccp-79");
    planted_cycles::<3>("eccp-131");
}
