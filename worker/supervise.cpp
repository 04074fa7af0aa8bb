// Supervision of one child. See supervise.h.
#include "supervise.h"
#include "clock.h"
#include "folder.h"
#include "memory.h"
#include "wire.h"
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace optsleuth {
namespace {
constexpr int kTickMs = 10;

// A test program that has more is one that never stops making them.
constexpr uint64_t kMaxThreads = 256;

// What the child has of what no kernel limit counts.
struct Usage {
  uint64_t threads;
  // Shared pages count as well: a program can make as many of those as it likes.
  uint64_t resident_bytes;
};

Usage usage_of(pid_t child) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", int(child));
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return {};
  ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  text[got > 0 ? got : 0] = '\0';
  // The second field is a name, which may hold anything; the others follow its
  // last bracket.
  constexpr int kThreads = 20, kResidentPages = 24;
  Usage usage{};
  char *at = strrchr(text, ')');
  for (int field = 2; at && field <= kResidentPages; ++field) {
    if (field == kThreads)
      usage.threads = strtoull(at, nullptr, 10);
    if (field == kResidentPages)
      usage.resident_bytes = strtoull(at, nullptr, 10) * 4096;
    at = strchr(at, ' ');
    if (at)
      ++at;
  }
  return usage;
}

// One time limit: CPU time, and four times as much on the wall.
class Clock {
public:
  Clock(uint64_t limit_ms, uint64_t cpu_ns)
      : cpu_end(cpu_ns + limit_ms * 1000000u),
        wall_end(now_ns() + (limit_ms * kWallPerCpu + kWallExtraMs) * 1000000u) {
  }
  End over(uint64_t cpu_ns) const {
    if (cpu_ns > cpu_end)
      return End::TimeLimit;
    return now_ns() > wall_end ? End::WallLimit : End::None;
  }

private:
  uint64_t cpu_end, wall_end;
};
} // namespace

namespace supervise {
End watch(pid_t child, const Request &request, Until until) {
  Report &report = memory::report();
  int handle = int(syscall(SYS_pidfd_open, child, 0));
  clockid_t cpu_clock;
  bool has_clock = clock_getcpuclockid(child, &cpu_clock) == 0;
  Clock clock(request.cpu_ms, 0);
  bool executing = false;
  End end = End::None;
  for (;;) {
    pollfd waits[2] = {{handle, POLLIN, 0}, {wire::descriptor(), POLLRDHUP, 0}};
    int ready = poll(waits, 2, kTickMs);
    if (ready < 0 && errno == EINTR)
      continue;
    if (handle >= 0 && (waits[0].revents & POLLIN))
      break;
    if (waits[1].revents & (POLLRDHUP | POLLHUP | POLLERR)) {
      kill(-child, SIGKILL);
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
      folder::remove(); // A session's zygote does this as well.
      _exit(0);
    }
    if (until == Until::Loaded &&
        __atomic_load_n(&report.session_loaded, __ATOMIC_ACQUIRE)) {
      // A loaded session lives as long as the host wants it.
      if (handle >= 0)
        close(handle);
      return End::None;
    }
    uint64_t cpu_ns = has_clock ? now_ns(cpu_clock) : 0;
    if (!executing && (report.phase == uint32_t(Phase::Execute) ||
                       report.phase == uint32_t(Phase::Interpret))) {
      executing = true;
      clock = Clock(request.program_cpu_ms, cpu_ns);
    }
    end = clock.over(cpu_ns);
    Usage usage = usage_of(child);
    if (end == End::None && usage.resident_bytes > request.memory_bytes)
      end = End::MemoryLimit;
    if (end == End::None && usage.threads > kMaxThreads)
      end = End::ThreadLimit;
    if (end != End::None)
      break;
  }
  if (handle >= 0)
    close(handle);
  return end;
}

void kill_orphans() {
  for (int round = 0; round < 1000; ++round) {
    pid_t got = waitpid(-1, nullptr, WNOHANG);
    if (got < 0)
      return; // No child at all.
    if (got > 0)
      continue;
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", int(getpid()));
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
      return;
    ssize_t bytes = read(file, text, sizeof text - 1);
    close(file);
    text[bytes > 0 ? bytes : 0] = '\0';
    for (char *at = text; *at;) {
      long pid = strtol(at, &at, 10);
      if (pid > 0)
        kill(pid_t(pid), SIGKILL);
      while (*at == ' ')
        ++at;
    }
    usleep(1000);
  }
}

void reap(pid_t child, End end, uint64_t started_ns) {
  siginfo_t info{};
  if (end != End::None) {
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
  }
  while (waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT) < 0 &&
         errno == EINTR) {
  }
  kill(-child, SIGKILL); // While the leader is unreaped, the group is its own.
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  kill_orphans();
  Report &report = memory::report();
  report.wall_ns = now_ns() - started_ns;
  report.cpu_ns = uint64_t(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
                      1000000000u +
                  uint64_t(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) *
                      1000u;
  report.peak_memory_bytes = uint64_t(usage.ru_maxrss) * 1024u;
  if (end == End::None)
    end = WIFSIGNALED(status) ? End::Signaled : End::Exited;
  report.end = uint32_t(end);
  report.end_value = WIFSIGNALED(status) ? WTERMSIG(status)
                                         : WEXITSTATUS(status);
}
} // namespace supervise
} // namespace optsleuth
