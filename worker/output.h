// What a child writes to its standard output and error: caught in two memory
// files, handed to the host when the child has ended.
//
//   child --1, 2--> memory files --collect, by the supervisor--> memory file
//
// Never here: a pipe. Nothing has to keep up with a child that writes.
#pragma once
#include <cstdint>

namespace optsleuth {
namespace output {
// Makes the files, and /dev/null of descriptors 0 to 2. Once, at start-up.
void open_files();
// Descriptor 2 is caught from now on, ...
void catch_stderr();
// ... or not any more.
void drop_stderr();
// In a child, before the program: 1 and 2 are caught, and what LLVM has written
// so far is forgotten. False if that fails.
bool catch_program();
// Copies what was caught to where the host reads it, up to a limit per stream,
// says in the report how much it was, and empties the files.
void collect(uint64_t limit);
} // namespace output
} // namespace optsleuth
