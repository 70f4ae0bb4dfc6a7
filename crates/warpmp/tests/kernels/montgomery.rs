//! Montgomery products, reductions and conversions on the simulator, against num-bigint.

use num_bigint::BigUint;
use warpmp::kernels::OperandShape;
use warpmp::kernels::Spec;
use warpmp::kernels::modular::Layout;
use warpmp::kernels::modular::product::{Function, MontgomeryProduct};
use warpmp_kernel::build::{Emit as _, Glue};
use warpmp_kernel::fragment::{Montgomery, Sum, Term};
use warpmp_kernel::ir::{Carry, Half, Int, Op, Width};
use warpmp_kernel::sim::Pipe;
use warpmp_launch::{Rows, Signature, Stage};
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::numbers::{below, limbs, numbers, odd_moduli, run};
use warpmp_testkit::kernels::residues::over_r;

/// A function of `a`, of `a` and `c`, or of `products`, compared lane by lane. The modulus is of each lane or common to all.
pub(crate) fn check_function(
    function: Function,
    layout: Layout,
    [a, c, products]: [&[BigUint]; 3],
    modulus: (OperandShape, &[BigUint]),
) {
    let l = modulus.0.limbs();
    let own = OperandShape::each(32 * l);
    let mut operands = match function {
        Function::Mul => vec![(own, a), (own, c)],
        Function::Redc => vec![(OperandShape::each(64 * l), products)],
        Function::Sqr | Function::To | Function::From => vec![(own, a)],
    };
    operands.push(modulus);
    let shapes = operands.iter().map(|operand| operand.0).collect();
    let spec = MontgomeryProduct { function, operands: shapes, layout, chain: 1 };
    let outcome = run(&spec, &operands, &[l], a.len());
    for (lane, m) in modulus.1.iter().cycle().take(a.len()).enumerate() {
        let (a, c) = (&a[lane], &c[lane]);
        let expected = match function {
            Function::Mul => over_r(&(a * c), m, l),
            Function::Sqr => over_r(&(a * a), m, l),
            Function::Redc => over_r(&products[lane], m, l),
            Function::To => (a << (32 * l)) % m,
            Function::From => over_r(a, m, l),
        };
        assert_eq!(outcome.results[0][lane], expected, "{} lane {lane} m = {m:x}", spec.name());
        assert_eq!(outcome.statuses[lane], 0, "{} lane {lane}", spec.name());
    }
}

/// Every function at these bits, with moduli a lane and with a common one.
fn check(bits: usize, lanes: usize, layout: Layout, functions: &[Function]) {
    let l = limbs(bits);
    let r = BigUint::from(1_u32) << (32 * l as usize);
    for common in [false, true] {
        let mut moduli = odd_moduli(lanes, bits, 5);
        if common {
            moduli = vec![moduli[bits % moduli.len()].clone(); lanes];
        }
        let (a, c) = (below(&moduli, bits, 1), below(&moduli, bits, 2));
        let product: Vec<BigUint> = match bits % 3 {
            0 => moduli.iter().map(|m| m * &r - 1_u32).collect(),
            _ => {
                a.iter().zip(&numbers(Pattern::Carry, lanes, 32 * l as usize, 3)).map(|(a, low)| a * &r + low).collect()
            }
        };
        let own = if common { OperandShape::common(32 * l) } else { OperandShape::each(32 * l) };
        let modulus = if common { &moduli[..1] } else { &moduli };
        for &function in functions {
            check_function(function, layout, [&a, &c, &product], (own, modulus));
        }
    }
}

fn layout(group: u32, length: u32) -> Layout {
    Layout { group, length, warps: 2, glue: Glue::None }
}

#[test]
fn by_one_lane_at_every_length() {
    for bits in [1, 2, 31, 32, 33, 63, 64, 65, 109, 128, 131, 163, 191, 239, 255, 256, 257, 384, 511, 512] {
        check(bits, 40, Layout::of(limbs(bits)), &Function::ALL);
    }
    for bits in [521, 1000, 1024] {
        check(bits, 33, layout(1, limbs(bits)), &[Function::Mul, Function::Redc]);
    }
}

#[test]
fn by_groups() {
    for bits in [521, 1000, 1024, 1025] {
        check(bits, 17, Layout::of(limbs(bits)), &Function::ALL);
    }
    for (bits, group, length) in
        [(64, 2, 1), (96, 2, 2), (256, 8, 1), (255, 4, 2), (640, 8, 3), (300, 4, 3), (500, 32, 1)]
    {
        check(bits, 33, layout(group, length), &Function::ALL);
    }
    // Squares whose last block is short, from one row to all but one.
    for (bits, group, length) in [(300, 2, 5), (290, 4, 4), (400, 2, 8), (500, 2, 9), (704, 4, 7), (1000, 8, 5)] {
        check(bits, 33, layout(group, length), &[Function::Sqr]);
    }
    check(2048, 9, Layout::of(64), &[Function::Mul, Function::From]);
    check(3000, 9, Layout::of(94), &[Function::Mul, Function::Redc]);
    check(4096, 9, Layout::of(128), &[Function::Mul]);
}

