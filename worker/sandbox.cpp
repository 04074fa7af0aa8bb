// Limits and fences around a child. See sandbox.h.
//
// Written against the kernel's interface by hand: the worker is compiled on
// the user's machine, where libseccomp may be missing, and the filter needs
// the child's own process id, which is known only here.
#include "sandbox.h"
#include "filter.h"
#include <algorithm>
#include <linux/audit.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace optsleuth {
namespace {
// Landlock's interface, spelled out because older kernel headers lack it.
constexpr long kLandlockCreate = 444, kLandlockAdd = 445, kLandlockEnter = 446;
struct LandlockRuleset {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;
  uint64_t scoped;
};
struct __attribute__((packed)) LandlockPath {
  uint64_t allowed_access;
  int32_t parent;
};
constexpr uint64_t kWriteFile = 1u << 1;
constexpr uint64_t kChangeTree = 0x1ff0;  // Remove and make, every kind.
constexpr uint64_t kRefer = 1u << 13;     // ABI 2
constexpr uint64_t kTruncate = 1u << 14;  // ABI 3
constexpr uint64_t kIoctlDevice = 1u << 15; // ABI 5
constexpr uint64_t kOwnSignals = 1u << 1;   // ABI 6
constexpr int kAbiWithTruncate = 3;

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
  if (abi >= kAbiWithTruncate)
    writes |= kTruncate;
  LandlockRuleset attributes{writes, 0, 0};
  if (abi >= 5)
    attributes.handled_access_fs |= kIoctlDevice;
  if (abi >= 6)
    attributes.scoped = kOwnSignals; // The session's own; see kProcessCalls.
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

// What neither LLVM nor a session nor a compiled test program needs, and what
// would reach beyond them.
constexpr int kForbidden[] = {
    SYS_socket, SYS_socketpair, SYS_ptrace, SYS_process_vm_readv,
    SYS_process_vm_writev, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
    SYS_unshare, SYS_setns, SYS_reboot, SYS_swapon, SYS_swapoff,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load,
    SYS_bpf, SYS_perf_event_open, SYS_keyctl, SYS_add_key, SYS_request_key,
    SYS_userfaultfd, SYS_open_by_handle_at, SYS_fanotify_init, SYS_syslog,
    SYS_vhangup, SYS_quotactl, SYS_iopl, SYS_ioperm, SYS_acct,
    // The clock and the machine's name.
    SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,
    SYS_sethostname, SYS_setdomainname,
    // Mounts, by the old interface and by the new one: open_tree, move_mount,
    // fsopen, fsconfig, fsmount, fspick, mount_setattr.
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, 428, 429, 430, 431, 432,
    433, 442,
    // Memory and queues that outlive a process, or are another one's.
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_semget, SYS_semop, SYS_semctl,
    SYS_semtimedop, SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_mq_open,
    SYS_mq_unlink,
    // Priorities and places of processes.
    SYS_setpriority, SYS_sched_setscheduler, SYS_sched_setaffinity,
    SYS_sched_setparam, SYS_ioprio_set, SYS_migrate_pages, SYS_move_pages,
    314 /* sched_setattr */,
    // What Landlock does not cover.
    SYS_mknod, SYS_mknodat, SYS_chown, SYS_fchown, SYS_lchown, SYS_fchownat,
    SYS_utime, SYS_utimes, SYS_utimensat, SYS_futimesat, SYS_setxattr,
    SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr,
    SYS_fremovexattr,
    319 /* memfd_create: memory that no limit counts */,
    320 /* kexec_file_load */, 424 /* pidfd_send_signal */,
    425, 426, 427 /* io_uring */, 438 /* pidfd_getfd */,
    440 /* process_madvise */, 443 /* quotactl_fd */, 447 /* memfd_secret */,
    448 /* process_mrelease */};
// Calls newer than these were never looked at.
constexpr uint32_t kFirstUnknownCall = 452;
// Ways to have the kernel send a signal to another process: F_SETOWN, F_SETSIG,
// F_SETOWN_EX, FIOASYNC, FIOSETOWN, SIOCSPGRP. And to type into a terminal:
// TIOCSTI, TIOCLINUX.
constexpr uint32_t kForbiddenFcntl[] = {8, 10, 15};
constexpr uint32_t kForbiddenIoctl[] = {0x5452, 0x8901, 0x8902, 0x5412, 0x541c};
// What a session needs to look after its children, and a child does not.
constexpr int kProcessCalls[] = {
    SYS_fork, SYS_vfork, SYS_tkill, SYS_setsid, SYS_setpgid, SYS_setrlimit,
    SYS_chmod, SYS_fchmod, SYS_fchmodat, 434 /* pidfd_open */};
constexpr uint32_t kSetParentDeathSignal = 1;
// Without Landlock, everything that changes a file tree is forbidden as well.
constexpr int kChangesFiles[] = {
    SYS_creat, SYS_truncate, SYS_unlink, SYS_unlinkat, SYS_rename, SYS_renameat,
    SYS_renameat2, SYS_mkdir, SYS_mkdirat, SYS_rmdir, SYS_link, SYS_linkat,
    SYS_symlink, SYS_symlinkat};
constexpr int kOpenat2 = 437; // Its flags lie in memory, where no filter looks.

bool restrict_calls(int files_abi) {
  constexpr uint32_t kX32 = 0x40000000; // The x32 calls' numbers.
  constexpr uint32_t kWriting =
      O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
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
  if (!files_abi) {
    for (int number : kChangesFiles)
      filter.forbid(number);
    filter.refuse_bit(SYS_open, 1, kWriting);
    filter.refuse_bit(SYS_openat, 2, kWriting);
    filter.forbid(kOpenat2, ENOSYS);
  } else if (files_abi < kAbiWithTruncate) {
    // The first versions of Landlock let any file be emptied.
    filter.forbid(SYS_truncate);
    filter.refuse_emptying(SYS_open, 1);
    filter.refuse_emptying(SYS_openat, 2);
    filter.forbid(kOpenat2, ENOSYS);
  }
  return filter.install();
}

// Root is nobody special behind the fence.
bool drop_capabilities() {
  // Without the right to do this, there is nothing to be gained by a program
  // file either: no_new_privs is set.
  for (unsigned long right = 0; prctl(PR_CAPBSET_READ, right) >= 0; ++right)
    prctl(PR_CAPBSET_DROP, right);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  return syscall(SYS_capset, &header, none) == 0;
}

// At most this much; less where a user's own limit is lower.
bool set(int what, uint64_t value) {
  rlimit limit{};
  if (getrlimit(__rlimit_resource_t(what), &limit) != 0)
    return false;
  limit.rlim_cur = limit.rlim_max = std::min<uint64_t>(value, limit.rlim_max);
  return setrlimit(__rlimit_resource_t(what), &limit) == 0;
}

bool is_fenced = false;
} // namespace

