// A small optimizer: optimizer FILE.ll PASSES prints the optimized module.
#include <cstdio>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <unistd.h>
static int fail(const char *message) {
    fprintf(stderr, "optimizer: %s\n", message);
    return 1;
}
int main(int argc, char **argv) {
    if (argc != 3) return fail("usage: optimizer FILE.ll PASSES");
    LLVMInitializeNativeTarget();
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef text;
    LLVMModuleRef module;
    char *message = nullptr;
    if (LLVMCreateMemoryBufferWithContentsOfFile(argv[1], &text, &message)) return fail(message);
    if (LLVMParseIRInContext(context, text, &module, &message)) return fail(message);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    if (LLVMErrorRef error = LLVMRunPasses(module, argv[2], nullptr, options)) return fail(LLVMGetErrorMessage(error));
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message)) return fail(message);
    fputs(LLVMPrintModuleToString(module), stdout);
    fflush(stdout);
    // At once: what runs after the marks are written would be seen by a debugger only.
    _exit(0);
}
