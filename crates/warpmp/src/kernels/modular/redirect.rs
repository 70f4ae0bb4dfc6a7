//! Operations in several stages: kernels made for themselves, one after the other, with scratch memory between.
//!
//! A stage's kernel has parameters of its own. It gets those of the whole operation instead, and each of its own is
//! one of them or a place in scratch memory: rows for all lanes, whole tiles.

use warpmp_device::Grid;
use warpmp_kernel::ir::{Carry, Class, Inst, Int, Item, Kernel, Logic, Op, Operand as Value, Param, Reg, Width};

use super::super::Spec;

/// What a stage's address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Place {
    /// A parameter of the operation: an operand or a result.
    Param(usize),
    /// Rows in scratch memory, after so many limbs a lane.
    Scratch(u32),
}

/// A kernel of an operation.
#[derive(Debug)]
pub(in super::super) struct Stage {
    pub(in super::super) spec: Box<dyn Spec>,
    /// Its operands and results, and its scratch memory if it has any.
    pub(in super::super) places: Vec<Place>,
}

/// Kernels one after the other.
#[derive(Debug)]
pub(in super::super) struct Stages {
    pub(in super::super) name: String,
    /// Operands and results of the operation, statuses included.
    pub(in super::super) addresses: usize,
    pub(in super::super) kernels: Vec<Stage>,
    /// Limbs of scratch memory a lane.
    pub(in super::super) scratch: u32,
}

impl Stages {
    /// The stage that a kernel belongs to, and its number there.
    fn stage(&self, mut number: usize) -> (&Stage, usize) {
        for stage in &self.kernels {
            if number < stage.spec.stages() {
                return (stage, number);
            }
            number -= stage.spec.stages();
        }
        unreachable!("kernels are asked for by their numbers")
    }

    fn redirect(&self, kernel: Kernel, places: &[Place], number: usize) -> Kernel {
        let own = kernel.params.len();
        // The lanes stand between the addresses and the scratch memory.
        let lanes = kernel.params.iter().position(|param| param.width == Width::W32).unwrap_or(own);
        let place = |index: usize| if index < lanes { places[index] } else { places[index - 1] };
        let registers = std::cell::Cell::new(kernel.registers);
        let fresh = |class: Class| {
            let slot = Class::ALL.iter().position(|it| *it == class).unwrap_or_default();
            let mut counts = registers.get();
            counts[slot] += 1;
            registers.set(counts);
            Value::Reg(Reg { class, index: counts[slot] - 1 })
        };
        let inst = |op: Op, operands: &[Value]| Item::Inst(Inst { guard: None, op, operands: operands.to_vec() });
        let load = |to: Value, width: Width, index: usize| inst(Op::LdParam(width), &[to, Value::Imm(index as u64)]);
        let mut body = Vec::new();
        for item in kernel.body {
            let parameter = match &item {
                Item::Inst(Inst { op: Op::LdParam(_), operands, .. }) => Some((operands[0], operands[1])),
                _ => None,
            };
            let Some((to, Value::Imm(index))) = parameter else {
                body.push(item);
                continue;
            };
            let index = index as usize;
            // Whole tiles: the next stage may read them.
            let whole_tiles = |to: Value, body: &mut Vec<Item>| {
                let [count, up] = [(); 2].map(|()| fresh(Class::B32));
                body.push(load(count, Width::W32, self.addresses));
                body.push(inst(Op::Add(Width::W32, Carry::None), &[up, count, Value::Imm(31)]));
                body.push(inst(Op::Logic(Logic::And, Class::B32), &[to, up, Value::Imm(0xFFFF_FFE0)]));
            };
            if index == lanes {
                whole_tiles(to, &mut body);
                continue;
            }
            match place(index) {
                Place::Param(index) => body.push(load(to, Width::W64, index)),
                Place::Scratch(limbs) => {
                    let whole = fresh(Class::B32);
                    whole_tiles(whole, &mut body);
                    let base = fresh(Class::B64);
                    body.push(load(base, Width::W64, self.addresses + 1));
                    let bytes = Value::Imm(u64::from(4 * limbs));
                    body.push(inst(Op::MadWide(Int::U32), &[to, whole, bytes, base]));
                }
            }
        }
        let mut params: Vec<Param> = (0..self.addresses).map(|i| Param::u64(&format!("address{i}"))).collect();
        params.extend([Param::u32("lanes"), Param::u64("scratch")]);
        Kernel {
            name: format!("{}_{number}_{}", self.name, kernel.name),
            params,
            registers: registers.get(),
            body,
            ..kernel
        }
    }
}

impl Spec for Stages {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn stages(&self) -> usize {
        self.kernels.iter().map(|stage| stage.spec.stages()).sum()
    }

    fn scratch_limbs(&self) -> u32 {
        self.scratch
    }

    fn build(&self, number: usize) -> Kernel {
        let (stage, own) = self.stage(number);
        self.redirect(stage.spec.build(own), &stage.places, number)
    }

    fn grid(&self, number: usize, lanes: u32) -> Grid {
        let (stage, own) = self.stage(number);
        stage.spec.grid(own, lanes.next_multiple_of(32))
    }

    fn max_lanes(&self) -> u32 {
        self.kernels.iter().map(|stage| stage.spec.max_lanes()).min().unwrap_or(1)
    }

    fn wide_products(&self) -> u64 {
        self.kernels.iter().map(|stage| stage.spec.wide_products()).sum()
    }
}
