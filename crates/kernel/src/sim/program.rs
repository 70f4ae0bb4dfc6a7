//! A kernel's text decoded once: operands resolved to slots, branches to step numbers.

use std::collections::HashMap;
use std::fmt::Write;

use crate::ir::{Class, Guard, Half, Inst, Item, Kernel, Label, Op, Operand, Param, Pipe, Reg};
use crate::parse::{ParseError, parse};

/// Most instructions a warp may execute, unless the program says otherwise.
const DEFAULT_LIMIT: u64 = 1 << 28;
/// The order of the warps, unless the program says otherwise.
const DEFAULT_SEED: u64 = 0x5EED_1E55_0B5C_0DE5;
/// Most sources an operation has (the matrix product).
const MAX_SOURCES: usize = 10;
/// Most destinations (a vector load), but for the matrix product of a warpgroup.
const MAX_TARGETS: usize = 4;

/// A kernel, ready to run any number of times. [`launch`](Self::launch) runs it.
#[derive(Debug, Clone)]
pub struct Program {
    pub(super) name: String,
    pub(super) params: Vec<Param>,
    pub(super) max_threads: Option<u32>,
    pub(super) table: Vec<u64>,
    pub(super) steps: Vec<Step>,
    /// By step: line and text.
    pub(super) source: Vec<(usize, String)>,
    /// By step: how it is counted.
    pub(super) tags: Vec<Tag>,
    pub(super) sections: Vec<String>,
    pub(super) files: Files,
    /// Has it matrix products of warpgroups?
    pub(super) has_warpgroups: bool,
    pub(super) limit: u64,
    pub(super) seed: u64,
}

/// How a step is counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag {
    pub(super) pipe: Pipe,
    /// Number of the section, if the step is in one.
    pub(super) section: Option<usize>,
}

/// A register file: declared registers, then constants.
#[derive(Debug, Clone, Default)]
pub(super) struct File {
    pub(super) registers: u32,
    pub(super) constants: Vec<u64>,
}

impl File {
    pub(super) fn len(&self) -> u32 {
        self.registers + self.constants.len() as u32
    }
}

/// The three register files, in the order of their slots.
#[derive(Debug, Clone, Default)]
pub(super) struct Files {
    pub(super) narrow: File,
    /// 64-bit registers, then doubles.
    pub(super) wide: File,
    pub(super) preds: File,
    /// Number of 64-bit registers that are no doubles.
    integers: u32,
}

impl Files {
    /// The register with this slot, for messages.
    pub(super) fn register(&self, slot: u32) -> Reg {
        let wide = self.narrow.len();
        let preds = wide + self.wide.len();
        if slot >= preds {
            Reg { class: Class::Pred, index: slot - preds }
        } else if slot >= wide + self.integers {
            Reg { class: Class::F64, index: slot - wide - self.integers }
        } else if slot >= wide {
            Reg { class: Class::B64, index: slot - wide }
        } else {
            Reg { class: Class::B32, index: slot }
        }
    }
}

/// The work of a step.
#[derive(Debug, Clone, Copy)]
pub(super) enum Action {
    Op(Op),
    /// Goes to the step of this number.
    Branch(u32),
}

/// A condition on a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Condition {
    pub(super) slot: u32,
    pub(super) negated: bool,
}

/// An instruction or branch, decoded.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) action: Action,
    pub(super) condition: Option<Condition>,
    /// A label stands before it.
    pub(super) labelled: bool,
    sources: u8,
    targets: u8,
    /// Slots written, in the order of the text: the first ones.
    pub(super) dst: [u32; MAX_TARGETS],
    /// All slots written if `dst` cannot hold them, else none. A box keeps other steps small.
    many: Box<[u32]>,
    /// Slots read, in the order of the text.
    pub(super) src: [u32; MAX_SOURCES],
    /// Constants that are no data: an address's offset, a barrier's number, …
    pub(super) imm: [u32; 2],
}

impl Step {
    /// The slots it reads.
    pub(super) fn sources(&self) -> &[u32] {
        &self.src[..usize::from(self.sources)]
    }

    /// The slots it writes.
    pub(super) fn targets(&self) -> &[u32] {
        if self.many.is_empty() { &self.dst[..usize::from(self.targets)] } else { &self.many }
    }
}

