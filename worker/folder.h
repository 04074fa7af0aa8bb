// The folder that the host gave this worker, and in it the private directory of
// executed programs.
//
// Never here: an allocation in a session. Walking a directory allocates, so it
// is done by a child of its own, or by a process that is about to end.
#pragma once
#include <string_view>

namespace optsleuth {
namespace folder {
// Takes the folder over and enters the private directory. False if that fails.
bool enter(std::string_view path);
// Where programs may write.
const char *private_directory();
// Removes what a program left there.
void clean();
// Removes the whole folder, because the host is gone.
void remove();
} // namespace folder
} // namespace optsleuth
