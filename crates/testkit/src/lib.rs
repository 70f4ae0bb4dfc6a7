//! What tests share: operand strategies, oracles, the conformance suite.
#![forbid(unsafe_code)]
