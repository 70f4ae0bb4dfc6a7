//! `ntt`: full product and square by transforms modulo three primes, a block a product: exact integers, without doubles.
//!
//! computes   c = a·b            a: `la` limbs, b: `lb`, c: `lc` = `la + lb` or one less
//! requires   `la + lb ≤ 4096`, the longer one at least 64
//! launch     `points / 16` threads a block, a block a product; 16 bytes of shared memory a limb of the result, 12 for a square,
//!            and what the carries need
//! cost       for each prime `3·d/2·log₂ d` butterflies for `d` words of the result, a third less for a square: a butterfly is one wide
//!            product, two low ones and two sums; 30 instructions a word for the residues, 20 for the carries;
//!            4·(la + lb + lc) bytes of global traffic, and the roots from the table
//! registers  at most 128 for one part, 255 for three
//!
//! Digits are words: the coefficients of polynomials modulo `x^d − 1`, whose product has `d` coefficients at most. The passes are
//! those of `fft` (`transform`), over residues (`residues`): digits in (`start`), transforms modulo a prime after the other (`primes`),
//! and from the residues to the limbs (`result`).
//!
//! bound: `bound.rs`: words do not overflow, and coefficients are below a quarter of the product of the primes.
//!
//! source: J. M. Pollard, "The fast Fourier transform in a finite field", 1971; products by roots: V. Shoup's quotients, and
//! D. Harvey, "Faster arithmetic for number-theoretic transforms", 2014. Signed residues that no butterfly reduces are ours.

mod bound;
mod primes;
mod residues;
mod result;
mod start;

use warpmp_kernel::build::{Builder, Emit, Glue, R64};
use warpmp_kernel::ir::{Cmp, Kernel, Special};
use warpmp_launch::{Entry, Geometry, Ports, Stage};

use super::transform::layout::{Coefficients, Layout, Numbers};
use super::transform::table::ROOT_BYTES;
use super::transform::{Place, SHARED_MEMORY_FROM, limbs, row};
use super::{Algorithm, FixedSettings, Gpus, On, OperationShape, Order, Spec, With, candidates};
use bound::DIGIT_BITS;
use primes::PRIMES;
use residues::Residues;

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ntt {
    shape: OperationShape,
    layout: Layout,
}

/// The limbs of the longer operand, at least.
const LEAST_LIMBS: u32 = 64;

/// Parts and points of a part, the shortest transforms first.
const DIVISIONS: [[u32; 2]; 6] = [[1, 512], [1, 1024], [3, 512], [1, 2048], [3, 1024], [1, 4096]];

/// Registers of a thread for one part, and for three.
const REGISTERS: [u32; 2] = [128, 255];

/// The row of the register.
pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "ntt",
    summary: "a block a product, transforms modulo three primes: exact integers, for GPUs that are slow with doubles",
    accepts: "operands whose longer one has at least 2017 bits, with results to 131072 bits, on a GPU from sm_80 on",
    fits,
    order: Order::LongerFirst,
    recipe: &On(
        Gpus::from(SHARED_MEMORY_FROM),
        With::<FixedSettings> { spec: |shape, _, _| Box::new(Ntt::new(shape)), candidates: candidates::default_alone },
    ),
};

/// The row of the register for squares.
pub(super) const SQUARES: Algorithm = Algorithm {
    summary: "a block a square, transforms modulo three primes: exact integers, for GPUs that are slow with doubles",
    accepts: "operands of 2017 to 65536 bits, on a GPU from sm_80 on",
    ..ALGORITHM
};

/// Does a block take these operands?
fn fits(shape: OperationShape) -> bool {
    shape.max_limbs() >= LEAST_LIMBS && layout(shape).is_some_and(Layout::residues_are_exact)
}

/// The shortest division for these operands, if there is one.
fn layout(shape: OperationShape) -> Option<Layout> {
    let square = shape.operands().len() == 1;
    let limbs = limbs(shape);
    let numbers = Numbers::Residues(PRIMES.len() as u32);
    let of = |[parts, points]: [u32; 2]| Layout {
        limbs,
        square,
        is_signed: false,
        points,
        parts,
        angle: 0,
        digit_bits: DIGIT_BITS,
        numbers,
        coefficients: Coefficients::Real,
    };
    DIVISIONS.into_iter().find(|[parts, points]| parts * points >= limbs[0] + limbs[1]).map(of)
}

