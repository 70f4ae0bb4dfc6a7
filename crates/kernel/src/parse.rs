//! Reads a kernel from its printed text, strictly: a text that the printer does not write is refused.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use crate::ir::{Bounds, Class, Guard, Inst, Item, Kernel, Label, Op, Operand, Param, Part, Reg, Width};
use crate::print::{SECTION_MARK, SHARED_NAME, TABLE_NAME};

/// The reason why a text is no kernel of this crate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

type Parsed<T> = Result<T, String>;

/// Reads the text of one kernel.
///
/// # Errors
/// The first line that is not as the printer writes it, and why.
pub fn parse(text: &str) -> Result<Kernel, ParseError> {
    let mut reader = Parser::default();
    for line in text.lines() {
        reader.number += 1;
        reader.line(line.trim()).map_err(|reason| ParseError { line: reader.number, reason })?;
    }
    reader.finish()
}

/// Operations by mnemonic. Operations with the same mnemonic differ in their operands.
fn table() -> &'static HashMap<String, Vec<Op>> {
    static TABLE: OnceLock<HashMap<String, Vec<Op>>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table: HashMap<String, Vec<Op>> = HashMap::new();
        for op in Op::all() {
            table.entry(op.mnemonic()).or_default().push(op);
        }
        table
    })
}

#[derive(Default, PartialEq, Clone, Copy)]
enum Region {
    #[default]
    Header,
    Table,
    Params,
    Hints,
    Body,
    End,
}

#[derive(Default)]
struct Parser {
    /// The line, from 1.
    number: usize,
    region: Region,
    version: String,
    target: String,
    address_size: bool,
    name: String,
    params: Vec<Param>,
    bounds: Bounds,
    registers: [u32; 4],
    shared: bool,
    table: Vec<u64>,
    /// The constants that the table's declaration promises.
    table_length: u64,
    body: Vec<Item>,
    labels: HashSet<Label>,
    /// Branches with their lines.
    branches: Vec<(usize, Label)>,
}

impl Parser {
    fn line(&mut self, line: &str) -> Parsed<()> {
        if line.is_empty() {
            return Ok(());
        }
        match self.region {
            Region::Header => self.header(line),
            Region::Table => self.constants(line),
            Region::Params => self.parameter(line),
            Region::Hints => self.hint(line),
            Region::Body => self.body_line(line),
            Region::End => Err("text after the kernel's end".into()),
        }
    }

    fn header(&mut self, line: &str) -> Parsed<()> {
        if let Some(version) = line.strip_prefix(".version ") {
            self.version = version.into();
        } else if let Some(target) = line.strip_prefix(".target ") {
            self.target = target.into();
        } else if line == ".address_size 64" {
            self.address_size = true;
        } else if line.strip_prefix(".extern .shared .align 16 .b8 ") == Some(&format!("{SHARED_NAME}[];")) {
            self.shared = true;
        } else if let Some(length) = line.strip_prefix(&format!(".global .align 16 .b64 {TABLE_NAME}[")) {
            let length = length.strip_suffix("] = {").and_then(decimal).filter(|&length| length > 0);
            self.table_length = length.filter(|_| self.table.is_empty()).ok_or("expected one table with its length")?;
            self.region = Region::Table;
        } else if let Some(name) = line.strip_prefix(".visible .entry ").and_then(|l| l.strip_suffix('(')) {
            self.name = identifier(name)?.into();
            self.region = Region::Params;
        } else {
            return Err(format!("unknown directive `{line}`"));
        }
        Ok(())
    }

    /// A line of the table.
    fn constants(&mut self, line: &str) -> Parsed<()> {
        if line == "};" {
            self.region = Region::Header;
            let length = self.table.len() as u64;
            return if length == self.table_length {
                Ok(())
            } else {
                Err(format!("{length} constants where {} are due", self.table_length))
            };
        }
        for text in line.strip_suffix(',').unwrap_or(line).split(", ") {
            let bits = text.strip_prefix("0x").filter(|hex| hex.len() == 16).and_then(hexadecimal);
            self.table.push(bits.ok_or_else(|| format!("`{text}` is no constant of the table"))?);
        }
        Ok(())
    }

