//! The GPU engine.

pub mod tables;
