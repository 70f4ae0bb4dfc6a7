//! The papers' multiplications by name, alone and through a session.

use warpmp::device::{self, SimConfig};
use warpmp::kernels::Algorithm;
use warpmp::{Batch, Operation, Options, Session, Shape};
use warpmp_papers::kernels::MULTIPLICATIONS;
use warpmp_testkit::{Operands, conformance};

/// The multiplication of this name.
pub(crate) fn find(name: &str) -> &'static Algorithm {
    MULTIPLICATIONS.iter().find(|it| it.name == name).unwrap()
}

/// Multiplies in a session on a simulated device of this memory, with each algorithm and each pair of widths.
pub(crate) fn multiply_in_a_session(memory_bytes: u64, algorithms: &[&str], widths: &[(usize, usize)], lanes: usize) {
    let config = SimConfig { memory_bytes, ..SimConfig::default() };
    let session = Session::with_device(device::open_sim_with(&config)).unwrap();
    let session = session.with_algorithms(Operation::Mul, MULTIPLICATIONS);
    let batch = |operands: &Operands| -> Batch<'static> {
        Batch::from_limbs(Shape::new(operands.lanes, operands.bits), operands.limbs.clone()).unwrap()
    };
    let cases = conformance::cases(widths, lanes);
    for algorithm in algorithms {
        conformance::mul(&cases, |a, b| {
            let options = Options::new().algorithm(*algorithm);
            session.apply(Operation::Mul, &[&batch(a), &batch(b)], options).map(|(mut c, _)| c.remove(0).into_limbs())
        });
    }
}
