// Code generation and in-process execution. See codegen.h.
//
// Never here: a guess. What the loader is known not to do (thread-local
// storage, constructors, indirect functions) is left to the system's linker.
#include "codegen.h"
#include "crash.h"
#include "memory.h"
#include "processes.h"
#include "llvm/ExecutionEngine/RuntimeDyld.h"
#include "llvm/ExecutionEngine/SectionMemoryManager.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

using namespace llvm;

namespace optsleuth {
namespace {
// The program's own exit handlers. The process's list also holds LLVM's, and
// running those would cost time and could fail.
constexpr unsigned kMaxHandlers = 1024;
void (*exit_handlers[kMaxHandlers])();
unsigned exit_handler_count = 0;

int program_atexit(void (*handler)()) {
  if (exit_handler_count == kMaxHandlers)
    return 1;
  exit_handlers[exit_handler_count++] = handler;
  return 0;
}

[[noreturn]] void program_exit(int status) {
  while (exit_handler_count)
    exit_handlers[--exit_handler_count]();
  fflush(nullptr);
  _exit(status);
}

class ProgramMemory : public SectionMemoryManager {
  uint64_t getSymbolAddress(const std::string &name) override {
    if (name == "exit")
      return reinterpret_cast<uint64_t>(&program_exit);
    if (name == "atexit")
      return reinterpret_cast<uint64_t>(&program_atexit);
    // This process has more libraries in it than a program would have.
    for (const char *library : {"libc.so.6", "libm.so.6", "libpthread.so.0"}) {
      void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
      if (handle && dlsym(handle, name.c_str()))
        return reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, name.c_str()));
    }
    return 0;
  }
};

// A program that reads what it never wrote finds this byte there.
__attribute__((noinline)) void fill_memory(uint8_t byte) {
  constexpr size_t kStack = 256 * 1024;
  char below[kStack];
  memset(below, byte, sizeof below);
  asm volatile("" : : "r"(below) : "memory"); // It is read: by the program.
  mallopt(M_PERTURB, byte ^ 0xff);            // malloc writes the opposite.
}

using Main = int (*)(int, char **, char **);

// The topmost bytes of what was filled are fill_memory's own frame; main's frame
// has to lie below them.
__attribute__((noinline)) int call_below(Main entry, char **arguments,
                                         char **environment) {
  char room[1024];
  asm volatile("" : : "r"(room) : "memory");
  int status = entry(1, arguments, environment);
  asm volatile("" : : "r"(room) : "memory"); // No tail call.
  return status;
}

const char *why_not_here(const Module &module) {
  const Function *entry = module.getFunction("main");
  if (!entry || entry->isDeclaration())
    return "no main";
  if (module.getNamedGlobal("llvm.global_ctors") ||
      module.getNamedGlobal("llvm.global_dtors"))
    return "constructors or destructors";
  if (!module.ifunc_empty())
    return "indirect functions";
  if (!module.getModuleInlineAsm().empty())
    return "file-level assembly";
  for (const GlobalVariable &variable : module.globals())
    if (variable.isThreadLocal())
      return "thread-local storage";
  // These change how the process itself behaves; the fast child has LLVM in it.
  for (const char *name : {"_exit", "quick_exit", "on_exit", "__cxa_atexit",
                           "dlopen", "dlsym", "fork", "execve", "sbrk", "brk"})
    if (module.getFunction(name))
      return name;
  return nullptr;
}
} // namespace

namespace codegen_step {
Object generate(Session &session, CodegenLevel level, MachinePasses *numbered) {
  Module &module = *session.module;
  std::string error;
  if (session.triple.str().empty()) {
    // As llc does. The passes saw no target, as in opt.
    session.triple = Triple(sys::getDefaultTargetTriple());
    compat::set_triple(module, session.triple);
  } else if (session.triple.getArch() == Triple::UnknownArch) {
    crash::finish(Verdict::BadModule,
                  "its target triple names no machine to generate code for");
  }
  std::unique_ptr<TargetMachine> machine = std::move(session.generator);
  if (!machine || level != CodegenLevel::O0)
    machine = make_target_machine(session.triple, compat::CodeGenLevel(level),
                                  true, error);
  if (!machine)
    crash::finish(Verdict::CodegenFailure, error.c_str());
  if (module.getDataLayout().isDefault())
    module.setDataLayout(machine->createDataLayout());
  Object object;
  raw_svector_ostream out(object);
  legacy::PassManager passes;
  passes.add(new TargetLibraryInfoWrapperPass(*session.library));
  if (numbered)
    numbered->watch(passes, module.getContext());
  legacy::PassManagerBase *list = &passes;
  if (numbered)
    list = numbered;
  if (machine->addPassesToEmitFile(*list, out, nullptr, compat::kObjectFile))
    crash::finish(Verdict::CodegenFailure,
                  "this target cannot write object files");
  passes.run(module);
  if (numbered)
    numbered->end();
  return object;
}

void execute(Session &session, const Object &bytes, uint32_t fill) {
  if (const char *reason = why_not_here(*session.module))
    crash::finish(Verdict::NeedsProcess, reason);
  auto object = object::ObjectFile::createObjectFile(
      MemoryBufferRef(StringRef(bytes.data(), bytes.size()), "program"));
  if (!object)
    crash::finish(Verdict::NeedsProcess,
                  toString(object.takeError()).c_str());
  ProgramMemory memory_manager;
  RuntimeDyld loader(memory_manager, memory_manager);
  auto loaded = loader.loadObject(**object);
  if (loader.hasError())
    crash::finish(Verdict::NeedsProcess, loader.getErrorString().str().c_str());
  loader.resolveRelocations();
  if (loader.hasError())
    crash::finish(Verdict::NeedsProcess, loader.getErrorString().str().c_str());
  std::string error;
  if (memory_manager.finalizeMemory(&error))
    crash::finish(Verdict::NeedsProcess, error.c_str());
  auto entry =
      reinterpret_cast<Main>(uintptr_t(loader.getSymbol("main").getAddress()));
  if (!entry)
    crash::finish(Verdict::NeedsProcess, "main was not loaded");
  static char name[] = "program";
  static char *arguments[] = {name, nullptr};
  static char *environment[] = {nullptr};
  environ = environment;
  enter_program();
  if (fill & kFilled)
    fill_memory(uint8_t(fill));
  program_exit(call_below(entry, arguments, environment));
}
} // namespace codegen_step
} // namespace optsleuth
