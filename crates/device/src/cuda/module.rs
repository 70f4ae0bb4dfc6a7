//! Loading kernels and launching them.

use std::ffi::{CString, c_void};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cudarc::driver::sys::{CUfunc_st, CUfunction_attribute as FunctionAttribute, CUjit_option, CUmod_st, CUmodule};
use warpmp_kernel::ir::Kernel;

use super::context::{Context, Handle};
use super::raw::{Failure, Outcome, Raw};
use super::result::{code, text_of};
use super::stream::Stream;
use crate::cache::lock;
use crate::cuda::log;
use crate::device::LoadOptions;
use crate::error::{Error, Result};
use crate::launch::Grid;
use crate::objects::{Backend, Module, Resources};

/// Shared memory that a block may have without asking for more.
const SHARED_BYTES_UNASKED: u32 = 48 << 10;
/// Room for each of the compiler's logs. The compiler drops the rest.
const LOG_BYTES: usize = 16 << 10;
/// A load that takes longer is worth a line.
const LONG_LOAD: Duration = Duration::from_secs(1);

/// A loaded kernel.
#[derive(Debug)]
pub(crate) struct Function {
    // The module's handle, for unloading; the function is part of it.
    module: Loaded,
    handle: Handle<CUfunc_st>,
    /// The dynamic shared memory that it may be launched with.
    shared_bytes: Mutex<u32>,
}

/// A loaded module, unloaded on drop.
#[derive(Debug)]
struct Loaded {
    context: Arc<Context>,
    handle: Handle<CUmod_st>,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        self.context.release("a module", |raw| {
            raw.synchronize_context()?;
            // SAFETY: loaded, unloaded only here, and no work is pending.
            unsafe { raw.unload(self.handle.get()) }
        });
    }
}

/// Compiles a kernel and loads it.
pub(super) fn load(context: &Arc<Context>, kernel: &Kernel, text: &str, options: LoadOptions) -> Result<Module> {
    let start = Instant::now();
    let module = compile(context, &kernel.name, text, options)?;
    let load_time = start.elapsed();
    if load_time > LONG_LOAD {
        tracing::info!(kernel = kernel.name, seconds = load_time.as_secs_f64(), "compiled");
    }
    let name = CString::new(kernel.name.as_str()).map_err(|_| refused(&kernel.name, text, "a zero in its name", ""))?;
    let (function, [registers, local_bytes, threads_per_block]) = context.with(|raw| {
        // SAFETY: the module is loaded.
        let function = unsafe { raw.function(module.handle.get(), &name) }?;
        // SAFETY: as above.
        let attribute = |attribute| unsafe { raw.function_attribute(function, attribute) };
        let resources = [
            attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        ];
        // How the first-level cache is divided is left to the driver, which knows the launch: a larger
        // share of shared memory than the blocks need costs direct loads their cache (measured: 9 %).
        Ok((function, resources))
    })?;
    tracing::debug!(kernel = kernel.name, registers, local_bytes, ?load_time, "loaded");
    Ok(Module {
        name: kernel.name.clone(),
        params: kernel.params.clone(),
        resources: Resources {
            registers: Some(registers),
            local_bytes: Some(local_bytes),
            threads_per_block,
            load_time,
        },
        backend: Backend::Cuda(Function {
            module,
            handle: Handle::new(function),
            shared_bytes: Mutex::new(SHARED_BYTES_UNASKED),
        }),
    })
}

fn compile(context: &Arc<Context>, kernel: &str, text: &str, options: LoadOptions) -> Result<Loaded> {
    let image = CString::new(text).map_err(|_| refused(kernel, text, "a zero in its text", ""))?;
    let mut logs = Logs::default();
    let mut failed = None;
    let handle = context.with(|raw| match load_data(raw, &image, options, &mut logs) {
        Err(failure) if code::REFUSED.contains(&failure.code) => {
            failed = Some(raw.describe(failure.code).0);
            Ok(std::ptr::null_mut())
        }
        other => other,
    })?;
    if let Some(name) = failed {
        return Err(refused(kernel, text, &name, &logs.text()));
    }
    Ok(Loaded { context: context.clone(), handle: Handle::new(handle) })
}

