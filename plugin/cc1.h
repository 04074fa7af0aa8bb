// A cc1 of ours: what the plug-in's code can ask of it, where it is linked in.
#pragma once

namespace cc1 {
/// Lays a file over the marks of the probes: what is executed survives any end.
void cover(const char *path);
/// What is executed between the two counts for the window, too.
void open_window();
void close_window();
/// What comes from here on counts no more: gcc tells of an internal error.
void freeze();
/// Puts bytes into the compiler's own code: an address and as many pairs of digits.
void detour(const char *text);
} // namespace cc1

/// Reads a control file, and does what it says: for a cc1 that loads no plug-in.
void follow_orders(const char *control);
