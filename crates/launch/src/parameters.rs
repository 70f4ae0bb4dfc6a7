//! Parameters with types: one struct declares a kernel's parameters and the arguments of its launch.
//!
//! [`parameters!`](crate::parameters) takes a list of fields and makes two structs from it. The first holds registers:
//! the generator of the kernel declares it and reads its fields. The second holds values and buffers: the host fills it
//! for a launch. A field that is added, removed or moved changes both, so a launch cannot disagree with its kernel.
//!
//! Offsets in buffers are words of 32 bits, as in all of [`Device`](warpmp_device::Device).

use warpmp_device::{Arg, Buffer, Device, Grid, Module, Result, Stream};
use warpmp_kernel::build::{Builder, R32, R64};

/// The type of a parameter: its register inside the kernel, and its argument on the host.
pub trait Parameter {
    /// The parameter inside the kernel.
    type Register;
    /// The argument of a launch.
    type Argument<'a>;

    /// Adds the parameter to a kernel and loads it. `optional`: does the kernel take its optional parameters?
    fn declare(b: &mut Builder, name: &str, optional: bool) -> Self::Register;

    /// Appends the argument to the list of a launch.
    fn append<'a>(argument: &Self::Argument<'a>, list: &mut Vec<Arg<'a>>);
}

/// The arguments of a launch, all of them.
pub trait Arguments<'a> {
    /// The arguments in the order of the kernel's parameters.
    fn list(&self) -> Vec<Arg<'a>>;

    /// Launches a kernel with these arguments.
    ///
    /// # Errors
    /// As [`Device::launch`].
    fn launch(&self, device: &dyn Device, stream: &Stream, module: &Module, grid: Grid) -> Result<()> {
        device.launch(stream, module, grid, &self.list())
    }
}

/// A word of 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct Word;

/// A value of 64 bits.
#[derive(Clone, Copy, Debug)]
pub struct Long;

/// An address in device memory.
#[derive(Clone, Copy, Debug)]
pub struct Address;

/// A place in a buffer.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// The buffer.
    pub buffer: &'a Buffer,
    /// Words before the place.
    pub first: usize,
}

impl<'a> At<'a> {
    /// The place after this many words of the buffer.
    pub const fn word(buffer: &'a Buffer, first: usize) -> Self {
        Self { buffer, first }
    }
}

impl<'a> From<&'a Buffer> for At<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        Self { buffer, first: 0 }
    }
}

impl Parameter for Word {
    type Register = R32;
    type Argument<'a> = u32;

    fn declare(b: &mut Builder, name: &str, _optional: bool) -> R32 {
        b.param_u32(name)
    }

    fn append(argument: &u32, list: &mut Vec<Arg<'_>>) {
        list.push(Arg::U32(*argument));
    }
}

impl Parameter for Long {
    type Register = R64;
    type Argument<'a> = u64;

    fn declare(b: &mut Builder, name: &str, _optional: bool) -> R64 {
        b.param_u64(name)
    }

    fn append(argument: &u64, list: &mut Vec<Arg<'_>>) {
        list.push(Arg::U64(*argument));
    }
}

impl Parameter for Address {
    type Register = R64;
    type Argument<'a> = At<'a>;

    fn declare(b: &mut Builder, name: &str, _optional: bool) -> R64 {
        b.param_u64(name)
    }

    fn append<'a>(argument: &At<'a>, list: &mut Vec<Arg<'a>>) {
        list.push(Arg::Buffer(argument.buffer, argument.first));
    }
}

/// Several parameters of one type: `name_0`, `name_1`, …
impl<P: Parameter, const N: usize> Parameter for [P; N] {
    type Register = [P::Register; N];
    type Argument<'a> = [P::Argument<'a>; N];

    fn declare(b: &mut Builder, name: &str, optional: bool) -> Self::Register {
        std::array::from_fn(|i| P::declare(b, &format!("{name}_{i}"), optional))
    }

    fn append<'a>(argument: &Self::Argument<'a>, list: &mut Vec<Arg<'a>>) {
        for argument in argument {
            P::append(argument, list);
        }
    }
}

