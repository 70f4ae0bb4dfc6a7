//! Checks and times the kernels of modular arithmetic and division on the first GPU.
//!
//! ```sh
//! cargo run --release -p warpmp --example modular_bench -- \
//!     [--layouts] [--lanes N] [--check N] [--carry] [--simulate] [--emit DIR] [NAME]…
//! ```
//!
//! Names choose the cases that begin with one of them, such as `mont_mul_1024`. `--layouts` tries several divisions
//! of the numbers over lanes and warps. `--simulate` runs a few lanes on the simulator, without times; `--emit` writes the
//! texts of the kernels and runs nothing. `--carry` takes carry-prone operands instead of random ones. A sample of the
//! results, with `--check` at least so many lanes, is compared with num-bigint before anything is timed; operands and
//! results stay in device memory.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use num_bigint::BigUint;
use warpmp::kernels::OperandShape;
use warpmp::kernels::Spec;
use warpmp::kernels::modular::Layout;
use warpmp::kernels::modular::division::{Division, Parts};
use warpmp::kernels::modular::gcd::Gcd;
use warpmp::kernels::modular::inverse::InvMod;
use warpmp::kernels::modular::power::{Exponent, PowMod};
use warpmp::kernels::modular::product::{Function, MontgomeryProduct};
use warpmp_device::{Arg, Buffer, Device, Stream, open_cuda, open_sim};
use warpmp_kernel::build::Glue;
use warpmp_testkit::{Operands, Pattern, oracle};

/// Results of a lane from its operands.
type Expected = Box<dyn Fn(&[BigUint]) -> Vec<BigUint>>;

/// What is measured.
struct Case {
    name: String,
    spec: Box<dyn Spec>,
    /// The operands with their bits, and whether they are moduli: odd, with the top bit set.
    operands: Vec<(u32, bool)>,
    results: Vec<u32>,
    /// Is there a status?
    status: bool,
    /// Operations a lane.
    chain: u32,
    lanes: usize,
    /// Operations a second that are wanted.
    target: f64,
    expected: Expected,
}

/// What the command line says.
struct Options {
    names: Vec<String>,
    layouts: bool,
    /// Lanes to compare, besides the usual sample.
    check: usize,
    carry: bool,
    simulate: bool,
    emit: Option<PathBuf>,
    lanes: Option<usize>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut options =
        Options { names: Vec::new(), layouts: false, check: 0, carry: false, simulate: false, emit: None, lanes: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--layouts" => options.layouts = true,
            "--check" => options.check = arguments.next().ok_or("--check needs a number")?.parse()?,
            "--carry" => options.carry = true,
            "--simulate" => options.simulate = true,
            "--emit" => options.emit = Some(arguments.next().ok_or("--emit needs a folder")?.into()),
            "--lanes" => options.lanes = Some(arguments.next().ok_or("--lanes needs a number")?.parse()?),
            _ => options.names.push(argument),
        }
    }
    if let Some(folder) = &options.emit {
        for case in cases(&options) {
            for stage in 0..case.spec.stages().len() {
                let kernel = case.spec.build(stage);
                std::fs::write(folder.join(format!("{}.ptx", kernel.name)), kernel.to_string())?;
            }
        }
        return Ok(());
    }
    let device = if options.simulate { open_sim() } else { open_cuda(0)? };
    println!("{}", device.info());
    println!("{:58} {:>4} {:>5} {:>9} {:>11} {:>9}", "kernel", "regs", "local", "ms", "per second", "of target");
    let mut failed = false;
    for case in cases(&options) {
        if let Err(error) = measure(&device, &case, &options) {
            println!("{:58} FAILED: {error}", case.name);
            failed = true;
        }
    }
    if failed { Err("some cases failed".into()) } else { Ok(()) }
}

