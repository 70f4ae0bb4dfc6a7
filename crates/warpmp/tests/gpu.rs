//! The GPU engine, on the simulator and, where there is one, on a GPU: the same bodies for both.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use warpmp::device::{self, SimConfig};
use warpmp::kernels::Register;
use warpmp::operation::Group;
use warpmp::{Batch, EngineKind, Error, Operation, Options, Plan, Selector, Session, Shape};
use warpmp_testkit::conformance;
use warpmp_testkit::operands::around;
use warpmp_testkit::{Operands, Pattern, gpu, oracle};

fn sim() -> Session {
    Session::on(Selector::Sim).unwrap()
}

/// A simulated GPU with little memory.
fn small_sim(memory_bytes: u64) -> Session {
    Session::with_device(device::open_sim_with(&SimConfig { memory_bytes, ..SimConfig::default() })).unwrap()
}

fn batch(operands: &Operands) -> Batch<'_> {
    Batch::borrow(Shape::new(operands.lanes, operands.bits), &operands.limbs).expect("the testkit masks the top limb")
}

/// From host memory through the pipeline.
fn through_pipeline(session: &Session) -> impl Fn(&Operands, &Operands) -> Result<Vec<u32>, Error> {
    |a, b| session.mul(&batch(a), &batch(b)).map(Batch::into_limbs)
}

/// Resident on the device.
fn resident(session: &Session) -> impl Fn(&Operands, &Operands) -> Result<Vec<u32>, Error> {
    |a, b| {
        let (a, b) = (session.upload(&batch(a))?, session.upload(&batch(b))?);
        session.mul_device(&a, &b).and_then(|c| session.download(&c)).map(Batch::into_limbs)
    }
}

/// Each size with itself and, every other one, with the size at the other end.
fn pairs(sizes: &[usize]) -> Vec<(usize, usize)> {
    let mirrored = sizes.iter().zip(sizes.iter().rev()).step_by(2).map(|(p, q)| (*p, *q));
    sizes.iter().map(|size| (*size, *size)).chain(mirrored).collect()
}

fn conforms(session: &Session, sizes: &[usize], max_lanes: usize) {
    let cases = conformance::cases(&pairs(sizes), max_lanes);
    let (pipelined, kept): (Vec<_>, Vec<_>) = cases.iter().enumerate().partition(|(i, _)| i % 2 == 0);
    let only = |cases: Vec<(usize, &conformance::Case)>| cases.into_iter().map(|(_, case)| *case).collect::<Vec<_>>();
    conformance::mul(&only(pipelined), through_pipeline(session));
    conformance::mul(&only(kept), resident(session));
}

#[test]
fn simulator_conforms_when_small() {
    conforms(&sim(), &around(&[1, 32, 64, 128, 131, 256]), 129);
}

#[test]
fn simulator_conforms_at_the_thresholds() {
    conforms(&sim(), &around(&[512, 1024, 1536, 2048]), 33);
}

#[test]
fn simulator_conforms_when_large() {
    conforms(&sim(), &[4096, 8193], 3);
}

/// Squares by the default and by every algorithm that takes the width.
fn squares_conform(session: &Session, sizes: &[usize], max_lanes: usize) {
    let sizes: Vec<(usize, usize)> = sizes.iter().map(|&bits| (bits, bits)).collect();
    let cases = conformance::cases(&sizes, max_lanes);
    conformance::sqr(&cases, |a| session.sqr(&batch(a)).map(Batch::into_limbs));
    let device = session.device().unwrap().info();
    for name in Register::shipped().names(Operation::Sqr) {
        let fits = |case: &conformance::Case| {
            let shape = Shape::new(1, case.bits[0]);
            Plan::new(Operation::Sqr, &[shape], device, session.table().unwrap(), Some(name)).is_ok()
        };
        let cases: Vec<_> = cases.iter().copied().filter(fits).collect();
        squares_by(session, name, &cases);
    }
}

