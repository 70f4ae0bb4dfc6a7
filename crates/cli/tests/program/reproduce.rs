//! `bench --reproduce`: names, tables of times and of counts, and the files they are written to.

use crate::common::{self, Dir};
use serde_json::Value;

/// `bench --reproduce TABLE` with more options, split at spaces.
fn reproduce(dir: &Dir, args: &str) -> common::Run {
    let mut all = vec!["bench", "--reproduce"];
    all.extend(args.split_whitespace());
    dir.run(&all)
}

fn json(dir: &Dir, args: &str) -> Vec<Value> {
    let run = reproduce(dir, &format!("{args} --json"));
    let object: Value = serde_json::from_str(run.ok()).unwrap();
    object["tables"].as_array().unwrap().clone()
}

#[test]
fn tables_are_listed_and_unknown_ones_refused() {
    let dir = Dir::new();
    let run = reproduce(&dir, "list");
    assert_eq!(run.ok().lines().count(), 24, "{}", run.text());
    assert!(run.text().contains("dissertation:fig3.5") && run.text().contains("counts"));
    assert!(run.text().contains("epfl:fig4.2") && run.text().contains("forms"));
    for wrong in ["IV", "epfl:fig3.7", "fig4.1", "candar:II,x"] {
        let known = ["candar:I, candar:II, candar:III", "dissertation:3.1", "dissertation:fig3.5"];
        reproduce(&dir, &format!("{wrong} --csv rows.csv --plot a.svg")).fails(2, &known);
    }
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}

