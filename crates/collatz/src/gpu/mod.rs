//! The GPU engine.
