//! The EPFL report's experiments on the simulator: every form against num-bigint, and what each costs.

use num_bigint::BigUint;
use warpmp::device;
use warpmp::{Batch, Operation, Options, Session, Shape};
use warpmp_kernel::ir::Op;
use warpmp_kernel::sim::{Counters, Grid, Memory, Pipe, Program};
use warpmp_papers::forms::oracle;
use warpmp_papers::kernels::epfl::{Arithmetic, Experiment, Layout, Operands as Shared, Order, Place, Work};
use warpmp_testkit::{Operands, Pattern};

const WORKS: [Work; 4] = [Work::Add, Work::AddMod, Work::School, Work::Karatsuba];
const ARITHMETICS: [Arithmetic; 4] = [Arithmetic::Flag, Arithmetic::Wide, Arithmetic::Compared, Arithmetic::Rows];
/// The report's.
const BITS: [u32; 5] = [109, 131, 163, 191, 239];
const PATTERNS: [Pattern; 5] = [Pattern::Carry, Pattern::Ones, Pattern::Edge, Pattern::OneHot, Pattern::Random];

fn layouts() -> impl Iterator<Item = Layout> {
    let operands = [Shared::Separate, Shared::Interleaved, Shared::Pairs];
    let orders = [Order::LimbMajor, Order::RowMajor];
    orders.into_iter().flat_map(move |order| operands.map(|operands| Layout { order, operands }))
}

fn experiment(work: Work, arithmetic: Arithmetic, bits: u32) -> Experiment {
    Experiment {
        work,
        arithmetic,
        place: Place::Local,
        layout: Layout::default(),
        bits,
        executions: 3,
        turns: 1,
        room: 0,
    }
}

/// Operands below the modulus, where there is one: rows of limbs of `a`, `b` and `m`.
fn operands(experiment: &Experiment, pattern: Pattern, lanes: usize) -> [Vec<u32>; 3] {
    let rows = |seed| Operands::generate(pattern, lanes, experiment.bits as usize, seed).limbs;
    let [mut a, mut b, mut m] = [1, 2, 3].map(rows);
    if experiment.has_modulus() {
        let limbs = experiment.limbs() as usize;
        for ((a, b), m) in a.chunks_mut(limbs).zip(b.chunks_mut(limbs)).zip(m.chunks_mut(limbs)) {
            let modulus = BigUint::from_slice(m).max(2_u32.into());
            write(m, &modulus);
            for (x, less) in [(a, 1_u32), (b, 2)] {
                // Of all ones, as near to the modulus as it goes.
                let value = BigUint::from_slice(x);
                write(x, &if value >= modulus { &modulus - less } else { value });
            }
        }
    }
    [a, b, m]
}

fn write(row: &mut [u32], value: &BigUint) {
    let digits = value.to_u32_digits();
    row.fill(0);
    row[..digits.len()].copy_from_slice(&digits);
}

/// Runs the experiment on the simulator and compares every lane; the counts of the launch.
fn check(experiment: &Experiment, pattern: Pattern, blocks: u32, threads: u32) -> Counters {
    let lanes = (blocks * threads) as usize;
    let experiment = &Experiment { room: blocks * threads, ..*experiment };
    let [a, b, m] = operands(experiment, pattern, lanes);
    let (limbs, result_limbs) = (experiment.limbs() as usize, experiment.result_limbs() as usize);
    let layout = experiment.layout;
    let mut arrays = layout.arrange_operands([&a, &b], limbs);
    if experiment.has_modulus() {
        arrays.push(layout.arrange(&m, limbs));
    }
    let mut memory = Memory::new(1 << 28);
    let mut args: Vec<u64> = Vec::new();
    for words in &arrays {
        let address = memory.alloc(4 * words.len() as u64).unwrap();
        memory.write(address, words).unwrap();
        args.push(address);
    }
    let c = memory.alloc(4 * (lanes * result_limbs) as u64).unwrap();
    args.push(c);
    let kernel = experiment.build();
    let text = kernel.to_string();
    assert_eq!(kernel, warpmp_kernel::parse::parse(&text).unwrap(), "the text is the kernel");
    let counters = Program::parse(&text)
        .unwrap()
        .launch(Grid { blocks, threads, shared_bytes: 0 }, &args, &mut memory)
        .unwrap_or_else(|fault| panic!("{}: {fault}", experiment.name()));
    let mut words = vec![0; lanes * result_limbs];
    memory.read(c, &mut words).unwrap();
    for lane in 0..lanes {
        let found: Vec<u32> = (0..result_limbs).map(|i| words[layout.word(result_limbs, lanes, lane, i)]).collect();
        let row = |rows: &[u32]| rows[lane * limbs..][..limbs].to_vec();
        let expected = oracle::result(experiment, [&row(&a), &row(&b), &row(&m)]);
        assert_eq!(BigUint::new(found), expected, "{} lane {lane} {pattern:?}", experiment.name());
    }
    counters
}

