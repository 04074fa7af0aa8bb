// Linked into instrumented programs: writes the marks to the file OBJCOV_HITS when the program ends.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
extern unsigned char __start___objcov[], __stop___objcov[];
extern unsigned char __objcov_first[], __objcov_last[];
static void dump(void) {
    const char *path = getenv("OBJCOV_HITS");
    int fd = path ? open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600) : -1;
    if (fd < 0) return;
    if (write(fd, __start___objcov, __stop___objcov - __start___objcov) < 0) _exit(99);
    close(fd);
}
__attribute__((constructor(101))) static void check(void) {
    // The frame must be whole pages, or mapping memory over it would hide foreign data.
    if (__start___objcov != __objcov_first || __stop___objcov != __objcov_last + 4096) _exit(98);
    if ((unsigned long)__objcov_first % 4096 || (unsigned long)__objcov_last % 4096) _exit(97);
}
__attribute__((destructor(101))) static void at_end(void) { dump(); }
// Programs that leave by _exit call the real one through here.
extern void __real__exit(int) __attribute__((noreturn));
void __wrap__exit(int code) { dump(); __real__exit(code); }
