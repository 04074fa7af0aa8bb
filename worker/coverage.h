// Which basic blocks of LLVM a child executed.
//
// In a worker linked from instrumented archives, every block sets a byte of
// section `__objcov` when it runs. The zygote lays shared memory over that
// section, so the bytes survive whatever ends the child.
//
// Never here: a name. Blocks are numbers; the host has the code map.
#pragma once
#include <cstdint>

namespace optsleuth {
namespace coverage {
// How many blocks there are; 0 in a plain worker, where the rest does nothing.
uint32_t block_count();
// Lays shared memory over the marks. Once, in the zygote. False if the linker
// did not keep the marks together.
bool attach(int memory_file);
// Forgets all marks. In a child, when the pipeline starts: what comes before,
// in the zygote, the session or the child, does not count.
void clear();
// In a child: makes the pages of the marks present at once, not one by one.
void expect_marks();
// In a child, at the end of the pipeline: what comes after does not count, unless
// it is thawed.
void freeze();
// In a child: from here on counts again, as if all since the last pause had not
// been executed.
void thaw();
// In a child, around something that must not count.
void pause();
void resume();
// In a child: what is executed between the two counts for the window, too.
void open_window();
void close_window();
// In a child, before untrusted code: gives the shared memory up.
void detach();
// In a session, after the child's end: packs what the child could not.
void collect();
} // namespace coverage
} // namespace optsleuth
