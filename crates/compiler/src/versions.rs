//! The LLVMs whose API the worker speaks.

/// The oldest.
pub const OLDEST: u32 = 14;
/// The newest.
pub const NEWEST: u32 = 22;
