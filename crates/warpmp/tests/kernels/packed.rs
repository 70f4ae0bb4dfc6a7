//! The papers' multiplications to 1024 bits by one warp on the simulator: products of carry-prone operands against
//! the oracle, and the papers' counts.

use warpmp::device::{self, SimConfig};
use warpmp::kernels::{Settings, Spec};
use warpmp::{Batch, Operation, Options, Session, Shape};
use warpmp_kernel::ir::{Carry, Elem, Half, Op, Shuffle, Space, Vector};
use warpmp_kernel::sim::Counters;
use warpmp_testkit::kernels::PATTERNS;
use warpmp_testkit::kernels::products::{check, check_all, multiplication, shape};
use warpmp_testkit::{Operands, Pattern, conformance};

/// The kernel that an algorithm makes for separate operands of these bits.
fn spec(algorithm: &str, bits: [usize; 2]) -> Box<dyn Spec> {
    multiplication(algorithm, shape(bits, false), &Settings::default(), true)
}

/// What an algorithm does for so many products.
fn count(algorithm: &str, bits: [usize; 2], lanes: usize, pattern: Pattern) -> Counters {
    check(&*spec(algorithm, bits), shape(bits, false), lanes, pattern)
}

const LOAD: Op = Op::Ld(Space::GlobalConst, Vector::V1, Elem::U32);
const STORE: Op = Op::St(Space::Global, Vector::V1, Elem::U32);

/// The algorithms for operands to 1024 bits.
const PACKED: [&str; 3] = ["column-shuffle", "column-shared", "sum-rotate-shared"];

#[test]
fn words_a_thread_at_every_packing() {
    for algorithm in PACKED {
        for bits in
            [[1, 1], [32, 64], [64, 64], [65, 128], [131, 131], [256, 256], [500, 512], [1000, 33], [1024, 1024]]
        {
            check_all(algorithm, bits, &Settings::default(), 33, &PATTERNS);
        }
        let settings = Settings { warps: Some(1), ..Settings::default() };
        check_all(algorithm, [256, 256], &settings, 5, &[Pattern::Carry]);
    }
}

/// `w²` products of words, each word of the operands read once and each of the product written once;
/// what the exchange costs, a step: Table 3.3's four kernels but for `sum-rotate`.
#[test]
fn words_a_thread_counts() {
    for w in [2, 4, 8, 16, 32] {
        let lanes = 32;
        let warps = lanes * w / 32;
        for algorithm in PACKED {
            let counters = count(algorithm, [32 * w as usize; 2], lanes as usize, Pattern::Carry);
            let arithmetic = counters.section("arithmetic").unwrap();
            assert_eq!(counters.op(LOAD).threads, lanes * 2 * w, "{algorithm} {w}");
            assert_eq!(counters.op(STORE).threads, lanes * 2 * w, "{algorithm} {w}");
            let products = |carry| arithmetic.op(Op::Mad(Half::Lo, carry)).threads;
            assert_eq!(products(Carry::Out), lanes * w * w, "{algorithm} {w}");
            assert_eq!(arithmetic.bank_conflicts(), 0, "{algorithm} {w}");
            let shuffles = arithmetic.op(Op::Shfl(Shuffle::Idx)).warps;
            let loads = arithmetic.op(Op::Ld(Space::Shared, Vector::V1, Elem::U32)).warps;
            match algorithm {
                // A broadcast and a rotation a step, but the first rotation; then a pair for u, t and every round.
                "column-shuffle" => assert!(shuffles >= warps * (2 * w - 1 + 4), "{w}: {shuffles}"),
                "column-shared" => assert_eq!((shuffles, loads), (0, warps * 2 * w)),
                _ => assert_eq!((shuffles, loads), (0, warps * w)),
            }
        }
    }
}

/// Through a session, in chunks with scratch memory each, operands swapped where the second is longer.
#[test]
fn sessions_take_them_by_name() {
    let config = SimConfig { memory_bytes: 1 << 20, ..SimConfig::default() };
    let session = Session::with_device(device::open_sim_with(&config)).unwrap();
    let batch = |operands: &Operands| -> Batch<'static> {
        Batch::from_limbs(Shape::new(operands.lanes, operands.bits), operands.limbs.clone()).unwrap()
    };
    let cases = conformance::cases(&[(131, 131), (1000, 64)], 65);
    for algorithm in PACKED {
        conformance::mul(&cases, |a, b| {
            let options = Options::new().algorithm(algorithm);
            session.apply(Operation::Mul, &[&batch(a), &batch(b)], options).map(|(mut c, _)| c.remove(0).into_limbs())
        });
    }
}
