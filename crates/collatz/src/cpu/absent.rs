//! Stands in for vectors on processors without them: [`Ifma`](warpmp_simd::Ifma) has no value there, so no code here is ever called.
#![allow(dead_code, reason = "nothing of this is ever called")]

pub(super) mod delay {
    use warpmp_simd::Ifma;

    use crate::cpu::vectors::DELAY_BASE_BITS;

    pub(in crate::cpu) fn delays(
        never: Ifma,
        _: &[u64; 1 << DELAY_BASE_BITS],
        _: &[u16],
        _: impl Fn(usize) -> u128,
        _: &mut [u32],
        _: &mut Vec<usize>,
    ) {
        match never {}
    }
}

pub(super) mod descent {
    use warpmp_simd::Ifma;

    use crate::cpu::vectors::Descent;

    pub(in crate::cpu) fn descend(
        never: Ifma,
        _: Descent<'_>,
        _: impl Iterator<Item = u128>,
        _: &mut Vec<u128>,
    ) -> (u64, u64) {
        match never {}
    }
}

pub(super) mod pool {
    use warpmp_simd::Ifma;

    use crate::{
        cpu::vectors::{Highest, Late},
        dfs::Jump,
    };

    #[derive(Debug)]
    pub(in crate::cpu) struct Pool {
        never: Ifma,
        pub(in crate::cpu) late: Vec<Late>,
        pub(in crate::cpu) reported: Vec<u64>,
    }

    impl Pool {
        pub(in crate::cpu) fn new(vectors: Ifma, _: [i32; 16], _: Highest) -> Self {
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
