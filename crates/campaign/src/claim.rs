//! Claims: which process works on a unit of a shared directory.
//!
//! A claim is a file `UNIT.claim`, written whole under a name that no file has: of several processes one gets it. It names its owner, and
//! a *heartbeat* rewrites it every [`HEARTBEAT`]. An owner is dead
//!
//! * if it ran on this machine and its process is gone; or
//! * if this process has seen its claim unchanged for [`PATIENCE`], by this process's own clock: no two machines' clocks are compared.
//!
//! A claim saves work and nothing else. If an owner that was taken for dead comes back, two processes do one unit: their
//! certificates agree, or [`crate::Stored::Differs`] says that one of them is wrong.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant, SystemTime},
};

use serde::{Deserialize, Serialize};

use crate::{
    campaign::CLAIM,
    error::{Error, Result},
    seal::{TEMPORARY, write_new, write_whole},
};

/// The time between two heartbeats.
pub const HEARTBEAT: Duration = Duration::from_secs(10);
/// A claim without a heartbeat for so long is free.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The owner of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Owner {
    /// For people.
    host: String,
    /// This boot of the machine and the process's name space: process numbers are unique within. Empty where the system does not tell.
    machine: String,
    process: u32,
    /// When the process started, and a number within it.
    started: String,
    number: u64,
}

#[derive(Serialize, Deserialize)]
struct Text {
    owner: Owner,
    beat: u64,
}

/// When a process of this machine started; none if there is no such process.
fn started(process: &str) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The program's name, in parentheses, may have blanks.
    text.rsplit_once(") ")?.1.split(' ').nth(19).map(Into::into)
}

impl Owner {
    fn this() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let read = |path: &str| fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default();
        let names = fs::read_link("/proc/self/ns/pid").map(|path| path.display().to_string()).unwrap_or_default();
        let boot = read("/proc/sys/kernel/random/boot_id");
        let known = !names.is_empty() && !boot.is_empty();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self {
            host: crate::host(),
            machine: if known { format!("{boot} {names}") } else { String::new() },
            process: std::process::id(),
            started: started("self").unwrap_or_else(|| now.as_nanos().to_string()),
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Is it a process of this machine that is gone?
    fn is_gone(&self, here: &Self) -> bool {
        let gone = || started(&self.process.to_string()).as_ref() != Some(&self.started);
        !self.machine.is_empty() && self.machine == here.machine && gone()
    }
}

/// The claims that this process holds, and the text of each.
#[derive(Debug, Default)]
struct Held {
    texts: Mutex<(HashMap<PathBuf, String>, bool)>,
    ended: Condvar,
}

/// The claims of one process in a directory, kept alive by a thread.
#[derive(Debug)]
pub struct Claims {
    folder: PathBuf,
    owner: Owner,
    patience: Duration,
    held: Arc<Held>,
    /// Claims of others: their text, and when it was first seen.
    seen: HashMap<PathBuf, (String, Instant)>,
    heart: Option<JoinHandle<()>>,
}

/// A unit that this process works on; given back when it is dropped.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    held: Arc<Held>,
}

impl Held {
    fn lock(&self) -> std::sync::MutexGuard<'_, (HashMap<PathBuf, String>, bool)> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rewrites all claims every `heartbeat`, until the end.
    fn beat(&self, owner: &Owner, heartbeat: Duration) {
        let mut texts = self.lock();
        for beat in 1.. {
            let waited = self.ended.wait_timeout_while(texts, heartbeat, |(_, ended)| !*ended);
            texts = waited.unwrap_or_else(PoisonError::into_inner).0;
            if texts.1 {
                return;
            }
            for (path, text) in &mut texts.0 {
                // A claim that another process took over is not ours any more. A write that fails now may succeed next time.
                if fs::read_to_string(path).is_ok_and(|found| found == *text) {
                    let next = words(owner, beat);
                    if write_whole(path, |file| file.write_all(next.as_bytes())).is_ok() {
                        *text = next;
                    }
                }
            }
        }
    }
}

fn words(owner: &Owner, beat: u64) -> String {
    serde_json::to_string(&Text { owner: owner.clone(), beat }).unwrap_or_default()
}

impl Claims {
    /// Claims in this directory, none yet. `heartbeat` is the time between two heartbeats, `patience` the time after which others'
    /// claims without a heartbeat are free; all processes of a directory use the same.
    pub fn new(folder: &Path, heartbeat: Duration, patience: Duration) -> Self {
        let (owner, held) = (Owner::this(), Arc::new(Held::default()));
        let heart = {
            let (owner, held) = (owner.clone(), held.clone());
            thread::spawn(move || held.beat(&owner, heartbeat))
        };
        Self { folder: folder.to_owned(), owner, patience, held, seen: HashMap::new(), heart: Some(heart) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}{CLAIM}"))
    }

    /// Does this process work on the unit with this name?
    pub(crate) fn holds(&self, name: &str) -> bool {
        self.held.lock().0.contains_key(&self.path(name))
    }

    /// Claims the unit with this name; none if another process works on it.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn take(&mut self, name: &str) -> Result<Option<Claim>> {
        let path = self.path(name);
        // More than once after a dead owner's claim was removed, or one was given back just now. A claim is read before one is written:
        // many processes read, one writes.
        for _ in 0..3 {
            match fs::read_to_string(&path) {
                Ok(text) if !self.is_dead(&path, &text) => return Ok(None),
                Ok(text) => self.bury(&path, &text)?,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    let text = words(&self.owner, 0);
                    if write_new(&path, text.as_bytes())? {
                        self.held.lock().0.insert(path.clone(), text);
                        return Ok(Some(Claim { path, held: self.held.clone() }));
                    }
                }
                Err(error) => return Err(Error::file(path)(error)),
            }
        }
        Ok(None)
    }

    fn is_dead(&mut self, path: &Path, text: &str) -> bool {
        let owner = serde_json::from_str::<Text>(text).map(|text| text.owner);
        if owner.is_ok_and(|owner| owner.is_gone(&self.owner)) {
            return true;
        }
        let now = Instant::now();
        let seen = self.seen.entry(path.to_owned()).or_insert_with(|| (text.to_owned(), now));
        if seen.0 != text {
            *seen = (text.to_owned(), now);
        }
        now.duration_since(seen.1) >= self.patience
    }

    /// Removes a dead owner's claim. Of several processes that try, each moves the file first: if it is another claim by then, it is
    /// put back.
    fn bury(&mut self, path: &Path, text: &str) -> Result<()> {
        let Owner { process, number, .. } = &self.owner;
        let grave = self.folder.join(format!("{TEMPORARY}claim-{process}-{number}"));
        match fs::rename(path, &grave) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            moved => moved.map_err(Error::file(path))?,
        }
        if fs::read_to_string(&grave).is_ok_and(|found| found != text) {
            let _ = fs::hard_link(&grave, path);
        }
        self.seen.remove(path);
        fs::remove_file(&grave).map_err(Error::file(&grave))
    }
}

impl Claim {
    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Claims {
    fn drop(&mut self) {
        self.held.lock().1 = true;
        self.held.ended.notify_all();
        if let Some(heart) = self.heart.take() {
            let _ = heart.join();
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut texts = self.held.lock();
        let text = texts.0.remove(&self.path);
        // Another process may have taken it over.
        if fs::read_to_string(&self.path).ok() == text {
            let _ = fs::remove_file(&self.path);
        }
    }
}
