//! `warpmp campaign serve`: the page for browsers of this machine, read-only.
//!
//! The server listens on 127.0.0.1 alone. It knows one page, answers `GET` and `HEAD`, and reads nothing of a request but its first line
//! and its host. A page of another site may lead a browser here under a name of its own (DNS rebinding); a request for a host
//! other than this machine's gets no page. A connection has a thread, five seconds and 8 KiB.

use std::{
    io::{self, Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{args, gather, page::page};
use crate::{
    console,
    error::{Error, Result},
    interrupt,
    io::error::plain,
};

/// The page loads itself again after this time, in seconds.
const RELOAD: u64 = 10;
/// Several browsers share a page of this age.
const FRESH: Duration = Duration::from_secs(4);
/// Time for a request, and for its answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of a request's head.
const MOST_BYTES: usize = 8 << 10;
/// Connections at a time.
const MOST_CONNECTIONS: usize = 16;
/// Between two looks for a connection or a signal.
const LOOK: Duration = Duration::from_millis(50);

/// A server that cannot begin.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error("127.0.0.1:{port}: {}", plain(source))]
    Bind { port: u16, source: io::Error },
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Page,
    Head,
    NotFound,
    NotAllowed,
    OtherHost,
    Bad,
}

/// Runs the command.
pub(super) fn run(args: &args::Serve) -> Result<()> {
    // A directory without a campaign is an error now, not later in a browser.
    super::super::resume::kind(&args.folder)?;
    let bind = || {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        Ok((listener, port))
    };
    let (listener, port) = bind().map_err(|source| ServeError::Bind { port: args.port, source })?;
    console::print(&format!("http://127.0.0.1:{port}/\n"))?;
    let kept: Mutex<Option<(Instant, String)>> = Mutex::new(None);
    let connections = AtomicUsize::new(0);
    thread::scope(|scope| {
        loop {
            // The connections end within their time.
            interrupt::check()?;
            let Ok((stream, _)) = listener.accept() else {
                thread::sleep(LOOK);
                continue;
            };
            if connections.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
                connections.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            let (kept, connections) = (&kept, &connections);
            scope.spawn(move || {
                // A browser that has gone misses nothing.
                let _ = serve(stream, &args.folder, kept);
                connections.fetch_sub(1, Ordering::SeqCst);
            });
        }
    })
}

fn serve(mut stream: TcpStream, folder: &Path, kept: &Mutex<Option<(Instant, String)>>) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let head = read_head(&mut stream)?;
    let (status, kind, text) = match answer(&head) {
        answer @ (Answer::Page | Answer::Head) => match text(folder, kept) {
            Ok(text) if answer == Answer::Page => ("200 OK", "text/html", text),
            Ok(_) => ("200 OK", "text/html", String::new()),
            Err(error) => ("500 Internal Server Error", "text/plain", format!("error: {error}\n")),
        },
        Answer::NotFound => ("404 Not Found", "text/plain", "There is one page: /\n".into()),
        Answer::NotAllowed => ("405 Method Not Allowed", "text/plain", "The page can only be read.\n".into()),
        Answer::OtherHost => ("421 Misdirected Request", "text/plain", "Ask for 127.0.0.1 or localhost.\n".into()),
        Answer::Bad => ("400 Bad Request", "text/plain", "This is no request.\n".into()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n{text}",
        text.len()
    )?;
    stream.flush()
}

/// Reads a request up to the empty line.
fn read_head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let end = Instant::now() + PATIENCE;
    let mut head = Vec::new();
    let mut bytes = [0; 1024];
    while !head.windows(4).any(|it| it == b"\r\n\r\n") && head.len() < MOST_BYTES {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut bytes)? {
            0 => break,
            count => head.extend_from_slice(&bytes[..count]),
        }
    }
    Ok(head)
}

/// The answer to a request with this head.
fn answer(head: &[u8]) -> Answer {
    let Some(head) = std::str::from_utf8(head).ok().and_then(|head| head.split_once("\r\n\r\n")) else {
        return Answer::Bad;
    };
    let mut lines = head.0.split("\r\n");
    let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, path, "HTTP/1.0" | "HTTP/1.1"] = words[..] else { return Answer::Bad };
    let hosts: Vec<&str> = lines
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
        .map(|(_, host)| host.trim())
        .collect();
    let [host] = hosts[..] else { return Answer::Bad };
    // A tunnel may lead here from another port.
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_ours = name == "127.0.0.1" || name.eq_ignore_ascii_case("localhost");
    match (is_ours, method, path) {
        (false, ..) => Answer::OtherHost,
        (true, "GET", "/") => Answer::Page,
        (true, "HEAD", "/") => Answer::Head,
        (true, "GET" | "HEAD", _) => Answer::NotFound,
        (true, ..) => Answer::NotAllowed,
    }
}

/// The page, made again if it is old.
fn text(folder: &Path, kept: &Mutex<Option<(Instant, String)>>) -> Result<String, Error> {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, text)) = kept.as_ref().filter(|(made, _)| made.elapsed() < FRESH) {
        return Ok(text.clone());
    }
    let text = page(&gather(folder)?, Some(RELOAD));
    *kept = Some((Instant::now(), text.clone()));
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        let ask = |line: &str, host: &str| answer(format!("{line}\r\nHost: {host}\r\nX: y\r\n\r\n").as_bytes());
        assert_eq!(ask("GET / HTTP/1.1", "127.0.0.1:80"), Answer::Page);
        assert_eq!(ask("GET / HTTP/1.0", "LocalHost:8080"), Answer::Page);
        assert_eq!(ask("HEAD / HTTP/1.1", "localhost"), Answer::Head);
        assert_eq!(ask("GET /../etc/passwd HTTP/1.1", "localhost"), Answer::NotFound);
        assert_eq!(ask("GET /?x HTTP/1.1", "localhost"), Answer::NotFound);
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "get"] {
            assert_eq!(ask(&format!("{method} / HTTP/1.1"), "localhost"), Answer::NotAllowed);
        }
        for host in ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example:80", ""] {
            assert_eq!(ask("GET / HTTP/1.1", host), Answer::OtherHost, "{host}");
        }
        for head in ["", "GET / HTTP/1.1\r\n", "GET /\r\nHost: localhost\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"] {
            assert_eq!(answer(head.as_bytes()), Answer::Bad, "{head:?}");
        }
        let twice = b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n";
        assert_eq!((answer(twice), answer(b"GET \xff HTTP/1.1\r\n\r\n")), (Answer::Bad, Answer::Bad));
    }
}
