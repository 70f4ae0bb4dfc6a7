//! Residues modulo an odd number as values with operators: `(&x + &z) * &y`.

use std::cell::RefCell;
use std::ops::{Add, Mul, Sub};

use warpmp_kernel::build::{Builder, R32};
use warpmp_kernel::fragment::Montgomery;

/// The residues modulo an odd number, and the builder that their formulas are written with.
///
/// Residues are in Montgomery's form. Operators on [`Element`]s write instructions in the order in which Rust evaluates
/// them. While a field exists, nothing else can write to its builder.
#[derive(Debug)]
pub struct Field<'b> {
    b: RefCell<&'b mut Builder>,
    ring: &'b Montgomery,
}

/// A residue below the modulus, in the registers of its group.
#[derive(Clone, Debug)]
pub struct Element<'f, 'b> {
    field: &'f Field<'b>,
    limbs: Vec<R32>,
}

impl<'b> Field<'b> {
    /// The residues of a ring.
    pub fn new(b: &'b mut Builder, ring: &'b Montgomery) -> Self {
        Self { b: RefCell::new(b), ring }
    }

    /// The residue in these registers, which is below the modulus.
    pub fn element(&self, limbs: Vec<R32>) -> Element<'_, 'b> {
        Element { field: self, limbs }
    }
}

impl Element<'_, '_> {
    /// The square.
    pub fn square(&self) -> Self {
        self.with(|b, ring| ring.sqr(b, &self.limbs))
    }

    /// The registers.
    pub fn into_limbs(self) -> Vec<R32> {
        self.limbs
    }

    fn with(&self, limbs: impl FnOnce(&mut Builder, &Montgomery) -> Vec<R32>) -> Self {
        let limbs = limbs(&mut self.field.b.borrow_mut(), self.field.ring);
        Self { field: self.field, limbs }
    }
}

macro_rules! operators {
    ($($operator:ident, $method:ident;)*) => { $(
        impl<'f, 'b> $operator<&Element<'f, 'b>> for &Element<'f, 'b> {
            type Output = Element<'f, 'b>;

            fn $method(self, other: &Element<'f, 'b>) -> Element<'f, 'b> {
                self.with(|b, ring| ring.$method(b, &self.limbs, &other.limbs))
            }
        }

        impl<'f, 'b> $operator for Element<'f, 'b> {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                (&self).$method(&other)
            }
        }

        impl<'f, 'b> $operator<&Self> for Element<'f, 'b> {
            type Output = Self;

            fn $method(self, other: &Self) -> Self {
                (&self).$method(other)
            }
        }

        impl<'f, 'b> $operator<Element<'f, 'b>> for &Element<'f, 'b> {
            type Output = Element<'f, 'b>;

            fn $method(self, other: Element<'f, 'b>) -> Element<'f, 'b> {
                self.$method(&other)
            }
        }
    )* };
}

operators! {
    Add, add;
    Sub, sub;
    Mul, mul;
}
