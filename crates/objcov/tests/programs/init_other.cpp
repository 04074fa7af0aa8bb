// The second copy of the templates, and an initializer in another object.
#include "init.h"
int registered;
static Registered third("third");
int used_other(int x) { return used_shared<int>(x + 1) + used_static(x); }
int unused_other(int x) { return unused_shared<long>(x); }