impl Program {
    /// Reads the text of a kernel.
    ///
    /// # Errors
    /// The errors of [`parse`].
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Ok(Decoder::new(&parse(text)?).decode(body_lines(text)))
    }

    /// Prints a kernel and reads it back.
    ///
    /// # Errors
    /// If the text is refused: the kernel uses what it does not declare.
    pub fn new(kernel: &Kernel) -> Result<Self, ParseError> {
        let mut text = String::new();
        let printed = write!(text, "{kernel}");
        printed
            .map_err(|_| ParseError { line: text.lines().count(), reason: "the kernel cannot be printed".into() })?;
        Self::parse(&text)
    }

    /// The same with another limit on the instructions one warp may execute.
    pub fn with_limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// The same with another order of the warps.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The kernel's parameters.
    pub fn params(&self) -> &[Param] {
        &self.params
    }
}

/// The lines that are items of the body, in order, with their numbers. The text is one that was parsed.
fn body_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line.trim()));
    let body = lines.skip_while(|&(_, line)| line != "{").skip(1).take_while(|&(_, line)| line != "}");
    body.filter(|(_, line)| !line.is_empty() && !line.starts_with(".reg "))
}

/// Turns items into steps.
struct Decoder<'k> {
    kernel: &'k Kernel,
    files: Files,
    /// The slot of a constant within its file.
    constants: [HashMap<u64, u32>; 3],
}

impl<'k> Decoder<'k> {
    fn new(kernel: &'k Kernel) -> Self {
        let [preds, narrow, integers, doubles] = kernel.registers;
        let file = |registers| File { registers, constants: Vec::new() };
        let files = Files { narrow: file(narrow), wide: file(integers + doubles), preds: file(preds), integers };
        let mut decoder = Self { kernel, files, constants: Default::default() };
        decoder.collect_constants();
        decoder
    }

    /// Finds all constants first: the slots of a file begin after the last constant of the file before.
    fn collect_constants(&mut self) {
        for inst in self.kernel.instructions() {
            for (class, operand) in data_sources(inst) {
                let Operand::Imm(bits) = operand else { continue };
                let (number, file) = match class {
                    Class::B32 => (0, &mut self.files.narrow),
                    Class::B64 | Class::F64 => (1, &mut self.files.wide),
                    Class::Pred => (2, &mut self.files.preds),
                };
                self.constants[number].entry(bits).or_insert_with(|| {
                    file.constants.push(bits);
                    file.len() - 1
                });
            }
        }
    }

    fn slot(&self, class: Class, operand: Operand) -> u32 {
        let wide = self.files.narrow.len();
        let preds = wide + self.files.wide.len();
        let constant = |number: usize, bits: u64| self.constants[number].get(&bits).copied().unwrap_or_default();
        match (class, operand) {
            (Class::B32, Operand::Reg(reg)) => reg.index,
            (Class::B64, Operand::Reg(reg)) => wide + reg.index,
            (Class::F64, Operand::Reg(reg)) => wide + self.files.integers + reg.index,
            (Class::Pred, Operand::Reg(reg)) => preds + reg.index,
            (Class::B32, Operand::Imm(bits)) => constant(0, bits),
            (Class::B64 | Class::F64, Operand::Imm(bits)) => wide + constant(1, bits),
            (Class::Pred, Operand::Imm(bits)) => preds + constant(2, bits),
        }
    }

