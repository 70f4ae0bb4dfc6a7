//! The default scheme on a device: leaves and vectors are made once, then every window is a launch a class.

use std::{collections::HashMap, sync::Arc};

use rayon::prelude::*;
use warpmp_device::{Buffer, Device, Module, Stream};
use warpmp_launch::{Arguments as _, At};

use super::{
    Settings,
    leaves::{Leaves, Nodes, upload},
    report::Report,
    tables, vectors,
};
use crate::{
    dfs::Plan,
    engine::{Control, Outcome},
    error::{Error, Result},
    heights::{Heights, bound, climb},
    kernels::{
        leaves::GROUPS,
        lookahead::{Arguments, CANDIDATE_BITS, CHUNK, Lookahead, RHO_BIAS, RHO_SHIFT},
    },
    power::LOG2_3,
};

/// Classes that run at the same time.
const STREAMS: usize = 8;
/// Bits between starts and what three words hold, for three words to be chosen: of the tested about 2^−22 leave them at 31½ bits
/// (measured), and each bit less doubles that. Host cores finish some millions a second.
const LEAST_ROOM_BITS: u32 = 28;
/// Words of the memory that is zeroed for every window: a counter for each class, two sums.
const SUMS_WORD: usize = GROUPS as usize;
const CONTROL_WORDS: usize = SUMS_WORD + 4;

/// A plan's leaves, vectors and tables on a device.
#[derive(Debug)]
pub(super) struct Prepared {
    device: Arc<dyn Device>,
    settings: Settings,
    plan: Plan,
    streams: Vec<Stream>,
    leaves: Leaves,
    classes: Vec<Class>,
    tables: Buffer,
    control: Buffer,
    report: Report,
    modules: HashMap<Lookahead, Arc<Module>>,
}

/// Leaves with the same number of odd steps.
#[derive(Debug)]
struct Class {
    odd_steps: u32,
    first: u32,
    count: u32,
    /// S.
    ahead: u32,
    vector: Buffer,
}