#[test]
fn either_a_table_or_an_operation() {
    let dir = Dir::new();
    for args in [&["bench"][..], &["bench", "--json"], &["bench", "--reproduce"], &["bench", "--reproduce", "I", "mul"]]
    {
        let run = dir.run(args);
        assert_eq!(run.code, 2, "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains("Usage") || run.stderr.contains("--reproduce"), "{args:?}: {}", run.stderr);
    }
    let help = dir.run(&["bench", "--help"]);
    for line in reproduce(&dir, "list").ok().lines() {
        let name = line.split_whitespace().next().unwrap();
        assert!(help.ok().contains(name), "the help does not name {name}");
    }
    reproduce(&dir, "II --count 0").fails(2, &["from 1 to"]);
}

/// Times of the CPU engine, where there is no GPU to run the paper's methods.
#[test]
fn times_on_the_cpu() {
    let dir = Dir::new();
    let tables = json(&dir, "III --device cpu --count 9 --runs 2 --csv rows.csv --plot a.svg");
    let [table] = &tables[..] else { panic!("{} tables", tables.len()) };
    assert_eq!(table["table"], "candar:III");
    assert!(table["source"].as_str().unwrap().contains("Table III"));
    assert!(table["notes"].as_array().unwrap().iter().any(|note| note.as_str().unwrap().contains("Not on a GPU")));
    let lines = table["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 18);
    for line in lines {
        assert_eq!((&line["products"], &line["paper_products"]), (&9.into(), &100_000.into()));
        assert!(line["paper"].as_f64().unwrap() > 0.0 && line["default"].as_f64().unwrap() > 0.0);
        let (cpu, time) = (line["engine"] == "cpu", line["quantity"] == "time");
        assert_eq!((line["ours"].is_number(), line["checked"].is_number()), (cpu, cpu));
        assert_eq!(line["default_ratio"].is_number(), time);
        assert!(line["floor_fraction"].is_null() && line["default_floor_fraction"].is_null());
        if cpu {
            // As many times as fast as the paper's CPU was at as many products.
            let ratio = line["paper"].as_f64().unwrap() * 9.0 / 100_000.0 / line["ours"].as_f64().unwrap();
            assert!((line["ratio"].as_f64().unwrap() / ratio - 1.0).abs() < 1e-9);
            assert!(line["algorithm"].as_str().unwrap().ends_with(", one core"));
            assert!(line["default_algorithm"].as_str().unwrap().ends_with(", all cores"));
        }
    }
    assert_eq!(lines[0]["bits"].as_u64(), Some(1024));
    assert!((lines[0]["paper"].as_f64().unwrap() / 0.095_34 - 1.0).abs() < 1e-9);
    assert_eq!(dir.text("rows.csv").lines().count(), 19);
    assert!(dir.text("rows.csv").starts_with("table,method,engine,quantity,bits,paper_products,products,paper,"));
    let svg = dir.text("a.svg");
    for text in ["candar:III", "CPU, ours, one core", "GPU, paper", "ours, default", "milliseconds for 9 products"] {
        assert!(svg.contains(text), "{text}");
    }
    let run = reproduce(&dir, "3.3 --device cpu --count 9 --runs 1 -q");
    for text in ["dissertation:3.3", "sum-rotate, shuffles", "820 µs", "faster", "of floor", "* Doubt: "] {
        assert!(run.ok().contains(text), "{text}: {}", run.text());
    }
}

#[test]
fn counts_need_no_gpu_and_no_time() {
    let dir = Dir::new();
    for device in ["sim", "cpu", "auto"] {
        let tables = json(&dir, &format!("3.1 --device {device} --csv rows.csv"));
        let lines = tables[0]["lines"].as_array().unwrap();
        let line = |algorithm: &str, quantity: &str| {
            let of =
                |line: &&Value| line["algorithm"] == algorithm && line["quantity"] == quantity && line["bits"] == 2048;
            let line = lines.iter().find(of).unwrap();
            (line["paper"].as_f64().unwrap() as u64, line["ours"].as_f64().unwrap() as u64)
        };
        assert_eq!(line("school", "multiplications"), (4096, 4096));
        assert_eq!(line("school", "words-written"), (4160, 4160));
        assert_eq!(line("comba", "words-read"), (8190, 8192));
        assert!(lines.iter().all(|line| line["engine"].is_null() && line["default"].is_null()));
    }
    let run = reproduce(&dir, "I --plot counts.svg");
    assert!(run.ok().contains("9/16·w²") && run.text().contains("A₀B₀ is meant"), "{}", run.text());
    assert!(dir.text("counts.svg").contains("Karatsuba², ours"));
}

/// The EPFL report's figures: instructions on the simulator, the report's registers, no times.
#[test]
fn forms_of_an_operation_are_counted_on_the_simulator() {
    let dir = Dir::new();
    let tables = json(&dir, "epfl:fig4.2,epfl:fig3.6 --device sim --count 4 --csv rows.csv --plot .svg");
    let [times, registers] = &tables[..] else { panic!("{} tables", tables.len()) };
    assert_eq!((&times["table"], &registers["table"]), (&"epfl:fig4.2".into(), &"epfl:fig3.6".into()));
    assert!(times["device"].is_null());
    let line = |quantity: &str, method: &str, bits: u32| -> &Value {
        let of = |line: &&Value| line["quantity"] == quantity && line["method"] == method && line["bits"] == bits;
        times["lines"].as_array().unwrap().iter().find(of).unwrap()
    };
    assert_eq!(line("registers", "school, carry flag", 131)["paper"].as_f64(), Some(25.0));
    let [school, karatsuba] = ["school", "Karatsuba"].map(|it| line("instructions", &format!("{it}, carry flag"), 131));
    assert_eq!((school["ours"].as_f64(), school["checked"].as_u64()), (Some(103.0), Some(32)));
    assert!(karatsuba["ours"].as_f64().unwrap() > 103.0, "{karatsuba}");
    let lines = [times, registers].map(|table| table["lines"].as_array().unwrap().len());
    assert_eq!(dir.text("rows.csv").lines().count(), 1 + lines[0] + lines[1]);
    assert!(
        dir.text("rows.csv")
            .lines()
            .next()
            .unwrap()
            .ends_with("checked,executions,blocks,threads,against,relative,local_bytes,wide_products")
    );
    for (file, text) in [("epfl-fig4.2.svg", "instructions of an execution"), ("epfl-fig3.6.svg", "64-bit sums")] {
        assert!(dir.text(file).contains(text), "{file}");
    }
    let run = reproduce(&dir, "epfl --device sim -q");
    for text in ["epfl:2.4", "epfl:3.4", "epfl:fig4.3", "registers, paper", "* Not on a GPU", "Listing 3.1"] {
        assert!(run.ok().contains(text), "{text}: {}", run.text());
    }
}

#[test]
fn the_simulator_refuses_times() {
    let dir = Dir::new();
    for tables in ["II", "fig3.5,3.4"] {
        let run = reproduce(&dir, &format!("{tables} --device sim --plot a.svg"));
        run.fails(2, &["the simulator has none", "--device cuda or cpu", "candar:I, dissertation:3.1"]);
    }
    let run = reproduce(&dir, "3.1,3.3 --device sim --plot out.svg");
    assert!(run.ok().contains("dissertation:3.1") && !run.text().contains("dissertation:3.3"));
    assert!(run.stderr.contains("left out: dissertation:3.3"), "{}", run.stderr);
    assert_eq!(dir.names(), ["out-dissertation-3.1.svg"]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_no_files() {
    let dir = Dir::new();
    let args = ["bench", "--reproduce", "3.4", "--device", "cpu", "--csv", "rows.csv", "--plot", "a.svg"];
    let child = dir.command(&args).spawn().unwrap();
    common::wait_until(|| common::catches_interrupts(&child));
    common::interrupt(&child);
    let run = common::finish(child);
    run.fails(130, &["interrupted"]);
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}
