//! Several engines: the list that serves a campaign, and the team that shares one window.
//!
//! A campaign deals whole windows to its engines, so that each window has its certificate. Where there is only one window, a team
//! works on it: one share for each member, all at the same time.

use std::{panic, path::PathBuf, sync::Arc, thread};

use warpmp_device::Device;

use crate::{
    alpha,
    cpu::Cpu,
    dfs,
    engine::{Control, Engine, Outcome},
    error::Result,
    gpu::{Gpu, Settings},
    honda,
    window::Window,
};

/// Engines that serve together.
pub struct Engines {
    /// The engines.
    pub list: Vec<Box<dyn Engine>>,
    /// The least free memory of a GPU, in bytes; none if the CPU serves.
    pub gpu_bytes: Option<u64>,
}

impl Engines {
    /// An engine for each device, or the CPU's if there is no device; the CPU keeps table S in the folder `cache`.
    ///
    /// # Errors
    /// The devices'.
    pub fn new(devices: Vec<Arc<dyn Device>>, cache: Option<PathBuf>) -> Result<Self> {
        if devices.is_empty() {
            return Ok(Self { list: vec![Box::new(cache.map_or_else(Cpu::new, Cpu::with_cache))], gpu_bytes: None });
        }
        let free = devices.iter().map(|device| device.free_bytes()).collect::<Result<Vec<u64>, _>>()?;
        let engine = |device| -> Box<dyn Engine> { Box::new(Gpu::new(device, Settings::default())) };
        Ok(Self { list: devices.into_iter().map(engine).collect(), gpu_bytes: free.into_iter().min() })
    }

    /// The plan that suits these engines for windows of about `window` starts, `total` in all.
    pub fn plan(&self, window: u128, total: u128) -> dfs::Plan {
        match self.gpu_bytes {
            Some(bytes) => dfs::Plan::for_gpu(window, total / self.list.len().max(1) as u128, bytes),
            None => dfs::Plan::for_cpu(window),
        }
    }

    /// The names of all engines.
    pub fn names(&self) -> String {
        self.list.iter().map(|engine| engine.name()).collect::<Vec<_>>().join("; ")
    }
}

/// Engines that work as one.
pub struct Team {
    members: Vec<Box<dyn Engine>>,
}

impl Team {
    /// A team of these engines. A team without members does nothing.
    pub fn new(members: Vec<Box<dyn Engine>>) -> Self {
        Self { members }
    }

    /// Neighbouring parts of a window, at most one for each member, cut at multiples of the largest power of two that an equal share
    /// has: engines that work in units like that.
    fn shares(&self, window: &Window) -> Vec<Window> {
        let members = self.members.len().max(1) as u128;
        let granule = 1 << (window.count() / members).max(1).ilog2();
        let cut = |number: u128| match number {
            0 => window.from(),
            number if number == members => window.end(),
            number => {
                let even = window.from() + window.count() / members * number;
                (even / granule * granule).max(window.from())
            }
        };
        (0..members).filter_map(|number| Window::of(cut(number)..cut(number + 1))).collect()
    }

    fn together(
        &mut self,
        window: &Window,
        work: impl Fn(&mut dyn Engine, &Window) -> Result<Outcome> + Sync,
    ) -> Result<Outcome> {
        let shares = self.shares(window);
        let work = &work;
        let parts: Vec<Result<Outcome>> = thread::scope(|scope| {
            let dealt = self.members.iter_mut().zip(&shares);
            let at_work: Vec<_> =
                dealt.map(|(engine, share)| scope.spawn(move || work(engine.as_mut(), share))).collect();
            at_work.into_iter().map(|it| it.join().unwrap_or_else(|payload| panic::resume_unwind(payload))).collect()
        });
        let mut sum = Outcome::none();
        for part in parts {
            sum.add(&part?);
        }
        Ok(sum)
    }
}

impl Engine for Team {
    fn name(&self) -> String {
        self.members.iter().map(|engine| engine.name()).collect::<Vec<_>>().join("; ")
    }

    fn dfs(&mut self, plan: &dfs::Plan, window: &Window, control: &Control) -> Result<Outcome> {
        self.together(window, |engine, share| engine.dfs(plan, share, control))
    }

    fn honda(&mut self, plan: &honda::Plan, window: &Window, control: &Control) -> Result<Outcome> {
        self.together(window, |engine, share| engine.honda(plan, share, control))
    }

    fn alpha(&mut self, plan: &alpha::Plan, window: &Window, control: &Control) -> Result<Outcome> {
        self.together(window, |engine, share| engine.alpha(plan, share, control))
    }

    fn delays(&mut self, from: u128, delays: &mut [u32], control: &Control) -> Result<()> {
        let share = delays.len().div_ceil(self.members.len().max(1)).max(1);
        thread::scope(|scope| {
            let dealt = self.members.iter_mut().zip(delays.chunks_mut(share)).zip((from..).step_by(share));
            let at_work: Vec<_> = dealt
                .map(|((engine, delays), from)| scope.spawn(move || engine.delays(from, delays, control)))
                .collect();
            let ended = at_work.into_iter().map(|it| it.join().unwrap_or_else(|payload| panic::resume_unwind(payload)));
            ended.collect::<Vec<_>>().into_iter().collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn team(members: usize) -> Team {
        Team::new((0..members).map(|_| -> Box<dyn Engine> { Box::new(Cpu::new()) }).collect())
    }

    #[test]
    fn shares_cover_the_window_once() {
        for members in 1..6 {
            let team = team(members);
            for (from, count) in [(1, 1), (1, 2), (7, 5), (1 << 64, 1 << 20), ((1 << 40) + 12_345, 99_999)] {
                let window = Window::new(from, count).unwrap();
                let shares = team.shares(&window);
                assert!(shares.len() <= members);
                assert_eq!((shares[0].from(), shares[shares.len() - 1].end()), (window.from(), window.end()));
                assert!(shares.windows(2).all(|pair| pair[0].end() == pair[1].from()));
            }
        }
    }

    #[test]
    fn a_team_finds_what_one_finds() {
        let control = Control::default();
        let window = Window::new((1 << 64) + 77, 100_000).unwrap();
        let plan = dfs::Plan::new(6, 10, 6, 2).unwrap();
        let one = Cpu::new().dfs(&plan, &window, &control).unwrap();
        let three = team(3).dfs(&plan, &window, &control).unwrap();
        assert_eq!((three.tested, three.checksum), (one.tested, one.checksum));
        let (mut one, mut three) = (vec![0; 1001], vec![0; 1001]);
        Cpu::new().delays(27, &mut one, &control).unwrap();
        team(3).delays(27, &mut three, &control).unwrap();
        assert_eq!(one, three);
        control.stop();
        assert!(team(2).dfs(&plan, &window, &control).is_err());
    }
}
