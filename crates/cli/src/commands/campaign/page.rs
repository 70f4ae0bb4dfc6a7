//! The page about a campaign: one HTML file without scripts. Texts of files and hosts are not trusted; maud escapes all of them.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use warpmp_campaign::{Cell, OpenUnit};

use super::{
    chart,
    facts::{Alarm, Fact, Facts, LISTED, Source},
    shell::quoted,
    time::{now, utc},
};
use crate::{
    error::plural,
    summary::{scaled, scaled_seconds},
};

/// Cells of a row of the map.
const COLUMNS: usize = 32;
/// The side of a cell in the map's units.
const CELL: usize = 10;
/// Letters of a text that is not ours, at most.
const MOST_CHARS: usize = 300;

const STYLE: &str = "
:root { color-scheme: light dark; --back: #fff; --text: #1b1b1b; --soft: #5c5c5c; --edge: #d5d5d5; --none: #e4e4e4; --some: #9ccbe6;
  --all: #0072b2; --open: #e69f00; --bad: #c32f00; --good: #00705a; }
@media (prefers-color-scheme: dark) { :root { --back: #14171a; --text: #ececec; --soft: #a6adb4; --edge: #3a4046; --none: #2b3137;
  --some: #2d5f7f; --all: #56b4e9; --open: #f0b429; --bad: #ff7a50; --good: #46c7a5; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 56rem; background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--edge); }
.soft, figcaption { color: var(--soft); font-size: .9rem; }
.bar { height: 1rem; background: var(--none); border-radius: .5rem; overflow: hidden; }
.bar div { height: 100%; background: var(--all); }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; margin: .5rem 0; }
dt { color: var(--soft); } dd { margin: 0; }
.good { color: var(--good); font-weight: 600; } .bad { color: var(--bad); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { overflow-wrap: normal; text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--edge); vertical-align: top; }
td.number, th.number { text-align: right; white-space: nowrap; }
svg { width: 100%; height: auto; display: block; } svg text { fill: var(--soft); font-size: 13px; }
figure { margin: 1rem 0; max-width: 40rem; }
.map rect { stroke: var(--back); stroke-width: 1; } .map .none { fill: var(--none); } .map .some { fill: var(--some); }
.map .all { fill: var(--all); } .map .open { fill: var(--open); } .map .bad { fill: var(--bad); }
.grid { stroke: var(--edge); }
.keys { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; font-size: .9rem; }
.key { display: inline-block; width: .8em; height: .8em; margin-right: .4em; border-radius: .15em; }
.line { fill: none; stroke: var(--line); stroke-width: 2; } .line circle { fill: var(--line); } span.key[class*=' s'] { background: var(--line); }
.s0 { --line: var(--all); } .s1 { --line: #d55e00; } .s2 { --line: #009e73; } .s3 { --line: #cc79a7; } .s4 { --line: #e69f00; }
.s5 { --line: #8a6fd1; } .s6 { --line: #8a8a8a; }
span.key.none { background: var(--none); } span.key.some { background: var(--some); } span.key.all { background: var(--all); }
span.key.open { background: var(--open); } span.key.bad { background: var(--bad); }
pre { background: var(--none); padding: .75rem; border-radius: .4rem; white-space: pre-wrap; margin: .25rem 0 .75rem; }
";

/// The page; with `seconds` it loads itself again after this time.
pub(super) fn page(facts: &Facts, seconds: Option<u64>) -> String {
    let sources = facts.sources();
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // Should a text ever slip through, it still loads nothing and runs nothing.
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                @if let Some(seconds) = seconds { meta http-equiv="refresh" content=(seconds); }
                meta name="generator" content=(concat!("warpmp ", env!("CARGO_PKG_VERSION")));
                title { (percent(facts.share)) " – " (short(&facts.title)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 #title { (short(&facts.title)) }
                p.soft { (facts.folder.display()) ", " (utc(now())) " UTC" }
                (progress(facts))
                (alarms(&facts.alarms))
                section #map { h2 { "Map" } (map(facts)) (claims(&facts.claims)) }
                section #rates { h2 { "Rates" } (rates(facts, &sources)) }
                section #estimate { h2 { "Estimate" } (list(&facts.estimate)) }
                section #finds { h2 { "Found" }
                    @if facts.finds.is_empty() { p { "Nothing yet." } } @else { (list(&facts.finds)) } }
                (checksums(facts))
                (verify(facts))
            }
        }
    };
    markup.into_string()
}

fn progress(facts: &Facts) -> Markup {
    let percent = percent(facts.share);
    html! {
        section #progress {
            div.bar role="progressbar" aria-valuenow=(percent) { div style=(format!("width: {:.3}%", bounded(facts.share))) {} }
            p { strong #share { (percent) } " done" @if facts.is_complete { span.good { ", complete" } } }
            (list(&facts.summary))
        }
    }
}

fn alarms(alarms: &[Alarm]) -> Markup {
    html! {
        section #alarms {
            h2 { "Alarms" }
            @if alarms.is_empty() {
                p.good { "None." }
            } @else {
                p.bad { strong { (alarms.len()) " alarm" (plural(alarms.len() as u64)) } }
                ul { @for alarm in alarms.iter().take(LISTED) { li { code { (short(&alarm.what)) } ": " (short(&alarm.why)) } } }
                (more(alarms.len()))
            }
        }
    }
}

/// How many entries of a list are left out.
fn more(all: usize) -> Markup {
    html! { @if all > LISTED { p.soft { "… and " (all - LISTED) " more" } } }
}

/// The classes of cells, and their meaning.
const CLASSES: [(&str, &str); 5] = [
    ("none", "missing"),
    ("some", "done in part"),
    ("all", "done"),
    ("open", "claimed now, or left by a process that ended"),
    ("bad", "alarm"),
];

const fn class(cell: &Cell) -> &'static str {
    match cell {
        Cell { alarms: 1.., .. } => "bad",
        Cell { done, units, .. } if *done >= *units => "all",
        Cell { claimed: 1.., .. } => "open",
        Cell { done: 1.., .. } => "some",
        _ => "none",
    }
}