fn cases(options: &Options) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |case: Case| {
        if options.names.is_empty() || options.names.iter().any(|name| case.name.starts_with(name.as_str())) {
            cases.push(case);
        }
    };
    for (bits, target) in [(256, 5.0e10), (512, 1.3e10), (1024, 3.3e9), (2048, 9e8), (4096, 2.3e8)] {
        for layout in layouts(bits / 32, PRODUCT_BLOCK, options.layouts) {
            add(mont_mul(bits, layout, target));
            add(mont_sqr(bits, layout));
        }
    }
    for (bits, target) in [(256, 1.3e8), (512, 2.1e7), (1024, 2.6e6), (2048, 3.6e5), (4096, 4.6e4)] {
        for layout in layouts(bits / 32, POWER_BLOCK, options.layouts) {
            add(pow_mod(bits, layout, target, false));
            add(pow_mod(bits, layout, 0.0, true));
        }
    }
    for (bits, target) in [(1024, 0.0), (2048, 3.5e7), (4096, 0.0)] {
        add(pow_public(bits, target));
    }
    for (bits, target) in [(256, 5e9), (512, 0.0), (1024, 1.2e9), (2048, 0.0), (4096, 2e8)] {
        for layout in layouts(bits / 32, 16, options.layouts) {
            add(div_rem(bits, bits, layout, target));
            add(div_rem(2 * bits, bits, layout, target));
        }
    }
    for (bits, gcd_target, inverse_target) in
        [(256, 3e8, 1e8), (512, 0.0, 0.0), (1024, 7e7, 2.5e7), (2048, 0.0, 0.0), (4096, 9e6, 4e6)]
    {
        add(gcd(bits, gcd_target));
        add(inv_mod(bits, inverse_target));
    }
    cases
}

/// The layout that the tuning tables choose, or several.
fn layouts(limbs: u32, block: u32, several: bool) -> Vec<Layout> {
    if !several {
        return vec![usual(limbs, block)];
    }
    let mut layouts = Vec::new();
    for group in [1, 2, 4, 8, 16, 32] {
        let length = limbs.div_ceil(group);
        if !(4..=32).contains(&length) || (group == 1 && length > 32) {
            continue;
        }
        layouts.extend([1, 2, 4].map(|warps| Layout { group, length, warps, glue: glue(group, length) }));
    }
    layouts
}

/// Limbs a lane of groups, at most: of products and squares, of powers.
const PRODUCT_BLOCK: u32 = 32;
const POWER_BLOCK: u32 = 16;

/// One thread to 32 limbs, above it as few lanes as hold the number.
fn usual(limbs: u32, block: u32) -> Layout {
    let group = if limbs <= 32 { 1 } else { limbs.div_ceil(block).next_power_of_two() };
    let length = limbs.div_ceil(group);
    Layout { group, length, warps: 4, glue: glue(group, length) }
}

/// Long chains of one thread are joined, as the plan does it.
const fn glue(group: u32, length: u32) -> Glue {
    if group == 1 && length > 16 { Glue::Every(3) } else { Glue::None }
}

/// Lanes that keep a large GPU busy for a while.
const fn lanes(layout: Layout) -> usize {
    (1 << 20) / layout.group as usize
}

fn mont_mul(bits: u32, layout: Layout, target: f64) -> Case {
    let l = OperandShape::each(bits);
    let chain = 1000;
    let spec = MontgomeryProduct { function: Function::Mul, operands: vec![l; 3], layout, chain };
    Case {
        name: format!("mont_mul_{bits} {}", spec.name()),
        operands: vec![(bits - 1, false), (bits - 1, false), (bits, true)],
        results: vec![l.limbs()],
        status: true,
        chain,
        lanes: lanes(layout),
        target,
        spec: Box::new(spec),
        expected: Box::new(move |x| {
            let inverse = (BigUint::from(1_u32) << bits).modinv(&x[2]).unwrap_or_default();
            let factor = &x[1] * inverse % &x[2];
            vec![&x[0] * factor.modpow(&chain.into(), &x[2]) % &x[2]]
        }),
    }
}

fn mont_sqr(bits: u32, layout: Layout) -> Case {
    let l = OperandShape::each(bits);
    let chain = 1000;
    let spec = MontgomeryProduct { function: Function::Sqr, operands: vec![l; 2], layout, chain };
    Case {
        name: format!("mont_sqr_{bits} {}", spec.name()),
        operands: vec![(bits - 1, false), (bits, true)],
        results: vec![l.limbs()],
        status: true,
        chain,
        lanes: lanes(layout),
        target: 0.0,
        spec: Box::new(spec),
        // x^(2^n) / R^(2^n − 1) = R·(x/R)^(2^n).
        expected: Box::new(move |x| {
            let r = BigUint::from(1_u32) << bits;
            let mut power = &x[0] * r.modinv(&x[1]).unwrap_or_default() % &x[1];
            for _ in 0..chain {
                power = &power * &power % &x[1];
            }
            vec![power * r % &x[1]]
        }),
    }
}

