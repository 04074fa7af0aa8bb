// Limits and fences around a child. See sandbox.h.
//
// Written against the kernel's interface by hand: the worker is compiled on
// the user's machine, where libseccomp may be missing, and the filter needs
// the child's own process id, which is known only here.
#include "sandbox.h"
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace optsleuth {
namespace {
// Landlock's interface, spelled out because older kernel headers lack it.
constexpr long kLandlockCreate = 444, kLandlockAdd = 445, kLandlockEnter = 446;
struct LandlockRuleset {
  uint64_t handled_access_fs;
};
struct __attribute__((packed)) LandlockPath {
  uint64_t allowed_access;
  int32_t parent;
};
constexpr uint64_t kWriteFile = 1u << 1;
constexpr uint64_t kChangeTree = 0x1ff0;  // Remove and make, every kind.
constexpr uint64_t kRefer = 1u << 13;     // ABI 2
constexpr uint64_t kTruncate = 1u << 14;  // ABI 3

bool allow_writes(int ruleset, const char *path, uint64_t access) {
  int at = open(path, O_PATH | O_CLOEXEC);
  if (at < 0)
    return false;
  LandlockPath rule{access, at};
  bool done = syscall(kLandlockAdd, ruleset, 1, &rule, 0) == 0;
  close(at);
  return done;
}

bool restrict_files(const char *directory, int abi) {
  uint64_t writes = kWriteFile | kChangeTree;
  if (abi >= 2)
    writes |= kRefer;
  if (abi >= 3)
    writes |= kTruncate;
  LandlockRuleset attributes{writes};
  int ruleset = int(syscall(kLandlockCreate, &attributes, sizeof attributes, 0));
  if (ruleset < 0)
    return false;
  bool done = allow_writes(ruleset, directory, writes);
  // A program may throw output away. Truncating is part of opening for that.
  done = done && allow_writes(ruleset, "/dev/null",
                              writes & (kWriteFile | kTruncate));
  done = done && syscall(kLandlockEnter, ruleset, 0) == 0;
  close(ruleset);
  return done;
}

// What no compiled test program needs and what would reach beyond it.
constexpr int kForbidden[] = {
    SYS_socket, SYS_socketpair, SYS_fork, SYS_vfork, SYS_tkill, SYS_ptrace,
    SYS_process_vm_readv, SYS_process_vm_writev, SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo, SYS_setsid, SYS_setpgid, SYS_unshare, SYS_setns,
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_reboot, SYS_swapon,
    SYS_swapoff, SYS_init_module, SYS_finit_module, SYS_delete_module,
    SYS_kexec_load, SYS_bpf, SYS_perf_event_open, SYS_keyctl, SYS_add_key,
    SYS_request_key, SYS_userfaultfd, SYS_open_by_handle_at, SYS_settimeofday,
    SYS_clock_settime, SYS_adjtimex, SYS_sethostname, SYS_setdomainname,
    SYS_quotactl, SYS_iopl, SYS_ioperm, SYS_setrlimit, SYS_mknod, SYS_mknodat,
    SYS_shmget, SYS_semget, SYS_msgget, SYS_mq_open, SYS_setpriority,
    SYS_sched_setscheduler, SYS_chmod, SYS_fchmod, SYS_fchmodat, SYS_chown,
    SYS_fchown, SYS_lchown, SYS_fchownat, SYS_utime, SYS_utimes, SYS_utimensat,
    SYS_futimesat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr,
    SYS_lremovexattr, SYS_fremovexattr,
    SYS_sched_setaffinity, SYS_sched_setparam, SYS_ioprio_set,
    SYS_migrate_pages, SYS_move_pages, 314 /* sched_setattr */,
    319 /* memfd_create: memory that no limit counts */,
    320 /* kexec_file_load */, 424 /* pidfd_send_signal */,
    425, 426, 427 /* io_uring */, 434 /* pidfd_open */,
    438 /* pidfd_getfd */, 440 /* process_madvise */, 447 /* memfd_secret */};
// Calls newer than these were never looked at.
constexpr uint32_t kFirstUnknownCall = 452;
// Ways to have the kernel send a signal to another process: F_SETOWN, F_SETSIG,
// F_SETOWN_EX, FIOASYNC, FIOSETOWN, SIOCSPGRP. And to type into a terminal:
// TIOCSTI, TIOCLINUX.
constexpr uint32_t kForbiddenFcntl[] = {8, 10, 15};
constexpr uint32_t kForbiddenIoctl[] = {0x5452, 0x8901, 0x8902, 0x5412, 0x541c};
constexpr uint32_t kSetParentDeathSignal = 1;
// Without Landlock, everything that changes a file tree is forbidden as well.
constexpr int kChangesFiles[] = {
    SYS_creat, SYS_truncate, SYS_unlink, SYS_unlinkat, SYS_rename, SYS_renameat,
    SYS_renameat2, SYS_mkdir, SYS_mkdirat, SYS_rmdir, SYS_link, SYS_linkat,
    SYS_symlink, SYS_symlinkat};

// A growing seccomp program. Every rule reloads what it tests: rules stay
// independent of each other, and a filter of 150 rules is still cheap.
class Filter {
public:
  void load(uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, 0, 0, offset); }
  void load_argument(int index) {
    load(uint32_t(offsetof(seccomp_data, args)) + 8 * uint32_t(index));
  }
  void load_number() { load(offsetof(seccomp_data, nr)); }
  void jump_if_equal(uint32_t value, uint8_t yes, uint8_t no) {
    add(BPF_JMP | BPF_JEQ | BPF_K, yes, no, value);
  }
  void jump_if_any_bit(uint32_t bits, uint8_t yes, uint8_t no) {
    add(BPF_JMP | BPF_JSET | BPF_K, yes, no, bits);
  }
  void jump_if_at_least(uint32_t value, uint8_t yes, uint8_t no) {
    add(BPF_JMP | BPF_JGE | BPF_K, yes, no, value);
  }
  void allow() { add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW); }
  void refuse(int error = EPERM) {
    add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | uint32_t(error));
  }
  void kill() { add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS); }

  void forbid(int number, int error = EPERM) {
    load_number();
    jump_if_equal(uint32_t(number), 0, 1);
    refuse(error);
  }
  // Allowed only where argument `index` is one of two values.
  void only(int number, int index, uint32_t one, uint32_t other) {
    load_number();
    jump_if_equal(uint32_t(number), 0, 5);
    load_argument(index);
    jump_if_equal(one, 2, 0);
    jump_if_equal(other, 1, 0);
    refuse();
    allow();
  }
  // Forbidden where argument `index` has none of the bits.
  void need_bit(int number, int index, uint32_t bits) {
    load_number();
    jump_if_equal(uint32_t(number), 0, 3);
    load_argument(index);
    jump_if_any_bit(bits, 1, 0);
    refuse();
  }
  // Forbidden where argument `index` is `value`.
  void refuse_value(int number, int index, uint32_t value) {
    load_number();
    jump_if_equal(uint32_t(number), 0, 3);
    load_argument(index);
    jump_if_equal(value, 0, 1);
    refuse();
  }
  // Allowed only where the pointer in argument `index` is null.
  void need_null(int number, int index) {
    load_number();
    jump_if_equal(uint32_t(number), 0, 5);
    load_argument(index);
    jump_if_equal(0, 0, 2);
    load(uint32_t(offsetof(seccomp_data, args)) + 8 * uint32_t(index) + 4);
    jump_if_equal(0, 1, 0);
    refuse();
  }
  // Forbidden where argument `index` has any of the bits.
  void refuse_bit(int number, int index, uint32_t bits) {
    load_number();
    jump_if_equal(uint32_t(number), 0, 3);
    load_argument(index);
    jump_if_any_bit(bits, 0, 1);
    refuse();
  }
  bool install() {
    allow();
    if (full)
      return false;
    sock_fprog program{count, code};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

private:
  void add(int operation, uint8_t yes, uint8_t no, uint32_t value) {
    if (count == kCapacity) {
      full = true;
      return;
    }
    code[count++] = sock_filter{uint16_t(operation), yes, no, value};
  }
  static constexpr uint16_t kCapacity = 1024;
  sock_filter code[kCapacity];
  uint16_t count = 0;
  bool full = false;
};

