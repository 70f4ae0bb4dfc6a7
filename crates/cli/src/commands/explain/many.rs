//! `explain is-prime` and `explain batch-gcd`: commands built from several operations.

use warpmp::{EngineKind, Operation, Session, Shape};
use warpmp_numtheory::primality;

use crate::{
    args::ExplainMany,
    console, engine,
    error::{Result, plural},
};

/// The primality test.
pub(crate) fn is_prime(args: &ExplainMany) -> Result<()> {
    let session = engine::open_one(args.device.selector, false)?;
    let kind = session.engine().kind;
    let trial = primality::trial_division(args.bits, kind);
    let left = (args.count as f64 * trial.survivors / 2.0).ceil().max(1.0);
    let shape = Shape::new(left as usize, args.bits);
    let first = session.algorithm_for(Operation::StrongTest(2), &[shape], None)?;
    let lucas = session.algorithm_for(Operation::MontMul, &[shape; 3], None)?;
    let (worth, place) =
        if kind == EngineKind::Cpu { ("0.2 ms a bit", "the CPU engine") } else { ("a second", "the GPU") };
    console::print(&format!(
        "command    is-prime: {} integer{} of {} bits\n\
         device     {}\n\
         trial      by the odd primes to {}, on the cores: {:.1} of 100 odd integers are left\n\
         base 2     about {left:.0} strong tests of random integers, by {first}\n\
         Lucas      primes and nearly nothing else: on the cores, or on {place} by {lucas}\n\
         why        trial division goes on as long as a group of primes saves more time in strong tests than it takes;\n           \
         the cores make one Lucas test, and {place} makes the others if they would take the cores longer than {worth}\n\n\
         warpmp explain strong-test --bits {} --count {left:.0} tells the kernels.\n",
        args.count,
        plural(args.count as u64),
        args.bits,
        session.engine().name,
        trial.largest_prime,
        100.0 * trial.survivors,
        args.bits,
    ))
}

/// The product tree.
pub(crate) fn batch_gcd(args: &ExplainMany) -> Result<()> {
    let session = engine::open_one(args.device.selector, false)?;
    let mut levels = Vec::new();
    let (mut nodes, mut bits) = (args.count, args.bits);
    let has_gpu = session.engine().kind != EngineKind::Cpu;
    while nodes > 1 {
        if has_gpu && 2 * bits > Operation::Mul.max_bits() {
            levels.push(format!(
                "level      {nodes} nodes of {bits} bits: all with all others, {} steps of three products on the GPU\n",
                nodes - 1
            ));
            break;
        }
        let pairs = nodes / 2;
        let place = place(&session, pairs, bits)?;
        levels.push(format!("level      {pairs} product{} of {bits} × {bits} bits: {place}\n", plural(pairs as u64)));
        (nodes, bits) = (nodes.div_ceil(2), 2 * bits);
    }
    console::print(&format!(
        "command    batch-gcd: {} integer{} of {} bits\n\
         device     {}\n\
         {}\
         memory     about {} bytes: every level of the tree has the size of the integers\n\
         why        {}\n",
        args.count,
        plural(args.count as u64),
        args.bits,
        session.engine().name,
        levels.concat(),
        (args.count as u64)
            .saturating_mul(args.bits as u64 / 8)
            .saturating_mul(u64::from(args.count.max(2).ilog2()) + 6),
        if has_gpu {
            "the GPU has the whole tree in its memory, unless the cores would take less than about two seconds for it; down\n           \
             the tree a node takes six products"
        } else {
            "remainders down the tree go like the products of their level, and take about three times as long"
        },
    ))
}

/// Where the products of a level are made.
fn place(session: &Session, pairs: usize, bits: usize) -> Result<String> {
    if bits > Operation::Mul.max_bits() {
        return Ok("on the cores, too long for a kernel".into());
    }
    let algorithm = match session.algorithm_for(Operation::Mul, &[Shape::new(pairs, bits); 2], None) {
        Err(warpmp::Error::NoKernel { .. }) => return Ok("on the cores, too long for a kernel".into()),
        found => found?,
    };
    Ok(if session.engine().kind == EngineKind::Cpu {
        format!("on the cores, by {algorithm}")
    } else {
        format!("on the cores, or on the GPU by {algorithm}")
    })
}