fn pow_mod(bits: u32, layout: Layout, target: f64, secret: bool) -> Case {
    let l = OperandShape::each(bits);
    let kind = if secret { Exponent::Secret } else { Exponent::Operand };
    let spec = PowMod { layout, ..PowMod::new(l, kind(l), l) };
    Case {
        name: format!("pow_mod_{}{bits} {}", if secret { "sec_" } else { "" }, spec.name()),
        operands: vec![(bits, false), (bits, false), (bits, true)],
        results: vec![l.limbs()],
        status: true,
        chain: 1,
        lanes: lanes(layout) / 4,
        target,
        spec: Box::new(spec),
        expected: Box::new(|x| vec![x[0].modpow(&x[1], &x[2])]),
    }
}

fn pow_public(bits: u32, target: f64) -> Case {
    let l = OperandShape::each(bits);
    let spec = PowMod { layout: usual(l.limbs(), POWER_BLOCK), ..PowMod::new(l, Exponent::Public(65537), l) };
    Case {
        name: format!("pow_mod_65537_{bits} {}", spec.name()),
        operands: vec![(bits, false), (bits, true)],
        results: vec![l.limbs()],
        status: true,
        chain: 1,
        lanes: lanes(spec.layout),
        target,
        spec: Box::new(spec),
        expected: Box::new(|x| vec![x[0].modpow(&65537_u32.into(), &x[1])]),
    }
}

fn div_rem(dividend: u32, divisor: u32, layout: Layout, target: f64) -> Case {
    let operands = [dividend, divisor].map(OperandShape::each);
    let spec = Division { layout, ..Division::new(operands[0], operands[1], Parts::Both) };
    Case {
        name: format!("div_rem_{dividend}_{divisor} {}", spec.name()),
        operands: vec![(dividend, false), (divisor, true)],
        results: vec![dividend / 32, divisor / 32],
        status: true,
        chain: 1,
        lanes: 4 * lanes(spec.layout),
        target,
        spec: Box::new(spec),
        expected: Box::new(|x| vec![&x[0] / &x[1], &x[0] % &x[1]]),
    }
}

fn gcd(bits: u32, target: f64) -> Case {
    let l = OperandShape::each(bits);
    let spec = Gcd::new(l, l);
    Case {
        name: format!("gcd_{bits} {}", spec.name()),
        operands: vec![(bits, false), (bits, false)],
        results: vec![l.limbs()],
        status: false,
        chain: 1,
        lanes: lanes(spec.layout),
        target,
        spec: Box::new(spec),
        expected: Box::new(|x| {
            let (mut a, mut b) = (x[0].clone(), x[1].clone());
            while b != BigUint::ZERO {
                (a, b) = (b.clone(), a % b);
            }
            vec![a]
        }),
    }
}

fn inv_mod(bits: u32, target: f64) -> Case {
    let l = OperandShape::each(bits);
    let spec = InvMod::new(l, l);
    Case {
        name: format!("inv_mod_{bits} {}", spec.name()),
        operands: vec![(bits, false), (bits, true)],
        results: vec![l.limbs()],
        status: true,
        chain: 1,
        lanes: lanes(spec.layout),
        target,
        spec: Box::new(spec),
        expected: Box::new(|x| vec![x[0].modinv(&x[1]).unwrap_or_default()]),
    }
}

/// The operands of a case: distinct ones for some lanes, repeated.
fn operands(case: &Case, lanes: usize, pattern: Pattern) -> Vec<Operands> {
    let distinct = lanes.min(4096);
    let make = |(seed, &(bits, modulus)): (usize, &(u32, bool))| {
        let mut operands = Operands::generate(pattern, distinct, bits as usize, seed as u64);
        let width = bits.div_ceil(32) as usize;
        if modulus {
            for row in operands.limbs.chunks_exact_mut(width) {
                row[0] |= 1;
                row[width - 1] |= 1 << ((bits - 1) % 32);
            }
        }
        operands
    };
    case.operands.iter().enumerate().map(make).collect()
}

