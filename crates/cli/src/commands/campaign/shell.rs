//! Commands about a campaign, as a POSIX shell takes them.

use std::path::Path;

use warpmp_campaign::{Mode, Part};

/// The command that goes on with a campaign and takes part in it in this way.
pub(crate) fn resume(folder: &Path, mode: Mode) -> String {
    let shared = if mode.is_shared { " --shared" } else { "" };
    let part = if mode.part == Part::ALL { String::new() } else { format!(" --part {}", mode.part) };
    format!("warpmp resume {}{shared}{part}", quoted(folder))
}

/// A path.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-+=:,@".contains(it);
    // A path that begins with a dash is no option.
    let text = if text.starts_with('-') { format!("./{text}") } else { text.into_owned() };
    if !text.is_empty() && text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_for_a_shell() {
        for (path, text) in [
            ("a/b-1.c", "a/b-1.c"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("-rf", "./-rf"),
            ("$(x)`y`", "'$(x)`y`'"),
        ] {
            assert_eq!(quoted(Path::new(path)), text);
        }
    }

    #[test]
    fn a_campaign_goes_on_in_the_same_way() {
        let part = "1/4".parse().expect("a part");
        for (mode, command) in [
            (Mode::ALONE, "warpmp resume 'my camp'"),
            (Mode { is_shared: true, ..Mode::ALONE }, "warpmp resume 'my camp' --shared"),
            (Mode { part, ..Mode::ALONE }, "warpmp resume 'my camp' --part 1/4"),
            (Mode { is_shared: true, part }, "warpmp resume 'my camp' --shared --part 1/4"),
        ] {
            assert_eq!(resume(Path::new("my camp"), mode), command);
        }
    }
}
