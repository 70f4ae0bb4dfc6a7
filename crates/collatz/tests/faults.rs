//! Planted faults: wrong kernels, wrong rules and lost GPUs.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "common/settings.rs"]
mod settings;

use std::sync::Arc;

use settings::SETTINGS;
use warpmp_collatz::{
    Error,
    campaign::{Event, run},
    certificate::{Certificate, Figures},
    cpu::Cpu,
    dfs::Plan,
    engine::{Control, Engine, Outcome},
    gpu::Gpu,
    scheme::Scheme,
    window::Window,
};
use warpmp_device::{Device, open_sim};
use warpmp_testkit::planted::Planted;

fn plan() -> Plan {
    Plan::new(6, 10, 6, 2).unwrap()
}

/// Units of a window of the plan's: 2^16 numbers.
const UNIT: u128 = 1 << 16;

fn gpu(device: Arc<dyn Device>) -> Box<dyn Engine> {
    Box::new(Gpu::new(device, SETTINGS))
}

/// One instruction of one kernel is wrong: descent in the walk that makes leaves, rule 4 in the look-ahead, or a start that is put
/// together.
#[test]
fn wrong_kernels_are_caught() {
    let (scheme, control) = (Scheme::Dfs(plan()), Control::default());
    let window = Window::new((1 << 64) + 5 * UNIT, UNIT).unwrap();
    let right = Figures::from(&scheme.recompute(&window, &control).unwrap());
    for edit in [
        ["collatz_leaves_merging", "setp", ".ge.", ".gt."],
        ["collatz_vector", "setp.eq", ", 2;", ", 1;"],
        ["collatz_lookahead", "and", ", 0x3FF;", ", 0x3FE;"],
    ] {
        let mut engine = gpu(Planted::changed(edit));
        let found = Figures::from(&scheme.run(engine.as_mut(), &window, &control).unwrap());
        assert_ne!(found, right, "{edit:?}");
        // Nothing is certified that a sample disproves.
        let made = Certificate::make(&scheme, &window, engine.as_mut(), &control);
        assert!(matches!(made, Err(Error::Disagreement { .. })), "{edit:?}: {made:?}");
        // What is certified all the same is caught when it is computed again.
        let mut certificate = Certificate::make(&scheme, &window, &mut Cpu::new(), &control).unwrap();
        certificate.recheck(true, &control).unwrap();
        certificate.figures = found;
        assert!(matches!(certificate.recheck(true, &control), Err(Error::Disagreement { .. })), "{edit:?}");
    }
}

/// A device that fails once, and one that is gone for good: the window is done again, with the right figures.
#[test]
fn windows_of_lost_gpus_are_done_again() {
    let windows: Vec<Window> = (0..4).map(|i| Window::new((1 << 64) + i * UNIT, UNIT).unwrap()).collect();
    let right: Vec<Outcome> =
        windows.iter().map(|window| Cpu::new().dfs(&plan(), window, &Control::default()).unwrap()).collect();
    // Lost while tables are made, within a window, and within a sample of it.
    for launches in [1, 5, 12, 20] {
        for (others, failures, most) in [(0, 1, 1), (1, i64::MAX, 2)] {
            let controls = [Control::default(), Control::default()];
            let mut engines = vec![(gpu(Planted::lost(launches, failures)), &controls[0])];
            if others > 0 {
                engines.push((gpu(open_sim()), &controls[1]));
            }
            let (mut done, mut lost) = (Vec::new(), 0);
            run(&Scheme::Dfs(plan()), windows.iter().copied(), engines, |event| {
                match event {
                    Event::Done(_, certificate) => done.push(certificate),
                    Event::Lost(_, error) => {
                        assert!(matches!(error, Error::Device(_)), "{error}");
                        lost += 1;
                    }
                }
                Ok(())
            })
            .unwrap();
            assert!((usize::from(others == 0)..=most).contains(&lost), "{launches} {failures}: {lost}");
            done.sort_by_key(|certificate| certificate.window);
            assert_eq!(done.iter().map(|certificate| certificate.window).collect::<Vec<_>>(), windows);
            for (certificate, right) in done.iter().zip(&right) {
                assert_eq!(certificate.figures, Figures::from(right), "{}", certificate.window);
            }
        }
    }
}

/// An engine that follows a wrong rule: the fault of a published program, which counts an even run at the beginning of the look-ahead
/// though the odd step before it was not seen.
struct WrongRule;

impl WrongRule {
    /// Would the wrong rule remove the start? `T^L(n)` begins with an even number of even steps, at least two and not more than the
    /// look-ahead sees, at a height at which rule 3 would apply.
    fn removes(plan: &Plan, start: u128) -> bool {
        let (mut value, mut odd_steps) = (start, 0);
        for _ in 0..plan.leaf_bits {
            odd_steps += (value & 1) as u32;
            value = if value & 1 == 1 { value + value / 2 + 1 } else { value / 2 };
        }
        let evens = value.trailing_zeros().min(plan.lookahead(odd_steps)) & !1;
        (2..=evens).step_by(2).any(|evens| 3u128.pow(odd_steps - 1) < 1 << (plan.leaf_bits + evens - 1))
    }
}

impl Engine for WrongRule {
    fn name(&self) -> String {
        "a wrong rule".into()
    }

    fn dfs(&mut self, plan: &Plan, window: &Window, control: &Control) -> warpmp_collatz::Result<Outcome> {
        let mut outcome = Cpu::new().dfs(plan, window, control)?;
        let mut dropped = Vec::new();
        Cpu::tested(plan, window, |start| {
            if Self::removes(plan, start) {
                dropped.push(start);
            }
        })?;
        for start in dropped {
            let single = Cpu::new().dfs(plan, &Window::new(start, 1)?, control)?;
            outcome.tested -= single.tested;
            outcome.checksum = outcome.checksum.wrapping_sub(single.checksum);
        }
        Ok(outcome)
    }

    fn honda(
        &mut self,
        plan: &warpmp_collatz::honda::Plan,
        window: &Window,
        control: &Control,
    ) -> warpmp_collatz::Result<Outcome> {
        Cpu::new().honda(plan, window, control)
    }

    fn delays(&mut self, from: u128, delays: &mut [u32], control: &Control) -> warpmp_collatz::Result<()> {
        Cpu::new().delays(from, delays, control)
    }
}

#[test]
fn a_wrong_rule_is_caught() {
    let plan = Plan::new(12, 12, 12, 64).unwrap();
    let (scheme, control) = (Scheme::Dfs(plan), Control::default());
    let window = Window::new((1 << 64) + 5, 1 << 18).unwrap();
    let found = WrongRule.dfs(&plan, &window, &control).unwrap();
    let right = Cpu::new().dfs(&plan, &window, &control).unwrap();
    assert!(found.tested < right.tested && found.tested > right.tested / 2, "{found:?} {right:?}");
    let made = Certificate::make(&scheme, &window, &mut WrongRule, &control);
    assert!(matches!(made, Err(Error::Disagreement { .. })), "{made:?}");
    let mut certificate = Certificate::make(&scheme, &window, &mut Cpu::new(), &control).unwrap();
    certificate.figures = Figures::from(&found);
    assert!(matches!(certificate.recheck(true, &control), Err(Error::Disagreement { .. })));
}