/// Squares by an algorithm.
fn squares_by(session: &Session, name: &str, cases: &[conformance::Case]) {
    conformance::sqr(cases, |a| {
        let resident = session.upload(&batch(a))?;
        let into = session.reserve(Shape::new(a.lanes, oracle::product_bits(a.bits, a.bits)))?;
        let (c, _) = session.apply_device_into(Operation::Sqr, &[&resident], Some(name), vec![into])?;
        session.download(&c[0]).map(Batch::into_limbs)
    });
}

#[test]
fn simulator_squares() {
    squares_conform(&sim(), &[1, 32, 33, 64, 131, 512, 1000, 1025], 33);
}

#[test]
fn gpu_squares() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    squares_conform(&session, &around(&[1, 32, 64, 131, 256, 512, 1000, 1024, 1376, 1536, 2048]), 129);
    squares_conform(
        &session,
        &[2500, 3000, 3072, 4096, 5000, 6144, 8192, 10007, 16384, 30011, 32768, 65535, 65536],
        129,
    );
}

#[test]
fn gpu_conforms() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    conforms(&session, &around(&[1, 32, 64, 128, 131, 256, 512, 1000, 1024, 1536, 2048, 3000, 4096]), 129);
    conforms(&session, &[5000, 8192, 16384, 30011, 32768, 65535, 65536], 129);
}

/// Products by an algorithm that no table chooses at all of these widths.
fn algorithm_conforms(session: &Session, name: &str, sizes: &[usize], max_lanes: usize) {
    conformance::mul(&conformance::cases(&pairs(sizes), max_lanes), |a, b| {
        let operands = [session.upload(&batch(a))?, session.upload(&batch(b))?];
        let into = session.reserve(Shape::new(a.lanes.max(b.lanes), oracle::product_bits(a.bits, b.bits)))?;
        let operands = [&operands[0], &operands[1]];
        let (c, _) = session.apply_device_into(Operation::Mul, &operands, Some(name), vec![into])?;
        session.download(&c[0]).map(Batch::into_limbs)
    });
}

#[test]
fn simulator_multiplies_on_tensor_cores() {
    algorithm_conforms(&sim(), "tensor", &[1000, 2049], 33);
    algorithm_conforms(&sim(), "tensor-warpgroup", &[12289, 16384], 2);
}

#[test]
fn gpu_multiplies_on_tensor_cores() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    if session.device().unwrap().info().capability < 80 {
        return;
    }
    algorithm_conforms(&session, "tensor", &around(&[1024, 2048, 3000, 4096, 6144, 8192]), 129);
    algorithm_conforms(
        &session,
        "tensor",
        &[1500, 1632, 2080, 2112, 2304, 2500, 3072, 3584, 4064, 4128, 4352, 4608, 4640, 4896],
        129,
    );
    algorithm_conforms(&session, "tensor", &[5000, 9000, 10240, 12288, 14336, 16000, 16383, 16384], 129);
    if session.device().unwrap().info().capability == 90 {
        algorithm_conforms(&session, "tensor-warpgroup", &[12289, 12321, 13000, 14336, 16000, 16383, 16384], 129);
        algorithm_conforms(
            &session,
            "tensor-warpgroup",
            &[16385, 16640, 17000, 17408, 18000, 18432, 20480, 22000, 24575, 24576, 24577, 26000, 28672],
            33,
        );
    }
}

#[test]
fn gpu_squares_on_tensor_cores() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    if session.device().unwrap().info().capability < 80 {
        return;
    }
    for bits in [
        1000, 2048, 2080, 2752, 3072, 4096, 4128, 4608, 4896, 6145, 6400, 8161, 8192, 8193, 9000, 10240, 10241, 12288,
        12289, 14000, 14336, 14337, 16001, 16384,
    ] {
        operation_conforms_by(&session, Operation::Sqr, "tensor", bits, 129);
    }
}

