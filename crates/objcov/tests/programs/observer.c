// The independent observer: which of the given instructions of an unmodified program are executed?
// usage: observer traps|steps|steps:ADDRESS ADDRESSES HITS PROGRAM ARGUMENT...
// ADDRESSES is a file of ascending hexadecimal addresses in a position-dependent program; those executed go to HITS.
// "traps" puts a breakpoint on every address and removes it when hit; "steps" stops after every instruction.
// "steps:ADDRESS" uses breakpoints until that one of the addresses is reached, and steps from there on.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
static unsigned long *addresses, low, high;
static size_t n;
static unsigned char *original, *wanted, *hit;
static void load(const char *path) {
    FILE *in = fopen(path, "r");
    size_t room = 0;
    for (unsigned long a; in && fscanf(in, "%lx", &a) == 1;) {
        if (n == room) addresses = realloc(addresses, (room = room * 2 + 1000) * sizeof *addresses);
        addresses[n++] = a;
    }
    if (!n) exit(3);
    low = addresses[0], high = addresses[n - 1] + 1;
    original = malloc(high - low), wanted = calloc(high - low, 1), hit = calloc(high - low, 1);
    for (size_t i = 0; i < n; i++) wanted[addresses[i] - low] = 1;
}
int main(int argc, char **argv) {
    if (argc < 5) return 2;
    const char *from = strchr(argv[1], ':');
    unsigned long turn = from ? strtoul(from + 1, NULL, 16) : 0;
    int is_traps = from || !strcmp(argv[1], "traps");
    load(argv[2]);
    pid_t child = fork();
    if (child == 0) {
        personality(ADDR_NO_RANDOMIZE);
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(argv[4], argv + 4);
        _exit(127);
    }
    int status;
    waitpid(child, &status, 0);
    char path[64];
    sprintf(path, "/proc/%d/mem", child);
    int memory = open(path, O_RDWR);
    if (is_traps) {
        if (pread(memory, original, high - low, low) != (ssize_t)(high - low)) return 4;
        unsigned char *patched = malloc(high - low);
        for (unsigned long i = 0; i < high - low; i++) patched[i] = wanted[i] ? 0xcc : original[i];
        if (pwrite(memory, patched, high - low, low) != (ssize_t)(high - low)) return 5;
    }
    do {
        struct user_regs_struct regs;
        int signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        ptrace(PTRACE_GETREGS, child, 0, &regs);
        unsigned long at = regs.rip - is_traps;
        if (at >= low && at < high && wanted[at - low]) {
            hit[at - low] = 1;
            if (is_traps && signal == 0) {
                if (pwrite(memory, original + (at - low), 1, at) != 1) return 6;
                regs.rip = at;
                ptrace(PTRACE_SETREGS, child, 0, &regs);
                if (at == turn) {
                    is_traps = 0;
                    if (pwrite(memory, original, high - low, low) != (ssize_t)(high - low)) return 7;
                }
            }
        }
        ptrace(is_traps ? PTRACE_CONT : PTRACE_SINGLESTEP, child, 0, signal);
    } while (waitpid(child, &status, 0) > 0 && WIFSTOPPED(status));
    if (turn && is_traps) return 8;
    FILE *out = fopen(argv[3], "w");
    for (size_t i = 0; i < n; i++) if (hit[addresses[i] - low]) fprintf(out, "%lx\n", addresses[i]);
    fclose(out);
    return 0;
}
