//! lookahead