#[test]
fn every_form_at_the_reports_precisions() {
    for work in WORKS {
        for arithmetic in ARITHMETICS {
            for bits in BITS {
                for pattern in PATTERNS {
                    check(&experiment(work, arithmetic, bits), pattern, 2, 32);
                }
            }
        }
    }
}

/// Multiples of 32, which the report refused, and their neighbours; the narrowest and the widest.
#[test]
fn full_words_and_their_neighbours() {
    for work in WORKS {
        for arithmetic in ARITHMETICS {
            for bits in [33, 63, 64, 65, 95, 96, 97, 127, 128, 129, 160, 255, 256, 257, 511, 512] {
                for pattern in [Pattern::Carry, Pattern::Ones] {
                    check(&experiment(work, arithmetic, bits), pattern, 1, 32);
                }
            }
        }
    }
}

#[test]
fn operands_in_global_memory() {
    for work in WORKS {
        for arithmetic in ARITHMETICS {
            for bits in [109, 131, 239, 256] {
                let experiment = Experiment { place: Place::Global, ..experiment(work, arithmetic, bits) };
                check(&experiment, Pattern::Carry, 1, 32);
                check(&experiment, Pattern::Ones, 1, 3);
            }
        }
    }
}

#[test]
fn every_layout() {
    for layout in layouts() {
        for work in WORKS {
            for place in [Place::Local, Place::Global] {
                let experiment = Experiment { layout, place, ..experiment(work, Arithmetic::Flag, 131) };
                check(&experiment, Pattern::Carry, 2, 33);
            }
        }
    }
}

/// Grids and blocks that are no whole warps.
#[test]
fn any_grid_of_any_blocks() {
    for (blocks, threads) in [(1, 1), (16, 1), (1, 16), (4, 2), (2, 64), (1, 129)] {
        check(&experiment(Work::Karatsuba, Arithmetic::Flag, 131), Pattern::Carry, blocks, threads);
    }
}

/// Ten executions and more in a loop.
#[test]
fn turns() {
    for work in WORKS {
        for place in [Place::Local, Place::Global] {
            for arithmetic in ARITHMETICS {
                let experiment = Experiment { place, turns: 4, ..experiment(work, arithmetic, 131) };
                check(&experiment, Pattern::Carry, 1, 33);
            }
        }
    }
}

/// What an execution takes of a warp: wide products, other products, sums and logic; moves are free.
fn cost(work: Work, arithmetic: Arithmetic, bits: u32) -> [u64; 3] {
    let counts = |executions| {
        let experiment = Experiment { executions, ..experiment(work, arithmetic, bits) };
        let counters = check(&experiment, Pattern::Carry, 1, 32);
        let section = counters.section("arithmetic").unwrap().clone();
        [Pipe::WideMul, Pipe::Mul, Pipe::Alu].map(|pipe| section.pipe(pipe).warps)
    };
    let (once, twice) = (counts(1), counts(2));
    [0, 1, 2].map(|k| twice[k] - once[k])
}

/// An addition with the flag is an instruction a limb; without, three to five times that.
#[test]
fn what_a_carry_costs_in_sums() {
    for bits in BITS {
        let limbs = u64::from(bits.div_ceil(32));
        assert_eq!(cost(Work::Add, Arithmetic::Flag, bits), [0, 0, limbs]);
        assert_eq!(cost(Work::Add, Arithmetic::Wide, bits), [0, 0, 3 * limbs - 2]);
        for arithmetic in ARITHMETICS {
            println!(
                "{bits} {arithmetic:?}: {:?} {:?}",
                cost(Work::Add, arithmetic, bits),
                cost(Work::AddMod, arithmetic, bits)
            );
        }
    }
}

/// Products of limbs: Karatsuba's sums take a limb more than the halves wherever the low ones are the longer, so that it
/// saves an eighth and not a quarter. The topmost product of the sums is not needed then: their product has a limb
/// more than the middle part.
#[test]
fn products_of_limbs() {
    let products = |work, bits| {
        let [wide, _, _] = cost(work, Arithmetic::Wide, bits);
        wide
    };
    let expected = [(109, 16, 16), (131, 25, 22), (163, 36, 33), (191, 36, 33), (239, 64, 56)];
    for (bits, school, karatsuba) in expected {
        assert_eq!((products(Work::School, bits), products(Work::Karatsuba, bits)), (school, karatsuba), "{bits} bits");
        for arithmetic in ARITHMETICS {
            println!(
                "{bits} {arithmetic:?}: {:?} {:?}",
                cost(Work::School, arithmetic, bits),
                cost(Work::Karatsuba, arithmetic, bits)
            );
        }
    }
}

