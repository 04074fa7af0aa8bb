// A seccomp program in the making: rules -> a filter of system calls that holds
// for this process and all that it starts.
//
// Never here: which calls are refused; sandbox.cpp has the lists. And never an
// allocation: sessions raise fences.
#pragma once
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace optsleuth {
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
  // Forbidden for a file that is opened for reading and emptied all the same.
  void refuse_emptying(int number, int index) {
    load_number();
    jump_if_equal(uint32_t(number), 0, 4);
    load_argument(index);
    jump_if_any_bit(O_WRONLY | O_RDWR, 2, 0);
    jump_if_any_bit(O_TRUNC, 0, 1);
    refuse();
  }
  // Without the slow path around speculative loads that some kernels put on
  // every filtered process: no secret of another program is in this one.
  bool install() {
    constexpr unsigned kSetFilter = 1, kAllowSpeculation = 1u << 2;
    allow();
    if (full)
      return false;
    sock_fprog program{count, code};
    return syscall(SYS_seccomp, kSetFilter, kAllowSpeculation, &program) == 0;
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
} // namespace optsleuth