namespace sandbox {
Support support() {
  Support found{};
  // 2 in a container that has a filter of its own.
  found.seccomp = prctl(PR_GET_SECCOMP) >= 0;
  long abi = syscall(kLandlockCreate, nullptr, 0, 1 /* version */);
  found.landlock_abi = abi > 0 ? int(abi) : 0;
  return found;
}

bool limit(uint64_t address_bytes, uint64_t file_bytes, uint64_t cpu_ms) {
  // One byte more than allowed shows that more was written. The supervisor
  // watches the time; this is for a child that outlives it.
  constexpr uint64_t kSpareSeconds = 60;
  return (!address_bytes || set(RLIMIT_AS, address_bytes)) &&
         set(RLIMIT_FSIZE, file_bytes + 1) && set(RLIMIT_CORE, 0) &&
         set(RLIMIT_CPU, cpu_ms / 1000 + kSpareSeconds);
}

bool fence(const char *directory) {
  if (is_fenced)
    return true;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !drop_capabilities())
    return false;
  int abi = support().landlock_abi;
  bool files_fenced = abi > 0 && restrict_files(directory, abi);
  is_fenced = restrict_calls(files_fenced ? abi : 0);
  return is_fenced;
}

bool isolate(Processes processes) {
  constexpr uint32_t kThread = 0x00010000; // CLONE_THREAD
  // CLONE_NEWNS, CLONE_NEWCGROUP, and from CLONE_NEWUTS to CLONE_NEWNET.
  constexpr uint32_t kNewNamespaces = 0x00020000 | 0x02000000 | 0x7c000000;
  constexpr int kClone3 = 435, kExecveat = 322;
  uint32_t self = uint32_t(getpid());
  static Filter filter;
  bool may_start = processes == Processes::Start;
  for (int number : kProcessCalls)
    if (!may_start || (number != SYS_fork && number != SYS_vfork))
      filter.forbid(number);
  filter.refuse_value(SYS_prctl, 0, kSetParentDeathSignal);
  filter.forbid(kClone3, ENOSYS); // Its flags lie in memory; glibc falls back.
  if (may_start)
    filter.refuse_bit(SYS_clone, 0, kNewNamespaces);
  else
    filter.need_bit(SYS_clone, 0, kThread);
  filter.only(SYS_kill, 0, self, 0);
  filter.only(SYS_tgkill, 0, self, self);
  filter.need_null(SYS_prlimit64, 2); // Limits may be read, not set.
  if (processes == Processes::None) {
    filter.forbid(SYS_execve);
    filter.forbid(kExecveat);
  }
  return filter.install();
}
} // namespace sandbox
} // namespace optsleuth
