// The shared memory file, from the worker's side: the live report, requests
// in, responses out.
//
// Never here: a decision about what is reported.
#pragma once
#include "payload.h"
#include "protocol.h"
#include <string>

namespace optsleuth {
namespace memory {
void attach(int descriptor);
int descriptor();
// The live report. Valid until `detach`.
Report &report();
// Forgets the last run; keeps nothing but `session_loaded`.
void reset_report();
// The payload of a request, in place.
Payload request(uint64_t bytes);
// Puts the response where the host reads it. False if it is too large.
bool write_response(const char *data, size_t bytes);
void set_message(const char *text, size_t bytes);
inline void set_message(const std::string &text) {
  set_message(text.data(), text.size());
}
// Appends to the invocation log; returns where the flags lie, or null if full.
uint32_t *log_invocation(const char *pass, size_t pass_bytes, const char *unit,
                         size_t unit_bytes);
// The bit maps of the coverage; `offset` as in protocol.h.
char *coverage_bits(uint64_t offset);
// The areas at kAuthorsOffset, in their order.
char *author_area(uint64_t number);
// Gives up all access, before untrusted code runs in this process.
void detach();
} // namespace memory
} // namespace optsleuth