bool restrict_calls(bool files_fenced, bool may_exec) {
  constexpr uint32_t kThread = 0x00010000;     // CLONE_THREAD
  constexpr uint32_t kX32 = 0x40000000;        // The x32 calls' numbers.
  constexpr uint32_t kWriting =
      O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
  constexpr int kClone3 = 435, kOpenat2 = 437;
  uint32_t self = uint32_t(getpid());
  static Filter filter;
  filter.load(offsetof(seccomp_data, arch));
  filter.jump_if_equal(AUDIT_ARCH_X86_64, 1, 0);
  filter.kill();
  filter.load_number();
  filter.jump_if_any_bit(kX32, 0, 1);
  filter.kill();
  filter.load_number();
  filter.jump_if_at_least(kFirstUnknownCall, 0, 1);
  filter.refuse(ENOSYS);
  for (int number : kForbidden)
    filter.forbid(number);
  for (uint32_t command : kForbiddenFcntl)
    filter.refuse_value(SYS_fcntl, 1, command);
  for (uint32_t command : kForbiddenIoctl)
    filter.refuse_value(SYS_ioctl, 1, command);
  filter.refuse_value(SYS_prctl, 0, kSetParentDeathSignal);
  filter.forbid(kClone3, ENOSYS); // Its flags lie in memory; glibc falls back.
  filter.need_bit(SYS_clone, 0, kThread);
  filter.only(SYS_kill, 0, self, 0);
  filter.only(SYS_tgkill, 0, self, self);
  filter.need_null(SYS_prlimit64, 2); // Limits may be read, not set.
  if (!may_exec) {
    filter.forbid(SYS_execve);
    filter.forbid(322 /* execveat */);
  }
  if (!files_fenced) {
    for (int number : kChangesFiles)
      filter.forbid(number);
    filter.refuse_bit(SYS_open, 1, kWriting);
    filter.refuse_bit(SYS_openat, 2, kWriting);
    filter.forbid(kOpenat2, ENOSYS);
  }
  return filter.install();
}

