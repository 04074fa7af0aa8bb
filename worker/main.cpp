// Start-up: from a fresh process to a zygote, which processes.cpp has.
//
//   main --> fix_addresses --exec--> main --> start --> zygote
//
// Never here: a request. Everything that is done here is done once, and is the
// same for every host.
#include "coverage.h"
#include "crash.h"
#include "llvm_side.h"
#include "memory.h"
#include "output.h"
#include "pages.h"
#include "processes.h"
#include "wire.h"
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace optsleuth {
namespace {
// Addresses must repeat from process to process; the kernel decides them at
// exec, so the worker starts itself once more, under a path that never varies.
void fix_addresses(char **arguments) {
  // A stack of the usual size, whatever the user's shell says: endless
  // recursion must end as a stack overflow, as it does in `opt`.
  constexpr rlim_t kStack = 8 * 1024 * 1024;
  rlimit stack{};
  getrlimit(RLIMIT_STACK, &stack);
  bool stack_fits = stack.rlim_cur == kStack;
  int now = personality(0xffffffff);
  bool fixed = now >= 0 && (now & ADDR_NO_RANDOMIZE);
  if ((fixed && stack_fits) || getenv("OPTSLEUTH_STARTED"))
    return;
  stack.rlim_cur = kStack;
  setrlimit(RLIMIT_STACK, &stack);
  if (now >= 0)
    personality(unsigned(now) | ADDR_NO_RANDOMIZE);
  char locale[] = "LC_ALL=C", once[] = "OPTSLEUTH_STARTED=1";
  char *environment[] = {locale, once, nullptr};
  execve("/proc/self/exe", arguments, environment);
}

void start(char **arguments) {
  fix_addresses(arguments);
  copy_image_to_memory();
  crash::prepare();
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int control = fcntl(0, F_DUPFD_CLOEXEC, 10);
  int shared = fcntl(1, F_DUPFD_CLOEXEC, 10);
  if (control < 0 || shared < 0)
    _exit(77);
  output::open_files();
  wire::attach(control);
  memory::attach(shared);
  if (!coverage::attach(shared))
    _exit(78);
  llvm_side::initialize();
}
} // namespace
} // namespace optsleuth

int main(int, char **arguments) {
  optsleuth::start(arguments);
  optsleuth::zygote();
}