    fn decode<'t>(self, lines: impl Iterator<Item = (usize, &'t str)>) -> Program {
        let targets = step_numbers(self.kernel);
        let (mut steps, mut source, mut tags) = (Vec::new(), Vec::new(), Vec::new());
        let mut sections: Vec<String> = Vec::new();
        let (mut section, mut labelled) = (None, false);
        for (item, (line, text)) in self.kernel.body.iter().zip(lines) {
            let (step, pipe) = match item {
                Item::Section(name) => {
                    section = Some(sections.iter().position(|s| s == name).unwrap_or_else(|| {
                        sections.push(name.clone());
                        sections.len() - 1
                    }));
                    continue;
                }
                Item::Label(_) => {
                    labelled = true;
                    continue;
                }
                Item::Branch { guard, target } => {
                    let action = Action::Branch(targets.get(target).copied().unwrap_or(u32::MAX));
                    (self.step(action, *guard), Pipe::Control)
                }
                Item::Inst(inst) => (self.instruction(inst), inst.op.pipe()),
            };
            steps.push(Step { labelled: std::mem::take(&mut labelled), ..step });
            source.push((line, text.to_owned()));
            tags.push(Tag { pipe, section });
        }
        mark_fused(&steps, &mut tags);
        let has_warpgroups = self.kernel.instructions().any(|inst| matches!(inst.op, Op::Wgmma(_)));
        Program {
            name: self.kernel.name.clone(),
            params: self.kernel.params.clone(),
            max_threads: self.kernel.bounds.max_threads,
            table: self.kernel.table.clone(),
            steps,
            source,
            tags,
            sections,
            files: self.files,
            has_warpgroups,
            limit: DEFAULT_LIMIT,
            seed: DEFAULT_SEED,
        }
    }

    fn step(&self, action: Action, guard: Option<Guard>) -> Step {
        let condition = guard.map(|Guard { pred, negated }| Condition {
            slot: self.slot(Class::Pred, Operand::Reg(Reg { class: Class::Pred, index: pred })),
            negated,
        });
        let (dst, src) = ([0; MAX_TARGETS], [0; MAX_SOURCES]);
        Step { action, condition, labelled: false, sources: 0, targets: 0, dst, src, imm: [0; 2], many: Box::default() }
    }

    fn instruction(&self, inst: &Inst) -> Step {
        let mut step = self.step(Action::Op(inst.op), inst.guard);
        let mut immediates = step.imm.iter_mut();
        for (part, operands) in inst.parts() {
            let mut data = 0;
            if let Some((class, count)) = part.written() {
                let slots = operands.iter().map(|&operand| self.slot(class, operand));
                if count > MAX_TARGETS {
                    step.many = slots.collect();
                } else {
                    step.dst[step.targets.into()..].iter_mut().zip(slots).for_each(|(place, slot)| *place = slot);
                }
                (step.targets, data) = (step.targets + count as u8, count);
            } else if let Some((class, count)) = part.read() {
                for (slot, &operand) in step.src[step.sources.into()..].iter_mut().zip(&operands[..count]) {
                    *slot = self.slot(class, operand);
                }
                (step.sources, data) = (step.sources + count as u8, count);
            }
            for (&constant, immediate) in operands[data..].iter().zip(immediates.by_ref()) {
                if let Operand::Imm(bits) = constant {
                    *immediate = bits as u32;
                }
            }
        }
        step
    }
}

/// The operands that are data read from registers or constants, with their class.
fn data_sources(inst: &Inst) -> impl Iterator<Item = (Class, Operand)> {
    inst.parts()
        .filter_map(|(part, operands)| part.read().map(|(class, count)| (class, &operands[..count])))
        .flat_map(|(class, operands)| operands.iter().map(move |&operand| (class, operand)))
}

/// The number of the step that follows each label.
fn step_numbers(kernel: &Kernel) -> HashMap<Label, u32> {
    let mut numbers = HashMap::new();
    let mut next = 0;
    for item in &kernel.body {
        match item {
            Item::Label(label) => {
                numbers.insert(*label, next);
            }
            Item::Inst(_) | Item::Branch { .. } => next += 1,
            Item::Section(_) => {}
        }
    }
    numbers
}

/// The assembler fuses `mad.lo.cc; madc.hi` of the same factors, adjacent, into one wide product: the
/// first half is counted as a wide product, the second as nothing of its own.
fn mark_fused(steps: &[Step], tags: &mut [Tag]) {
    for i in 1..steps.len() {
        let (low, high) = (&steps[i - 1], &steps[i]);
        let (Action::Op(Op::Mad(Half::Lo, out)), Action::Op(Op::Mad(Half::Hi, into))) = (low.action, high.action)
        else {
            continue;
        };
        let same_factors = low.src[..2] == high.src[..2] && !low.src[..2].contains(&low.dst[0]);
        let straight = !high.labelled && low.condition.is_none() && high.condition.is_none();
        if out.writes() && into.reads() && same_factors && straight {
            tags[i - 1].pipe = Pipe::WideMul;
            tags[i].pipe = Pipe::Fused;
        }
    }
}
