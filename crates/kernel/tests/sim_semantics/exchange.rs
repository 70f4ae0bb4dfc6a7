//! Shuffles, votes, the matrix product, special registers.

use warpmp_kernel::ir::{Class, Op, Shuffle, Special, Vote};
use warpmp_kernel::sim::Grid;

use super::harness::{Maker, Source};

const WARP: Grid = Grid { blocks: 1, threads: 32, shared_bytes: 0 };

pub(crate) fn shuffle(mode: Shuffle) {
    let mut source = Source(0x5F1);
    for round in 0..200 {
        let values: Vec<u64> = (0..32).map(|_| source.edge(Class::B32)).collect();
        // Every lane its own distance and segments, or all the same.
        let same = round % 2 == 0;
        let (distance, control) = (source.below(40), segments(&mut source));
        let distances: Vec<u64> = (0..32).map(|_| if same { distance } else { source.below(40) }).collect();
        let controls: Vec<u64> = (0..32).map(|_| if same { control } else { segments(&mut source) }).collect();
        let members = vec![0xFFFF_FFFF; 32];
        let mut maker = Maker::new(32);
        maker.around(Op::Shfl(mode), None);
        let results = maker.run(WARP, &[values.clone(), distances.clone(), controls.clone(), members]);
        for lane in 0..32 {
            let from = reference(mode, lane as i64, distances[lane] as i64, controls[lane] as i64);
            assert_eq!(
                results[0][lane], values[from],
                "{mode:?}, lane {lane}, {} {:#x}",
                distances[lane], controls[lane]
            );
        }
    }
}

/// Clamp and segment mask: usual ones, or any.
fn segments(source: &mut Source) -> u64 {
    match source.below(4) {
        0 => 31,
        1 => 0,
        2 => (32 - (1 << source.below(6))) << 8 | 31,
        _ => source.below(1 << 13),
    }
}

/// The reference's own lines.
fn reference(mode: Shuffle, lane: i64, b: i64, c: i64) -> usize {
    let (bval, cval, mask) = (b & 31, c & 31, c >> 8 & 31);
    let max_lane = (lane & mask) | (cval & !mask);
    let min_lane = lane & mask;
    let (j, inside) = match mode {
        Shuffle::Up => (lane - bval, lane - bval >= max_lane),
        Shuffle::Down => (lane + bval, lane + bval <= max_lane),
        Shuffle::Bfly => (lane ^ bval, lane ^ bval <= max_lane),
        Shuffle::Idx => (min_lane | (bval & !mask), min_lane | (bval & !mask) <= max_lane),
    };
    (if inside { j } else { lane }) as usize
}

pub(crate) fn vote(op: Op) {
    let mut source = Source(0x707E);
    for round in 0..64 {
        let votes: Vec<u64> = match round % 4 {
            0 => vec![0; 32],
            1 => vec![1; 32],
            2 => (0..32).map(|lane| u64::from(lane == round / 2)).collect(),
            _ => (0..32).map(|_| source.below(2)).collect(),
        };
        // All together, or each half for itself.
        let halves = round % 8 > 3;
        let members = |lane: usize| {
            if !halves {
                0xFFFF_FFFF
            } else if lane < 16 {
                0xFFFF
            } else {
                0xFFFF_0000_u64
            }
        };
        let mut maker = Maker::new(32);
        maker.around(op, None);
        let results = maker.run(WARP, &[votes.clone(), (0..32).map(members).collect()]);
        for lane in 0..32 {
            let group: Vec<usize> = (0..32).filter(|i| members(lane) >> i & 1 == 1).collect();
            let (all, any) = (group.iter().all(|&i| votes[i] == 1), group.iter().any(|&i| votes[i] == 1));
            let expected = match op {
                Op::Vote(Vote::All) => u64::from(all),
                Op::Vote(Vote::Any) => u64::from(any),
                _ => group.iter().map(|&i| votes[i] << i).sum(),
            };
            assert_eq!(results[0][lane], expected, "{op:?}, lane {lane}, {votes:?}");
        }
    }
}

