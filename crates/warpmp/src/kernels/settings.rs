//! Settings: as a row of a tuning table says them, and as each algorithm has them.
//!
//! A row has names and numbers ([`Settings`]). The same name means different things to different algorithms, and no
//! algorithm has all of them. So each algorithm has a type of its own ([`OwnSettings`]), which a row is converted to;
//! the error names a setting that the algorithm does not have.

use serde::{Deserialize, Serialize};
use warpmp_kernel::build::Glue;

use super::mul_thread::Input;

/// The settings of a row of a tuning table; the algorithm chooses what the row leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Warps a block of threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warps: Option<u32>,
    /// Every how many carry chains are joined to the one before; 0: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub glue: Option<u32>,
    /// How operands reach the registers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
    /// Limbs of a block, as the algorithm divides its numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// Levels of the algorithm's recursion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<u32>,
    /// Products a block of threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub products: Option<u32>,
}

/// Why an algorithm cannot use the settings of a row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsFault {
    /// Leave the setting out, or name another algorithm.
    #[error("'{algorithm}' has no setting '{name}'; it has {}", list(known))]
    Unknown {
        /// The algorithm.
        algorithm: &'static str,
        /// The setting.
        name: &'static str,
        /// The settings that the algorithm has.
        known: &'static [&'static str],
    },
    /// Give the setting a value in its range.
    #[error("{name} is {value}; it may be {least} to {most}")]
    OutOfRange {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: u32,
        /// The least possible value.
        least: u32,
        /// The greatest possible value.
        most: u32,
    },
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

impl Settings {
    /// Does it say nothing?
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The names that have values.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            ("warps", self.warps.is_some()),
            ("glue", self.glue.is_some()),
            ("input", self.input.is_some()),
            ("block", self.block.is_some()),
            ("levels", self.levels.is_some()),
            ("products", self.products.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name)
    }

    /// The settings as `S`, for an algorithm of this name.
    ///
    /// # Errors
    /// [`SettingsFault`]: a setting that the algorithm does not have, or a value that no algorithm takes.
    pub(super) fn read<S: OwnSettings>(&self, algorithm: &'static str) -> Result<S, SettingsFault> {
        if let Some(name) = self.names().find(|name| !S::NAMES.contains(name)) {
            return Err(SettingsFault::Unknown { algorithm, name, known: S::NAMES });
        }
        let ranges = [
            ("warps", self.warps, 1..=32),
            ("glue", self.glue, 0..=1 << 16),
            ("block", self.block, 1..=1 << 16),
            ("levels", self.levels, 0..=16),
            ("products", self.products, 1..=32),
        ];
        let fault = ranges.into_iter().find_map(|(name, value, range)| {
            let value = value.filter(|it| !range.contains(it))?;
            Some(SettingsFault::OutOfRange { name, value, least: *range.start(), most: *range.end() })
        });
        fault.map_or_else(|| Ok(S::of_row(self)), Err)
    }
}

/// The settings of an algorithm. The default leaves every choice to the algorithm.
pub trait OwnSettings: Copy + Default + 'static {
    /// The names of the settings in a row.
    const NAMES: &'static [&'static str];

    /// The settings of a row that has no other names, and values in their ranges.
    fn of_row(row: &Settings) -> Self;

    /// The row that has these settings.
    fn to_row(self) -> Settings;
}

/// A value of an algorithm's setting, and how a row says it.
trait Value {
    type Raw;
    fn of_raw(raw: Self::Raw) -> Self;
    fn to_raw(self) -> Self::Raw;
}

impl Value for u32 {
    type Raw = Self;

    fn of_raw(raw: Self) -> Self {
        raw
    }

    fn to_raw(self) -> Self {
        self
    }
}

impl Value for Input {
    type Raw = Self;

    fn of_raw(raw: Self) -> Self {
        raw
    }

    fn to_raw(self) -> Self {
        self
    }
}

impl Value for bool {
    type Raw = u32;

    fn of_raw(raw: u32) -> Self {
        raw > 0
    }

    fn to_raw(self) -> u32 {
        self.into()
    }
}

impl Value for Glue {
    type Raw = u32;

    fn of_raw(raw: u32) -> Self {
        if raw == 0 { Self::None } else { Self::Every(raw) }
    }

    fn to_raw(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Every(n) => n,
        }
    }
}

/// Declares the settings of algorithms: each field, and the name that a row has for it.
macro_rules! own_settings {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty = $raw:ident,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: Option<$type>,)*
        }

        impl OwnSettings for $name {
            const NAMES: &'static [&'static str] = &[$(stringify!($raw)),*];

            #[allow(unused_variables, reason = "some settings have no field")]
            fn of_row(row: &Settings) -> Self {
                Self { $($field: row.$raw.map(<$type>::of_raw),)* }
            }

            fn to_row(self) -> Settings {
                Settings { $($raw: self.$field.map(Value::to_raw),)* ..Settings::default() }
            }
        }
    )*};
}

