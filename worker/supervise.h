// Supervision of one child: until it ends or goes over a limit, and what is left
// of it then.
//
//   fork --> watch --> reap --> the supervisor's part of the report
//
// The supervisor is the session for runs, and the zygote for all else.
//
// Never here: a judgement. A limit is reported as a limit; whose fault it is, the
// host decides. And never an allocation: sessions supervise.
#pragma once
#include "protocol.h"
#include <sys/types.h>

namespace optsleuth {
namespace supervise {
// What a child is watched for.
enum class Until {
  End,
  Loaded, // Or until it says that it is a session, which then stays.
};
// Waits for the child's end (without reaping it) or a limit, and says which
// limit. Ends this process, and the child with it, when the host goes: no process
// is left that would read the result.
End watch(pid_t child, const Request &request, Until until);
// Kills what is left of the child's group, reaps it, and reports its end.
void reap(pid_t child, End end, uint64_t started_ns);
// Kills descendants that left their group. They come to us, because zygote and
// session are subreapers.
void kill_orphans();
} // namespace supervise
} // namespace optsleuth
