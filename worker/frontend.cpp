// C -> IR, as `clang -cc1` does it, without starting clang. See frontend.h.
//
// The arguments are those that clang's driver makes; the text is written by the
// action behind `-emit-llvm`. So nothing here decides what the IR looks like.
//
// Never here: a file that is written, or freed memory. The process ends after
// one source.
#include "frontend.h"
#define OPTSLEUTH_FRONT_END
#include "compat.h"
#include "memory.h"
#include "clang/Basic/Stack.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <unistd.h>
#include <vector>

// clang's archives call what LLVM was built with on top (in distributions,
// Polly). Nothing of that has a part in unoptimized IR, so nothing registers.
#define HANDLE_EXTENSION(Name)                                                 \
  llvm::PassPluginLibraryInfo get##Name##PluginInfo() {                        \
    return {LLVM_PLUGIN_API_VERSION, #Name, "", [](llvm::PassBuilder &) {}};   \
  }
#include "llvm/Support/Extension.def"

using namespace clang;

namespace optsleuth {
namespace {
// `-mllvm` options, as the front end's own main function applies them.
void apply_llvm_options(const std::vector<std::string> &options) {
  if (options.empty())
    return;
  std::vector<const char *> arguments = {"clang (LLVM option parsing)"};
  for (const std::string &option : options)
    arguments.push_back(option.c_str());
  llvm::cl::ParseCommandLineOptions(int(arguments.size()), arguments.data());
}

void end(Verdict verdict, const std::string &message) {
  memory::report().verdict = uint32_t(verdict);
  memory::set_message(message);
}
} // namespace

void frontend::compile(Payload request) {
  std::string directory(request.text()), name(request.text());
  std::string_view text = request.text();
  std::vector<std::string> arguments;
  for (uint32_t left = request.number(); request.ok && left; --left)
    arguments.emplace_back(request.text());
  // Flags may name folders as seen from where the host stands.
  if (!request.ok || chdir(directory.c_str()) != 0)
    return end(Verdict::Trouble, "cannot enter the directory " + directory);
  std::vector<const char *> words;
  for (const std::string &argument : arguments)
    words.push_back(argument.c_str());

  memory::report().phase = uint32_t(Phase::Parse);
  noteBottomOfStack();
  std::string said;
  llvm::raw_string_ostream errors(said);
  auto &options = *new DiagnosticOptions;
  auto &printer = *new TextDiagnosticPrinter(errors, compat::as_taken(options));
  auto &early = *new DiagnosticsEngine(
      new DiagnosticIDs, compat::as_taken(options), &printer, false);
  auto invocation = std::make_shared<CompilerInvocation>();
  if (!CompilerInvocation::CreateFromArgs(*invocation, words, early))
    return end(Verdict::DoesNotCompile, errors.str());
  apply_llvm_options(invocation->getFrontendOpts().LLVMArgs);
  invocation->getPreprocessorOpts().addRemappedFile(
      name, llvm::MemoryBuffer::getMemBufferCopy(
                llvm::StringRef(text.data(), text.size()), name)
                .release());

  llvm::SmallString<0> ir;
  CompilerInstance &compiler =
      *compat::make_compiler(std::move(invocation), &printer).release();
  compiler.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(ir));
  EmitLLVMAction action;
  if (!compiler.ExecuteAction(action))
    return end(Verdict::DoesNotCompile, errors.str());
  if (!memory::write_response(ir.data(), ir.size()))
    return end(Verdict::Trouble, "the module is too large");
  memory::report().verdict = uint32_t(Verdict::Ok);
}
} // namespace optsleuth
