//! The digits of Python's integers, read and written in place.
//!
//! An `int` is a header, a word with the sign and the number of digits, and the digits: 30 bits each, in words of
//! 32 bits. Python's stable interface has no access to the digits, and a call of `int.to_bytes` for each integer takes ten
//! times as long as reading them. So this module knows the layout of the versions below. A [`Layout`] exists only if the
//! running Python is one of these versions, and if some integers were read and made as the layout says.
//!
//! # What the safety rests on
//!
//! * An object of the type `int` itself has the layout of its version. Other types are refused, also those derived from `int`.
//! * An integer never changes, and [`Longs`] keep theirs alive. So any thread may read their digits.
//! * A new integer of at least [`LEAST`] digits is a copy that nobody else knows, until [`Layout::cast`] returns it. It returns when
//!   all threads have written their digits.

use std::slice;

use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyList, PyTuple};

use crate::digits::{self, DIGIT_BITS};
use crate::error::Failure;

/// The fewest digits of an integer that is made here. Python shares integers of fewer digits.
pub(crate) const LEAST: usize = 3;

/// Proof that the integers of the running Python have a known layout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Bytes before the digits.
    head: u8,
    count: Count,
}

/// The word before the digits.
#[derive(Clone, Copy, Debug)]
enum Count {
    /// The number of digits, negative for a negative integer: to Python 3.11.
    Signed,
    /// The number of digits times 8, plus 2 for a negative integer: from Python 3.12 on. The other bits say nothing about the
    /// value.
    Tagged,
}

/// Integers of Python, which a tuple keeps alive.
pub(crate) struct Longs {
    _tuple: Py<PyTuple>,
    numbers: Vec<Long>,
}

/// One of [`Longs`].
pub(crate) struct Long {
    object: *mut PyObject,
    layout: Layout,
}

// SAFETY: an integer never changes, so all threads may read it.
unsafe impl Send for Long {}

// SAFETY: as above.
unsafe impl Sync for Long {}

/// An integer to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outline {
    Small(i64),
    /// A magnitude of this many bits, from which it has [`LEAST`] digits or more.
    Long {
        bits: usize,
        negative: bool,
    },
}

impl Layout {
    /// The layout of the running Python, if it is known.
    pub(crate) fn of(py: Python<'_>) -> Option<Self> {
        static KNOWN: PyOnceLock<Option<Layout>> = PyOnceLock::new();
        *KNOWN.get_or_init(py, || Self::found(py).ok().flatten())
    }

    fn found(py: Python<'_>) -> PyResult<Option<Self>> {
        let version = py.version_info();
        let count = match (version.major, version.minor) {
            (3, 10 | 11) => Count::Signed,
            (3, 12..=14) => Count::Tagged,
            _ => return Ok(None),
        };
        let sys = py.import("sys")?;
        let name: String = sys.getattr("implementation")?.getattr("name")?.extract()?;
        let digit = sys.getattr("int_info")?;
        let digit: (usize, usize) =
            (digit.getattr("bits_per_digit")?.extract()?, digit.getattr("sizeof_digit")?.extract()?);
        let int = py.get_type::<PyInt>();
        let head: u8 = int.getattr("__basicsize__")?.extract()?;
        let aligned = head.is_multiple_of(align_of::<usize>() as u8) && usize::from(head) >= 3 * size_of::<usize>();
        let layout = Self { head, count };
        let known = name == "cpython" && digit == (DIGIT_BITS, size_of::<u32>()) && aligned && layout.holds(py)?;
        Ok(known.then_some(layout))
    }

