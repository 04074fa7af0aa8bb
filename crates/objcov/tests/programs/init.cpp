// Static initializers, virtual and plain member pointers (their low bit matters), templates in two files.
#include "init.h"
static Registered first("first"), second("second");
struct Base {
    virtual ~Base() {}
    virtual int value(int x) { return x; }
    int plain(int x) { return x + 100; }
    int odd(int x) { return x * 3; }
};
struct Derived : Base {
    int value(int x) override { return x * 2 + base; }
    int base = 5;
};
__attribute__((noinline)) int used_member(Base &b, int (Base::*f)(int), int x) { return (b.*f)(x); }
int unused_member(Base &b) { return b.odd(4); }
int main(int argc, char **) {
    Derived d;
    Base b;
    std::printf("%d %d\n", used_member(d, &Base::value, argc), used_member(b, &Base::value, argc));
    std::printf("%d %d\n", used_member(d, &Base::plain, argc), used_member(b, &Base::odd, argc));
    std::printf("%d %d\n", used_shared<int>(argc), used_other(argc));
    std::printf("%d\n", used_static(argc) + used_static(argc));
    return argc > 3 ? unused_member(b) : registered;
}