fn measure(device: &Arc<dyn Device>, case: &Case, options: &Options) -> Result<(), Box<dyn Error>> {
    let lanes = options.lanes.unwrap_or(if options.simulate { 33 } else { case.lanes });
    let padded = lanes.next_multiple_of(32);
    let stream = device.stream()?;
    let pattern = if options.carry { Pattern::Carry } else { Pattern::Random };
    let inputs = operands(case, lanes, pattern);
    let mut buffers: Vec<Buffer> = Vec::new();
    for input in &inputs {
        let width = input.bits.div_ceil(32);
        let buffer = device.alloc(4 * (padded * width) as u64)?;
        device.fill(&stream, &buffer, 0, 0, padded * width)?;
        for first in (0..lanes).step_by(input.lanes) {
            let rows = input.lanes.min(lanes - first);
            device.upload(&stream, &input.limbs[..rows * width], &buffer, first * width)?;
        }
        buffers.push(buffer);
    }
    for &limbs in case.results.iter().chain(case.status.then_some(&1)) {
        buffers.push(device.alloc(4 * padded as u64 * u64::from(limbs))?);
    }
    let scratch = case.spec.scratch_limbs();
    let scratch = if scratch > 0 { Some(device.alloc(4 * padded as u64 * u64::from(scratch))?) } else { None };
    let mut args: Vec<Arg<'_>> = buffers.iter().map(Arg::from).collect();
    args.push(Arg::U32(lanes as u32));
    args.extend(scratch.iter().map(Arg::from));
    let modules: Vec<_> = case.spec.kernels().iter().map(|kernel| device.load(kernel)).collect::<Result<_, _>>()?;
    let launch = |stream: &Stream| -> Result<(), warpmp_device::Error> {
        for (stage, module) in modules.iter().enumerate() {
            device.launch(stream, module, case.spec.grid(stage, lanes as u32), &args)?;
        }
        Ok(())
    };
    launch(&stream)?;
    compare(&**device, &stream, case, &inputs, &buffers, (lanes, options.check))?;
    let resources = modules[0].resources();
    let (registers, local) = (resources.registers.unwrap_or(0), resources.local_bytes.unwrap_or(0));
    if options.simulate {
        println!("{:58} right", case.name);
        return Ok(());
    }
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let (start, end) = (device.event()?, device.event()?);
        device.record(&stream, &start)?;
        launch(&stream)?;
        device.record(&stream, &end)?;
        best = best.min(device.elapsed(&start, &end)?);
    }
    let rate = lanes as f64 * f64::from(case.chain) / best.as_secs_f64();
    let part = if case.target > 0.0 { format!("{:.2}", rate / case.target) } else { "-".into() };
    let milliseconds = best.as_secs_f64() * 1e3;
    println!("{:58} {registers:>4} {local:>5} {milliseconds:>9.3} {rate:>11.3e} {part:>9}", case.name);
    Ok(())
}

/// Compares some lanes with the oracle: at the ends of warps, and between.
fn compare(
    device: &dyn Device,
    stream: &Stream,
    case: &Case,
    inputs: &[Operands],
    buffers: &[Buffer],
    (lanes, check): (usize, usize),
) -> Result<(), Box<dyn Error>> {
    let sample: Vec<usize> = [0, 1, 7, 31, 32]
        .into_iter()
        .chain((1..4).map(|i| i * lanes / 4 + 17))
        .chain([lanes - 1])
        .chain(0..check)
        .collect();
    let mut statuses = vec![0; lanes];
    let outputs = &buffers[inputs.len()..];
    if let Some(buffer) = outputs.get(case.results.len()) {
        device.download(stream, buffer, 0, &mut statuses)?;
    }
    for lane in sample.into_iter().filter(|&lane| lane < lanes) {
        let numbers: Vec<BigUint> = inputs.iter().map(|input| oracle::number(input.lane(lane % input.lanes))).collect();
        for ((expected, &limbs), buffer) in (case.expected)(&numbers).iter().zip(&case.results).zip(outputs) {
            let mut words = vec![0; limbs as usize];
            device.download(stream, buffer, lane * limbs as usize, &mut words)?;
            // A lane with a fault, such as no inverse, has zeros, and so has the oracle.
            if oracle::number(&words) != *expected {
                return Err(format!("lane {lane} is wrong (status {})", statuses[lane]).into());
            }
        }
    }
    Ok(())
}