/// Lengths whose blocks are in strips: products, squares, and the parts that are the same kernel.
#[test]
fn gpu_multiplies_in_strips() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    if session.device().unwrap().info().capability < 80 {
        return;
    }
    let filled = [3072, 5120, 7168, 9216, 10240, 11264, 12288, 13312, 15360];
    algorithm_conforms(&session, "tensor", &filled, 65);
    algorithm_conforms(&session, "tensor", &[2080, 2999, 4640, 6200, 8224, 10272, 12300, 14340], 33);
    for bits in [3072, 5120, 7168, 9216] {
        operation_conforms_by(&session, Operation::Sqr, "tensor", bits, 65);
    }
    parts_conform(&session, "tensor", &PARTS[1..], &[5120, 7168, 9216, 11264], 33);
    let lows = [2080, 3072, 5088, 5120, 6176, 7168, 9216, 11264, 12320, 13312];
    parts_conform(&session, "tensor", &[Operation::MulLo], &lows, 33);
}

/// Residues whose blocks are in strips: products, squares and powers.
#[test]
fn gpu_computes_residues_in_strips() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    if session.device().unwrap().info().capability < 80 {
        return;
    }
    for bits in [3072, 5120, 7168, 9216, 11264, 13312] {
        for operation in [Operation::MontMul, Operation::MontSqr] {
            operation_conforms_by(&session, operation, "tensor", bits, 33);
        }
    }
    // The oracle takes its time for long ones.
    for (bits, lanes) in [(2080, 5), (3072, 5), (4200, 5), (5120, 5), (7168, 2), (9216, 1), (11264, 1), (13312, 1)] {
        operation_conforms_by(&session, Operation::PowMod, "tensor", bits, lanes);
    }
}

/// Parts of products by matrix products.
fn parts_conform(session: &Session, name: &str, operations: &[Operation], sizes: &[usize], lanes: usize) {
    for &operation in operations {
        for &bits in sizes {
            operation_conforms_by(session, operation, name, bits, lanes);
        }
    }
}

const PARTS: [Operation; 4] = [Operation::MulLo, Operation::MulHi, Operation::MulAdd, Operation::SignedMul];

#[test]
fn simulator_computes_parts_on_tensor_cores() {
    parts_conform(&sim(), "tensor", &PARTS, &[2176], 2);
    parts_conform(&sim(), "tensor-warpgroup", &PARTS, &[12416], 2);
}

#[test]
fn gpu_computes_parts_on_tensor_cores() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    let capability = session.device().unwrap().info().capability;
    if capability < 80 {
        return;
    }
    parts_conform(&session, "tensor", &PARTS, &[2176, 3072, 4096, 6144, 8192, 12288], 33);
    let lows = [1024, 1056, 2016, 2048, 4064, 8160, 10240, 14336, 16384, 18432, 20768, 24576, 28672, 32768, 40960];
    parts_conform(&session, "tensor", &[Operation::MulLo], &lows, 33);
    if capability == 90 {
        parts_conform(
            &session,
            "tensor-warpgroup",
            &PARTS,
            &[12416, 14336, 16384, 16512, 17024, 18048, 18432, 20480, 22528, 24576, 24704, 26624, 28672],
            33,
        );
    }
}

#[test]
fn simulator_multiplies_by_transforms() {
    algorithm_conforms(&sim(), "fft", &[4200, 16385], 2);
    algorithm_conforms(&sim(), "ntt", &[2100, 20000], 2);
}

#[test]
fn gpu_multiplies_by_transforms() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    if session.device().unwrap().info().capability < 80 {
        return;
    }
    algorithm_conforms(&session, "fft", &around(&[8192, 16384, 32768]), 129);
    algorithm_conforms(&session, "fft", &[4097, 5000, 12288, 20000, 30011, 40000, 49152, 60001, 65535, 65536], 129);
    algorithm_conforms(&session, "fft", &[24576, 32769, 49151], 33);
    algorithm_conforms(&session, "fft", &[65537, 81_920, 98_304, 131_072, 200_001, 262_144], 3);
    // A block has each of more than a few products.
    algorithm_conforms(&session, "fft", &[140_001, 163_840, 196_608], 67);
    algorithm_conforms(&session, "fft", &[229_376, 294_912, 327_680], 3);
    algorithm_conforms(&session, "fft", &[350_000, 450_000, 600_000, 700_000, 960_000, 1 << 20, 1_200_000], 3);
    algorithm_conforms(&session, "fft", &[1_900_000, 3_000_000, 1 << 22, 1 << 24], 1);
    algorithm_conforms(&session, "ntt", &around(&[2048, 8192, 16384, 24576, 32768]), 129);
    algorithm_conforms(
        &session,
        "ntt",
        &[5000, 12288, 20000, 30011, 40000, 49151, 49152, 49153, 60001, 65535, 65536],
        129,
    );
}

