//! Literals of Python, as far as headers of arrays need them: strings, integers, `True`, `False`, tuples, lists and dictionaries.
//!
//! The reader takes what Python takes, with two exceptions. It refuses strings with a backslash, and literals of other kinds. NumPy writes
//! neither.

/// A list in a list in a list … has at most this many levels.
const MOST_LEVELS: u32 = 16;

/// A literal's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Literal {
    Text(String),
    /// None: more than a word holds.
    Integer(Option<u64>),
    /// An integer with a minus.
    Negative,
    Boolean(bool),
    Tuple(Vec<Literal>),
    List,
    /// In the order of the text, with keys that stand there twice.
    Dictionary(Vec<(Literal, Literal)>),
}

/// The one literal of a text; none if the text is anything else.
pub(super) fn parse(text: &str) -> Option<Literal> {
    let mut reader = Reader { rest: text.trim_start_matches([' ', '\t']), level: 0 };
    // After empty lines an indentation is an error.
    let lines = reader.rest.trim_start_matches(['\n', '\r', '\x0c']);
    if lines.len() < reader.rest.len() && lines.starts_with([' ', '\t']) {
        return None;
    }
    let literal = reader.literal()?;
    reader.skip_space();
    reader.rest.is_empty().then_some(literal)
}

struct Reader<'t> {
    rest: &'t str,
    level: u32,
}

impl<'t> Reader<'t> {
    /// Skips spaces, ends of lines and comments.
    fn skip_space(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\x0c', '\n', '\r']);
            let Some(comment) = self.rest.strip_prefix('#') else { return };
            self.rest = comment.find(['\n', '\r']).map_or("", |end| &comment[end..]);
        }
    }

    /// Skips a mark if it comes next.
    fn take(&mut self, mark: char) -> bool {
        self.skip_space();
        let rest = self.rest.strip_prefix(mark);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// The letters, digits and underscores that come next.
    fn word(&mut self) -> &'t str {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn literal(&mut self) -> Option<Literal> {
        self.skip_space();
        match self.rest.chars().next()? {
            '\'' | '"' => self.text().map(Literal::Text),
            '-' => {
                self.take('-');
                self.skip_space();
                self.integer().map(|_| Literal::Negative)
            }
            '0'..='9' => self.integer(),
            '(' => self.tuple(),
            '[' => self.items('[', ']', Self::literal).map(|_| Literal::List),
            '{' => self.items('{', '}', Self::pair).map(|(pairs, _)| Literal::Dictionary(pairs)),
            _ => match self.word() {
                "True" => Some(Literal::Boolean(true)),
                "False" => Some(Literal::Boolean(false)),
                // Strings of Python 2.
                "u" | "U" if self.rest.starts_with(['\'', '"']) => self.text().map(Literal::Text),
                _ => None,
            },
        }
    }

    /// A string, or several, which Python joins.
    fn text(&mut self) -> Option<String> {
        let mut text = String::new();
        loop {
            let quote = self.rest.chars().next()?;
            let (inside, rest) = self.rest[1..].split_once(quote)?;
            // Two quotes and a third one would begin a string of several lines.
            if inside.is_empty() && rest.starts_with(quote) || inside.contains(['\\', '\n', '\r']) {
                return None;
            }
            text.push_str(inside);
            self.rest = rest;
            self.skip_space();
            if !self.rest.starts_with(['\'', '"']) {
                return Some(text);
            }
        }
    }

    /// An integer. Python 2 wrote long ones with an `L`, which NumPy drops.
    fn integer(&mut self) -> Option<Literal> {
        let word = self.word();
        let digits = word.strip_suffix('L').unwrap_or(word);
        let is_plain =
            digits.split('_').all(|part| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit()));
        let digits = digits.replace('_', "");
        let has_zero = digits.len() > 1 && digits.starts_with('0') && digits.bytes().any(|digit| digit != b'0');
        (is_plain && !has_zero).then(|| Literal::Integer(digits.parse().ok()))
    }

    /// A tuple, or a literal in parentheses.
    fn tuple(&mut self) -> Option<Literal> {
        let (mut items, has_comma) = self.items('(', ')', Self::literal)?;
        if items.len() == 1 && !has_comma { items.pop() } else { Some(Literal::Tuple(items)) }
    }

    fn pair(&mut self) -> Option<(Literal, Literal)> {
        let key = self.literal()?;
        if !self.take(':') {
            return None;
        }
        Some((key, self.literal()?))
    }

    /// Items between two marks with commas between them; does a comma follow the last one?
    fn items<T>(&mut self, open: char, close: char, item: impl Fn(&mut Self) -> Option<T>) -> Option<(Vec<T>, bool)> {
        self.level += 1;
        if !self.take(open) || self.level > MOST_LEVELS {
            return None;
        }
        let mut items = Vec::new();
        let mut has_comma = false;
        while !self.take(close) {
            if !items.is_empty() && !has_comma {
                return None;
            }
            items.push(item(self)?);
            has_comma = self.take(',');
        }
        self.level -= 1;
        Some((items, has_comma))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_as_python_has_them() {
        let int = |value| Literal::Integer(Some(value));
        let text = |value: &str| Literal::Text(value.into());
        let pair = || Some(Literal::Tuple(vec![int(3), int(4)]));
        for spelling in
            ["(3, 4)", " (3,4,)", "(3 ,\n4 # four\n)\n", "((3), 4L)", "(3, 4,) # end", "\n(3, 4)", "(3, (4))"]
        {
            assert_eq!(parse(spelling), pair(), "{spelling}");
        }
        assert_eq!(parse("(7,)"), Some(Literal::Tuple(vec![int(7)])));
        assert_eq!((parse("(7)"), parse("00"), parse("1_0")), (Some(int(7)), Some(int(0)), Some(int(10))));
        assert_eq!(
            (parse("99999999999999999999"), parse("-3")),
            (Some(Literal::Integer(None)), Some(Literal::Negative))
        );
        assert_eq!(
            (parse("'a' \"b'\""), parse("u'x'"), parse("''")),
            (Some(text("ab'")), Some(text("x")), Some(text("")))
        );
        assert_eq!(parse("[1, [2]]"), Some(Literal::List));
        let twice = vec![(text("a"), int(1)), (text("a"), Literal::Boolean(false))];
        assert_eq!(parse("{'a': 1, 'a': False}"), Some(Literal::Dictionary(twice)));
    }

    #[test]
    fn everything_else_is_refused() {
        for wrong in [
            "",
            "(",
            "(3, 4",
            "(3,, 4)",
            "(,)",
            "(3 4)",
            "01",
            "1__0",
            "1_",
            "0x3",
            "3.0",
            "--3",
            "3M",
            "True_",
            "FalseHood",
            "true",
            "None",
            "'a",
            "'a\n'",
            "'a\\x41'",
            "'''a'''",
            "b'a'",
            "{'a'}",
            "{'a': }",
            "{'a' 1}",
            "(3, 4) 5",
            "(3, 4),",
            "\n (3, 4)",
            "%%%",
            "(3; 4)",
            "\u{663}",
        ] {
            assert_eq!(parse(wrong), None, "{wrong:?}");
        }
        assert_eq!(parse(&"(".repeat(100_000)), None);
    }
}
