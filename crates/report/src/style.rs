//! Colours for a terminal.

/// Whether text may carry colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// For files, pipes and people who set `NO_COLOR`.
    Plain,
    /// For terminals.
    Coloured,
}

impl Style {
    /// Good news.
    pub fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Bad news.
    pub fn bad(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// Worth a look.
    pub fn notable(self, text: &str) -> String {
        self.paint("33", text)
    }

    pub fn heading(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Beside the point.
    pub fn quiet(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        match self {
            Style::Plain => text.to_owned(),
            Style::Coloured => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}