/// Lengths of one transform that come back around it, with lanes.
const WRAPPED: [(&[usize], usize); 9] = [
    (&[8193, 9000, 12256], 129),
    (&[16640, 20001, 24544], 129),
    (&[32769, 36864, 40960, 45056, 49120], 67),
    (&[66_048, 73_728, 81_920, 98_272], 33),
    (&[132_096, 147_456, 160_001], 33),
    (&[49_184, 57_344, 65_504], 33),
    (&[98_336, 106_496, 131_040], 33),
    (&[163_872, 180_000, 196_576], 33),
    (&[196_640, 212_992, 229_344, 237_568, 245_728], 33),
];

#[test]
fn gpu_multiplies_around_transforms() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    if session.device().unwrap().info().capability < 80 {
        return;
    }
    for (sizes, lanes) in WRAPPED {
        algorithm_conforms(&session, "fft-wraparound", sizes, lanes);
        let squares: Vec<(usize, usize)> = sizes.iter().map(|&bits| (bits, bits)).collect();
        squares_by(&session, "fft-wraparound", &conformance::cases(&squares, lanes));
    }
}

/// Transforms of each division take in the signs of two's complements, and an addend.
#[test]
fn gpu_takes_signs_and_addends_into_transforms() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    if session.device().unwrap().info().capability < 80 {
        return;
    }
    let whole = [24_576, 32_768, 45_056, 49_152, 65_536, 90_016, 98_304, 131_072, 163_840, 196_608];
    let around = [33_024, 40_960, 51_200, 73_728, 106_496, 147_456, 167_936, 200_001, 204_800];
    for bits in whole.into_iter().chain(around) {
        for operation in [Operation::MulAdd, Operation::SignedMul] {
            operation_conforms_by(&session, operation, "long", bits, 33);
        }
    }
}

/// Every operation that has kernels for operands of this many bits, resident on the device. Where they are so long that the oracle
/// takes minutes to invert the radix or to divide, those operations are left out.
fn long_operations_conform(session: &Session, bits: usize, lanes: usize) {
    let is_quick = |group| match group {
        Group::Product => false,
        Group::ProductPart | Group::Linear | Group::LinearModular => true,
        Group::Division | Group::Modular => bits < 1_000_000,
        Group::Montgomery => bits < 100_000,
    };
    for &operation in Operation::ALL.iter().filter(|it| it.max_bits() > 65536 && is_quick(it.group())) {
        let cases = conformance::operation_cases(operation, bits, lanes, &[Pattern::Carry, Pattern::Ones]);
        let shapes = |case: &conformance::OperationCase| -> Vec<Shape> {
            case.bits.iter().zip(&case.lanes).map(|(bits, lanes)| Shape::new(*lanes, *bits)).collect()
        };
        let has_kernel = |case: &conformance::OperationCase| match session.plan(operation, &shapes(case), None) {
            Err(Error::NoKernel { .. }) => false,
            planned => planned.map(|_| true).unwrap(),
        };
        let cases: Vec<_> = cases.into_iter().filter(has_kernel).collect();
        assert!(!cases.is_empty(), "{operation}");
        conformance::operation(&cases, |_, operands| {
            let resident = operands.iter().map(|it| session.upload(&batch(it))).collect::<Result<Vec<_>, _>>()?;
            let results = session.apply_device(operation, &resident.iter().collect::<Vec<_>>())?;
            let down = |it| session.download(it).map(|it: Batch| (it.shape().bits, it.into_limbs()));
            results.iter().map(|it| down(it).map(|(bits, limbs)| (limbs, bits))).collect::<Result<Vec<_>, Error>>()
        });
    }
}

#[test]
fn gpu_does_long_operations() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    if session.device().unwrap().info().capability < 80 {
        return;
    }
    long_operations_conform(&session, 66_001, 5);
    long_operations_conform(&session, 270_000, 2);
    long_operations_conform(&session, 1_100_000, 1);
}

