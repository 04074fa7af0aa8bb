// What the process machinery (processes.cpp) asks of LLVM.
//
// Never here: anything about processes, limits or sockets.
#pragma once
#include "payload.h"
#include "protocol.h"
#include <string>

namespace optsleuth {
namespace llvm_side {
// Registers targets and handlers. Once, in the zygote.
void initialize();
const char *version();
// The pass registry, in the words of PassBuilder::printPassNames.
std::string pass_names();

// In a session: applies the options and parses the module. Returns false with
// verdict and message in the report if that fails.
bool load(Payload request);
// In a session, after `load`: makes what every run would have to make. Fails
// as `load` does.
bool prepare();

// In a child of a session: runs the pipeline and whatever was asked for after
// it. Ends the process.
[[noreturn]] void run(Payload request);
} // namespace llvm_side
} // namespace optsleuth
