// The processes: a zygote that never changes, a session per module, a child
// per run.
//
//   host -- Load --> zygote --fork--> session --fork per Run--> child
//
// The zygote holds LLVM with its static initializers done. A session has
// applied the LLVM options and parsed one module. A child works on that module
// in place, copy-on-write, and ends. So a run parses nothing, and no run can
// leave a trace in the next one.
//
// Never here: an allocation in a session between two runs. LLVM's behaviour
// depends on heap addresses; every child must start from the same heap.
#include "coverage.h"
#include "crash.h"
#include "frontend.h"
#include "llvm_side.h"
#include "memory.h"
#include "pages.h"
#include "sandbox.h"
#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace optsleuth {
namespace {
int control = -1;          // The socket to the host.
int program_stdout = -1;   // Memory files that catch a child's output.
int program_stderr = -1;
int null_device = -1;
char root[PATH_MAX];       // What goes when the host goes.
char directory[PATH_MAX];  // Part of it: the program's, and where we work.

constexpr int kTickMs = 10;

uint64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time{};
  clock_gettime(clock, &time);
  return uint64_t(time.tv_sec) * 1000000000u + uint64_t(time.tv_nsec);
}

// Reads one request, or only looks at it. False when the host is gone.
bool receive(Request &request, bool peek) {
  int flags = MSG_WAITALL | (peek ? MSG_PEEK : 0);
  ssize_t got;
  do
    got = recv(control, &request, sizeof request, flags);
  while (got < 0 && errno == EINTR);
  return got == ssize_t(sizeof request);
}

void answer(const Request &request) {
  Reply reply{request.sequence, 0};
  if (send(control, &reply, sizeof reply, MSG_NOSIGNAL) != sizeof reply)
    _exit(0); // The host is gone.
}

// Memory that the child has resident, in bytes. Shared pages count as well: a
// program can make as many of those as it likes.
uint64_t resident_bytes(pid_t child) {
  char path[64], text[128];
  snprintf(path, sizeof path, "/proc/%d/statm", int(child));
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  if (got <= 0)
    return 0;
  text[got] = '\0';
  unsigned long long size = 0, resident = 0;
  if (sscanf(text, "%llu %llu", &size, &resident) != 2)
    return 0;
  return resident * 4096;
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

// Waits for the child's end (without reaping it) or a limit. The session's own
// end comes with the host's: nobody would read the result.
End watch(pid_t child, const Request &request, bool may_stay) {
  Report &report = memory::report();
  int handle = int(syscall(SYS_pidfd_open, child, 0));
  clockid_t cpu_clock;
  bool has_clock = clock_getcpuclockid(child, &cpu_clock) == 0;
  Clock clock(request.cpu_ms, 0);
  bool executing = false;
  End end = End::None;
  for (;;) {
    pollfd waits[2] = {{handle, POLLIN, 0}, {control, POLLRDHUP, 0}};
    int ready = poll(waits, 2, kTickMs);
    if (ready < 0 && errno == EINTR)
      continue;
    if (handle >= 0 && (waits[0].revents & POLLIN))
      break;
    if (waits[1].revents & (POLLRDHUP | POLLHUP | POLLERR)) {
      kill(-child, SIGKILL);
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
      std::error_code ignored; // A session's zygote does this as well.
      std::filesystem::remove_all(root, ignored);
      _exit(0);
    }
    if (may_stay && __atomic_load_n(&report.session_loaded, __ATOMIC_ACQUIRE)) {
      // A loaded session lives as long as the host wants it.
      if (handle >= 0)
        close(handle);
      return End::None;
    }
    uint64_t cpu_ns = has_clock ? now_ns(cpu_clock) : 0;
    if (!executing && report.phase == uint32_t(Phase::Execute)) {
      executing = true;
      clock = Clock(request.program_cpu_ms, cpu_ns);
    }
    end = clock.over(cpu_ns);
    if (end == End::None && resident_bytes(child) > request.memory_bytes)
      end = End::MemoryLimit;
    if (end != End::None)
      break;
  }
  if (handle >= 0)
    close(handle);
  return end;
}

// Descendants that escaped the group come to us, because we are a subreaper.
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

// Copies what a child wrote to where the host reads it, and empties the source.
uint64_t collect(int source, uint64_t offset, uint64_t limit, uint32_t *cut) {
  char buffer[16384];
  uint64_t done = 0;
  for (;;) {
    ssize_t got = pread(source, buffer, sizeof buffer, off_t(done));
    if (got <= 0 || done + uint64_t(got) > kMaxTransfer)
      break;
    if (pwrite(memory::descriptor(), buffer, size_t(got),
               off_t(offset + done)) != got)
      break;
    done += uint64_t(got);
  }
  if (done > limit && cut)
    *cut = 1;
  // A program may have moved the shared position or grown the file.
  if (ftruncate(source, 0) != 0 || lseek(source, 0, SEEK_SET) != 0)
    _exit(74);
  return std::min(done, limit);
}

// Removes a folder even where its modes say that it cannot be listed.
void remove_folder(const std::filesystem::path &folder) {
  std::error_code ignored;
  chmod(folder.c_str(), 0700);
  for (auto &entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored))
      remove_folder(entry.path());
  std::filesystem::remove_all(folder, ignored);
}

