//! The sweeps' data is whole, values are the papers', rates are found.

use warpmp_collatz::tables::Mandatory;

use super::*;
use crate::tables;

const SETTINGS: Settings<'_> = Settings { runs: 2, products: Some(3000), watch: &() };
const NO_GPU: Machine<'_> = Machine { gpu: None, cache: None };

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
            assert_eq!(row.measure.is_rate(), sweep.default.is_some());
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
        for line in compute(&entry, sweep).unwrap().lines {
            let (paper, ours) = (line.figure.paper().unwrap(), line.figure.ours().unwrap());
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
    let outcome = measure(&entry, delays, Kind::Delay, NO_GPU, SETTINGS).unwrap();
    // Table A of 14 bits does not go with 15 base bits; without a GPU the paper's figure stands alone.
    assert_eq!(outcome.lines.iter().map(|line| line.bits).collect::<Vec<_>>(), [10, 12, 10]);
    let rate = |line: usize| outcome.lines[line].figure.rate().unwrap();
    assert_eq!((rate(0).paper, rate(0).paper_products, rate(0).products), (Some(2e6), 1 << 30, 3000));
    assert_eq!(rate(0).algorithm.as_deref(), Some("algorithm 6, d=10 a=14"));
    let ours = rate(0).ours.as_ref().unwrap();
    assert!((ours.ratio.unwrap() - ours.mean / 2e6).abs() < 1e-9);
    assert_eq!((ours.checked, ours.runs), (Some(100), 2));
    assert!(rate(0).default.as_ref().unwrap().mean > 0.0);
    assert!(rate(2).ours.is_none() && rate(2).default.is_none());
    assert!(outcome.notes.iter().any(|note| note.contains("Not on a GPU")));

    let sieve = |on| Measure::Convergence { on, base_bits: None, sieve_bits: Some(14) };
    let convergence = of(Kind::Convergence, vec![row(sieve(On::Cpu))]);
    let outcome = measure(&entry, convergence, Kind::Convergence, NO_GPU, SETTINGS).unwrap();
    let rates: Vec<&Comparison> = outcome.lines.iter().map(|line| line.figure.rate().unwrap()).collect();
    assert!(rates.len() == 3 && rates.iter().all(|rate| rate.ours.as_ref().unwrap().mean > 0.0));
    assert!(rates[0].default_algorithm.as_ref().unwrap().starts_with("dfs L="));
}

/// Rows of a GPU, on the simulator: what they hold, not how fast they are.
#[test]
fn rows_of_a_gpu() {
    let gpu = warpmp::device::open_sim();
    let machine = Machine { gpu: Some(&gpu), cache: None };
    let mut bench = Bench::new(machine, Settings { runs: 1, products: Some(200), watch: &() }).unwrap();
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
