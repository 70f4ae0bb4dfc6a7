//! The facts about a campaign that a page shows, whatever its kind.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use warpmp_campaign::{Campaign, Cell, Checksums, Contents, OpenUnit, Work, checksums};

use super::{shell::quoted, time::utc};
use crate::{
    error::{Result, plural},
    summary::{duration, scaled},
};

/// The most cells of a map: more cannot be told apart on a phone.
pub(crate) const MOST_CELLS: u64 = 1024;
/// The most lines of a list on the page.
pub(crate) const LISTED: usize = 100;

/// A name and a value.
pub(crate) type Fact = (&'static str, String);

/// Work that an engine has done.
#[derive(Clone, Debug, Default)]
pub(crate) struct Span {
    /// The machine; empty where the certificate does not tell it.
    pub(crate) host: String,
    /// The engine.
    pub(crate) device: String,
    /// When it was done: seconds since 1970, by the machine's clock; 0: not known.
    pub(crate) end: u64,
    /// The time that it took.
    pub(crate) seconds: f64,
    /// The work, in the campaign's unit.
    pub(crate) amount: f64,
}

/// An engine of a machine, and all its work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    pub(crate) host: String,
    pub(crate) device: String,
    pub(crate) spans: u64,
    pub(crate) seconds: f64,
    pub(crate) amount: f64,
    /// When it has stored its last unit; 0: not known.
    pub(crate) last: u64,
}

/// A file that a command wrote, and a program's words about it.
#[derive(Clone, Debug)]
pub(crate) struct Alarm {
    pub(crate) what: String,
    pub(crate) why: String,
}

/// Everything that the page shows.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) folder: PathBuf,
    /// The campaign, in a few words.
    pub(crate) title: String,
    /// The share that is done, from 0 to 1.
    pub(crate) share: f64,
    pub(crate) is_complete: bool,
    pub(crate) summary: Vec<Fact>,
    /// What a cell of the map stands for.
    pub(crate) cell_name: &'static str,
    pub(crate) map: Vec<Cell>,
    pub(crate) claims: Vec<OpenUnit>,
    /// The unit of all amounts: `numbers`.
    pub(crate) amount_name: &'static str,
    pub(crate) spans: Vec<Span>,
    pub(crate) estimate: Vec<Fact>,
    /// What was found, and how anybody repeats it.
    pub(crate) finds: Vec<Fact>,
    pub(crate) alarms: Vec<Alarm>,
    /// Files that are left alone.
    pub(crate) others: Vec<String>,
    pub(crate) checksums: Checksums,
    /// Commands that verify the campaign, and what each does.
    pub(crate) verify: Vec<(String, &'static str)>,
}

impl Facts {
    /// The facts that any campaign's directory tells; the rest is empty.
    pub(crate) fn of<W: Work>(campaign: &Campaign<W>, contents: &Contents<W>) -> Result<Self> {
        let folder = campaign.folder();
        let shown = |path: &Path| path.display().to_string();
        let damaged = contents.damaged.iter().map(|(path, it)| Alarm { what: shown(path), why: it.to_string() });
        let disputed = contents.disputed.iter().map(|path| Alarm {
            what: shown(path),
            why: "a second certificate of the unit with another result: one of both is wrong".into(),
        });
        Ok(Self {
            folder: folder.to_owned(),
            title: String::new(),
            share: 0.0,
            is_complete: false,
            summary: Vec::new(),
            cell_name: "units",
            map: campaign.map(contents, MOST_CELLS)?,
            claims: campaign.claims()?,
            amount_name: "",
            spans: Vec::new(),
            estimate: Vec::new(),
            finds: Vec::new(),
            alarms: damaged.chain(disputed).collect(),
            others: contents.others.iter().map(|path| shown(path)).collect(),
            checksums: checksums(folder)?,
            verify: vec![(
                format!(
                    "cd {} && find . -maxdepth 1 -type f -name '[!.]*.json' -printf '%f\\n' | LC_ALL=C sort | xargs -d '\\n' sha256sum | sha256sum",
                    quoted(folder)
                ),
                "computes the checksum of all certificates again",
            )],
        })
    }

    /// The engines with all their work, the one with the most work first.
    pub(crate) fn sources(&self) -> Vec<Source> {
        let mut sources: BTreeMap<(&str, &str), Source> = BTreeMap::new();
        for span in &self.spans {
            let source = sources.entry((&span.host, &span.device)).or_insert_with(|| Source {
                host: span.host.clone(),
                device: span.device.clone(),
                ..Source::default()
            });
            source.spans += 1;
            source.seconds += span.seconds;
            source.amount += span.amount;
            source.last = source.last.max(span.end);
        }
        let mut sources: Vec<Source> = sources.into_values().collect();
        sources.sort_by(|one, other| other.amount.total_cmp(&one.amount));
        sources
    }

    /// Engines whose last unit was done at most an hour before the campaign's last one.
    pub(crate) fn engines_at_work(&self) -> usize {
        let last = self.spans.iter().map(|span| span.end).max().unwrap_or(0);
        self.sources().iter().filter(|source| last > 0 && source.last + 3600 >= last).count()
    }

    /// The rates of a tenth of the slowest spans, of the middle one, and of a tenth of the fastest ones.
    pub(crate) fn rates(&self) -> Option<[f64; 3]> {
        let rate = |span: &Span| span.amount / span.seconds.max(1e-9);
        let mut rates: Vec<f64> = self.spans.iter().filter(|span| span.amount > 0.0).map(rate).collect();
        rates.sort_by(f64::total_cmp);
        let at = |share: f64| rates.get((share * (rates.len().saturating_sub(1)) as f64).round() as usize).copied();
        Some([at(0.1)?, at(0.5)?, at(0.9)?])
    }

    /// The time of one engine for what is left, and of the engines that were at work last.
    pub(crate) fn estimate_of(&self, left: f64) -> Vec<Fact> {
        let Some([slow, middle, fast]) = self.rates().filter(|_| left > 0.0) else {
            return vec![("left", if left > 0.0 { "no unit is done yet" } else { "nothing" }.into())];
        };
        let engines = self.engines_at_work();
        let time = |rate: f64, engines: usize| left / rate.max(1e-300) / engines.max(1) as f64;
        let engine = |rate: f64| duration(time(rate, 1), "engine-");
        let wall = |rate: f64| duration(time(rate, engines), "");
        let mut estimate = vec![
            ("left", format!("{} {}", scaled(left), self.amount_name)),
            ("one engine", format!("{} at the median rate of a unit", engine(middle))),
            (
                "spread",
                format!("{} to {}, at the rates of the fastest and the slowest tenth", engine(fast), engine(slow)),
            ),
        ];
        if engines > 0 {
            let last = self.spans.iter().map(|span| span.end).max().unwrap_or(0);
            let at_work =
                format!("{engines} engine{} at work in the hour before {} UTC", plural(engines as u64), utc(last));
            estimate.push(("if they go on", format!("{} to {}: {at_work}", wall(fast), wall(slow))));
        }
        estimate
    }
}
