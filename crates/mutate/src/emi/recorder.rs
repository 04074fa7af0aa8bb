//! The C that an instrumented program keeps its profile with, and writes it to
//! standard error with when it ends.
//!
//! Lines: `@<statement>` for one that was reached, `=<record> <value>...` for
//! the values of a record, hexadecimal, converted to 64 bits; between a line
//! that begins and one that ends the profile. A record of too many values has no
//! line.
//!
//! It speaks C of 1989 and calls write(2) by the name that glibc reserves for
//! it, because the program may have a `write` of its own.
//!
//! **Invariant:** nothing is written before the program has ended by itself, and
//! nothing of the program's own is changed or called.

/// The line that a profile begins with.
pub(super) const BEGIN: &str = "#optsleuth profile";
/// The line that a complete one ends with.
pub(super) const END: &str = "#optsleuth end";
/// A cell with more values than this says too little about its point.
pub(super) const VALUES: usize = 32;

/// The statement that notes that a statement was reached.
pub(super) fn probe(name: &str, statement: usize) -> String {
    format!("{name}_seen[{statement}] = 1; ")
}

/// The statement that notes a cell's value.
pub(super) fn record(name: &str, record: usize, cell: &str) -> String {
    format!("{name}({record}, (unsigned long){cell}); ")
}

/// What has to stand before the program. A value that was seen moves to the
/// front, so that a loop over the same value stays fast. The lowest priority
/// that programs may use makes it the last of all destructors.
pub(super) fn helper(name: &str, n_statements: usize, n_records: usize) -> String {
    let n_records = n_records.max(1);
    format!(
        "extern long {name}_write(int, const void *, unsigned long) __asm__(\"__write\"); \
         static unsigned char {name}_seen[{n_statements} + 1]; \
         static unsigned char {name}_count[{n_records}]; \
         static unsigned long {name}_values[{n_records}][{VALUES}]; \
         static char {name}_text[4096]; static unsigned long {name}_length; \
         static __attribute__((noinline, unused)) \
         void {name}(unsigned record, unsigned long value) {{ \
         unsigned long *values = {name}_values[record], first = values[0]; \
         int count = {name}_count[record], at; \
         if (count && first == value) return; \
         if (count > {VALUES}) return; \
         for (at = 1; at < count; at++) if (values[at] == value) {{ \
         values[at] = first; values[0] = value; return; }} \
         {name}_count[record] = (unsigned char)(count + 1); \
         if (count == {VALUES}) return; \
         values[count] = first; values[0] = value; }} \
         static void {name}_flush(void) {{ \
         unsigned long done = 0; \
         while (done < {name}_length) {{ \
         long n = {name}_write(2, {name}_text + done, {name}_length - done); \
         if (n <= 0) break; \
         done += (unsigned long)n; }} \
         {name}_length = 0; }} \
         static void {name}_put(char c) {{ \
         if ({name}_length == sizeof {name}_text) {name}_flush(); \
         {name}_text[{name}_length++] = c; }} \
         static void {name}_line(const char *s) {{ while (*s) {name}_put(*s++); {name}_put('\\n'); }} \
         static void {name}_number(unsigned long n) {{ \
         if (n > 15) {name}_number(n >> 4); \
         {name}_put(\"0123456789abcdef\"[n & 15]); }} \
         static __attribute__((destructor(101))) void {name}_end(void) {{ \
         unsigned long i; int at; \
         {name}_put('\\n'); {name}_line(\"{BEGIN}\"); \
         for (i = 0; i < {n_statements}; i++) if ({name}_seen[i]) {{ \
         {name}_put('@'); {name}_number(i); {name}_put('\\n'); }} \
         for (i = 0; i < {n_records}; i++) \
         if ({name}_count[i] && {name}_count[i] <= {VALUES}) {{ \
         {name}_put('='); {name}_number(i); \
         for (at = 0; at < {name}_count[i]; at++) {{ \
         {name}_put(' '); {name}_number({name}_values[i][at]); }} \
         {name}_put('\\n'); }} \
         {name}_line(\"{END}\"); {name}_flush(); }}"
    )
}
