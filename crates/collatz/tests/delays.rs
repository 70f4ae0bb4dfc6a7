//! Delays on the CPU, by vectors and without, against single steps.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use warpmp_collatz::{
    Error,
    cpu::Cpu,
    engine::{Control, Engine as _},
    number::trace,
};

fn delay(start: u128) -> u32 {
    trace(start, |_| true).unwrap().delay() as u32
}

/// With vectors where the processor has them, and without.
fn both() -> [Cpu; 2] {
    [Cpu::new(), Cpu::new().portable()]
}

#[test]
fn ranges_agree_with_single_steps() {
    let control = Control::default();
    // At 1, and around all bounds: of table A on vectors and without, of blocks, of values in 64, 104 and 128 bits.
    let around = [18, 22, 32, 50, 54, 57, 64, 71, 78, 88, 89, 104, 114, 117].map(|bits| (1u128 << bits) - 300);
    let mut engines = both();
    for from in [1].into_iter().chain(around).chain([(1 << 127) - 601]) {
        for cpu in &mut engines {
            let mut delays = vec![0; 601];
            cpu.delays(from, &mut delays, &control).unwrap();
            for (start, found) in (from..).zip(delays) {
                assert_eq!(found, delay(start), "{start}");
            }
        }
    }
}

/// Numbers of a block with the same residue class share their delay: whole blocks, and parts before and after.
#[test]
fn blocks_agree_with_single_steps() {
    let control = Control::default();
    let mut engines = both();
    for (from, count) in [
        (1u128, 5 << 16),
        ((1 << 18) - 3, (2 << 16) + 7),
        (1 << 18, 1 << 16),
        ((1 << 64) - (1 << 16) - 1, (1 << 17) + 2),
        (1 << 71, 1 << 16),
        ((1 << 89) - (1 << 16), 1 << 17),
        ((1 << 117) - (1 << 16), 1 << 16),
    ] {
        let [found, portable] = engines.each_mut().map(|cpu| {
            let mut delays = vec![0; count];
            cpu.delays(from, &mut delays, &control).unwrap();
            delays
        });
        assert!(found == portable, "{from}");
        // A prime distance: residues of all kinds.
        for (start, found) in (from..).zip(found).step_by(1009) {
            assert_eq!(found, delay(start), "{start}");
        }
    }
}

/// Starts in no order, among them such as climb past 2^89, past 2^104 and past 2^128 or reach 1 between two looks.
#[test]
fn any_starts_agree_with_single_steps() {
    let control = Control::default();
    let mut starts: Vec<u128> = (1..1500).collect();
    starts.extend((0..127).flat_map(|bits| [1 << bits, (1 << bits) + 1, (1 << bits) - 1]).filter(|start| *start > 0));
    // 2^k·m − 1 climbs k times; 2^k·m falls as often.
    starts.extend((30..80).flat_map(|k| [3u128, 5, 7, 21].map(|m| (m << k) - 1)));
    starts.extend(
        (0..700u128).map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) >> (40 + i % 70) | 1),
    );
    let (narrow, all): (Vec<u128>, Vec<u128>) =
        (starts.iter().copied().filter(|start| start >> 80 == 0).collect(), starts);
    let mut engines = both();
    for starts in [narrow, all] {
        for cpu in &mut engines {
            let mut delays = vec![0; starts.len()];
            cpu.delays_of(&starts, &mut delays, &control).unwrap();
            for (start, found) in starts.iter().zip(delays) {
                assert_eq!(found, delay(*start), "{start}");
            }
        }
    }
}

#[test]
fn what_has_no_delay() {
    for mut cpu in both() {
        let control = Control::default();
        assert!(matches!(cpu.delays(0, &mut [0], &control), Err(Error::ZeroStart)));
        assert!(matches!(cpu.delays_of(&[5, 0], &mut [0; 2], &control), Err(Error::ZeroStart)));
        assert!(matches!(cpu.delays((1 << 127) - 1, &mut [0; 2], &control), Err(Error::PastLimit { .. })));
        assert!(matches!(cpu.delays(u128::MAX, &mut [0; 2], &control), Err(Error::PastLimit { .. })));
        cpu.delays(5, &mut [], &control).unwrap();
        control.stop();
        assert!(matches!(cpu.delays(1 << 64, &mut [0; 10], &control), Err(Error::Stopped)));
        assert!(matches!(cpu.delays(1 << 64, &mut vec![0; 1 << 17], &control), Err(Error::Stopped)));
        assert!(matches!(cpu.delays_of(&[7], &mut [0], &control), Err(Error::Stopped)));
    }
}