fn map(facts: &Facts) -> Markup {
    let cells = &facts.map;
    let rows = cells.len().div_ceil(COLUMNS);
    let about = |cell: &Cell| {
        let last = cell.first + cell.units.saturating_sub(1);
        format!(
            "{} {} to {last}: {} of {} done, {} claimed, {} alarm{}",
            facts.cell_name,
            cell.first,
            cell.done,
            cell.units,
            cell.claimed,
            cell.alarms,
            plural(cell.alarms as u64)
        )
    };
    html! {
        @if cells.is_empty() {
            p { "No " (facts.cell_name) " yet." }
        } @else {
            svg.map viewBox=(format!("0 0 {} {}", COLUMNS * CELL, rows * CELL)) role="img"
                aria-label=(format!("map of the {}", facts.cell_name)) {
                @for (number, cell) in cells.iter().enumerate() {
                    rect class=(class(cell)) x=(number % COLUMNS * CELL) y=(number / COLUMNS * CELL) width=(CELL) height=(CELL) {
                        title { (about(cell)) }
                    }
                }
            }
            ul.keys { @for (class, meaning) in CLASSES { li { span class=(format!("key {class}")) {} (meaning) } } }
            p.soft { "A cell has " (size(cells)) "." }
        }
    }
}

fn size(cells: &[Cell]) -> String {
    let least = cells.iter().map(|cell| cell.units).min().unwrap_or(0);
    let most = cells.iter().map(|cell| cell.units).max().unwrap_or(0);
    match (least, most) {
        (1, 1) => "1 unit".into(),
        (least, most) if least == most => format!("{most} units"),
        (least, most) => format!("{least} or {most} units"),
    }
}

