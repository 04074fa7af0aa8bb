// The control socket. See wire.h.
#include "wire.h"
#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>

namespace optsleuth {
namespace {
int control = -1;

bool read_request(Request &request, int flags) {
  ssize_t got;
  do
    got = recv(control, &request, sizeof request, MSG_WAITALL | flags);
  while (got < 0 && errno == EINTR);
  return got == ssize_t(sizeof request);
}
} // namespace

namespace wire {
void attach(int socket) { control = socket; }
bool receive(Request &request) { return read_request(request, 0); }
bool peek(Request &request) { return read_request(request, MSG_PEEK); }

void answer(const Request &request) {
  Reply reply{};
  reply.sequence = request.sequence;
  if (send(control, &reply, sizeof reply, MSG_NOSIGNAL) != sizeof reply)
    _exit(0); // The host is gone.
}

int descriptor() { return control; }

void detach() {
  close(control);
  control = -1;
}
} // namespace wire
} // namespace optsleuth
