//! Montgomery's arithmetic modulo one number for all lanes, by any algorithm.

use num_bigint::BigUint;
use warpmp::kernels::{Abilities, OperationShape, Settings, Spec};
use warpmp::{Operation, Shape, Status};

use super::algorithm;
use super::numbers::{Outcome, below, limbs, run};

/// An algorithm with its settings.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    /// The name of the algorithm.
    pub name: &'static str,
    /// Its settings.
    pub settings: Settings,
}

impl Ring {
    /// Runs an operation on numbers of these bits. Operands of one number serve all lanes.
    pub fn outcome(&self, operation: Operation, bits: &[usize], operands: &[&[BigUint]]) -> Outcome {
        let shapes: Vec<Shape> = bits.iter().zip(operands).map(|(bits, it)| Shape::new(it.len(), *bits)).collect();
        let shape = OperationShape::new(operation, &shapes).unwrap();
        let algorithm = algorithm(operation, self.name);
        assert!((algorithm.fits)(shape), "{shape:?}");
        let spec: Box<dyn Spec> = algorithm.spec(shape, &self.settings, Abilities::of(80)).unwrap();
        let operands: Vec<_> = shape.operands().iter().copied().zip(operands.iter().copied()).collect();
        let lanes = operands.iter().map(|it| it.1.len()).max().unwrap();
        run(&*spec, &operands, &[limbs(bits[bits.len() - 1])], lanes)
    }

    /// Products and squares of residues modulo a number of at most `bits` bits: of edges with each other, and of `lanes` others.
    pub fn check_products(&self, m: &BigUint, bits: usize, lanes: usize, seed: u64) {
        let r = BigUint::from(1_u32) << bits;
        let moduli = vec![m.clone(); lanes];
        let (mut a, mut b) = (below(&moduli, bits, seed), below(&moduli, bits, seed + 1));
        let edges = [BigUint::ZERO, BigUint::from(1_u32) % m, m - 1_u32, m >> 1_u32, (&r - 1_u32) % m, &r % m];
        for x in &edges {
            a.extend(vec![x.clone(); edges.len()]);
            b.extend(edges.clone());
        }
        let m = std::slice::from_ref(m);
        let product = self.outcome(Operation::MontMul, &[bits; 3], &[&a, &b, m]);
        let square = self.outcome(Operation::MontSqr, &[bits; 2], &[&a, m]);
        for (lane, (x, y)) in a.iter().zip(&b).enumerate() {
            let [product, square] = [&product, &square].map(|it| &it.results[0][lane]);
            assert_eq!(
                *product,
                over_r(&(x * y), &m[0], limbs(bits)),
                "{bits} bits, a = {x:x}, b = {y:x}, m = {:x}",
                m[0]
            );
            assert_eq!(*square, over_r(&(x * x), &m[0], limbs(bits)), "{bits} bits, a = {x:x}, m = {:x}", m[0]);
        }
        assert!(product.statuses.iter().chain(&square.statuses).all(|&it| it == Status::Fine.code()));
    }

    /// Operands that are not reduced, even moduli and zero give their statuses, and no results.
    pub fn check_faults(&self, bits: usize) {
        let odd = (BigUint::from(1_u32) << (bits - 48)) + 1_u32;
        let (zero, even) = (BigUint::ZERO, &odd + 1_u32);
        let small = BigUint::from(7_u32);
        for (m, statuses) in [
            (&odd, [Status::Fine, Status::NotReduced, Status::NotReduced]),
            (&even, [Status::EvenModulus; 3]),
            (&zero, [Status::DivisionByZero; 3]),
        ] {
            let [a, b] = [[&small, m, &small], [&small, &small, &even]].map(|it| it.map(Clone::clone));
            let found = self.outcome(Operation::MontMul, &[bits; 3], &[&a, &b, std::slice::from_ref(m)]);
            for (lane, status) in statuses.iter().enumerate() {
                assert_eq!(found.statuses[lane], status.code(), "m = {m:x}, lane {lane}");
                assert_eq!(found.results[0][lane] == zero, *status != Status::Fine, "m = {m:x}, lane {lane}");
            }
        }
    }
}

/// `x/R mod m` with `R = 2^(32·limbs)`.
pub fn over_r(x: &BigUint, m: &BigUint, limbs: u32) -> BigUint {
    if m.bits() == 1 {
        return BigUint::ZERO;
    }
    x * (BigUint::from(1_u32) << (32 * limbs as usize)).modinv(m).unwrap() % m
}

/// The odd numbers beside the powers of two: their inverses and their quotients are at the edges.
pub fn edge_moduli(bits: usize) -> Vec<BigUint> {
    let one = BigUint::from(1_u32);
    let r = &one << bits;
    vec![&r - 1_u32, &r - 3_u32, one, BigUint::from(3_u32), (&r >> 1) + 1_u32, (&r >> 1_u32) - 1_u32]
}
