//! Operations by name.

use std::ffi::{CStr, c_char};
use std::{ptr, slice};

use engine::{Operation, Options, Status};

use crate::batch::{Place, warpmp_batch};
use crate::failure::{Failure, guarded, read, warpmp_code, writable};
use crate::session::{text, warpmp_session};

fn named(name: &str) -> Result<Operation, Failure> {
    Operation::named(name).ok_or_else(|| {
        Failure::argument(format!("there is no operation '{name}'; the book's page \"All operations\" lists them"))
    })
}

/// Does an operation on every lane: results[0] = a * b for "mul", the quotient and the remainder for "div_rem".
///
/// The operations, their operands and results are those of the book's page "All operations". `operands` has
/// `operand_count` batches, all on the host or all on the session's device; one with a single lane serves every lane of the
/// others. `results` gets `result_count` new batches, in the same place: as many as warpmp_operation_results says. For an
/// operation with statuses the last of them has the status of each lane, a word of 32 bits: see warpmp_status_text. The
/// results of a lane at fault are zero. `constant` is the constant of operations that have one, such as the distance of a
/// shift; others take no notice.
///
/// On the host the results are ready when the call returns. On a GPU the work is queued.
///
/// Errors: WARPMP_BAD_ARGUMENT, WARPMP_OUT_OF_MEMORY, WARPMP_DEVICE_FAILED.
///
/// # Safety
/// The handles are alive, `operation` is a string that ends with a zero byte, `operands` has `operand_count` pointers and
/// `results` room for `result_count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_apply(
    session: *const warpmp_session,
    operation: *const c_char,
    constant: u32,
    operands: *const *const warpmp_batch,
    operand_count: usize,
    results: *mut *mut warpmp_batch,
    result_count: usize,
) -> warpmp_code {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (session, operation) = unsafe { (read(session, "session")?, text(operation, "operation")?) };
        let operation = named(operation)?.with_constant(constant);
        let expected = outcome_count(operation);
        if result_count != expected {
            return Err(Failure::argument(format!(
                "'{operation}' gives {expected} batches; there is room for {result_count}"
            )));
        }
        let results = writable(results, "results")?;
        let arity = operation.arity();
        if operand_count != arity {
            return Err(engine::Error::OperandCount { operation, expected: arity, found: operand_count }.into());
        }
        // SAFETY: not null, and as long as the caller promises, which is the small arity of an operation.
        let operands = unsafe { slice::from_raw_parts(read(operands, "operands")?, operand_count) };
        // SAFETY: the caller's promise.
        let operands = operands.iter().map(|&it| unsafe { read(it, "operands[i]") }).collect::<Result<Vec<_>, _>>()?;
        let found = run(session, operation, &operands)?;
        for (i, place) in found.into_iter().enumerate() {
            // SAFETY: there are `expected` outcomes, and the caller promises room for as many.
            unsafe { results.add(i).write(warpmp_batch::into_raw(place)) };
        }
        Ok(())
    })
}

fn run(session: &warpmp_session, operation: Operation, operands: &[&warpmp_batch]) -> Result<Vec<Place>, Failure> {
    let (mut host, mut device) = (Vec::new(), Vec::new());
    for operand in operands {
        match &operand.place {
            Place::Host(batch) => host.push(batch),
            Place::Device(batch) => device.push(batch),
        }
    }
    if device.is_empty() {
        let (results, _) = session.session.apply(operation, &host, Options::new())?;
        return Ok(results.into_iter().map(Place::Host).collect());
    }
    if !host.is_empty() {
        return Err(Failure::argument("some operands are on the host and some on a device; upload them all"));
    }
    Ok(session.session.apply_device(operation, &device)?.into_iter().map(Place::Device).collect())
}

/// Batches that an operation gives: its results, and the statuses if it has them.
fn outcome_count(operation: Operation) -> usize {
    operation.result_names().len() + usize::from(operation.has_status())
}

/// The number of batches that an operation gives, the statuses among them; 0 for a name that is no operation.
///
/// # Safety
/// `operation` is null or a string that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_operation_results(operation: *const c_char) -> usize {
    // SAFETY: the caller's promise.
    unsafe { text(operation, "operation") }.and_then(named).map_or(0, outcome_count)
}

/// Does the operation have statuses, as its last result? 1 or 0.
///
/// # Safety
/// `operation` is null or a string that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_operation_has_statuses(operation: *const c_char) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { text(operation, "operation") }.and_then(named).map_or(0, |operation| operation.has_status().into())
}

/// The status of a lane in words: 0 is "fine"; NULL for a number that is no status. The text is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn warpmp_status_text(status: u32) -> *const c_char {
    Status::from_code(status).map_or(ptr::null(), |status| words(status).as_ptr())
}

fn words(status: Status) -> &'static CStr {
    match status {
        Status::Fine => c"fine",
        Status::DivisionByZero => c"division by zero",
        Status::EvenModulus => c"an even modulus",
        Status::NotReduced => c"an operand that is not reduced",
        Status::NoInverse => c"no inverse",
        Status::NotExact => c"a remainder",
        _ => c"a fault that this version has no words for",
    }
}