bool set(int what, uint64_t value) {
  rlimit limit{value, value};
  return setrlimit(__rlimit_resource_t(what), &limit) == 0;
}
} // namespace

namespace sandbox {
Support support() {
  Support found{};
  found.seccomp = prctl(PR_GET_SECCOMP) == 0;
  long abi = syscall(kLandlockCreate, nullptr, 0, 1 /* version */);
  found.landlock_abi = abi > 0 ? int(abi) : 0;
  return found;
}

bool limit(uint64_t memory_bytes, uint64_t file_bytes, uint64_t cpu_ms) {
  // The supervisor watches resident memory. The address space gets room on
  // top of that, for the worker's own image and its shared memory.
  constexpr uint64_t kRoom = 2048ull * 1024 * 1024;
  // One byte more than allowed shows that more was written. The supervisor
  // watches the time; this is for a child that outlives it.
  constexpr uint64_t kSpareSeconds = 60;
  return set(RLIMIT_AS, memory_bytes + kRoom) &&
         set(RLIMIT_FSIZE, file_bytes + 1) && set(RLIMIT_CORE, 0) &&
         set(RLIMIT_CPU, cpu_ms / 1000 + kSpareSeconds);
}

bool fence(const char *directory, bool may_exec) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return false;
  int abi = support().landlock_abi;
  bool files_fenced = abi > 0 && restrict_files(directory, abi);
  return restrict_calls(files_fenced, may_exec);
}
} // namespace sandbox
} // namespace optsleuth
