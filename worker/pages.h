// Makes the worker's own image cheap to fork.
#pragma once

namespace optsleuth {
// Replaces the file mappings of this program by anonymous copies, in huge
// pages where the kernel has them. A child of a fork has to fault file pages
// in again, one by one, before it can execute them; anonymous ones it inherits
// mapped. On a small program that is half the time of a run. Where the kernel
// refuses, everything stays as it was: slower, not different.
void copy_image_to_memory();
} // namespace optsleuth
