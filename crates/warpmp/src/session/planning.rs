//! The algorithms of a session, and what it plans.

use super::{Engine, Session};
use crate::batch::Shape;
use crate::error::Result;
use crate::kernels::{Algorithm, Register};
use crate::operation::Operation;
use crate::plan::Plan;

impl Session {
    /// Adds algorithms for an operation to the algorithms of the crate. The plan chooses an added algorithm where the
    /// tuning table says so, or where the caller asks for it by name. On the CPU it changes nothing.
    #[must_use]
    pub fn with_algorithms(mut self, operation: Operation, algorithms: &'static [Algorithm]) -> Self {
        for engine in self.gpus_mut() {
            engine.add_algorithms(operation, algorithms);
        }
        self
    }

    /// The register that the plan chooses from; none on the CPU.
    pub fn register(&self) -> Option<&Register> {
        match &self.engine {
            Engine::Cpu(_) => None,
            Engine::Gpu(engine) => Some(engine.register()),
        }
    }

    /// The names of the algorithms that this session has for an operation.
    pub fn algorithms(&self, operation: Operation) -> Vec<&'static str> {
        match &self.engine {
            Engine::Cpu(engine) => engine.algorithms(operation),
            Engine::Gpu(engine) => engine.register().names(operation),
        }
    }

    /// The name of the algorithm that this session takes for operands of these shapes. `algorithm`: the name, if the
    /// caller asks for one.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn algorithm_for(
        &self,
        operation: Operation,
        operands: &[Shape],
        algorithm: Option<&str>,
    ) -> Result<&'static str> {
        match &self.engine {
            Engine::Cpu(engine) => engine.algorithm_for(operation, operands, algorithm),
            Engine::Gpu(engine) => Ok(engine.plan(operation, operands, algorithm)?.algorithm()),
        }
    }

    /// The plan for operands of these shapes; none on the CPU, whose only decision is the
    /// [algorithm](Session::algorithm_for).
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn plan(&self, operation: Operation, operands: &[Shape], algorithm: Option<&str>) -> Result<Option<Plan>> {
        match &self.engine {
            Engine::Cpu(_) => Ok(None),
            Engine::Gpu(engine) => engine.plan(operation, operands, algorithm).map(Some),
        }
    }
}
