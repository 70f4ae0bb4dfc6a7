//! The name of this machine.

use std::{env, fs};

/// The longest name: more would be no name.
const MOST_CHARS: usize = 253;

/// The name of this machine, for people: `WARPMP_HOST`, which may be empty, else the system's name. Empty where neither is known.
/// Nothing hangs on it: names need not differ, and nobody checks them.
pub fn host() -> String {
    let named = || env::var_os("WARPMP_HOST").map(|name| name.to_string_lossy().into_owned());
    let system = || fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| env::var("COMPUTERNAME")).ok();
    let name = named().or_else(system).unwrap_or_default();
    name.trim().chars().filter(|it| !it.is_control()).take(MOST_CHARS).collect()
}
