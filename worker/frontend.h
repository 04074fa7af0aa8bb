// C -> IR with clang's own libraries. Part of the front-end server alone; any
// other worker is linked without it.
//
// Never here: a module that goes into a session. What leaves is text.
#pragma once
#include "payload.h"

namespace optsleuth {
namespace frontend {
// In a child of the zygote: compiles a source and leaves the text of its IR as
// the response, or says why not. Null in a worker without a front end.
[[gnu::weak]] void compile(Payload request);
} // namespace frontend
} // namespace optsleuth