fn refused(kernel: &str, text: &str, code: &str, log: &str) -> Error {
    let line = log::error_line(log);
    let source_line = line.and_then(|n| text.lines().nth(n - 1)).map(|line| line.trim().into());
    Error::KernelRefused { kernel: kernel.into(), code: code.into(), log: log.into(), line, source_line }
}

/// Where the compiler writes: errors and warnings.
struct Logs {
    error: Vec<u8>,
    info: Vec<u8>,
}

impl Default for Logs {
    fn default() -> Self {
        Self { error: vec![0; LOG_BYTES], info: vec![0; LOG_BYTES] }
    }
}

impl Logs {
    fn text(&self) -> String {
        let (error, info) = (text_of(&self.error), text_of(&self.info));
        format!("{}\n{}", error.trim(), info.trim()).trim().into()
    }
}

/// `cuModuleLoadDataEx` with logs. No target is set: the driver knows its GPU.
fn load_data(raw: &Raw, image: &CString, options: LoadOptions, logs: &mut Logs) -> Outcome<CUmodule> {
    use CUjit_option::{
        CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
        CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL,
    };
    // An option's value is a pointer, or a number in a pointer's clothes.
    let number = |n: usize| std::ptr::without_provenance_mut::<c_void>(n);
    let mut names = vec![
        CU_JIT_INFO_LOG_BUFFER,
        CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_ERROR_LOG_BUFFER,
        CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    // The last byte stays zero, whatever the driver writes.
    let mut values = vec![
        logs.info.as_mut_ptr().cast(),
        number(LOG_BYTES - 1),
        logs.error.as_mut_ptr().cast(),
        number(LOG_BYTES - 1),
    ];
    if let Some(level) = options.optimisation {
        names.push(CU_JIT_OPTIMIZATION_LEVEL);
        values.push(number(level as usize));
    }
    let mut module = std::ptr::null_mut();
    // SAFETY: the image ends in a zero; there are as many values as names, each of its option's kind; the
    // buffers are as long as said. The driver keeps none of the pointers; it writes to the values too.
    unsafe {
        raw.cuModuleLoadDataEx(
            &raw mut module,
            image.as_ptr().cast(),
            names.len() as u32,
            names.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    }?;
    Ok(module)
}

impl Function {
    /// Launches the kernel. The grid and the arguments are checked.
    ///
    /// # Safety
    /// There are as many arguments as parameters.
    pub(super) unsafe fn launch(&self, stream: &Stream, grid: Grid, arguments: &mut [u64]) -> Result<()> {
        let Grid { blocks, threads, shared_bytes } = grid;
        self.module.context.with(|raw| {
            self.allow_shared(raw, shared_bytes)?;
            let (function, stream) = (self.handle.get(), stream.handle.get());
            // SAFETY: the module is loaded, the stream alive, the arguments are the caller's promise.
            unsafe { raw.launch(function, blocks, threads, shared_bytes, stream, arguments) }
        })
    }

    /// More than the usual shared memory has to be asked for, once; never less than before, another
    /// thread may be about to launch with it.
    fn allow_shared(&self, raw: &Raw, bytes: u32) -> Result<(), Failure> {
        let mut allowed = lock(&self.shared_bytes);
        if bytes > *allowed {
            let most = FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // SAFETY: the module is loaded.
            unsafe { raw.set_function_attribute(self.handle.get(), most, bytes) }?;
            *allowed = bytes;
        }
        Ok(())
    }

    /// Itself, if it is loaded in this context.
    pub(super) fn of(&self, context: &Context) -> Result<&Self> {
        if self.module.context.same(context) { Ok(self) } else { Err(Error::WrongDevice { what: "module" }) }
    }
}