#[test]
fn gpu_divides_by_products() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    if session.device().unwrap().info().capability < 80 {
        return;
    }
    for bits in [8224, 12_288, 16_384, 20_001, 32_768, 40_000, 50_016] {
        for operation in [Operation::DivRem, Operation::MulMod] {
            operation_conforms_by(&session, operation, "newton", bits, 40);
        }
    }
    // Products modulo a greater power and one.
    operation_conforms_by(&session, Operation::DivRem, "newton", 530_000, 2);
}

/// An operation by an algorithm that no table chooses at all of these widths, resident on the device, with a modulus a lane and with one
/// for all.
fn operation_conforms_by(session: &Session, operation: Operation, name: &str, bits: usize, lanes: usize) {
    let mut cases =
        conformance::operation_cases(operation, bits, lanes, &[Pattern::Carry, Pattern::Ones, Pattern::Random]);
    let common = |case: &conformance::OperationCase| {
        let mut case = case.clone();
        if let Some(last) = case.lanes.last_mut() {
            *last = 1;
        }
        case
    };
    cases.extend(cases.iter().map(common).collect::<Vec<_>>());
    cases_conform_by(session, operation, name, cases);
}

/// The cases of an operation that an algorithm takes.
fn cases_conform_by(session: &Session, operation: Operation, name: &str, cases: Vec<conformance::OperationCase>) {
    let shapes = |case: &conformance::OperationCase| -> Vec<Shape> {
        case.bits.iter().zip(&case.lanes).map(|(bits, lanes)| Shape::new(*lanes, *bits)).collect()
    };
    let fits = |case: &conformance::OperationCase| {
        Register::shipped().fitting(operation, &shapes(case)).unwrap().contains(&name)
    };
    let cases: Vec<_> = cases.into_iter().filter(fits).collect();
    assert!(!cases.is_empty(), "{operation}");
    conformance::operation(&cases, |case, operands| {
        let into = operation.results(&shapes(case))?.into_iter().map(|it| session.reserve(it));
        let into = into.collect::<Result<Vec<_>, _>>()?;
        let resident = operands.iter().map(|it| session.upload(&batch(it))).collect::<Result<Vec<_>, _>>()?;
        let resident: Vec<_> = resident.iter().collect();
        let (results, _) = session.apply_device_into(operation, &resident, Some(name), into)?;
        let down = |it| session.download(it).map(|it: Batch| (it.shape().bits, it.into_limbs()));
        results.iter().map(|it| down(it).map(|(bits, limbs)| (limbs, bits))).collect::<Result<Vec<_>, Error>>()
    });
}

/// Montgomery products and powers by matrix products.
fn tensor_residues_conform(session: &Session, panels: &[usize], powers: &[usize], lanes: usize) {
    for &panels in panels {
        for operation in [Operation::MontMul, Operation::MontSqr] {
            operation_conforms_by(session, operation, "tensor", 2048 * panels, lanes);
        }
    }
    for &bits in powers {
        // The oracle's powers take a while.
        operation_conforms_by(session, Operation::PowMod, "tensor", bits, lanes.min(5));
    }
}

/// Montgomery's arithmetic modulo one number for all lanes.
fn common_residues_conform(session: &Session, sizes: &[usize], lanes: usize) {
    for &bits in sizes {
        for operation in [Operation::MontMul, Operation::MontSqr, Operation::FromMont] {
            operation_conforms_by(session, operation, "tensor-common", bits, lanes);
        }
    }
}

