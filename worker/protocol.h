// The layout that the worker and the host share. The host's side is
// crates/compiler/src/llvm/protocol/wire.rs, under the same names; a test of the
// host compares both, field by field, so change them together.
//
// Control frames of fixed size go over a socket (descriptor 0 at start). Bulk
// data goes through one memory file (descriptor 1 at start), so that what a
// child wrote survives its crash.
//
// Never here: a pointer, an enum without a number, padding, a type whose size
// depends on the platform.
#pragma once
#include <cstddef>
#include <cstdint>

namespace optsleuth {
constexpr uint32_t kProtocolVersion = 15;

// What the host asks for. In a payload, a text is its length and its bytes; a
// list is a count and its items; see payload.h.
enum class Op : uint32_t {
  // Version, capabilities. Answered by the zygote. Payload: the folder to work
  // in. Response: a HelloReply.
  Hello = 1,
  // The pass registry as LLVM prints it. Answered by the zygote. No payload.
  Passes = 2,
  // Apply options and parse a module: makes a session. Payload: a list of
  // options, the module's name, its IR.
  Load = 3,
  // Run a pipeline over the session's module in a forked child. Payload:
  // RunOptions, the pipeline, ranges of items to edit, ranges of invocations to
  // skip, a list of DetourCodes. Response: what `emit` asks for. Where authors are
  // asked for, a list of AuthorTraps follows. Where the module is interpreted, InterpretOptions, a
  // function's name and a list of its arguments follow; the response is then a
  // RulingRecord and what it announces.
  Run = 4,
  // Run a program file under the same limits and sandbox. Payload: its path, a
  // list of arguments, a list of variables (NAME=VALUE), and the file that it
  // reads as standard input, or nothing.
  Exec = 5,
  // C -> IR, in a front-end server. Answered by the zygote. Payload: a
  // directory, a name, the source, a list of cc1's arguments. Response: IR.
  Compile = 6,
  // The same as Exec for a script that judges a program: it may start processes.
  Check = 7,
};

// A request. Its payload, if any, lies in the memory file at kRequestOffset.
struct Request {
  uint32_t op;
  uint32_t sequence;
  uint64_t payload_bytes;
  uint64_t cpu_ms;         // Limit for LLVM's own work.
  uint64_t program_cpu_ms; // Limit for the executed program.
  uint64_t memory_bytes;   // Resident memory.
  uint64_t address_bytes;  // Address space; 0: no limit.
  uint64_t output_bytes; // Per stream of the program, and per file.
};

// Sleeping counts for nothing in CPU time, so waiting has a limit of its own:
// this many times the CPU limit, and some more.
constexpr uint64_t kWallPerCpu = 4, kWallExtraMs = 1000;

struct Reply {
  uint32_t sequence;
  uint32_t reserved;
};

// How far a child came. Written by the child, read after its end.
enum class Phase : uint32_t {
  Start = 0,
  Options = 1,
  Parse = 2,
  Pipeline = 3,
  Verify = 4,
  Emit = 5,
  Codegen = 6,
  Link = 7,
  Execute = 8,
  Interpret = 9,
  Done = 10,
};

// What a child says of itself before it ends. `None`: it did not get to it.
enum class Verdict : uint32_t {
  None = 0,
  Ok = 1,
  BadOptions = 2,
  BadModule = 3,
  BadPipeline = 4,
  InvalidIr = 5,
  FatalError = 6,     // report_fatal_error that asks for a crash dump.
  ErrorExit = 7,      // An error after which LLVM would call exit(1).
  CodegenFailure = 8, // The code generator refused.
  OutOfMemory = 9,
  NeedsProcess = 10, // This program cannot be executed inside the child.
  Trouble = 11,      // A fault of the harness itself.
  Assertion = 12,
  BadEdit = 13, // It changes nothing, or what it makes is not valid.
  DoesNotCompile = 14, // The source is no C program.
  CannotCall = 15, // There is no such function to interpret.
};

// How a child ended, as its supervisor saw it.
enum class End : uint32_t {
  None = 0,
  Exited = 1,
  Signaled = 2,
  TimeLimit = 3, // Of CPU time.
  MemoryLimit = 4,
  WallLimit = 5, // It waited, or was kept waiting.
  ThreadLimit = 6,
};

// How far the coverage window of a run came.
enum class Window : uint32_t { None = 0, Open = 1, Closed = 2 };

constexpr uint32_t kMaxFrames = 256;
constexpr uint32_t kMaxMessage = 16 * 1024;
constexpr uint32_t kNoInvocation = 0xffffffffu;

// Lives at offset 0 of the memory file while a child runs.
struct Report {
  // Written by the child.
  uint32_t phase;
  uint32_t verdict;
  uint32_t invocations;        // How many have started or been skipped.
  uint32_t current_invocation; // kNoInvocation outside of any.
  uint32_t invocation_bytes;   // Length of the log at kInvocationOffset.
  uint32_t invocations_cut;    // 1 if the log was too small.
  uint32_t stack_overflow;     // 1 if the fault address lies at its end.
  uint32_t frame_count;
  uint32_t message_bytes;
  uint32_t session_loaded;
  uint64_t response_bytes;
  uint64_t pipeline_ns;
  // Written by the supervisor.
  uint32_t end;
  int32_t end_value; // Exit status or signal.
  uint64_t wall_ns;
  uint64_t cpu_ns;
  uint64_t peak_memory_bytes;
  uint64_t stdout_bytes; // Copied to kStdoutOffset.
  uint64_t stderr_bytes; // Copied to kStderrOffset.
  uint32_t output_cut;   // 1 if the program wrote more than its limit.
  // Written by the child, about its edit: how many items there are.
  uint32_t edit_items;
  // Written by the child, about its coverage.
  uint32_t coverage_frozen; // 1: packed at the end of the pipeline.
  uint32_t window;
  // Written by the child, about authors; the areas are at kAuthorsOffset.
  uint32_t author_events;
  uint32_t author_events_cut;  // How many did not fit.
  uint32_t author_stack_words; // How much of the area of stacks is used.
  uint32_t places_before_bytes;
  uint32_t places_after_bytes; // 0: the window was not closed.
  uint32_t places_cut;         // 1 if a list of places did not fit.
  uint64_t frames[kMaxFrames];
  char message[kMaxMessage];
};

// The memory file is sparse: an offset costs nothing until it is written.
constexpr uint64_t kMiB = 1024 * 1024;
constexpr uint64_t kRequestOffset = 1 * kMiB;
constexpr uint64_t kResponseOffset = 1024 * kMiB;
constexpr uint64_t kInvocationOffset = 2048 * kMiB;
constexpr uint64_t kInvocationCapacity = 64 * kMiB;
constexpr uint64_t kStdoutOffset = 2304 * kMiB;
constexpr uint64_t kStderrOffset = 3328 * kMiB;
// Coverage: bit maps for the host, then the marks themselves and copies.
constexpr uint64_t kMaxBlocks = 16 * kMiB;
constexpr uint64_t kBitsOffset = 4352 * kMiB;
constexpr uint64_t kWindowBitsOffset = kBitsOffset + kMaxBlocks / 8;
constexpr uint64_t kEarlyBitsOffset = kBitsOffset + 2 * kMaxBlocks / 8;
constexpr uint64_t kBitsCapacity = 3 * kMaxBlocks / 8;
constexpr uint64_t kMarksOffset = 4416 * kMiB;
// Authors: events, their stacks, where instructions were and where they are.
constexpr uint64_t kAuthorsOffset = 4480 * kMiB;
constexpr uint64_t kAuthorsArea = 32 * kMiB; // Each of the four.
constexpr uint64_t kAuthorsCapacity = 4 * kAuthorsArea;
constexpr uint64_t kMemoryFileBytes = kAuthorsOffset + kAuthorsCapacity;
constexpr uint64_t kMaxTransfer = 1000 * kMiB;

// One entry of the invocation log, followed by the two names.
struct InvocationRecord {
  uint32_t flags; // kSkipped | kRequired | kChanged
  uint16_t pass_bytes;
  uint16_t unit_bytes;
};
constexpr uint32_t kSkipped = 1;
constexpr uint32_t kRequired = 2;
constexpr uint32_t kChanged = 4;

// What a function of LLVM does to a value, or had done to it.
enum class AuthorKind : uint32_t {
  Created = 1,
  Replaced = 2, // By another value, wherever it is used.
  Erased = 3,
  Moved = 4,
  Changed = 5,         // Its flags, operands, attributes or metadata.
  OperandReplaced = 6, // It used a value that was replaced.
};

// A function of LLVM whose calls are recorded: where it begins.
struct AuthorTrap {
  uint64_t address;
  uint32_t kind;
  uint32_t reserved;
};
constexpr uint32_t kMaxAuthorTraps = 256;

// One call of such a function. The area of stacks consists of words: the number
// of frames, then their addresses, the innermost first.
struct AuthorEvent {
  uint64_t object;
  uint64_t other; // The value that takes the place of one, or 0.
  uint32_t stack; // The first word of its stack.
  uint32_t kind;
};
constexpr uint32_t kMaxAuthorFrames = 48;

// Opens a function in a list of places. Its name follows, up to a multiple of
// eight bytes, and then the address of each instruction, as they are printed.
struct FunctionPlaces {
  uint32_t name_bytes;
  uint32_t instructions;
};

// Reply to Hello, at kResponseOffset, followed by the version text.
struct HelloReply {
  uint32_t protocol_version;
  uint32_t report_bytes;
  uint32_t seccomp;
  uint32_t landlock_abi; // 0: none.
  uint32_t aslr_off;
  uint32_t blocks; // 0: not instrumented.
  uint32_t version_bytes;
  uint32_t reserved;
};

// What a run hands out. `Shape` is the text of shape.h.
enum class Emit : uint32_t {
  Nothing = 0,
  Text = 1,
  Bitcode = 2,
  Object = 3,
  Shape = 4,
};

// How much the code generator optimizes, in LLVM's own numbers.
enum class CodegenLevel : uint32_t { O0 = 0, O1 = 1, O2 = 2, O3 = 3 };

// In which way a program is edited; crates/model/src/edit.rs says what each is.
enum class EditKind : uint32_t {
  FunctionBodies = 1,
  Globals = 2,
  Initializers = 3,
  Blocks = 4,
  Branches = 5,
  Instructions = 6,
  Bypasses = 7,
  OperandsToZero = 8,
  OperandsToOne = 9,
  Attributes = 10,
  Metadata = 11,
  Flags = 12,
  Increments = 13,
  Negations = 14,
  Inversions = 15,
  Signs = 16,
  Swaps = 17,
  Opcodes = 18,
};
constexpr uint32_t kNoEdit = 0;

// Set in a run's `fill` where there is one; the byte is below it.
constexpr uint32_t kFilled = 0x100;

// Opens the payload of Run. Yes is 1, no is 0.
struct RunOptions {
  uint32_t verify_each;
  uint32_t emit;
  uint32_t codegen_level;
  uint32_t execute; // Call main in the child.
  uint32_t cover_codegen; // And detours hold there.
  uint32_t window_first; // Invocations whose coverage is wanted by itself;
  uint32_t window_end;   // half-open.
  uint32_t watch_changes;
  uint32_t guarded;
  uint32_t fill;
  uint32_t edit_kind; // Or kNoEdit.
  uint32_t interpret; // By the referee, instead of generating code.
  uint32_t authors; // Of what changes in the window.
  // Then only what is executed between two of their events is in the window:
  uint32_t narrow_first; // behind the one before this,
  uint32_t narrow_end; // up to the one before this. 0: all.
  uint32_t machine_passes; // Are invocations as well.
};

// Bytes that stand in the compiler's code while passes run.
struct DetourCode {
  uint64_t address;
  uint32_t bytes; // In their order in memory.
  uint32_t length;
};
constexpr uint32_t kMaxDetours = 2;

// How the referee interprets. Yes is 1, no is 0.
struct InterpretOptions {
  uint64_t steps; // Instructions that may be executed.
  uint64_t memory_bytes; // Of the program's own objects.
  uint64_t output_bytes; // Per stream.
  uint32_t depth; // Calls that may be active at once.
  uint32_t trace_lines; // How many of the last instructions are listed.
  uint32_t with_arguments; // Those of the request, instead of main's.
  uint32_t self_test; // Of integers of this width, instead. 0: none.
  uint64_t observed_byte; // Who writes this byte of the stream is observed.
  uint32_t observed_stream; // 1: standard output, 2: standard error. 0: none.
  uint32_t reserved;
};

// What the referee says.
enum class Ruling : uint32_t { Defined = 1, Undefined = 2, NoVerdict = 3 };

// The referee's answer. Places follow it, each four texts (what happened, the
// instruction, its function, the source file), line and column: the first is
// where the run ended, the others are how poison came there, the newest first.
// The last `observed` ones are the call that wrote the observed byte, with what
// it wrote, and each of its arguments, with its value and what computes it.
// Then four texts: what the function returned, the program's two streams, and
// the trace.
struct RulingRecord {
  uint32_t ruling;
  uint32_t by_signal; // The program ended by signal `end_value`.
  int32_t end_value;
  uint32_t depends_on_layout; // Control flow depended on addresses.
  uint64_t steps;
  uint32_t places;
  uint32_t observed; // How many of the places.
};
} // namespace optsleuth
