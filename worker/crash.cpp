// Turns the end of LLVM into a report. See crash.h.
#include "crash.h"
#include "memory.h"
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <string>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

namespace optsleuth {
namespace {
constexpr int kFatalSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE,
                                 SIGABRT, SIGTRAP, SIGSYS};
constexpr size_t kHandlerStack = 256 * 1024;
char handler_stack[kHandlerStack];
uintptr_t stack_top = 0;

void record_frames() {
  Report &report = memory::report();
  void *frames[kMaxFrames];
  int count = backtrace(frames, kMaxFrames);
  for (int i = 0; i < count; ++i)
    report.frames[i] = reinterpret_cast<uint64_t>(frames[i]);
  report.frame_count = uint32_t(count);
}

// A fault below the deepest address the stack may reach is an overflow.
bool hits_stack_end(uintptr_t address) {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return false;
  uintptr_t depth = stack_top - address;
  return address < stack_top && depth > limit.rlim_cur - limit.rlim_cur / 8 &&
         depth < limit.rlim_cur + limit.rlim_cur / 8;
}

void on_signal(int signal, siginfo_t *info, void *) {
  Report &report = memory::report();
  if (signal == SIGSEGV || signal == SIGBUS)
    report.stack_overflow =
        hits_stack_end(reinterpret_cast<uintptr_t>(info->si_addr));
  if (report.frame_count == 0)
    record_frames();
  // The handler was reset on entry: this ends the process as it should end.
  raise(signal);
}
} // namespace

namespace crash {
void prepare() {
  char here;
  stack_top = reinterpret_cast<uintptr_t>(&here);
  void *frames[4];
  backtrace(frames, 4); // Loads the unwinder now; in a handler it may not.
}

void arm() {
  stack_t stack{};
  stack.ss_sp = handler_stack;
  stack.ss_size = kHandlerStack;
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (int signal : kFatalSignals)
    sigaction(signal, &action, nullptr);
}

void disarm() {
  for (int number = 1; number < NSIG; ++number)
    signal(number, SIG_DFL);
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

void finish(Verdict verdict, const char *message) {
  Report &report = memory::report();
  report.verdict = uint32_t(verdict);
  if (message)
    memory::set_message(message, strlen(message));
  record_frames();
  _exit(0);
}
} // namespace crash
} // namespace optsleuth

// How the address sanitizer behaves in a worker that was linked with it. Most of
// LLVM is not instrumented: what needs all of it is off. Signals are ours.
extern "C" const char *__asan_default_options() {
  return "symbolize=0:abort_on_error=1:handle_segv=0:handle_sigbus=0:"
         "handle_abort=0:handle_sigfpe=0:handle_sigill=0:detect_leaks=0:"
         "detect_odr_violation=0:detect_container_overflow=0:"
         "alloc_dealloc_mismatch=0:new_delete_type_mismatch=0:"
         "allow_user_poisoning=0:allocator_may_return_null=1";
}

// glibc's own would print the text and abort; defined here, in the executable,
// it is what assertion-enabled archives call, and the text stays structured.
extern "C" [[noreturn]] void __assert_fail(const char *expression,
                                           const char *file, unsigned line,
                                           const char *function) noexcept {
  std::string text = "Assertion `" + std::string(expression) + "' failed in " +
                     (function ? function : "?") + "\n" + file + ":" +
                     std::to_string(line);
  optsleuth::crash::finish(optsleuth::Verdict::Assertion, text.c_str());
}