impl Prepared {
    /// Makes everything that the windows share.
    pub(super) fn new(device: &Arc<dyn Device>, settings: &Settings, plan: &Plan) -> Result<Self> {
        let streams: Vec<Stream> = (0..STREAMS).map(|_| device.stream()).collect::<Result<_, _>>()?;
        let stream = &streams[0];
        let nodes = Nodes::new(&**device, stream, plan.leaf_bits, true)?;
        let leaves = nodes.group(&**device, stream, |odd| plan.lookahead(odd))?;
        let mut classes = Vec::new();
        for (odd_steps, &(first, count)) in (0..).zip(&leaves.groups).filter(|(_, group)| group.1 > 0) {
            let ahead = plan.lookahead(odd_steps);
            let vector = vectors::vector(&**device, stream, plan.leaf_bits, odd_steps, ahead)?;
            classes.push(Class { odd_steps, first, count, ahead, vector });
        }
        // Those with few leaves first: they end while the others run.
        classes.sort_by_key(|class| class.count);
        let tables = upload(&**device, stream, &tables::lookahead(settings.jump_bits, plan.leaf_bits))?;
        let control = device.alloc(4 * CONTROL_WORDS as u64)?;
        let report = Report::new(&**device, settings.report_capacity)?;
        let (device, settings, plan) = (device.clone(), *settings, *plan);
        Ok(Self { device, settings, plan, streams, leaves, classes, tables, control, report, modules: HashMap::new() })
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Leaves in all.
    pub(super) fn leaf_count(&self) -> u64 {
        self.classes.iter().map(|class| u64::from(class.count)).sum()
    }

    /// The first start that is too large: from there on leaves' values may not fit into four words.
    pub(super) fn end(plan: &Plan) -> u128 {
        // Leaves have at most L odd steps; half a bit for roundings, half for the limit's own margin.
        let climb = f64::from(plan.leaf_bits) * (LOG2_3 - 1.0);
        1 << (127.0 - climb).floor() as u32
    }

    /// The starts of unit `unit`, of 2^(L + 10); of a range, from the first offset to below the second.
    pub(super) fn run(&mut self, unit: u128, range: Option<[u64; 2]>, control: &Control) -> Result<Outcome> {
        let bits = self.plan.leaf_bits + CANDIDATE_BITS;
        let count = range.map_or(1 << bits, |[from, end]| end - from);
        let climb = climb(count.into(), self.plan.leaf_bits);
        let (sums, starts) = self.reported(unit, range, climb, control)?;
        let finished = starts.par_iter().map(|&start| Outcome::finished(start));
        let mut outcome = finished.try_reduce(Outcome::none, |mut sum, part| {
            sum.add(&part);
            Ok(sum)
        })?;
        let bound = bound(((unit + 1) << bits) - 1, climb, self.settings.jump_bits);
        outcome.heights.add(&Heights::of(None, bound));
        Ok(Outcome { tested: sums[0], checksum: sums[1], ..outcome })
    }

    /// Looks at the same starts: how many there are, their checksum, and those that the host has to look at, of which are all
    /// whose value at the end of a jump is above themselves by more than `climb` bits.
    pub(super) fn reported(
        &mut self,
        unit: u128,
        range: Option<[u64; 2]>,
        climb: f64,
        control: &Control,
    ) -> Result<([u64; 2], Vec<u128>)> {
        control.check()?;
        loop {
            let sums = self.launch(unit, range, climb)?;
            // Without room for all reports nothing counts; the next try has it.
            if let Some(starts) = self.report.read(&*self.device, &self.streams[0])? {
                return Ok((sums, starts));
            }
        }
    }

    /// Launches all classes, and waits; the two sums.
    fn launch(&mut self, unit: u128, range: Option<[u64; 2]>, climb: f64) -> Result<[u64; 2]> {
        let stream = &self.streams[0];
        self.device.fill(stream, &self.control, 0, 0, CONTROL_WORDS)?;
        self.report.clear(&*self.device, stream)?;
        self.device.synchronize(stream)?;
        for index in 0..self.classes.len() {
            self.launch_class(index, unit, range, climb)?;
        }
        for stream in &self.streams {
            self.device.synchronize(stream)?;
        }
        let mut sums = [0; 4];
        self.device.download(&self.streams[0], &self.control, SUMS_WORD, &mut sums)?;
        let pair = |at: usize| u64::from(sums[at]) | u64::from(sums[at + 1]) << 32;
        Ok([pair(0), pair(2)])
    }

    /// The kernel for a class and starts below `end` that are to be reported from `climb` bits above themselves on, and its limit.
    fn spec(&self, class: &Class, end: u128, climb: f64) -> (Lookahead, u32) {
        let Settings { jump_bits, warps, blocks, .. } = self.settings;
        let (leaf_bits, sure_jumps) = (self.plan.leaf_bits, class.ahead / jump_bits);
        let leaf = tables::leaf_rho(leaf_bits, class.odd_steps);
        // Three words, if few values outgrow them, and a jump from the leaves fits.
        let narrow = tables::rho_limit(end, 3);
        let next = tables::highest_rho(leaf_bits, class.odd_steps, jump_bits, 1);
        let roomy = narrow >= (LEAST_ROOM_BITS * 256 + RHO_BIAS) << RHO_SHIFT;
        let limbs = if roomy && leaf < narrow && next <= narrow.into() { 3 } else { 4 };
        let limit = tables::rho_limit(end, limbs).min(tables::rho_below(climb));
        let watched = tables::highest_rho(leaf_bits, class.odd_steps, jump_bits, sure_jumps) > limit.into();
        let blocks = if limbs == 3 { blocks } else { blocks.div_ceil(2) };
        (Lookahead { jump_bits, sure_jumps, watched, limbs, leaf_bits, warps, blocks, ranged: false }, limit)
    }

    fn launch_class(&mut self, index: usize, unit: u128, range: Option<[u64; 2]>, climb: f64) -> Result<()> {
        let class = &self.classes[index];
        let bits = self.plan.leaf_bits + CANDIDATE_BITS;
        let base = unit << bits;
        let (spec, limit) = self.spec(class, base + (1 << bits), climb);
        let spec = Lookahead { ranged: range.is_some(), ..spec };
        let module = if let Some(module) = self.modules.get(&spec) {
            module.clone()
        } else {
            let module = self.device.load(&spec.build())?;
            self.modules.insert(spec, module.clone());
            module
        };
        let class = &self.classes[index];
        let power = 3_u64.pow(class.odd_steps);
        let offset = u128::from(power).wrapping_mul(unit << CANDIDATE_BITS);
        let word_mask = (1_u32 << (class.ahead - 5)) - 1;
        let arguments = Arguments {
            records: At::word(&self.leaves.records, 4 * class.first as usize),
            residues: At::word(&self.leaves.residues, 2 * class.first as usize),
            count: class.count,
            vector: (&class.vector).into(),
            word_mask,
            word_offset: (unit as u32) << 5 & word_mask,
            power,
            offset: [offset as u64, (offset >> 64) as u64],
            base: [base as u64, (base >> 64) as u64],
            nine: (base % 9) as u32,
            rho: tables::leaf_rho(self.plan.leaf_bits, class.odd_steps),
            limit,
            tables: (&self.tables).into(),
            next: At::word(&self.control, class.odd_steps as usize),
            sums: At::word(&self.control, SUMS_WORD),
            report: self.report.arguments(),
            range,
        };
        let full = self.device.info().multiprocessors * spec.blocks;
        let blocks = full.min(class.count.div_ceil(CHUNK * spec.warps));
        let stream = &self.streams[index % STREAMS];
        Ok(arguments.launch(&*self.device, stream, &module, spec.grid(blocks))?)
    }
}

/// Nothing is launched with what the kernels do not take.
pub(super) fn check(settings: &Settings, plan: &Plan) -> Result<()> {
    Error::parameter("jump bits", settings.jump_bits.into(), 4, 14)?;
    Error::parameter("warps a block", settings.warps.into(), 1, 32)?;
    Error::parameter("leaf bits", plan.leaf_bits.into(), 1, 37)?;
    for bits in [plan.lookahead_bits, plan.rare_lookahead_bits] {
        Error::parameter("look-ahead bits", bits.into(), 6, 36)?;
    }
    Ok(())
}
