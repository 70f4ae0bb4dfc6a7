//! Stands in for vectors on processors without them: the type has no value, so no code here is ever called.
#![allow(dead_code, reason = "nothing of this is ever called")]

use super::vectors::{DELAY_BASE_BITS, Descent};

/// The proof that there are vectors: there is none.
#[derive(Clone, Copy, Debug)]
pub(super) enum Vectors {}

impl Vectors {
    pub(super) fn detect() -> Option<Self> {
        None
    }

    pub(super) fn delays(
        self,
        _: &[u64; 1 << DELAY_BASE_BITS],
        _: &[u16],
        _: impl Fn(usize) -> u128,
        _: &mut [u32],
        _: &mut Vec<usize>,
    ) {
        match self {}
    }

    pub(super) fn descend(self, _: Descent<'_>, _: impl Iterator<Item = u128>, _: &mut Vec<u128>) -> (u64, u64) {
        match self {}
    }
}

pub(super) mod pool {
    use super::Vectors;
    use crate::{
        cpu::vectors::{Highest, Late},
        dfs::Jump,
    };

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