// Removes what a program left in its directory. In a child of its own, because
// walking a directory allocates. Costs one system call where nothing is left.
void clean_directory() {
  char entries[4096];
  bool used = false;
  int at = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (at < 0)
    return;
  long bytes = syscall(SYS_getdents64, at, entries, sizeof entries);
  close(at);
  constexpr size_t kNameOffset = 19, kLengthOffset = 16;
  for (long i = 0; i < bytes;) {
    const char *name = entries + i + kNameOffset;
    used = used || (strcmp(name, ".") != 0 && strcmp(name, "..") != 0);
    uint16_t length;
    memcpy(&length, entries + i + kLengthOffset, sizeof length);
    i += length;
  }
  if (!used)
    return;
  pid_t cleaner = fork();
  if (cleaner == 0) {
    std::error_code ignored;
    for (auto &entry : std::filesystem::directory_iterator(directory, ignored)) {
      if (entry.is_directory(ignored) && !entry.is_symlink(ignored))
        remove_folder(entry.path());
      else
        std::filesystem::remove(entry.path(), ignored);
    }
    _exit(0);
  }
  if (cleaner > 0)
    waitpid(cleaner, nullptr, 0);
}

// What every child does first.
void become_child(const Request &request, pid_t parent) {
  setsid(); // A group of its own, and no terminal to talk to.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(0); // The parent died before the line above.
  close(control);
  control = -1;
  dup2(program_stderr, 2);
  // LLVM may print more than fits; that is no reason for it to end.
  signal(SIGXFSZ, SIG_IGN);
  if (!sandbox::limit(request.memory_bytes, request.output_bytes,
                      request.cpu_ms + request.program_cpu_ms))
    crash::finish(Verdict::Trouble, "cannot set resource limits");
}

[[noreturn]] void exec_program(const Request &request) {
  Payload payload = memory::request(request.payload_bytes);
  std::string path(payload.text());
  if (!payload.ok || access(path.c_str(), X_OK) != 0)
    crash::finish(Verdict::Trouble, "the program file cannot be executed");
  char name[] = "program";
  char *arguments[] = {name, nullptr};
  char *environment[] = {nullptr};
  enter_program(directory, true);
  execve(path.c_str(), arguments, environment);
  _exit(127);
}

[[noreturn]] void compile_source(const Request &request) {
  if (!frontend::compile)
    crash::finish(Verdict::Trouble, "this worker has no front end");
  frontend::compile(memory::request(request.payload_bytes));
  _exit(0);
}

// Forks a child for the request, watches over it, and answers.
void serve(const Request &request) {
  memory::reset_report();
  uint64_t started = now_ns();
  pid_t self = getpid();
  pid_t child = fork();
  if (child < 0) {
    memory::report().verdict = uint32_t(Verdict::Trouble);
    memory::set_message("cannot fork");
    answer(request);
    return;
  }
  if (child == 0) {
    become_child(request, self);
    if (request.op == uint32_t(Op::Exec))
      exec_program(request);
    crash::arm();
    if (request.op == uint32_t(Op::Compile))
      compile_source(request);
    coverage::expect_marks();
    llvm_side::run(memory::request(request.payload_bytes), directory);
  }
  End end = watch(child, request, false);
  reap(child, end, started);
  coverage::collect();
  Report &report = memory::report();
  report.stdout_bytes = collect(program_stdout, kStdoutOffset,
                                request.output_bytes, &report.output_cut);
  report.stderr_bytes =
      collect(program_stderr, kStderrOffset, request.output_bytes, nullptr);
  clean_directory();
  answer(request);
}

[[noreturn]] void session(const Request &load, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  dup2(program_stderr, 2);
  memory::report().phase = uint32_t(Phase::Options);
  crash::arm();
  if (!llvm_side::load(memory::request(load.payload_bytes)) ||
      !llvm_side::prepare())
    _exit(0);
  crash::disarm();
  dup2(null_device, 2);
  __atomic_store_n(&memory::report().session_loaded, 1u, __ATOMIC_RELEASE);
  answer(load);
  Request request{};
  while (receive(request, true)) {
    bool mine = request.op == uint32_t(Op::Run) ||
                request.op == uint32_t(Op::Exec);
    if (!mine)
      _exit(0); // The zygote takes this request.
    receive(request, false);
    serve(request);
  }
  _exit(0);
}