/// Long factors are read from memory row by row.
#[test]
fn by_long_blocks() {
    for (bits, group, length) in [(1024, 1, 32), (700, 1, 22), (1280, 2, 20), (1100, 2, 21), (1340, 2, 21)] {
        check(bits, 9, layout(group, length), &[Function::Mul, Function::Sqr]);
    }
    check(2048, 9, layout(2, 32), &[Function::Mul, Function::Sqr, Function::To]);
    check(4000, 9, layout(4, 32), &[Function::Mul, Function::Sqr]);
}

/// The counts of a launch for 64 numbers, by number: wide products, low products, 64-bit additions, and other integer
/// instructions of the arithmetic. A 64-bit addition adds a wide product and is one machine instruction with it.
fn counts(function: Function, l: u32, layout: Layout) -> [u64; 4] {
    let lanes = 64;
    let operands = vec![OperandShape::each(32 * l); if function == Function::Mul { 3 } else { 2 }];
    let spec = MontgomeryProduct { function, operands: operands.clone(), layout, chain: 1 };
    let moduli = odd_moduli(lanes, 32 * l as usize, 5);
    let a = below(&moduli, 32 * l as usize, 1);
    let mut inputs = vec![(operands[0], &a[..]); operands.len() - 1];
    inputs.push((operands[0], &moduli));
    let counters = run(&spec, &inputs, &[l], lanes).counters;
    let arithmetic = counters.section("arithmetic").unwrap();
    let count = |pipe: Pipe| arithmetic.pipe(pipe).threads / lanes as u64;
    let wide = arithmetic.op(Op::MulWide(Int::U32)).threads / lanes as u64;
    assert_eq!(count(Pipe::WideMul), wide);
    assert_eq!(count(Pipe::Mul), arithmetic.op(Op::Mul(Half::Lo, Width::W32)).threads / lanes as u64);
    let links = [Carry::Out, Carry::In, Carry::InOut].map(|c| arithmetic.op(Op::Add(Width::W64, c)).threads);
    let links = links.iter().sum::<u64>() / lanes as u64;
    [wide, count(Pipe::Mul), links, count(Pipe::Alu) - links]
}

/// What makes products fast, exactly: the twins of their timings. `2L²` wide products and a low one a row, and at most
/// 1.3 times as many others: here by the simulator, of the whole kernel's machine code by `tools/ptxas-check`.
#[test]
fn costs() {
    for (l, products) in [(8, 136), (16, 528), (32, 2080)] {
        let length = u64::from(l);
        let [wide, low, links, others] = counts(Function::Mul, l, layout(1, l));
        assert_eq!(wide + low, products, "{l} limbs");
        // All products but those of the first row are added to something.
        assert_eq!(links, wide - length, "{l} limbs");
        // A row: 4 ends of chains and what the slide left; at the end the sum of the rows, and a choice.
        assert_eq!(others, 8 * length, "{l} limbs");
        assert!(10 * others <= 13 * products, "{l} limbs: {others} others");
        // Even with the additions that are one instruction with a product; at 8 limbs these are 1.35 times the products.
        assert!(l == 8 || 10 * (links + others) <= 13 * products, "{l} limbs: {} others", links + others);
        let [wide, low, _, others] = counts(Function::Sqr, l, layout(1, l));
        assert_eq!((wide, low), (length * (length + 1) / 2 + length * length, length));
        // A row doubles a limb, adds a word, and finds its quotient before what the slide left is added: 5 more.
        assert_eq!(others, 13 * length - 5, "{l} limbs");
        assert!(10 * others <= 13 * (wide + low), "{l} limbs: {others} others");
        let [wide, low, ..] = counts(Function::From, l, layout(1, l));
        assert_eq!((wide, low), (length * length, length));
    }
    let long = |group| Layout { group, length: 32, warps: 2, glue: Glue::None };
    for (l, layout) in
        [(32, Layout::of(32)), (64, Layout::of(64)), (128, Layout::of(128)), (64, long(2)), (128, long(4))]
    {
        let (length, block) = (u64::from(l), u64::from(layout.length));
        let [wide, low, _, others] = counts(Function::Mul, l, layout);
        assert_eq!(wide, 2 * length * length);
        // Every lane of the group computes the quotient's limb for itself, and takes that of the lowest.
        assert_eq!(low, length * u64::from(layout.group));
        assert!(10 * others <= 13 * wide, "{l} limbs: {others} others of {wide}");
        let [wide, ..] = counts(Function::Sqr, l, layout);
        assert_eq!(wide, length * (length + u64::from(layout.group)) / 2 + length * length);
        assert_eq!(length, u64::from(layout.group) * block);
    }
}

