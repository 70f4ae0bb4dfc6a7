//! Vectors on processors for which there are none: the type has no value, so nothing of this is ever called.
#![allow(dead_code, reason = "nothing of this is ever called")]

/// The proof that there are vectors: there is none.
#[derive(Clone, Copy, Debug)]
pub(super) enum Vectors {}

impl Vectors {
    pub(super) fn detect() -> Option<Self> {
        None
    }

    pub(super) fn delays(
        self,
        _: &[u64; 1 << delay::BASE_BITS],
        _: &[u16],
        _: impl Fn(usize) -> u128,
        _: &mut [u32],
        _: &mut Vec<usize>,
    ) {
        match self {}
    }

    pub(super) fn descend(
        self,
        _: descent::Descent<'_>,
        _: impl Iterator<Item = u128>,
        _: &mut Vec<u128>,
    ) -> (u64, u64) {
        match self {}
    }
}

pub(super) mod descent {
    #[derive(Clone, Copy, Debug)]
    pub(in crate::cpu) struct Descent<'a> {
        pub(in crate::cpu) jumps: &'a [u64],
        pub(in crate::cpu) base_bits: u32,
        pub(in crate::cpu) limit_bits: u32,
    }

    impl Descent<'_> {
        pub(in crate::cpu) fn limit(growth: u32) -> u32 {
            104 - 2 * growth
        }
    }
}

pub(super) mod delay {
    pub(in crate::cpu) const BASE_BITS: u32 = 12;
    pub(in crate::cpu) const MOST: usize = 0xf000;
    pub(in crate::cpu) const LIMIT_BITS: u32 = 89;
}

pub(super) mod pool {
    use super::Vectors;
    use crate::dfs::Jump;

    pub(in crate::cpu) const MOST_JUMPS: u32 = 64;

    #[derive(Clone, Copy, Debug)]
    pub(in crate::cpu) struct Late {
        pub(in crate::cpu) value: u128,
        pub(in crate::cpu) rho: i32,
        pub(in crate::cpu) offset: u64,
    }

    #[derive(Clone, Copy, Debug)]
    pub(in crate::cpu) struct Highest {
        pub(in crate::cpu) width: i32,
        pub(in crate::cpu) report: i32,
    }

    #[derive(Debug)]
    pub(in crate::cpu) struct Pool {
        never: Vectors,
        pub(in crate::cpu) late: Vec<Late>,
        pub(in crate::cpu) reported: Vec<u64>,
    }

    impl Pool {
        pub(in crate::cpu) fn new(vectors: Vectors, _: [i32; 16], _: Highest) -> Self {
            match vectors {}
        }

        pub(in crate::cpu) fn push(
            &mut self,
            _: &[Jump; 1 << 12],
            _: u64,
            _: (u128, u64),
            _: i32,
            _: (u64, u64),
        ) -> u64 {
            match self.never {}
        }

        pub(in crate::cpu) fn finish(&mut self, _: &[Jump; 1 << 12]) {
            match self.never {}
        }
    }
}
