#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static void say(const char *what, long result) {
  printf("%s: %s\n", what, result < 0 ? "refused" : "done");
}
int main(void) {
  int ends[2];
  cpu_set_t cores;
  char key = 'x';
  CPU_ZERO(&cores);
  CPU_SET(0, &cores);
  say("pipe", pipe(ends));
  say("owner of signals", fcntl(ends[0], F_SETOWN, getppid()));
  say("kind of signal", fcntl(ends[0], F_SETSIG, SIGKILL));
  say("typing", ioctl(0, TIOCSTI, &key));
  say("terminal", open("/dev/tty", O_RDWR));
  say("memory file", syscall(SYS_memfd_create, "m", 0));
  say("new call", syscall(452, AT_FDCWD, "/tmp", 01777, 0));
  say("affinity", sched_setaffinity(getppid(), sizeof cores, &cores));
  say("death signal", prctl(PR_SET_PDEATHSIG, 0));
  return 0;
}