    fn parameter(&mut self, line: &str) -> Parsed<()> {
        if line == ")" {
            self.region = Region::Hints;
            return Ok(());
        }
        let rest = line.strip_prefix(".param ").ok_or("expected `.param`")?;
        let rest = rest.strip_suffix(',').unwrap_or(rest);
        let (width, name) = rest.split_once(' ').ok_or("expected a parameter's type and name")?;
        let width = match width {
            ".u32" => Width::W32,
            ".u64" => Width::W64,
            other => return Err(format!("unknown parameter type `{other}`")),
        };
        let name = identifier(name)?;
        if self.params.iter().any(|param| param.name == name) {
            return Err(format!("parameter `{name}` is declared twice"));
        }
        self.params.push(Param { name: name.into(), width });
        Ok(())
    }

    fn hint(&mut self, line: &str) -> Parsed<()> {
        let value = |text: &str| text.parse::<u32>().map_err(|e| e.to_string()).map(Some);
        if line == "{" {
            self.region = Region::Body;
        } else if let Some(n) = line.strip_prefix(".maxntid ").and_then(|l| l.strip_suffix(", 1, 1")) {
            self.bounds.max_threads = value(n)?;
        } else if let Some(n) = line.strip_prefix(".minnctapersm ") {
            self.bounds.min_blocks = value(n)?;
        } else if let Some(n) = line.strip_prefix(".maxnreg ") {
            self.bounds.max_registers = value(n)?;
        } else {
            return Err(format!("unknown directive `{line}`"));
        }
        Ok(())
    }

    fn body_line(&mut self, line: &str) -> Parsed<()> {
        if line == "}" {
            self.region = Region::End;
            return Ok(());
        }
        if let Some(name) = line.strip_prefix(SECTION_MARK) {
            self.body.push(Item::Section(name.into()));
            return Ok(());
        }
        if let Some(label) = line.strip_suffix(':') {
            let label = parse_label(label)?;
            if !self.labels.insert(label) {
                return Err(format!("label {label} stands twice"));
            }
            self.body.push(Item::Label(label));
            return Ok(());
        }
        let statement = line.strip_suffix(';').ok_or("a statement ends in `;`")?;
        if let Some(declaration) = statement.strip_prefix(".reg ") {
            return self.declaration(declaration);
        }
        let (guard, rest) = self.guard(statement)?;
        if let Some(target) = rest.strip_prefix("bra ") {
            let target = parse_label(target)?;
            self.branches.push((self.number, target));
            self.body.push(Item::Branch { guard, target });
            return Ok(());
        }
        let (mnemonic, arguments) = rest.split_once(' ').unwrap_or((rest, ""));
        let groups = split_groups(arguments)?;
        let candidates = table().get(mnemonic).ok_or_else(|| format!("unknown operation `{mnemonic}`"))?;
        let mut reason = String::new();
        for &op in candidates {
            match self.operands(op, &groups) {
                Ok(operands) => {
                    self.body.push(Item::Inst(Inst { guard, op, operands }));
                    return Ok(());
                }
                Err(e) => reason = e,
            }
        }
        Err(format!("`{mnemonic}`: {reason}"))
    }

    fn declaration(&mut self, declaration: &str) -> Parsed<()> {
        let slot = Class::ALL.iter().position(|class| {
            declaration
                .strip_prefix(&format!(".{class}"))
                .is_some_and(|rest| rest.trim_start().split('<').next() == Some(class.prefix()))
        });
        let slot = slot.ok_or_else(|| format!("unknown register declaration `{declaration}`"))?;
        let count = declaration.split_once('<').and_then(|(_, rest)| rest.strip_suffix('>'));
        let count = count.and_then(decimal).ok_or("expected `<count>`")?;
        if self.registers[slot] != 0 {
            return Err(format!(".{} registers are declared twice", Class::ALL[slot]));
        }
        self.registers[slot] = count as u32;
        Ok(())
    }

