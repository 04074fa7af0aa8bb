// Time in nanoseconds, as reports state it.
#pragma once
#include <cstdint>
#include <ctime>

namespace optsleuth {
inline uint64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time{};
  clock_gettime(clock, &time);
  return uint64_t(time.tv_sec) * 1000000000u + uint64_t(time.tv_nsec);
}
} // namespace optsleuth