own_settings! {
    /// Nothing is free.
    FixedSettings {}

    /// Only the size of the blocks of threads is free.
    WarpSettings {
        /// Warps a block of threads.
        warps: u32 = warps,
    }

    /// The size of the blocks of threads and the carry chains are free.
    ChainSettings {
        /// Warps a block of threads.
        warps: u32 = warps,
        /// How carry chains are joined.
        glue: Glue = glue,
    }

    /// A product a thread.
    ThreadSettings {
        /// Warps a block of threads.
        warps: u32 = warps,
        /// How carry chains are joined.
        glue: Glue = glue,
        /// How operands reach the registers.
        input: Input = input,
    }

    /// A square a thread.
    ThreadSquareSettings {
        /// Warps a block of threads.
        warps: u32 = warps,
        /// How carry chains are joined.
        glue: Glue = glue,
        /// How operands reach the registers.
        input: Input = input,
        /// Is the square of an even number of limbs composed of three squares of halves?
        halves: bool = levels,
    }

    /// A product a group of lanes.
    GroupSettings {
        /// Warps a block of threads.
        warps: u32 = warps,
        /// How carry chains are joined.
        glue: Glue = glue,
        /// How operands reach the registers.
        input: Input = input,
        /// Limbs that a lane holds of the first factor, at most.
        block: u32 = block,
    }

    /// A square a group of lanes, with sums in shared memory.
    SharedGroupSettings {
        /// Warps a block of threads.
        warps: u32 = warps,
        /// How carry chains are joined.
        glue: Glue = glue,
        /// Limbs of a lane's block, at most.
        block: u32 = block,
        /// Products a block of threads. With one, all warps of the block work on it.
        products: u32 = products,
    }

    /// Karatsuba's method in shared memory.
    KaratsubaSettings {
        /// Warps a block of threads.
        warps: u32 = warps,
        /// How carry chains are joined.
        glue: Glue = glue,
        /// Limbs of a lane's block of a leaf, at most.
        block: u32 = block,
        /// Levels of the method.
        levels: u32 = levels,
        /// Products a block of threads. With one, all warps of the block work on it.
        products: u32 = products,
    }

    /// A product a warp on tensor cores.
    TensorSettings {
        /// Warps a block of threads.
        warps: u32 = warps,
        /// Products a block of threads: its warps take them in turn.
        products: u32 = products,
    }

    /// A product four warps on tensor cores.
    WarpgroupSettings {
        /// Products a block of threads: its four warps take them one after the other.
        products: u32 = products,
    }

    /// Numbers modulo one number for all lanes, 64 lanes four warps on tensor cores.
    CommonSettings {
        /// How many times 64 lanes four warps take, one after the other.
        turns: u32 = products,
    }

    /// A product a block by transforms.
    FftSettings {
        /// Levels at which a product is divided before a part of it is transformed.
        levels: u32 = levels,
    }

    /// Long numbers by products.
    LongSettings {
        /// Does a block multiply factors of 65537 to 196608 bits? Else the transform in four steps does. A block needs up to 199 KB of
        /// shared memory.
        blocks: bool = levels,
    }

    /// Numbers in the registers of a group of lanes.
    HeldSettings {
        /// Warps a block of threads.
        warps: u32 = warps,
        /// How carry chains are joined.
        glue: Glue = glue,
        /// Limbs that a lane holds, at most.
        block: u32 = block,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_becomes_an_algorithms_settings_and_back() {
        let row = Settings { warps: Some(4), glue: Some(0), levels: Some(1), ..Settings::default() };
        let own: ThreadSquareSettings = row.read("thread").unwrap();
        assert_eq!((own.warps, own.glue, own.halves, own.input), (Some(4), Some(Glue::None), Some(true), None));
        assert_eq!(own.to_row(), row);
        assert_eq!(Settings::default().read("thread"), Ok(WarpSettings::default()));
    }

    #[test]
    fn a_fault_names_the_setting() {
        let row = Settings { block: Some(8), ..Settings::default() };
        let fault = row.read::<ChainSettings>("toom-8").unwrap_err().to_string();
        assert_eq!(fault, "'toom-8' has no setting 'block'; it has warps, glue");
        let row = Settings { block: Some(0), ..Settings::default() };
        let fault = row.read::<GroupSettings>("group").unwrap_err().to_string();
        assert_eq!(fault, "block is 0; it may be 1 to 65536");
    }
}
