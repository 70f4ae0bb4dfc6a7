//! Rates of the CPU engine on one core: `rates SCHEME FROM COUNT [parameters of the plan]`.
#![forbid(unsafe_code)]

use std::{env, time::Instant};

use warpmp_collatz::{
    cpu::Cpu,
    dfs,
    engine::{Control, Engine as _},
    expression::parse,
    honda,
    window::Window,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let number = |place: usize| args.get(place).map_or(Ok(0), |text| parse(text));
    let window = Window::new(number(1)?, number(2)?)?;
    let control = Control::default();
    let mut cpu = Cpu::new();
    if args[0] == "honda" {
        let plan = honda::Plan::new(number(3)? as u32, number(4)? as u32)?;
        let begin = Instant::now();
        cpu.honda(&plan, &Window::new(1 << 30, 1)?, &control)?;
        println!("tables {:.2} s", begin.elapsed().as_secs_f64());
        let begin = Instant::now();
        let outcome = cpu.honda(&plan, &window, &control)?;
        let seconds = begin.elapsed().as_secs_f64();
        println!("{outcome:?}");
        println!(
            "{seconds:.3} s, {:.4e} numbers/s, {:.2} ns a test",
            window.count() as f64 / seconds,
            seconds * 1e9 / outcome.tested as f64
        );
        return Ok(());
    }
    if args[0] == "delay" {
        let mut delays = vec![0; window.count() as usize];
        cpu.delays(1, &mut delays[..1], &control)?;
        let begin = Instant::now();
        cpu.delays(window.from(), &mut delays, &control)?;
        let seconds = begin.elapsed().as_secs_f64();
        println!("{seconds:.3} s, {:.4e} numbers/s, max {:?}", window.count() as f64 / seconds, delays.iter().max());
        return Ok(());
    }
    let plan = match args.len() {
        0..=3 => dfs::Plan::for_cpu(window.count()),
        _ => dfs::Plan::new(number(3)? as u32, number(4)? as u32, number(5)? as u32, number(6)? as u32)?,
    };
    println!("{plan:?}");
    let begin = Instant::now();
    cpu.dfs(&plan, &Window::new(1 << 30, 1)?, &control)?;
    println!("tables {:.2} s", begin.elapsed().as_secs_f64());
    let begin = Instant::now();
    let outcome = cpu.dfs(&plan, &window, &control)?;
    let seconds = begin.elapsed().as_secs_f64();
    println!("{outcome:?}");
    println!(
        "{seconds:.3} s, {:.4e} numbers/s, {:.2} ns a test",
        window.count() as f64 / seconds,
        seconds * 1e9 / outcome.tested as f64
    );
    Ok(())
}