fn claims(claims: &[OpenUnit]) -> Markup {
    let age = |claim: &OpenUnit| {
        let age = claim.heartbeat.and_then(|it| it.elapsed().ok());
        age.map_or_else(|| "not known".into(), |age| format!("{} s ago", age.as_secs()))
    };
    html! {
        @if !claims.is_empty() {
            p { (claims.len()) " claim" (plural(claims.len() as u64)) }
            div.wide { table #claims {
                thead { tr { th { "unit" } th { "host" } th.number { "process" } th.number { "last heartbeat" } } }
                tbody { @for claim in claims.iter().take(LISTED) { tr {
                    td { (short(&claim.name)) }
                    td { (short(&claim.host)) }
                    td.number { @if let Some(process) = claim.process { (process) } }
                    td.number { (age(claim)) }
                } } }
            } }
            (more(claims.len()))
        }
    }
}

fn rates(facts: &Facts, sources: &[Source]) -> Markup {
    html! {
        @if sources.is_empty() {
            p { "No unit is done yet." }
        } @else {
            @match chart::charts(facts, sources) {
                Some(charts) => (charts),
                None => p.soft { "The certificates tell no times." },
            }
            div.wide { table #sources {
                thead { tr { th { "host" } th { "engine" } th.number { "units" } th.number { "time" }
                    th.number { (facts.amount_name) "/s" } th.number { "last unit, UTC" } } }
                tbody { @for source in sources.iter().take(LISTED) { tr {
                    td { @if source.host.is_empty() { "not known" } @else { (short(&source.host)) } }
                    td { (short(&source.device)) }
                    td.number { (source.spans) }
                    td.number { (scaled_seconds(source.seconds)) }
                    td.number { (scaled(source.amount / source.seconds.max(1e-9))) }
                    td.number { (utc(source.last)) }
                } } }
            } }
            (more(sources.len()))
        }
    }
}

fn checksums(facts: &Facts) -> Markup {
    let sums = &facts.checksums;
    html! {
        section #checksums {
            h2 { "Checksums" }
            p { "SHA-256 of the list of all sealed files, as " code { "sha256sum" } " writes it:" }
            pre #of-all { (sums.of_all) }
            details {
                summary { (sums.files.len()) " file" (plural(sums.files.len() as u64)) }
                div.wide { table { tbody { @for (name, sum) in sums.files.iter().take(LISTED) {
                    tr { td { code { (sum) } } td { code { (short(name)) } } }
                } } } }
                (more(sums.files.len()))
            }
            @if !facts.others.is_empty() {
                p.soft { "Files that are no certificates of this campaign, and are left alone: "
                    (short(&facts.others.iter().take(LISTED).map(String::as_str).collect::<Vec<_>>().join(", "))) }
            }
        }
    }
}

fn verify(facts: &Facts) -> Markup {
    html! {
        section #verify {
            h2 { "How to verify" }
            p { "Copy " code { (quoted(&facts.folder)) } ". These commands need nothing but the copy:" }
            @for (command, what) in &facts.verify {
                pre { (command) }
                p.soft { (what) }
            }
        }
    }
}

fn list(facts: &[Fact]) -> Markup {
    html! { dl { @for (name, value) in facts { dt { (name) } dd { (short(value)) } } } }
}

/// A share from 0 to 100.
fn bounded(share: f64) -> f64 {
    if share.is_finite() { (100.0 * share).clamp(0.0, 100.0) } else { 0.0 }
}

/// Rounded down: only what is done is 100 %.
fn percent(share: f64) -> String {
    format!("{:.2} %", (bounded(share) * 100.0).floor() / 100.0)
}

/// A text of bounded length.
fn short(text: &str) -> String {
    let mut letters = text.chars();
    let mut short: String = letters.by_ref().take(MOST_CHARS).collect();
    if letters.next().is_some() {
        short.push('…');
    }
    short
}
