// The control socket: requests in, replies out. See protocol.h for both.
//
//   host --Request--> wire --> processes.cpp --> wire --Reply--> host
//
// Zygote, session and supervisor share the socket; only the one whose turn it is
// reads from it.
//
// Never here: a payload or a report (memory.h has those), or an allocation.
#pragma once
#include "protocol.h"

namespace optsleuth {
namespace wire {
// From now on, this is the socket.
void attach(int socket);
// Reads one request. False when the host is gone.
bool receive(Request &request);
// The same, but the request stays there for the next reader.
bool peek(Request &request);
// Says that the request was served: what came of it is in the memory file. Ends
// the process if the host is gone.
void answer(const Request &request);
// For poll: it hangs up when the host goes.
int descriptor();
// In a child: the host is none of its business.
void detach();
} // namespace wire
} // namespace optsleuth
