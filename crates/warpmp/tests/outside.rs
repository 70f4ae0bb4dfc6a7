//! An algorithm of another crate: a session takes it into its register, and everything that holds for the crate's own
//! algorithms holds for it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;

use warpmp::device::open_sim;
use warpmp::kernels::{Algorithm, OperationShape, Order, Register, Settings, WarpSettings, With};
use warpmp::launch::{Entry, Geometry, Spec, Stage, thread_number};
use warpmp::tuning::{Row, Table};
use warpmp::{Batch, Error, Operation, Options, Session, Shape};
use warpmp_kernel::build::{Emit, Glue};
use warpmp_kernel::ir::{Cmp, Kernel, Space, Vector};

/// One thread multiplies numbers of two limbs by numbers of one limb.
const OUTSIDE: &[Algorithm] = &[Algorithm {
    name: "outside",
    summary: "two limbs by one limb, a product a thread",
    accepts: "operands to 64 and 32 bits",
    order: Order::LongerFirst,
    fits: |shape| shape.limbs() == [2, 1, 3] && !shape.is_common(1),
    recipe: &With::<WarpSettings> { spec: |_, _, _| Box::new(TwoByOne), candidates: |_| vec![WarpSettings::default()] },
}];

#[derive(Debug)]
struct TwoByOne;

impl TwoByOne {
    fn kernel(&self, entry: &Entry) -> Kernel {
        let (mut b, ports) = entry.open(&self.name(), Glue::None, &["a", "b", "c"], false);
        let [first, second, result] = ports.first();
        let lane = thread_number(&mut b, 32);
        let outside = b.compare(Cmp::Ge, lane, ports.lanes);
        b.return_if(outside);
        let [first, second, result] =
            [(first, 2), (second, 1), (result, 3)].map(|(address, limbs)| b.mad_wide(lane, 4 * limbs, address));
        let x = b.load_global(Space::GlobalConst, Vector::V2, first, 0);
        let y = b.load_global(Space::GlobalConst, Vector::V1, second, 0)[0];
        let low = b.mul_lo(x[0], y);
        let carry = b.mul_hi(x[0], y);
        let middle = b.mul_lo(x[1], y);
        let top = b.mul_hi(x[1], y);
        let mut chain = b.chain();
        let middle = chain.add(middle, carry);
        chain.end_add(top, top, 0);
        for (word, i) in [low, middle, top].into_iter().zip(0..) {
            b.store_global(Space::Global, &[word], result, 4 * i);
        }
        b.finish()
    }
}

impl Spec for TwoByOne {
    fn name(&self) -> String {
        "two_by_one".into()
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![Stage::new(Geometry::of_threads(1), |entry| self.kernel(entry))]
    }

    fn wide_products(&self) -> u64 {
        2
    }
}

fn session() -> Session {
    Session::with_device(open_sim()).unwrap().with_algorithms(Operation::Mul, OUTSIDE)
}

fn operands() -> [Batch<'static>; 2] {
    let short: Vec<u32> = (0..70_u32).map(|i| u32::MAX - i).collect();
    let long: Vec<u32> = (0..140_u32).map(|i| u32::MAX - i * i).collect();
    [Batch::from_limbs(Shape::new(70, 32), short).unwrap(), Batch::from_limbs(Shape::new(70, 64), long).unwrap()]
}

/// The plan exchanges the operands, as the algorithm wants them.
#[test]
fn a_session_takes_it_by_name() {
    let session = session();
    assert_eq!(session.algorithms(Operation::Mul).last(), Some(&"outside"));
    assert!(!session.algorithms(Operation::MulLo).contains(&"outside"));
    let [short, long] = operands();
    let expected = Session::cpu().mul(&short, &long).unwrap();
    let (products, report) =
        session.apply(Operation::Mul, &[&short, &long], Options::new().algorithm("outside")).unwrap();
    assert_eq!(report.algorithm, "outside");
    assert_eq!(products[0].limbs(), expected.limbs());
    // Without a wish the shipped table decides, as before.
    assert_eq!(session.algorithm_for(Operation::Mul, &[short.shape(), long.shape()], None).unwrap(), "thread");
}

#[test]
fn what_it_does_not_take_is_an_error() {
    let session = session();
    let shapes = [Shape::new(5, 96), Shape::new(5, 32)];
    let error = session.algorithm_for(Operation::Mul, &shapes, Some("outside")).unwrap_err();
    assert!(matches!(error, Error::AlgorithmUnfit { .. }), "{error}");
    let error = session.algorithm_for(Operation::Mul, &shapes, Some("inside")).unwrap_err();
    assert!(matches!(error, Error::UnknownAlgorithm { known, .. } if known.contains(&"outside".to_owned())));
}

/// A table may name it: the plan chooses it, and candidates for tuning include it.
#[test]
fn a_table_names_it() {
    let row = |to_bits: usize, algorithm: &str| Row {
        to_bits,
        to_lanes: None,
        algorithm: algorithm.into(),
        settings: Settings::default(),
        by_name_only: false,
        long_quotients: false,
        predicted: false,
    };
    let rows = BTreeMap::from([("mul".to_owned(), vec![row(64, "outside"), row(65536, "group")])]);
    let table = Table { architecture: 90, measured_on: "a test".into(), rows, path: None, rest: None };
    let mut faulty = table.clone();
    faulty.rows.get_mut("mul").unwrap()[0].settings.levels = Some(1);
    let session = session().with_table(faulty);
    let shapes = [Shape::new(1000, 64), Shape::new(1000, 32)];
    let error = session.algorithm_for(Operation::Mul, &shapes, None).unwrap_err().to_string();
    assert_eq!(error, "the tuning table's row for 'mul': 'outside' has no setting 'levels'; it has warps");
    let session = session.with_table(table.clone());
    table.check(session.register().unwrap()).unwrap();
    assert!(table.check(&Register::shipped()).unwrap_err().to_string().contains("no algorithm 'outside'"));
    let plan = session.plan(Operation::Mul, &shapes, None).unwrap().unwrap();
    assert_eq!([plan.algorithm(), &plan.spec_name()], ["outside", "two_by_one"]);
    let register = session.register().unwrap();
    let device = session.device().unwrap().info();
    let candidates = register.candidates(Operation::Mul, &shapes, device).unwrap();
    assert!(candidates.iter().any(|it| it.algorithm == "outside"));
    let fits = (OUTSIDE[0].fits)(OperationShape::new(Operation::Mul, &shapes).unwrap());
    assert!(fits && register.fitting(Operation::Mul, &shapes).unwrap().contains(&"outside"));
}
