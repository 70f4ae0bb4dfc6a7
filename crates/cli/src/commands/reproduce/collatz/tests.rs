//! The sweeps' data is whole, values are the papers', rates are found.

use warpmp_collatz::tables::Mandatory;

use super::{super::tables, *};

const SETTINGS: Settings = Settings { runs: 2, products: Some(3000), quiet: true };

fn sweep(name: &str) -> (Entry, &'static Sweep) {
    let entry = tables::find(&[name.into()]).unwrap()[0];
    match &entry.table.content {
        tables::Content::Collatz(sweep) => (entry, sweep),
        _ => panic!("{name}"),
    }
}

#[test]
fn rows_have_a_figure_for_each_column() {
    for name in ["4.1", "4.2", "4.3", "4.4", "4.5", "fig4.2", "fig4.3", "fig4.4", "fig4.5"] {
        let (_, sweep) = sweep(name);
        assert!(sweep.columns.is_sorted());
        for row in &sweep.rows {
            assert_eq!(row.figures.len(), sweep.columns.len(), "{name} {}", row.method);
            assert_eq!(row.measure.engine().is_some(), sweep.default.is_some());
            assert_eq!(row.numbers_bits > 0, sweep.default.is_some());
            // One size is the column, the other is given.
            match row.measure {
                Measure::Convergence { base_bits: one, sieve_bits: other, .. }
                | Measure::Delay { base_bits: one, known_bits: other, .. } => {
                    assert_ne!(one.is_some(), other.is_some(), "{name}");
                }
                _ => {}
            }
        }
    }
}

/// Every printed value is ours, but for the misprint.
#[test]
fn values_are_the_papers() {
    let mut compared = 0;
    for name in ["4.1", "4.2", "4.3"] {
        let (entry, sweep) = sweep(name);
        for line in reproduce(&entry, sweep, Selector::Sim, SETTINGS).unwrap().lines {
            let (paper, ours) = (line.paper.unwrap(), line.ours.unwrap());
            let tolerance = if line.method == "ratio" { 0.5e-4 + 1e-9 } else { 0.0 };
            let misprint = (line.method.as_str(), line.bits) == ("words", 34);
            assert_eq!((paper - ours).abs() <= tolerance, !misprint, "{name} {} {}", line.method, line.bits);
            compared += 1;
        }
    }
    assert_eq!(compared, 16 + 16 + 3 + 2 * 15 + 2 * 35);
    assert_eq!(values::mandatory(34), 151_917_636);
    for bits in [3, 10, 17] {
        assert_eq!(values::mandatory(bits), Mandatory::new(bits).unwrap().count());
    }
}

#[test]
fn rates_on_the_cpu() {
    let (entry, _) = sweep("4.5");
    let method = |on| Measure::Delay { on, base_bits: None, known_bits: Some(14) };
    let row =
        |measure| SweepRow { method: "m".into(), measure, numbers_bits: 30, figures: vec![Some(2.0), None, None] };
    let of = |kind, rows| -> &'static Sweep {
        let columns = vec![10, 12, 15];
        Box::leak(Box::new(Sweep { column: "d".into(), columns, unit: 1e6, default: Some(kind), rows }))
    };
    let delays = of(Kind::Delay, vec![row(method(On::Cpu)), row(method(On::GpuShared))]);
    let outcome = reproduce(&entry, delays, Selector::Cpu, SETTINGS).unwrap();
    // Table A of 14 bits does not go with 15 base bits; without a GPU the paper's figure stands alone.
    assert_eq!(outcome.lines.iter().map(|line| line.bits).collect::<Vec<_>>(), [10, 12, 10]);
    let line = &outcome.lines[0];
    assert_eq!((line.paper, line.paper_products, line.products), (Some(2e6), 1 << 30, 3000));
    assert!((line.ratio.unwrap() - line.ours.unwrap() / 2e6).abs() < 1e-9);
    assert!(line.default.unwrap() > 0.0 && line.checked == Some(100) && line.runs == Some(2));
    assert!(outcome.lines[2].ours.is_none() && outcome.lines[2].default.is_none());
    assert!(outcome.notes.iter().any(|note| note.contains("Not on a GPU")));
    let table = text("d", &outcome.lines);
    assert!(table.contains("algorithm 6, d=10 a=14") && table.contains("2.00 M"), "{table}");

    let sieve = |on| Measure::Convergence { on, base_bits: None, sieve_bits: Some(14) };
    let convergence = of(Kind::Convergence, vec![row(sieve(On::Cpu))]);
    let outcome = reproduce(&entry, convergence, Selector::Cpu, SETTINGS).unwrap();
    assert!(outcome.lines.len() == 3 && outcome.lines.iter().all(|line| line.ours.unwrap() > 0.0));
    assert!(outcome.lines[0].default_algorithm.as_ref().unwrap().starts_with("dfs L="));
    let svg = chart(&outcome, "d").svg().unwrap();
    assert!(svg.contains("m, ours, default") && svg.contains("numbers a second"));
}

/// Rows of a GPU, on the simulator: what they hold, not how fast they are.
#[test]
fn rows_of_a_gpu() {
    let mut bench = Bench::new(Selector::Sim, Settings { runs: 1, products: Some(200), quiet: true }).unwrap();
    let mut rate = |measure, column| bench.measure(measure, column).unwrap();
    for on in [On::GpuShared, On::GpuGlobal] {
        let convergence = Measure::Convergence { on, base_bits: None, sieve_bits: Some(4) };
        assert_eq!(rate(convergence, 9).unwrap().numbers, 256 << 4);
        let delay = Measure::Delay { on, base_bits: Some(8), known_bits: None };
        assert_eq!(rate(delay, 12).unwrap().checked, Some(100));
        assert!(rate(delay, 7).is_none());
    }
    assert!(rate(Measure::Convergence { on: On::GpuShared, base_bits: None, sieve_bits: Some(4) }, 15).is_none());
    assert!(bench.default(Kind::Delay, true).unwrap().unwrap().per_second > 0.0);
}