/// Local operands are read once, whatever the executions; those in global memory for each, and a sum modulo `m` reads its
/// own result twice.
#[test]
fn traffic() {
    let accesses = |place, executions| {
        let experiment = Experiment { place, executions, ..experiment(Work::AddMod, Arithmetic::Flag, 239) };
        let counters = check(&experiment, Pattern::Carry, 1, 32);
        let count = |op: fn(_, _, _) -> Op| {
            use warpmp_kernel::ir::{Elem, Space, Vector};
            counters.op(op(Space::Global, Vector::V1, Elem::U32)).warps
        };
        [count(Op::Ld), count(Op::St)]
    };
    assert_eq!(accesses(Place::Local, 1), [24, 8]);
    assert_eq!(accesses(Place::Local, 10), [24, 8]);
    assert_eq!(accesses(Place::Global, 1), [48, 24]);
    assert_eq!(accesses(Place::Global, 10), [480, 240]);
}

/// Limb-major rows are read in as few sectors as they have; row-major ones are spread, a sector a lane.
#[test]
fn sectors_of_the_layouts() {
    let sectors = |layout| {
        let experiment = Experiment { layout, ..experiment(Work::Add, Arithmetic::Flag, 239) };
        let counters = check(&experiment, Pattern::Carry, 1, 32);
        counters.load_sectors()
    };
    let layout = |order, operands| Layout { order, operands };
    assert_eq!(sectors(layout(Order::LimbMajor, Shared::Separate)), 2 * 8 * 4);
    assert_eq!(sectors(layout(Order::LimbMajor, Shared::Interleaved)), 2 * 8 * 8);
    assert_eq!(sectors(layout(Order::LimbMajor, Shared::Pairs)), 8 * 8);
    assert_eq!(sectors(layout(Order::RowMajor, Shared::Separate)), 2 * 8 * 32);
}

/// Listing 3.1 takes a sum to have wrapped if it is less than the larger addend. With a carry in, two words of all ones
/// give all ones, and the carry is lost.
#[test]
fn the_listing_in_c_loses_a_carry() {
    let listing = |a: [u32; 3], b: [u32; 3]| {
        let mut c = [a[0].wrapping_add(b[0]), 0, 0];
        for i in 1..3 {
            let carry = u32::from(c[i - 1] < a[i - 1].max(b[i - 1]));
            c[i] = a[i].wrapping_add(b[i]).wrapping_add(carry);
        }
        c
    };
    let (a, b) = ([u32::MAX, u32::MAX, 0], [u32::MAX, u32::MAX, 0]);
    assert_eq!(listing(a, b), [u32::MAX - 1, u32::MAX, 0]);
    let sum = BigUint::from_slice(&a) + BigUint::from_slice(&b);
    assert_eq!(sum.to_u32_digits(), [u32::MAX - 1, u32::MAX, 1]);
}

/// The report's reduction modulo a number of 131 bits clears five limbs and shifts by 131 bits: what it gets is
/// congruent to `T·2⁻¹³¹`, but 29 bits too long, and its one subtraction does not change that. By limbs it is `redc`.
#[test]
fn the_reports_reduction_shifts_too_little() {
    let one = BigUint::from(1_u32);
    let shifted: BigUint = &one << 131;
    let m = &shifted - 75_u32;
    let t = (&m - 1_u32) * (&m - 2_u32);
    // Handbook of Applied Cryptography, 14.32, steps 1 and 2.
    let base = BigUint::from(1_u64 << 32);
    let inverse = &base - m.modinv(&base).unwrap();
    let cleared = (0..5).fold(t.clone(), |sum, i| {
        let u = ((&sum >> (32 * i)) % &base) * &inverse % &base;
        sum + ((u * &m) << (32 * i))
    });
    assert_eq!((&cleared >> 160) << 160, cleared);
    let (right, wrong) = (&cleared >> 160, &cleared >> 131);
    assert_eq!(wrong, &right << 29);
    assert_eq!(&wrong % &m, &t * shifted.modinv(&m).unwrap() % &m);
    assert!(&wrong - &m > m);
    let session = Session::with_device(device::open_sim()).unwrap();
    let batch = |value: &BigUint, bits: usize| {
        let mut limbs = value.to_u32_digits();
        limbs.resize(bits.div_ceil(32), 0);
        Batch::from_limbs(Shape::new(1, bits), limbs).unwrap()
    };
    let (results, _) = session.apply(Operation::Redc, &[&batch(&t, 262), &batch(&m, 131)], Options::new()).unwrap();
    let expected = if right >= m { right - &m } else { right };
    assert_eq!(BigUint::from_slice(results[0].limbs()), expected);
}
