//! The compiler's log.

/// The first line of the text that the log complains about, from 1. The compiler writes
/// `ptxas application ptx input, line 12; error   : Unknown symbol 'x'`; warnings look alike and do not
/// count.
pub(super) fn error_line(log: &str) -> Option<usize> {
    log.lines().find_map(|entry| {
        let (_, rest) = entry.split_once(", line ")?;
        let (number, message) = rest.split_once(';')?;
        let message = message.trim_start();
        let counts = message.starts_with("error") || message.starts_with("fatal");
        number.trim().parse().ok().filter(|&n| counts && n > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::error_line;

    #[test]
    fn the_first_error_is_found() {
        let log = "ptxas application ptx input, line 3; warning : something unused\n\
                   ptxas application ptx input, line 12; error   : Arguments mismatch for instruction 'add'\n\
                   ptxas application ptx input, line 14; error   : Unknown symbol 'x'\n\
                   ptxas fatal   : Ptx assembly aborted due to errors";
        assert_eq!(error_line(log), Some(12));
    }

    #[test]
    fn a_fatal_line_counts() {
        let log = "ptxas application ptx input, line 1; fatal   : Unsupported .version 99.0; current version is '9.0'";
        assert_eq!(error_line(log), Some(1));
    }

    #[test]
    fn other_logs_have_no_line() {
        for log in ["", "ptxas fatal   : Memory allocation failure", "a, line x; error: y", "a, line 0; error: y"] {
            assert_eq!(error_line(log), None, "{log}");
        }
    }
}
