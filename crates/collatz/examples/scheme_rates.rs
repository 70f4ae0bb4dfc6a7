//! Rates of the CPU engine: `rates dfs|honda FROM COUNT [parameters of the plan]`, and of delays `rates delay|delay-random FROM COUNT`:
//! consecutive numbers, or as many random ones from `FROM` to twice that. With `-portable` behind the name it does without vectors.
//! `RAYON_NUM_THREADS=1` is one core. Delays are timed fifty times: the best is least disturbed by others.
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
    let mut cpu = if args[0].ends_with("portable") { Cpu::new().portable() } else { Cpu::new() };
    if args[0].starts_with("honda") {
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
    if args[0].starts_with("delay") {
        return delays(&args[0], cpu, &window);
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

fn delays(name: &str, mut cpu: Cpu, window: &Window) -> Result<(), Box<dyn std::error::Error>> {
    let control = Control::default();
    let mut delays = vec![0; window.count() as usize];
    // Weyl's sequence: nothing that tables know of.
    let random = |place: u64| (u128::from(place.wrapping_mul(0x9e37_79b9_7f4a_7c15)) * window.from()) >> 64;
    let starts: Vec<u128> = (1..=delays.len() as u64).map(|place| window.from() + random(place)).collect();
    cpu.delays(1, &mut delays[..1], &control)?;
    let mut times: Vec<f64> = Vec::new();
    for _ in 0..50 {
        let begin = Instant::now();
        if name.contains("random") {
            cpu.delays_of(&starts, &mut delays, &control)?;
        } else {
            cpu.delays(window.from(), &mut delays, &control)?;
        }
        times.push(begin.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let rate = |seconds: f64| window.count() as f64 / seconds;
    println!("{name}: {:.4e} numbers/s at best, {:.4e} in the middle", rate(times[0]), rate(times[times.len() / 2]));
    Ok(())
}