    fn guard<'t>(&self, statement: &'t str) -> Parsed<(Option<Guard>, &'t str)> {
        let Some(rest) = statement.strip_prefix('@') else { return Ok((None, statement)) };
        let (pred, rest) = rest.split_once(' ').ok_or("a guard without an instruction")?;
        let (negated, name) = pred.strip_prefix('!').map_or((false, pred), |name| (true, name));
        let Reg { index, .. } = self.register(name, Class::Pred)?;
        Ok((Some(Guard { pred: index, negated }), rest))
    }

    fn operands(&self, op: Op, groups: &[&str]) -> Parsed<Vec<Operand>> {
        let layout = op.layout();
        if layout.len() != groups.len() {
            return Err(format!("{} operands where {} are due", groups.len(), layout.len()));
        }
        let mut operands = Vec::new();
        for (part, group) in layout.into_iter().zip(groups) {
            match part {
                Part::Dst(class) => operands.push(Operand::Reg(self.register(group, class)?)),
                Part::Src(class) => operands.push(self.operand(group, class)?),
                Part::SrcUpTo(class, limit) => operands.push(within(self.operand(group, class)?, limit)?),
                Part::Const(limit) => operands.push(within(constant(group, Class::B32)?, limit)?),
                Part::DstVec(class, n) | Part::SrcVec(class, n) | Part::Matrix(class, n) | Part::Sums(class, n) => {
                    let inner = group.strip_prefix('{').and_then(|g| g.strip_suffix('}')).ok_or("expected `{…}`")?;
                    let elements: Vec<&str> = inner.split(',').map(str::trim).collect();
                    if elements.len() != n {
                        return Err(format!("{} elements where {n} are due", elements.len()));
                    }
                    for element in elements {
                        operands.push(match part {
                            Part::Matrix(..) if !element.starts_with('%') => {
                                return Err("a matrix is held in registers".into());
                            }
                            Part::SrcVec(..) => self.operand(element, class)?,
                            _ => Operand::Reg(self.register(element, class)?),
                        });
                    }
                }
                Part::Addr(class) => {
                    let inner = bracketed(group)?;
                    let (base, offset) = inner.split_once('+').unwrap_or((inner, "0"));
                    operands.push(Operand::Reg(self.register(base, class)?));
                    operands.push(constant(offset, Class::B32)?);
                }
                Part::Param => {
                    let name = bracketed(group)?;
                    operands.push(self.parameter_number(op, name)?);
                }
                Part::Fixed(SHARED_NAME) if !self.shared => return Err(format!("`{SHARED_NAME}` is not declared")),
                Part::Fixed(TABLE_NAME) if self.table.is_empty() => {
                    return Err(format!("`{TABLE_NAME}` is not declared"));
                }
                Part::Fixed(text) if text == *group => {}
                Part::Fixed(text) => return Err(format!("`{group}` where `{text}` is due")),
            }
        }
        Ok(operands)
    }

    /// The number of a parameter that the operation can load.
    fn parameter_number(&self, op: Op, name: &str) -> Parsed<Operand> {
        let index = self.params.iter().position(|p| p.name == name);
        let index = index.ok_or_else(|| format!("unknown parameter `{name}`"))?;
        if op == Op::LdParam(Width::W64) && self.params[index].width == Width::W32 {
            return Err(format!("parameter `{name}` has 32 bits"));
        }
        Ok(Operand::Imm(index as u64))
    }

    fn operand(&self, text: &str, class: Class) -> Parsed<Operand> {
        if text.starts_with('%') { Ok(Operand::Reg(self.register(text, class)?)) } else { constant(text, class) }
    }

    fn register(&self, text: &str, class: Class) -> Parsed<Reg> {
        let digits = text.strip_prefix(class.prefix());
        let index = digits
            .and_then(decimal)
            .and_then(|index| u32::try_from(index).ok())
            .ok_or_else(|| format!("`{text}` is no .{class} register"))?;
        let slot = Class::ALL.iter().position(|&c| c == class).unwrap_or_default();
        if index >= self.registers[slot] {
            return Err(format!("`{text}` is not declared"));
        }
        Ok(Reg { class, index })
    }

    fn finish(self) -> Result<Kernel, ParseError> {
        let refuse = |line: usize, reason: String| Err(ParseError { line, reason });
        let last = self.number;
        if self.region != Region::End {
            return refuse(last, "the text ends inside the kernel".into());
        }
        if !self.address_size {
            return refuse(last, "`.address_size 64` is missing".into());
        }
        if let Some((line, target)) = self.branches.iter().find(|(_, target)| !self.labels.contains(target)) {
            return refuse(*line, format!("no label {target}"));
        }
        let kernel = Kernel {
            name: self.name,
            params: self.params,
            bounds: self.bounds,
            registers: self.registers,
            shared: self.shared,
            table: self.table,
            body: self.body,
        };
        let target = kernel.target();
        if (self.version.as_str(), self.target.as_str()) != (target.version(), target.name()) {
            let (version, name) = (target.version(), target.name());
            let asked = format!("the header asks for {} {}", self.version, self.target);
            return refuse(last, format!("{asked}, the instructions for {version} {name}"));
        }
        Ok(kernel)
    }
}

