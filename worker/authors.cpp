// Which functions of LLVM wrote, changed or erased the IR. See authors.h.
#include "authors.h"
#include "coverage.h"
#include "crash.h"
#include "detour.h"
#include "memory.h"
#include "session.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <execinfo.h>
#include <ucontext.h>

namespace optsleuth {
namespace {
enum Area : uint64_t { kEvents, kStacks, kPlacesBefore, kPlacesAfter };

// `mov byte ptr [rip+slot], 1`; crates/objcov/src/probe.rs has it.
constexpr uint8_t kProbe[2] = {0xc6, 0x05};
constexpr uint64_t kProbeSlot = 2, kProbeBytes = 7;
constexpr uint8_t kBreakpoint = 0xcc;

AuthorTrap traps[kMaxAuthorTraps]; // Sorted by address.
uint32_t trap_count = 0;
bool is_open = false;
uint32_t narrow_first = 0, narrow_end = 0;
struct sigaction before_us;

const AuthorTrap *trap_at(uint64_t address) {
  const AuthorTrap *begin = traps, *end = traps + trap_count;
  auto is_below = [](const AuthorTrap &trap, uint64_t at) {
    return trap.address < at;
  };
  const AuthorTrap *found = std::lower_bound(begin, end, address, is_below);
  return found != end && found->address == address ? found : nullptr;
}

uint8_t byte_at(uint64_t address) {
  return *reinterpret_cast<volatile uint8_t *>(address);
}

bool is_probe(uint64_t address) {
  return memcmp(reinterpret_cast<void *>(address), kProbe, sizeof kProbe) == 0;
}

void set_mark(uint64_t probe) {
  int32_t distance;
  memcpy(&distance, reinterpret_cast<void *>(probe + kProbeSlot), sizeof distance);
  *reinterpret_cast<uint8_t *>(probe + kProbeBytes + int64_t(distance)) = 1;
}

// The stack of the function that begins here, as its first word in the area of
// stacks. Most stacks come again: a table of recent ones finds nearly all.
uint32_t stack_of(uint64_t entry) {
  constexpr int kOwnFrames = 8; // The handler's, and the kernel's way into it.
  constexpr uint32_t kRecent = 4096;
  static uint32_t recent[kRecent]; // The first word, plus one.
  void *frames[kMaxAuthorFrames + kOwnFrames];
  int found = backtrace(frames, int(kMaxAuthorFrames) + kOwnFrames);
  void **end = frames + found;
  // Behind the breakpoint, where the signal came.
  void **first = std::find(frames, end, reinterpret_cast<void *>(entry + 1));
  uint64_t count = uint64_t(end - first), hash = count;
  for (void **frame = first; frame != end; ++frame)
    hash = (hash ^ reinterpret_cast<uint64_t>(*frame)) * 0x100000001b3u;

  Report &report = memory::report();
  auto *words = reinterpret_cast<uint64_t *>(memory::author_area(kStacks));
  uint32_t &known = recent[(hash >> 20) % kRecent];
  if (known && words[known - 1] == count &&
      memcmp(words + known, first, count * sizeof(uint64_t)) == 0)
    return known - 1;
  uint32_t at = report.author_stack_words;
  if ((at + 1 + count) * sizeof(uint64_t) > kAuthorsArea)
    return UINT32_MAX; // The event is kept, without a stack.
  words[at] = count;
  memcpy(words + at + 1, first, count * sizeof(uint64_t));
  report.author_stack_words = uint32_t(at + 1 + count);
  known = at + 1;
  return at;
}

void record(AuthorKind kind, const void *object, uint64_t other, uint32_t stack) {
  Report &report = memory::report();
  if ((report.author_events + 1) * sizeof(AuthorEvent) > kAuthorsArea) {
    ++report.author_events_cut;
    return;
  }
  auto *events = reinterpret_cast<AuthorEvent *>(memory::author_area(kEvents));
  events[report.author_events] = {reinterpret_cast<uint64_t>(object), other,
                                  stack, uint32_t(kind)};
  ++report.author_events; // Last: what it counts is whole.
}

// The coverage window begins anew with each event before the first that counts,
// and ends with the last.
void narrow() {
  uint32_t events = memory::report().author_events;
  if (!narrow_end || memory::report().window != uint32_t(Window::Open))
    return;
  if (events <= narrow_first)
    coverage::clear();
  else if (events >= narrow_end)
    coverage::close_window();
}

void on_trap(int, siginfo_t *, void *context) {
  int saved = errno;
  auto &registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  uint64_t entry = uint64_t(registers[REG_RIP]) - 1;
  const AuthorTrap *trap = trap_at(entry);
  if (!trap) {
    // Not ours: LLVM ends as it would have without us.
    sigaction(SIGTRAP, &before_us, nullptr);
    raise(SIGTRAP);
    return;
  }
  set_mark(entry);
  auto kind = AuthorKind(trap->kind);
  uint32_t stack = stack_of(entry);
  auto *object = reinterpret_cast<llvm::Value *>(registers[REG_RDI]);
  auto other = kind == AuthorKind::Replaced ? uint64_t(registers[REG_RSI]) : 0;
  record(kind, object, other, stack);
  if (kind == AuthorKind::Replaced)
    for (llvm::User *user : object->users())
      if (llvm::isa<llvm::Instruction>(user))
        record(AuthorKind::OperandReplaced, user, other, stack);
  narrow();
  registers[REG_RIP] = greg_t(entry + kProbeBytes);
  errno = saved;
}

// Writes down which instruction stands where. Returns how many bytes that took.
uint32_t note_places(Area number) {
  char *area = memory::author_area(number);
  size_t at = 0;
  auto has_room = [&](size_t bytes) {
    bool has = at + bytes <= kAuthorsArea;
    memory::report().places_cut |= uint32_t(!has);
    return has;
  };
  for (const llvm::Function &function : *session().module) {
    if (function.isDeclaration())
      continue;
    llvm::StringRef name = function.getName();
    size_t name_room = (name.size() + 7) & ~size_t(7);
    if (!has_room(sizeof(FunctionPlaces) + name_room))
      break;
    auto *head = reinterpret_cast<FunctionPlaces *>(area + at);
    *head = {uint32_t(name.size()), 0};
    memcpy(head + 1, name.data(), name.size());
    at += sizeof *head + name_room;
    for (const llvm::BasicBlock &block : function)
      for (const llvm::Instruction &instruction : block) {
        if (!has_room(sizeof(uint64_t)))
          return uint32_t(at);
        *reinterpret_cast<const void **>(area + at) = &instruction;
        at += sizeof(uint64_t);
        ++head->instructions;
      }
  }
  return uint32_t(at);
}
} // namespace

namespace authors {
void request(Payload &payload, uint32_t first, uint32_t end) {
  narrow_first = first;
  narrow_end = end;
  for (uint32_t left = payload.number(); payload.ok && left; --left) {
    auto trap = payload.fixed<AuthorTrap>();
    bool is_next = trap_count == 0 || traps[trap_count - 1].address < trap.address;
    if (!payload.ok || trap_count == kMaxAuthorTraps || !is_next)
      crash::finish(Verdict::Trouble, "malformed list of functions to trap");
    if (is_probe(trap.address))
      traps[trap_count++] = trap;
  }
}

void open() {
  if (!trap_count)
    return;
  coverage::pause(); // Nor is this the compiler at work.
  memory::report().places_before_bytes = note_places(kPlacesBefore);
  coverage::resume();
  struct sigaction action{};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGTRAP, &action, &before_us);
  for (uint32_t i = 0; i < trap_count; ++i)
    if (is_probe(traps[i].address)) // A detour may stand there.
      write_code(traps[i].address, kBreakpoint);
  is_open = true;
}

void close() {
  if (!is_open)
    return;
  is_open = false;
  for (uint32_t i = 0; i < trap_count; ++i)
    if (byte_at(traps[i].address) == kBreakpoint)
      write_code(traps[i].address, kProbe[0]);
  sigaction(SIGTRAP, &before_us, nullptr);
  coverage::pause();
  memory::report().places_after_bytes = note_places(kPlacesAfter);
  coverage::resume();
}
} // namespace authors
} // namespace optsleuth