/// Quotients by one divisor, products by one factor, and products modulo one number.
fn common_numbers_conform(session: &Session, sizes: &[usize], lanes: usize) {
    use Operation as O;
    for &size in sizes {
        for (operation, bits, common) in [
            (O::DivRem, vec![2 * size, size], 1),
            (O::Rem, vec![2 * size, size], 1),
            (O::DivExact, vec![2 * size, size], 1),
            (O::Reduce, vec![size + 256, size], 1),
            (O::MulMod, vec![size; 3], 2),
            (O::SqrMod, vec![size; 2], 1),
            (O::Mul, vec![size; 2], 1),
            (O::MulLo, vec![size; 2], 1),
            (O::MulHi, vec![size; 2], 1),
            (O::MulAdd, vec![size; 3], 1),
        ] {
            let patterns = [Pattern::Carry, Pattern::Ones, Pattern::Random, Pattern::Runs];
            let cases = patterns.into_iter().zip(0..).map(|(pattern, seed)| {
                let mut each = vec![lanes; bits.len()];
                each[common] = 1;
                conformance::OperationCase { operation, bits: bits.clone(), lanes: each, pattern, seed }
            });
            cases_conform_by(session, operation, "tensor-common", cases.collect());
        }
    }
}

#[test]
fn simulator_computes_residues_on_tensor_cores() {
    tensor_residues_conform(&sim(), &[1], &[], 2);
    common_residues_conform(&sim(), &[1024, 1280], 500);
}

#[test]
fn gpu_reduces_by_products() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    if session.device().unwrap().info().capability < 80 {
        return;
    }
    for bits in [4128, 8192, 12_300, 16_384, 20_001, 32_768, 50_016, 65_536, 70_000] {
        for operation in [Operation::MontMul, Operation::FromMont] {
            operation_conforms_by(&session, operation, "products", bits, 40);
        }
    }
}

#[test]
fn gpu_computes_residues_on_tensor_cores() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    if session.device().unwrap().info().capability < 80 {
        return;
    }
    tensor_residues_conform(&session, &[1, 2, 3, 4, 5, 6, 7], &[1000, 2048, 2100, 3072, 4096, 6000], 33);
    if session.device().unwrap().info().capability == 90 {
        common_residues_conform(&session, &[1024, 1280, 2048, 2304, 3072, 4096, 5120, 6912, 8192], 1000);
        for (bits, lanes) in [(1000, 300), (2048, 150), (2100, 5), (3072, 70), (4096, 5), (6000, 5), (8192, 3)] {
            operation_conforms_by(&session, Operation::PowMod, "tensor-common", bits, lanes);
        }
    }
}

#[test]
fn simulator_computes_with_one_number_for_all_lanes() {
    common_numbers_conform(&sim(), &[1024, 1280], 100);
}

#[test]
fn gpu_computes_with_one_number_for_all_lanes() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    if session.device().unwrap().info().capability == 90 {
        common_numbers_conform(&session, &[1024, 1280, 2048, 2304, 3072, 4096, 5120, 6912, 8192], 400);
    }
}

#[test]
fn a_gpu_takes_host_memory_of_every_kind_in_chunks() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    chunks_keep_their_places(&session, 200_003, 1024);
}

#[test]
fn a_simulator_takes_chunks() {
    chunks_keep_their_places(&sim(), 70_003, 64);
}

/// Many chunks, the last one ragged; page-locked and ordinary memory.
fn chunks_keep_their_places(session: &Session, lanes: usize, bits: usize) {
    let shape = Shape::new(lanes, bits);
    let [a, b] = [1, 2].map(|seed| Operands::generate(Pattern::Carry, lanes, bits, seed));
    let pinned = |operands: &Operands| {
        let mut buffer = session.host_buffer(operands.limbs.len()).unwrap();
        buffer.as_mut_slice().copy_from_slice(&operands.limbs);
        Batch::from_buffer(shape, buffer).unwrap()
    };
    let expected: Vec<u32> =
        (0..lanes).flat_map(|lane| oracle::mul(a.lane(lane), b.lane(lane), 2 * shape.limbs())).collect();
    let into = session.host_buffer(2 * shape.words()).unwrap();
    assert!(into.is_pinned());
    let (c, report) = session.apply(Operation::Mul, &[&pinned(&a), &pinned(&b)], Options::new().into(into)).unwrap();
    assert!(c[0].limbs() == expected, "page-locked memory");
    assert!(report.kernel > std::time::Duration::ZERO && report.total >= report.kernel);
    // The slots that the call before has left are used again.
    assert!(session.mul(&batch(&a), &pinned(&b)).unwrap().limbs() == expected, "mixed memory");
    assert!(session.mul(&batch(&a), &batch(&b)).unwrap().limbs() == expected, "ordinary memory");
}

