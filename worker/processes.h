// The processes: a zygote that never changes, a session per module, a child per
// run.
//
//   host -- Load --> zygote --fork--> session --fork per Run--> child
//
// The zygote holds LLVM with its static initializers done. A session has applied
// the LLVM options and parsed one module. A child works on that module in place,
// copy-on-write, and ends. So a run parses nothing, and no run can leave a trace
// in the next one.
//
// A session is behind the outer fence of sandbox.h before it reads a case's
// options and module, and a child is behind the inner one before it runs a pass.
//
// Never here: an allocation in a session between two runs. LLVM's behaviour
// depends on heap addresses; every child must start from the same heap.
#pragma once

namespace optsleuth {
// Serves the host until it is gone.
void zygote();

// In a child, which is fenced in from its start: makes descriptors 1 and 2 the
// program's output, and gives up the memory file.
void enter_program();
} // namespace optsleuth