// Makes a session. Returns when it is gone and the zygote has work again.
void load(const Request &request) {
  memory::reset_report();
  memory::report().session_loaded = 0;
  uint64_t started = now_ns();
  pid_t self = getpid();
  pid_t child = fork();
  if (child == 0)
    session(request, self);
  if (child < 0) {
    memory::report().verdict = uint32_t(Verdict::Trouble);
    memory::set_message("cannot fork");
    answer(request);
    return;
  }
  End end = watch(child, request, true);
  if (end == End::None && memory::report().session_loaded) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    kill_orphans(); // A run that outlived its killed session.
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      _exit(75); // The session was killed: the host starts a new worker.
    return;
  }
  reap(child, end, started);
  Report &report = memory::report();
  report.stderr_bytes =
      collect(program_stderr, kStderrOffset, request.output_bytes, nullptr);
  answer(request);
}

// The pass registry. In a child: printing it would disturb the zygote's heap.
void passes(const Request &request) {
  memory::reset_report();
  Report &report = memory::report();
  pid_t child = fork();
  if (child == 0) {
    std::string names = llvm_side::pass_names();
    if (memory::write_response(names.data(), names.size()))
      report.verdict = uint32_t(Verdict::Ok);
    _exit(0);
  }
  if (child > 0)
    waitpid(child, nullptr, 0);
  if (report.verdict != uint32_t(Verdict::Ok)) {
    report.verdict = uint32_t(Verdict::Trouble);
    memory::set_message("cannot print the pass registry");
  }
  answer(request);
}

void hello(const Request &request) {
  memory::reset_report();
  Report &report = memory::report();
  std::string_view path = memory::request(request.payload_bytes).text();
  constexpr char kPrivate[] = "/private";
  bool fits = !path.empty() && path.size() + sizeof kPrivate < sizeof directory;
  if (fits) {
    memcpy(root, path.data(), path.size()); // Zeroes follow.
    memcpy(directory, path.data(), path.size());
    memcpy(directory + path.size(), kPrivate, sizeof kPrivate);
  }
  if (!fits || chdir(directory) != 0) {
    report.verdict = uint32_t(Verdict::Trouble);
    memory::set_message("cannot enter the private directory");
    answer(request);
    return;
  }
  sandbox::Support support = sandbox::support();
  struct {
    HelloReply fixed;
    char version[64];
  } reply{};
  snprintf(reply.version, sizeof reply.version, "%s", llvm_side::version());
  reply.fixed = {kProtocolVersion,
                 uint32_t(sizeof(Report)),
                 support.seccomp,
                 uint32_t(support.landlock_abi),
                 (personality(0xffffffff) & ADDR_NO_RANDOMIZE) != 0,
                 coverage::block_count(),
                 uint32_t(strlen(reply.version)),
                 0};
  memory::write_response(reinterpret_cast<char *>(&reply), sizeof reply);
  report.verdict = uint32_t(Verdict::Ok);
  answer(request);
}

int memory_file(const char *name) {
  int file = int(syscall(SYS_memfd_create, name, 1u /* close on exec */));
  if (file < 0)
    _exit(76);
  return file;
}

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
  control = fcntl(0, F_DUPFD_CLOEXEC, 10);
  int shared = fcntl(1, F_DUPFD_CLOEXEC, 10);
  null_device = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (control < 0 || shared < 0 || null_device < 0)
    _exit(77);
  dup2(null_device, 0);
  dup2(null_device, 1);
  dup2(null_device, 2);
  memory::attach(shared);
  if (!coverage::attach(shared))
    _exit(78);
  program_stdout = memory_file("stdout");
  program_stderr = memory_file("stderr");
  llvm_side::initialize();
}
} // namespace

void enter_program(const char *private_directory, bool may_exec) {
  crash::disarm();
  bool ready = ftruncate(program_stderr, 0) == 0 &&
               lseek(program_stderr, 0, SEEK_SET) == 0 &&
               dup2(program_stdout, 1) == 1 && dup2(program_stderr, 2) == 2;
  if (!ready || !sandbox::fence(private_directory, may_exec))
    crash::finish(Verdict::Trouble, "cannot fence the program in");
  memory::report().phase = uint32_t(Phase::Execute);
  coverage::detach();
  memory::detach();
  if (syscall(436 /* close_range */, 3u, ~0u, 0u) != 0)
    for (int file = 3; file < 64; ++file)
      close(file);
}
// Serves the host until it is gone.
void zygote() {
  Request request{};
  while (receive(request, false)) {
    switch (Op(request.op)) {
    case Op::Hello:
      hello(request);
      break;
    case Op::Passes:
      passes(request);
      break;
    case Op::Load:
      load(request);
      break;
    case Op::Exec:
    case Op::Compile:
      serve(request);
      break;
    case Op::Run:
    default:
      memory::reset_report();
      memory::report().verdict = uint32_t(Verdict::Trouble);
      memory::set_message("no module is loaded");
      answer(request);
    }
  }
  if (*root) {
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }
}
} // namespace optsleuth

int main(int, char **arguments) {
  optsleuth::start(arguments);
  optsleuth::zygote();
}