#[test]
fn a_batch_larger_than_the_memory_is_chunked() {
    // 20000 lanes of 64 bits: 640 kB with their products, 64 KiB of memory.
    let session = small_sim(64 << 10);
    let [a, b] = [1, 2].map(|seed| Operands::generate(Pattern::Random, 20_000, 64, seed));
    let c = session.mul(&batch(&a), &batch(&b)).unwrap();
    for lane in [0, 31, 32, 9_999, 19_999] {
        assert_eq!(c.lane(lane).unwrap(), oracle::mul(a.lane(lane), b.lane(lane), 4), "lane {lane}");
    }
    assert!(matches!(session.upload(&batch(&a)), Err(Error::OutOfMemory { .. })));
}

#[test]
fn a_memory_too_small_for_a_tile_is_an_error() {
    let error = small_sim(512).mul(&Batch::from_u64s(&[3; 40]), &Batch::from_u64s(&[5; 40])).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
}

#[test]
fn operations_chain_without_transfers() {
    for session in [sim(), Session::cpu()] {
        let a = session.upload(&Batch::from_u64s(&[3, u64::MAX, 7])).unwrap();
        let square = session.mul_device(&a, &a).unwrap();
        let into = session.reserve(Shape::new(3, 256)).unwrap();
        let (fourth, report) =
            session.apply_device_into(Operation::Mul, &[&square, &square], None, vec![into]).unwrap();
        let fourth = session.download(&fourth[0]).unwrap();
        assert_eq!((fourth.to_u64(0), fourth.to_u64(2)), (Some(0x51), Some(0x961)));
        assert_eq!(fourth.to_hex(1).unwrap(), "fffffffffffffffc0000000000000005fffffffffffffffc0000000000000001");
        assert_eq!((&report.bits[..], report.lanes), (&[128, 128][..], 3));
    }
}

#[test]
fn memory_of_the_wrong_shape_or_engine_is_refused() {
    let (session, other) = (sim(), sim());
    let a = session.upload(&Batch::from_u64s(&[1, 2])).unwrap();
    let small = session.reserve(Shape::new(2, 64)).unwrap();
    let error = session.apply_device_into(Operation::Mul, &[&a, &a], None, vec![small]).unwrap_err();
    let expected = Error::ResultShape { expected_lanes: 2, expected_bits: 128, found_lanes: 2, found_bits: 64 };
    assert_eq!(error, expected);
    assert_eq!(other.mul_device(&a, &a).unwrap_err(), Error::ForeignBatch);
    assert_eq!(Session::cpu().mul_device(&a, &a).unwrap_err(), Error::ForeignBatch);
    assert_eq!(Session::cpu().download(&a).unwrap_err(), Error::ForeignBatch);
}

#[test]
fn a_missing_gpu_is_an_answer() {
    let opened = Session::open();
    match Session::on(Selector::Cuda(None)) {
        Ok(session) => {
            assert_eq!((session.engine().kind, opened.engine().kind), (EngineKind::Cuda, EngineKind::Cuda));
            assert_eq!(opened.fallback(), None);
        }
        Err(reason) => {
            assert_eq!((opened.engine().kind, opened.fallback()), (EngineKind::Cpu, Some(&reason)));
            assert!(matches!(reason, Error::Device(_)), "{reason}");
        }
    }
    assert!(Session::on(Selector::Cuda(Some(999))).is_err());
}

#[test]
fn unfit_algorithms_list_what_fits() {
    let a = Batch::from_le_bytes(65536, &[[1]]).unwrap();
    let session = sim();
    let unfit = session.apply(Operation::Mul, &[&a, &a], Options::new().algorithm("thread")).unwrap_err();
    assert!(matches!(&unfit, Error::AlgorithmUnfit { fits, .. } if !fits.is_empty()), "{unfit}");
    let unknown = session.apply(Operation::Mul, &[&a, &a], Options::new().algorithm("abacus")).unwrap_err();
    assert!(matches!(unknown, Error::UnknownAlgorithm { .. }), "{unknown}");
}
