//! BMI2 and ADX: products of words that leave the flags alone, on Intel from Broadwell on and AMD from Zen on.
#![allow(unsafe_code)]

use crate::choice::is_allowed;
use crate::instructions::vectorize;

/// The proof that the processor has BMI2 and ADX.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mulx(());

impl Mulx {
    pub(crate) fn detect() -> Option<Self> {
        let has_both = is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("adx");
        (has_both && is_allowed("mulx")).then_some(Self(()))
    }

    vectorize!(pub(crate), "bmi2,adx");
}
