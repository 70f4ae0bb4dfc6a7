//! The instruction sets that the environment forbids.

use std::sync::LazyLock;

static FORBIDDEN: LazyLock<String> = LazyLock::new(|| std::env::var("WARPMP_CPU_WITHOUT").unwrap_or_default());

/// May an instruction set be used?
pub(crate) fn is_allowed(name: &str) -> bool {
    !FORBIDDEN.split(',').any(|it| it.trim() == name)
}