impl Layout {
    /// Entries of the table of a prime: its roots, and the prime itself.
    fn entries(self) -> u32 {
        self.twist() + 1
    }
}

impl Ntt {
    /// The kernel for operands that the algorithm takes, in its order.
    ///
    /// # Panics
    /// If they are too long, or the bound does not prove that every product is exact.
    pub fn new(shape: OperationShape) -> Self {
        let layout = layout(shape).expect("a division for the operands");
        assert!(layout.residues_are_exact(), "the bound proves every product");
        Self { shape, layout }
    }

    /// The greatest coefficient for digits of this many bits, in quarters of the product of the primes. The kernel's digits have 32
    /// bits; a bound below 1 proves that all products are exact.
    pub fn coefficient_bound(&self, digit_bits: u32) -> f64 {
        self.layout.coefficient_bound(digit_bits)
    }

    /// The greatest magnitude of a residue: below 2³¹.
    pub fn greatest_residue(&self) -> u64 {
        self.layout.greatest_residue()
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let rows: &[&str] = if self.layout.square { &["a", "c"] } else { &["a", "b", "c"] };
        let (mut b, ports) = entry.open(&self.name(), Glue::None, rows, false);
        b.bounds(self.layout.bounds(REGISTERS[usize::from(self.layout.parts > 1)]));
        self.write(&mut b, &ports);
        b.finish()
    }

    /// The tables of the primes, one after the other.
    fn table(&self) -> Vec<u64> {
        let angles = self.layout.angles();
        let of = |prime: primes::Prime| {
            angles.iter().flat_map(move |&angle| prime.entry(angle)).chain(Residues::entry(prime)).collect::<Vec<u64>>()
        };
        PRIMES.into_iter().flat_map(of).collect()
    }

    fn write(&self, b: &mut Builder, ports: &Ports) {
        let layout = self.layout;
        b.section("setup");
        let thread = b.special(Special::Tid);
        let shared = b.shared_base();
        let table = b.table(self.table());
        let of_prime = b.copy64(table);
        let place = Place { thread, lane: b.special(Special::Lane), shared, table: of_prime };
        let factors: Vec<(R64, u32)> = (0..layout.factors() as usize)
            .map(|i| {
                let row = row(b, self.shape, ports, i);
                (b.mad_wide(thread, 4, row), layout.limbs[i])
            })
            .collect();
        let first = b.add(shared, layout.first_factor());
        let end = b.add(first, layout.digits() * 4 * PRIMES.len() as u32);
        b.do_while(|b| {
            let ring = Residues::load_ring(b, of_prime, layout.entries() - 1);
            layout.transform(b, ring, &place, first, |b, place, numbers, regions, node| {
                layout.start_residues(b, (place, ring), &factors[numbers], regions, node);
            });
            b.increase(first, layout.parts * layout.region_bytes());
            let next = b.add64(of_prime, u64::from(ROOT_BYTES * layout.entries()));
            b.set64(of_prime, next);
            b.compare(Cmp::Lt, first, end)
        });
        layout.finish_residues(b, &place, table, |b| row(b, self.shape, ports, factors.len()));
    }
}

impl Spec for Ntt {
    fn name(&self) -> String {
        let Layout { limbs: [la, _, lc], square, points, parts, .. } = self.layout;
        let operands =
            if square { format!("sqr_ntt_{la}_{lc}") } else { format!("mul_ntt_{}", self.shape.product_name()) };
        format!("{operands}_{parts}x{points}")
    }

    fn notes(&self) -> Vec<(&'static str, String)> {
        let Layout { points, parts, .. } = self.layout;
        let primes = PRIMES.map(|it| it.modulus.to_string()).join(", ");
        vec![
            ("digits", format!("{DIGIT_BITS} bits each; {parts} × {points} points modulo each of the primes {primes}")),
            (
                "bound",
                format!(
                    "{:.2e}: the greatest coefficient over a quarter of the product of the primes; below 1 the product is exact",
                    self.coefficient_bound(DIGIT_BITS)
                ),
            ),
        ]
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let geometry = Geometry::new(self.layout.block_threads(), 1).with_shared(self.layout.bytes());
        vec![Stage::new(geometry, |entry| self.kernel(entry))]
    }
}
