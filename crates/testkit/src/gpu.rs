//! What a test does on a machine without a GPU.

/// The variable that makes the absence of a GPU a failure, when it is `1`.
pub const REQUIRE: &str = "WARPMP_REQUIRE_GPU";

/// Unwraps the GPU that a test wants. Without one it prints "skipped: no GPU" and the reason.
///
/// # Panics
/// Without a GPU, if `WARPMP_REQUIRE_GPU=1`.
pub fn or_skip<T, E: std::fmt::Display>(gpu: Result<T, E>) -> Option<T> {
    match gpu {
        Ok(gpu) => Some(gpu),
        Err(reason) => {
            assert!(std::env::var_os(REQUIRE).is_none_or(|it| it != "1"), "{REQUIRE}=1, but no GPU: {reason}");
            eprintln!("skipped: no GPU ({reason})");
            None
        }
    }
}