/// The counts do not depend on the operands: nothing is waited for, no carry runs longer than another.
#[test]
fn counts_do_not_depend_on_data() {
    let l = OperandShape::each(1024);
    let spec = MontgomeryProduct { function: Function::Mul, operands: vec![l; 3], layout: Layout::of(32), chain: 1 };
    let count = |moduli: &[BigUint], a: &[BigUint]| run(&spec, &[(l, a), (l, a), (l, moduli)], &[32], 8).counters;
    let moduli = odd_moduli(8, 1024, 3);
    let ones = vec![moduli[0].clone(); 8];
    let largest = vec![&moduli[0] - 1_u32; 8];
    assert!(count(&moduli, &below(&moduli, 1024, 1)).instructions() == count(&ones, &largest).instructions());
}

/// Operands that are not below the modulus, even moduli, zero: each the lane's own trouble.
#[test]
fn faults_stay_in_their_lanes() {
    for (bits, layout) in [(96, layout(1, 3)), (640, Layout::of(20)), (128, layout(4, 3))] {
        let l = limbs(bits);
        let lanes = 10;
        let mut moduli = odd_moduli(lanes, bits, 5);
        let (mut a, mut c) = (below(&moduli, bits, 1), below(&moduli, bits, 2));
        moduli[1] = BigUint::ZERO;
        moduli[2] = BigUint::from(4_u32);
        a[4] = moduli[4].clone();
        c[5] = &moduli[5] + 1_u32;
        // Above the limbs of the modulus.
        a[6] = BigUint::from(1_u32) << (32 * l + 31);
        let (wide, own) = (OperandShape::each(32 * (l + 1)), OperandShape::each(32 * l));
        let spec = MontgomeryProduct { function: Function::Mul, operands: vec![wide, own, own], layout, chain: 1 };
        let outcome = run(&spec, &[(wide, &a), (own, &c), (own, &moduli)], &[l], lanes);
        assert_eq!(outcome.statuses, [0, 1, 2, 0, 3, 3, 3, 0, 0, 0], "{bits} bits");
        for (lane, status) in outcome.statuses.iter().enumerate() {
            let expected = if *status > 0 { BigUint::ZERO } else { over_r(&(&a[lane] * &c[lane]), &moduli[lane], l) };
            assert_eq!(outcome.results[0][lane], expected, "{bits} bits, lane {lane}");
        }
    }
}

/// `a·c`, `a²` and `(a − c)·(a + c)` made together, and the sum and the difference made together before.
#[derive(Debug)]
struct Together {
    layout: Layout,
    limbs: u32,
}

impl Spec for Together {
    fn name(&self) -> String {
        format!("together_{}{}", self.limbs, self.layout.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let signature = Signature::new([Rows::each(self.limbs); 3], [self.limbs; 3]).with_status();
        let stage = self.layout.stage(self.name(), signature, |b, frame| {
            let [a, c, m] = [0, 1, 2].map(|operand| frame.load(b, operand));
            let ring = Montgomery::new(b, frame.spread, &m, self.limbs as usize);
            let sums = ring.sums(b, &[Sum::Sub(&a, &c), Sum::Add(&a, &c)]);
            let terms = [Term::product(&a, &c), Term::Square(&a), Term::product(&sums[0], &sums[1])];
            for (result, product) in ring.all(b, &terms).iter().enumerate() {
                frame.store(b, result, product);
            }
            let fine = b.copy(0);
            frame.store_status(b, fine);
        });
        vec![stage]
    }
}

#[test]
fn several_together() {
    let shapes =
        [(64, 2, 1), (96, 1, 3), (512, 1, 16), (300, 2, 5), (500, 2, 9), (704, 4, 7), (1024, 4, 8), (1024, 8, 4)];
    for (bits, group, length) in shapes {
        let (lanes, limbs) = (33, limbs(bits));
        let moduli = odd_moduli(lanes, bits, 5);
        let (a, c) = (below(&moduli, bits, 1), below(&moduli, bits, 2));
        let spec = Together { layout: layout(group, length), limbs };
        let each = OperandShape::each(32 * limbs);
        let outcome = run(&spec, &[(each, &a[..]), (each, &c), (each, &moduli)], &[limbs; 3], lanes);
        for (lane, m) in moduli.iter().enumerate() {
            let (a, c) = (&a[lane], &c[lane]);
            let products = [a * c, a * a, (a + m - c) * (a + c)];
            for (result, product) in outcome.results.iter().zip(&products) {
                assert_eq!(result[lane], over_r(product, m, limbs), "{} lane {lane} m = {m:x}", spec.name());
            }
        }
    }
}
