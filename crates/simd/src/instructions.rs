//! How the files of the instruction sets write their methods. The type of a set is the proof that the processor has the
//! instructions, so the methods are safe.

/// Methods that are a few instructions each.
macro_rules! instructions {
    ($($name:ident($($x:ident: $type:ty),*) -> $result:ty { $instruction:expr })*) => {$(
        #[inline(always)]
        fn $name(self, $($x: $type),*) -> $result {
            // SAFETY: the processor has the instructions: `self` is the proof.
            unsafe { $instruction }
        }
    )*};
}

/// The method [`Simd::vectorize`](crate::Simd::vectorize) for these features, or a method like it with a visibility.
macro_rules! vectorize {
    ($features:literal) => {
        vectorize!(, $features);
    };
    ($visibility:vis, $features:literal) => {
        #[inline]
        $visibility fn vectorize<R>(self, function: impl FnOnce() -> R) -> R {
            #[inline]
            #[target_feature(enable = $features)]
            fn inner<R>(function: impl FnOnce() -> R) -> R {
                function()
            }
            // SAFETY: the processor has the features: `self` is the proof.
            unsafe { inner(function) }
        }
    };
}

pub(crate) use {instructions, vectorize};
