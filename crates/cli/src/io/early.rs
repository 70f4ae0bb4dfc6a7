//! A file's bytes on their way to the disk while the program still writes.
//!
//! At the end all bytes must be on the disk. A thread sends them there from time to time, so that little is left to wait for.

use std::{
    fs::File,
    io,
    thread::{self, JoinHandle},
};

/// Bytes that are written before the next ones go to the disk.
const STEP_BYTES: u64 = 32 << 20;

/// The thread that sends bytes to the disk, if one does.
#[derive(Debug, Default)]
pub(super) struct Early {
    /// Bytes that no thread has begun to send.
    left: u64,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Early {
    /// More bytes were written to the file.
    pub(super) fn wrote(&mut self, file: &File, bytes: u64) -> io::Result<()> {
        self.left += bytes;
        if self.left < STEP_BYTES || self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return Ok(());
        }
        self.join()?;
        let file = file.try_clone()?;
        // Where no thread starts, the bytes go to the disk at the end.
        self.thread = thread::Builder::new().name("flusher".into()).spawn(move || file.sync_data()).ok();
        self.left = 0;
        Ok(())
    }

    /// Waits for the thread. A failure of the disk may be told only once, so it counts here.
    pub(super) fn join(&mut self) -> io::Result<()> {
        let ended = self.thread.take().map(JoinHandle::join);
        ended.map_or(Ok(()), |ended| ended.unwrap_or_else(|_| Err(io::Error::other("a thread ended early"))))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn bytes_go_to_the_disk_in_steps() {
        let mut file = tempfile::tempfile().unwrap();
        let mut early = Early::default();
        file.write_all(b"x").unwrap();
        early.wrote(&file, STEP_BYTES - 1).unwrap();
        assert!(early.thread.is_none());
        early.wrote(&file, 1).unwrap();
        assert!(early.thread.is_some());
        assert_eq!(early.left, 0);
        early.join().unwrap();
        assert!(early.thread.is_none());
    }
}
