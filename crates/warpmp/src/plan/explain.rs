//! The plan in words.

use std::fmt::Write as _;

use warpmp_device::Grid;

use super::Plan;

impl Plan {
    /// The plan in words: algorithm, kernel, launch, bytes, and why.
    pub fn explain(&self) -> String {
        let mut text = String::new();
        let lanes = self.lanes();
        let launch_lanes = u32::try_from(lanes.min(self.max_launch_lanes())).unwrap_or(u32::MAX);
        let mut line = |what: &str, words: String| {
            let _ = writeln!(text, "{what:<11}{words}");
        };
        line("operation", self.operation.described(&self.operands, &self.results));
        line("device", self.device.clone());
        line("algorithm", format!("{}: {}", self.algorithm[0], self.algorithm[1]));
        for (stage, kernel) in self.kernels().iter().enumerate() {
            let (instructions, target) = (kernel.instructions().count(), kernel.target().name());
            line("kernel", format!("{}, {instructions} instructions, PTX for {target}", kernel.name));
            let Grid { blocks, threads, shared_bytes } = self.grid(stage, launch_lanes);
            line(
                "launch",
                format!(
                    "{blocks} block{} of {threads} threads, {shared_bytes} bytes of shared memory a block",
                    if blocks == 1 { "" } else { "s" }
                ),
            );
        }
        line("memory", format!("{} bytes: operands read and results written, each once", self.bytes()));
        line("arithmetic", format!("{} wide products (32×32 → 64 bits) a lane", self.spec.wide_products()));
        for (what, words) in self.spec.notes() {
            line(what, words);
        }
        for (i, reason) in self.reasons.iter().enumerate() {
            line(if i == 0 { "why" } else { "" }, reason.clone());
        }
        line("book", self.operation.group().chapter().into());
        text
    }
}