fn parse_label(text: &str) -> Parsed<Label> {
    let number = text.strip_prefix("$L").and_then(decimal).and_then(|n| u32::try_from(n).ok());
    number.map(Label).ok_or_else(|| format!("`{text}` is no label"))
}

/// A letter, then letters, digits and `_`.
fn identifier(text: &str) -> Parsed<&str> {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let goes_on = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if starts && goes_on { Ok(text) } else { Err(format!("`{text}` is no name")) }
}

/// Digits without a sign or a leading zero.
fn decimal(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

/// Hexadecimal digits without a sign.
fn hexadecimal(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_hexdigit());
    if plain { u64::from_str_radix(text, 16).ok() } else { None }
}

fn bracketed(text: &str) -> Parsed<&str> {
    text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).ok_or_else(|| format!("`{text}` is no address"))
}

/// Refuses a constant that the assembler refuses, where a register may hold anything.
fn within(operand: Operand, limit: u64) -> Parsed<Operand> {
    match operand {
        Operand::Imm(value) if value > limit => Err(format!("{value} is more than {limit}")),
        Operand::Imm(_) | Operand::Reg(_) => Ok(operand),
    }
}

fn constant(text: &str, class: Class) -> Parsed<Operand> {
    let bits = if class == Class::F64 {
        text.strip_prefix("0d").filter(|hex| hex.len() == 16).and_then(hexadecimal)
    } else if let Some(hex) = text.strip_prefix("0x") {
        hexadecimal(hex)
    } else {
        decimal(text)
    };
    let bits = bits.ok_or_else(|| format!("`{text}` is no constant"))?;
    if matches!(class, Class::B32) && bits > u64::from(u32::MAX) {
        return Err(format!("`{text}` does not fit in 32 bits"));
    }
    Ok(Operand::Imm(bits))
}

/// Splits at the commas outside braces and brackets.
fn split_groups(text: &str) -> Parsed<Vec<&str>> {
    let mut groups = Vec::new();
    let (mut depth, mut start) = (0_i32, 0);
    for (i, c) in text.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                groups.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    if depth != 0 {
        return Err("unbalanced braces".into());
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        groups.push(last);
    }
    Ok(groups)
}