    /// Are integers read and made as they should be?
    fn holds(self, py: Python<'_>) -> PyResult<bool> {
        for bits in [0, 1, 8, 9, 29, 30, 31, 59, 60, 61, 89, 90, 91, 1024, 3000] {
            // The top bit and some bits below it.
            let limbs: Vec<u32> = (0..bits).step_by(32).map(|at| 0x9e37_79b9 ^ at).collect();
            let (mut limbs, bits) = (limbs, bits as usize);
            if let Some(top) = limbs.last_mut() {
                let used = (bits - 1) % 32 + 1;
                *top = (*top | 1 << (used - 1)) & (u32::MAX >> (32 - used));
            }
            let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
            let magnitude = py.get_type::<PyInt>().call_method1("from_bytes", (bytes, "little"))?;
            let count = bits.div_ceil(DIGIT_BITS);
            let mut digits = vec![0; count];
            digits::write_digits(&mut digits, &limbs);
            for negative in [false, true] {
                let number = if negative { magnitude.neg()? } else { magnitude.clone() };
                let Some(longs) = self.read(&PyList::new(py, [&number])?) else { return Ok(false) };
                let [long] = longs.numbers() else { return Ok(false) };
                // The digits are looked at only if their number is right.
                if long.head() != (count, negative && bits > 0) || long.digits() != digits {
                    return Ok(false);
                }
                let outline = |_| Outline::Long { bits, negative };
                let write = |_, digits: &mut [u32]| digits::write_digits(digits, &limbs);
                if count >= LEAST && !self.cast(py, 1, 1, outline, write)?[0].eq(&number)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The integers of a list; none if one of its objects is not of the type `int` itself.
    pub(crate) fn read(self, list: &Bound<'_, PyList>) -> Option<Longs> {
        // Nobody changes a tuple. It takes hold of all integers in a loop of Python's own.
        let tuple = list.to_tuple();
        let long = |object: Borrowed<'_, '_, PyAny>| {
            object.is_exact_instance_of::<PyInt>().then(|| Long { object: object.as_ptr(), layout: self })
        };
        let numbers = tuple.iter_borrowed().map(long).collect::<Option<Vec<_>>>()?;
        Some(Longs { _tuple: tuple.unbind(), numbers })
    }

    /// Makes `lanes` integers, and looks for Ctrl-C after every `piece` of them. Python makes an integer after the other. Meanwhile other
    /// threads call `write` for the lanes of [`Outline::Long`], which writes all digits of the magnitude, least significant first.
    ///
    /// # Errors
    /// `MemoryError`, and the exceptions of Ctrl-C.
    pub(crate) fn cast(
        self,
        py: Python<'_>,
        lanes: usize,
        piece: usize,
        outline: impl Fn(usize) -> Outline,
        write: impl Fn(usize, &mut [u32]) + Sync,
    ) -> PyResult<Vec<Bound<'_, PyAny>>> {
        let mut mould = Mould { layout: self, models: Vec::new() };
        // The integers live longer than the scope, which waits for its threads whatever happens.
        let mut numbers = Vec::with_capacity(lanes);
        rayon::in_place_scope(|scope| -> PyResult<()> {
            for first in (0..lanes).step_by(piece) {
                py.check_signals()?;
                let mut blanks = Vec::with_capacity(piece.min(lanes - first));
                for lane in first..(first + piece).min(lanes) {
                    match outline(lane) {
                        Outline::Small(number) => numbers.push(number.into_pyobject(py)?.into_any()),
                        Outline::Long { bits, negative } => {
                            let (number, digits) = mould.blank(py, bits.div_ceil(DIGIT_BITS), negative)?;
                            numbers.push(number);
                            blanks.push((lane, digits));
                        }
                    }
                }
                let write = &write;
                scope.spawn(move |_| blanks.into_iter().for_each(|(lane, blank)| write(lane, blank.0)));
            }
            Ok(())
        })?;
        Ok(numbers)
    }

    /// The place of an integer's digits.
    fn digits(self, object: *mut PyObject) -> *mut u32 {
        object.wrapping_byte_add(self.head.into()).cast()
    }
}

impl Longs {
    pub(crate) fn numbers(&self) -> &[Long] {
        &self.numbers
    }
}

impl Long {
    /// The number of digits, and whether the integer is negative.
    fn head(&self) -> (usize, bool) {
        // SAFETY: the object is an integer that is alive, so the word before its digits is part of it, and aligned.
        let word =
            unsafe { self.object.byte_add(usize::from(self.layout.head) - size_of::<usize>()).cast::<usize>().read() };
        match self.layout.count {
            Count::Signed => ((word as isize).unsigned_abs(), (word as isize) < 0),
            Count::Tagged => (word >> 3, word & 3 == 2),
        }
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.head().1
    }

    /// The digits of the magnitude, least significant first. The last one is not zero.
    pub(crate) fn digits(&self) -> &[u32] {
        // SAFETY: the integer has this many digits. They do not change, and the integer lives as long as the `Longs` that lend `self`.
        unsafe { slice::from_raw_parts(self.layout.digits(self.object), self.head().0) }
    }
}

/// Makes integers whose digits are to be written.
struct Mould<'py> {
    layout: Layout,
    /// Integers to copy, the positive and the negative one of each number of digits.
    models: Vec<[Option<Bound<'py, PyAny>>; 2]>,
}

/// The digits of a new integer.
struct Blank(&'static mut [u32]);

impl<'py> Mould<'py> {
    /// A new integer of this many digits, and the digits, which go on living as long as the integer.
    fn blank(&mut self, py: Python<'py>, count: usize, negative: bool) -> PyResult<(Bound<'py, PyAny>, Blank)> {
        assert!(count >= LEAST, "Python shares such an integer");
        // Python makes the new integer: the negated model has as many digits and the right sign.
        let number = self.model(py, count, !negative)?.neg()?;
        // SAFETY: the integer is new, so nobody else reads or writes it. Its digits are all written by Python already. It has
        // this many digits, as the model has. `Layout::cast` keeps the integer longer than the digits.
        let digits = unsafe { slice::from_raw_parts_mut(self.layout.digits(number.as_ptr()), count) };
        Ok((number, Blank(digits)))
    }

    fn model(&mut self, py: Python<'py>, count: usize, negative: bool) -> PyResult<&Bound<'py, PyAny>> {
        if count >= self.models.len() {
            self.models.resize_with(count + 1, Default::default);
        }
        let place = &mut self.models[count][usize::from(negative)];
        if place.is_none() {
            let one: i32 = if negative { -1 } else { 1 };
            *place = Some(one.into_pyobject(py)?.lshift(count * DIGIT_BITS - 1)?);
        }
        place.as_ref().ok_or_else(|| Failure::bug().into())
    }
}