/// All lanes together, and each half for itself.
pub(crate) fn sum_of_lanes() {
    let mut source = Source(0x5E11);
    for members in [[0xFFFF_FFFF; 2], [0xFFFF, 0xFFFF_0000_u64]] {
        let values: Vec<u64> = (0..32).map(|_| source.below(1 << 32)).collect();
        let mut maker = Maker::new(32);
        maker.around(Op::ReduxAdd, None);
        let results = maker.run(WARP, &[values.clone(), (0..32).map(|lane| members[lane / 16]).collect()]);
        for lane in 0..32 {
            let group = (0..32).filter(|i| members[lane / 16] >> i & 1 == 1);
            let expected = group.map(|i| values[i]).sum::<u64>() & 0xFFFF_FFFF;
            assert_eq!(results[0][lane], expected, "lane {lane}, {values:?}");
        }
    }
}

/// The fragments element by element, with the indices of the reference.
pub(crate) fn matrix_product() {
    let mut source = Source(0x1111);
    for round in 0..20 {
        let operands: Vec<Vec<u64>> = (0..10)
            .map(|_| (0..32).map(|_| if round == 0 { 0xFFFF_FFFF } else { source.edge(Class::B32) }).collect())
            .collect();
        let byte = |register: usize, lane: usize, i: usize| operands[register][lane] >> (8 * i) & 255;
        let (mut a, mut b, mut c) = ([[0; 32]; 16], [[0; 8]; 32], [[0; 8]; 16]);
        for lane in 0..32 {
            let (group, member) = (lane >> 2, lane % 4);
            for i in 0..16 {
                let row = if i < 4 || (8..12).contains(&i) { group } else { group + 8 };
                let column = member * 4 + (i & 3) + if i < 8 { 0 } else { 16 };
                a[row][column] = byte(i / 4, lane, i % 4);
            }
            for i in 0..8 {
                let row = member * 4 + (i & 3) + if i < 4 { 0 } else { 16 };
                b[row][group] = byte(4 + i / 4, lane, i % 4);
            }
            for i in 0..4 {
                c[if i < 2 { group } else { group + 8 }][member * 2 + (i & 1)] = operands[6 + i][lane];
            }
        }
        let mut maker = Maker::new(32);
        maker.around(Op::MmaU8, None);
        let results = maker.run(WARP, &operands);
        for lane in 0..32 {
            for i in 0..4 {
                let (row, column) = (if i < 2 { lane >> 2 } else { (lane >> 2) + 8 }, lane % 4 * 2 + (i & 1));
                let sum: u64 = (0..32).map(|k| a[row][k] * b[k][column]).sum();
                assert_eq!(results[i][lane], (sum + c[row][column]) & 0xFFFF_FFFF, "row {row}, column {column}");
            }
        }
    }
}

pub(crate) fn special(special: Special) {
    let mut maker = Maker::new(3 * 48);
    let value = maker.fresh(Class::B32);
    maker.inst(Op::Special(special), &[value.into()]);
    maker.result(value);
    let results = maker.run(Grid { blocks: 3, threads: 48, shared_bytes: 0 }, &[]);
    for thread in 0..3 * 48_u64 {
        let (block, tid) = (thread / 48, thread % 48);
        let lane = tid % 32;
        let expected = match special {
            Special::Tid => tid,
            Special::Ntid => 48,
            Special::Ctaid => block,
            Special::Nctaid => 3,
            Special::Lane => lane,
            Special::LaneMaskEq => 1 << lane,
            Special::LaneMaskLt => (0..lane).map(|i| 1 << i).sum(),
            Special::LaneMaskGt => (lane + 1..32).map(|i| 1 << i).sum(),
            // No promise but that it can be read.
            Special::Clock => continue,
        };
        assert_eq!(results[0][thread as usize], expected, "{special:?}, thread {thread}");
    }
}