/// A parameter that only some kernels of a generator have.
impl<P: Parameter> Parameter for Option<P> {
    type Register = Option<P::Register>;
    type Argument<'a> = Option<P::Argument<'a>>;

    fn declare(b: &mut Builder, name: &str, optional: bool) -> Self::Register {
        optional.then(|| P::declare(b, name, optional))
    }

    fn append<'a>(argument: &Self::Argument<'a>, list: &mut Vec<Arg<'a>>) {
        if let Some(argument) = argument {
            P::append(argument, list);
        }
    }
}

/// Declares a kernel's parameters and the arguments of its launch in one place.
///
/// The first name is the struct of registers, the second the struct of arguments. The types of fields are
/// [`Word`], [`Long`], [`Address`], arrays and options of them, and other structs of registers.
///
/// ```
/// use warpmp_launch::{Address, Arguments as _, Long, Word, parameters};
/// use warpmp_kernel::build::{Builder, Emit, Glue};
/// use warpmp_kernel::ir::Space;
///
/// parameters! {
///     /// Parameters of a kernel that stores a sum.
///     pub struct Inputs, Arguments {
///         /// The addends.
///         addends: [Long; 2],
///         /// Added to the sum, if the kernel takes it.
///         more: Option<Word>,
///         /// Where the sum goes, 64 bits.
///         sum: Address,
///     }
/// }
///
/// let mut b = Builder::new("sum", Glue::None);
/// let inputs = Inputs::of(&mut b, false);
/// let sum = b.add64(inputs.addends[0], inputs.addends[1]);
/// let (low, high) = b.unpack(sum);
/// b.store_global(Space::Global, &[low, high], inputs.sum, 0);
/// let kernel = b.finish();
///
/// let device = warpmp_device::open_sim();
/// let (stream, buffer) = (device.stream()?, device.alloc(64)?);
/// let arguments = Arguments { addends: [1 << 32, 7], more: None, sum: (&buffer).into() };
/// let one_thread = warpmp_device::Grid { blocks: 1, threads: 1, shared_bytes: 0 };
/// arguments.launch(&*device, &stream, &*device.load(&kernel)?, one_thread)?;
/// let mut words = [0; 2];
/// device.download(&stream, &buffer, 0, &mut words)?;
/// assert_eq!(words, [7, 1]);
/// # Ok::<(), warpmp_device::Error>(())
/// ```
#[macro_export]
macro_rules! parameters {
    (
        $(#[$doc:meta])*
        $view:vis struct $registers:ident, $arguments:ident {
            $($(#[$field_doc:meta])* $field:ident: $kind:ty,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        $view struct $registers {
            $($(#[$field_doc])* $view $field: <$kind as $crate::Parameter>::Register,)*
        }

        #[doc = concat!("The arguments of a launch, for the parameters in [`", stringify!($registers), "`].")]
        #[derive(Clone, Copy, Debug)]
        $view struct $arguments<'a> {
            $($(#[$field_doc])* $view $field: <$kind as $crate::Parameter>::Argument<'a>,)*
        }

        impl $registers {
            /// Declares all parameters; `optional`: the optional ones too.
            $view fn of(b: &mut $crate::Builder, optional: bool) -> Self {
                Self { $($field: <$kind as $crate::Parameter>::declare(b, stringify!($field), optional),)* }
            }
        }

        impl $crate::Parameter for $registers {
            type Register = Self;
            type Argument<'a> = $arguments<'a>;

            fn declare(b: &mut $crate::Builder, _name: &str, optional: bool) -> Self {
                Self::of(b, optional)
            }

            fn append<'a>(argument: &$arguments<'a>, list: &mut Vec<$crate::Arg<'a>>) {
                $(<$kind as $crate::Parameter>::append(&argument.$field, list);)*
            }
        }

        impl<'a> $crate::Arguments<'a> for $arguments<'a> {
            fn list(&self) -> Vec<$crate::Arg<'a>> {
                let mut list = Vec::new();
                <$registers as $crate::Parameter>::append(self, &mut list);
                list
            }
        }
    };
}
