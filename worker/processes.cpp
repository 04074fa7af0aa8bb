// The processes. See processes.h.
#include "processes.h"
#include "clock.h"
#include "coverage.h"
#include "crash.h"
#include "folder.h"
#include "frontend.h"
#include "llvm_side.h"
#include "memory.h"
#include "output.h"
#include "sandbox.h"
#include "supervise.h"
#include "wire.h"
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace optsleuth {
using supervise::Until;

namespace {
// Answers that this cannot be done. The fault is the harness's.
void refuse(const Request &request, const char *why) {
  memory::report().verdict = uint32_t(Verdict::Trouble);
  memory::set_message(why, strlen(why)); // No std::string: no allocation.
  wire::answer(request);
}

bool is_program(const Request &request) {
  return request.op == uint32_t(Op::Exec) || request.op == uint32_t(Op::Check);
}

sandbox::Processes processes_of(Op op) {
  switch (op) {
  case Op::Exec:
    return sandbox::Processes::Become;
  case Op::Check:
    return sandbox::Processes::Start;
  default:
    return sandbox::Processes::None;
  }
}

// What every child does first.
void become_child(const Request &request, pid_t parent) {
  setsid(); // A group of its own, and no terminal to talk to.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(0); // The parent died before the line above.
  wire::detach();
  output::catch_stderr();
  // LLVM may print more than fits; that is no reason for it to end.
  signal(SIGXFSZ, SIG_IGN);
  if (!sandbox::limit(request.address_bytes, request.output_bytes,
                      request.cpu_ms + request.program_cpu_ms))
    crash::finish(Verdict::Trouble, "cannot set resource limits");
  if (!sandbox::fence(folder::private_directory()) ||
      !sandbox::isolate(processes_of(Op(request.op))))
    crash::finish(Verdict::Trouble, "cannot fence LLVM in");
}

// A list of texts, as execve takes it.
std::vector<char *> words(std::vector<std::string> &texts) {
  std::vector<char *> all;
  for (std::string &text : texts)
    all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> list(Payload &payload) {
  std::vector<std::string> all;
  for (uint32_t left = payload.number(); left && payload.ok; --left)
    all.emplace_back(payload.text());
  return all;
}

[[noreturn]] void exec_program(const Request &request) {
  Payload payload = memory::request(request.payload_bytes);
  std::string path(payload.text());
  std::vector<std::string> given = list(payload), variables = list(payload);
  std::string input(payload.text());
  if (!payload.ok || access(path.c_str(), X_OK) != 0)
    crash::finish(Verdict::Trouble, "the program file cannot be executed");
  if (!input.empty()) {
    int file = open(input.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 || dup2(file, 0) != 0)
      crash::finish(Verdict::Trouble, "the program's input cannot be read");
  }
  // A script is found by its name.
  bool is_script = request.op == uint32_t(Op::Check);
  given.insert(given.begin(), is_script ? path : "program");
  std::vector<char *> arguments = words(given), environment = words(variables);
  enter_program();
  execve(path.c_str(), arguments.data(), environment.data());
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
    refuse(request, "cannot fork");
    return;
  }
  if (child == 0) {
    become_child(request, self);
    if (is_program(request))
      exec_program(request);
    crash::arm();
    if (request.op == uint32_t(Op::Compile))
      compile_source(request);
    coverage::expect_marks();
    llvm_side::run(memory::request(request.payload_bytes));
  }
  End end = supervise::watch(child, request, Until::End);
  supervise::reap(child, end, started);
  coverage::collect();
  output::collect(request.output_bytes);
  folder::clean();
  wire::answer(request);
}

[[noreturn]] void session(const Request &load, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  output::catch_stderr();
  if (!sandbox::fence(folder::private_directory()))
    crash::finish(Verdict::Trouble, "cannot fence LLVM in");
  memory::report().phase = uint32_t(Phase::Options);
  crash::arm();
  if (!llvm_side::load(memory::request(load.payload_bytes)) ||
      !llvm_side::prepare())
    _exit(0);
  crash::disarm();
  output::drop_stderr();
  __atomic_store_n(&memory::report().session_loaded, 1u, __ATOMIC_RELEASE);
  wire::answer(load);
  Request request{};
  while (wire::peek(request)) {
    bool mine = request.op == uint32_t(Op::Run) || is_program(request);
    if (!mine)
      _exit(0); // The zygote takes this request.
    wire::receive(request);
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
    refuse(request, "cannot fork");
    return;
  }
  End end = supervise::watch(child, request, Until::Loaded);
  if (end == End::None && memory::report().session_loaded) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    supervise::kill_orphans(); // A run that outlived its killed session.
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      _exit(75); // The session was killed: the host starts a new worker.
    return;
  }
  supervise::reap(child, end, started);
  output::collect(request.output_bytes);
  wire::answer(request);
}

// The pass registry. In a child: printing it would disturb the zygote's heap.
void passes(const Request &request) {
  memory::reset_report();
  Report &report = memory::report();
  pid_t child = fork();
  if (child == 0) {
    if (!sandbox::fence(folder::private_directory()) || !sandbox::isolate(sandbox::Processes::None))
      _exit(0);
    std::string names = llvm_side::pass_names();
    if (memory::write_response(names.data(), names.size()))
      report.verdict = uint32_t(Verdict::Ok);
    _exit(0);
  }
  if (child > 0)
    waitpid(child, nullptr, 0);
  if (report.verdict == uint32_t(Verdict::Ok))
    wire::answer(request);
  else
    refuse(request, "cannot print the pass registry");
}

void hello(const Request &request) {
  memory::reset_report();
  if (!folder::enter(memory::request(request.payload_bytes).text())) {
    refuse(request, "cannot enter the private directory");
    return;
  }
  sandbox::Support support = sandbox::support();
  struct {
    HelloReply fixed;
    char version[64];
  } reply{};
  snprintf(reply.version, sizeof reply.version, "%s", llvm_side::version());
  reply.fixed.protocol_version = kProtocolVersion;
  reply.fixed.report_bytes = uint32_t(sizeof(Report));
  reply.fixed.seccomp = support.seccomp;
  reply.fixed.landlock_abi = uint32_t(support.landlock_abi);
  reply.fixed.aslr_off = (personality(0xffffffff) & ADDR_NO_RANDOMIZE) != 0;
  reply.fixed.blocks = coverage::block_count();
  reply.fixed.version_bytes = uint32_t(strlen(reply.version));
  memory::write_response(reinterpret_cast<char *>(&reply), sizeof reply);
  memory::report().verdict = uint32_t(Verdict::Ok);
  wire::answer(request);
}
} // namespace

void enter_program() {
  crash::disarm();
  if (!output::catch_program())
    crash::finish(Verdict::Trouble, "cannot catch the program's output");
  memory::report().phase = uint32_t(Phase::Execute);
  coverage::detach();
  memory::detach();
  if (syscall(436 /* close_range */, 3u, ~0u, 0u) != 0)
    for (int file = 3; file < 64; ++file)
      close(file);
}

void zygote() {
  Request request{};
  while (wire::receive(request)) {
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
    case Op::Check:
    case Op::Compile:
      serve(request);
      break;
    case Op::Run:
    default:
      memory::reset_report();
      refuse(request, "no module is loaded");
    }
  }
  folder::remove();
}
} // namespace optsleuth
