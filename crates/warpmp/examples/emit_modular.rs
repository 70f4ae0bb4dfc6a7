//! scratch tool
use warpmp::kernels::Spec;
use warpmp::kernels::modular::product::{Function, MontgomeryProduct};
use warpmp::kernels::modular::{Layout, Operand};
use warpmp_kernel::build::Glue;
fn main() {
    let dir = std::env::args().nth(1).unwrap();
    for (limbs, group, length) in [(8, 1, 8), (16, 1, 16), (32, 1, 32), (32, 4, 8), (32, 2, 16), (64, 4, 16), (64, 8, 8), (128, 8, 16), (128,16,8), (128,4,32)] {
        for g in [0, 1, 2, 4] {
            let glue = if g == 0 { Glue::None } else { Glue::Every(g) };
            let l = Operand::each(limbs);
            let s = MontgomeryProduct { function: Function::Mul, operands: vec![l, l, l], layout: Layout { group, length, warps: 2, glue }, chain: 1000 };
            std::fs::write(format!("{dir}/m{}_t{group}_g{g}.ptx", limbs * 32), s.build(0).to_string()).unwrap();
        }
    }
}
