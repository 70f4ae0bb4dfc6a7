//! The engines' walk against the definition, and against the formulas for its cycles.

use super::reference::Reference;
use super::*;
use crate::challenges;
use crate::field::integer;

fn settings(branch_bits: u32, distinguished_bits: u32) -> Settings {
    Settings { branch_bits, distinguished_bits, seed: 7 }
}

/// Walks of several starts, point by point, where two-cycles are frequent.
fn agrees<const W: usize>(name: &str, branch_bits: u32) {
    let problem = challenges::named(name).unwrap();
    let settings = settings(branch_bits, 6);
    let walk = Walk::<W>::new(&problem, settings).unwrap();
    let reference = Reference::new(&problem, settings).unwrap();
    for start in [0, 1, 4095, 4096, 10_000] {
        let mut spots = [walk.starts(start / BLOCK)[(start % BLOCK) as usize]];
        assert_eq!(spots[0], walk.start_coefficients(start).0);
        for x in reference.abscissas(start, 40) {
            walk.round(&mut spots);
            assert_eq!(integer(&spots[0].x), x, "{name}, start {start}");
        }
    }
}

#[test]
fn walks_are_the_definitions() {
    agrees::<2>("eccp-79", 2);
    agrees::<2>("eccp-109", 3);
    agrees::<3>("eccp-131", 4);
}

#[test]
fn replays_reach_the_same_point_with_true_coefficients() {
    let problem = challenges::named("eccp-89").unwrap();
    // Sixteen branches: a quarter of the walks enters a cycle of four points.
    let settings = settings(4, 8);
    let walk = Walk::<2>::new(&problem, settings).unwrap();
    let reference = Reference::new(&problem, settings).unwrap();
    for start in 0..24 {
        let end = walk.replay(start, 1 << 16, &|| true).unwrap();
        assert_eq!(Some(integer(&end.x)), reference.replay(start, 1 << 16), "start {start}");
        let Coefficients { base, target } = &end.coefficients;
        let group = &problem.group;
        let point = group.add(&group.multiply(base, &problem.base), &group.multiply(target, &problem.target));
        assert_eq!(point.unwrap().0, walk.field.value(&end.x));
    }
}

/// 1/(2r) of the steps end in a cycle of two, (r − 1)/(4r³) in one of four.
#[test]
fn cycles_are_as_frequent_as_predicted() {
    let problem = challenges::named("eccp-79").unwrap();
    let walk = Walk::<2>::new(&problem, settings(4, 20)).unwrap();
    let mut spots = walk.starts(0)[..512].to_vec();
    let (mut twos, mut left, mut steps) = (0_u32, 0, 0_u32);
    for _ in 0..128 {
        for _ in 0..4 {
            walk.round_with(&mut spots, |_, event| twos += u32::from(event.two_cycle.is_some()));
            steps += 512;
        }
        left += walk.leave_cycles(&mut spots);
    }
    let (r, steps) = (16.0, f64::from(steps));
    let expected = [steps / (2.0 * r), steps * (r - 1.0) / (4.0 * r * r * r)];
    for (found, expected) in [f64::from(twos), left as f64].into_iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 0.25, "{found} cycles, {expected:.0} expected");
    }
}

#[test]
fn settings_that_no_walk_has() {
    let check = |settings: Settings, bits| settings.check(bits).map_err(|error| error.to_string());
    assert_eq!(check(settings(11, 32), 79), Ok(()));
    assert_eq!(check(settings(11, 21), 32), Ok(()));
    let error = "the number of distinguished bits is 22; it may be 0 to 21";
    assert_eq!(check(settings(11, 22), 32), Err(error.into()));
    assert_eq!(check(settings(12, 5), 79), Err("the number of branch bits is 12; it may be 2 to 11".into()));
}
