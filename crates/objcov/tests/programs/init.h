// Shared by init.cpp and init_other.cpp: COMDAT functions and a guarded static.
#include <cstdio>
extern int registered;
struct Registered {
    const char *name;
    Registered(const char *n) : name(n) { registered++; std::printf("new %s\n", n); }
    ~Registered() { std::printf("end %s\n", name); }
};
template <class T> __attribute__((noinline)) T used_shared(T x) {
    T total = 0;
    for (T i = 0; i < x + 5; i++) total += i % 2 ? i : x;
    return total;
}
inline __attribute__((noinline)) int used_static(int x) {
    static Registered late("late");
    return x + (late.name[0] == 'l');
}
int used_other(int x);
template <class T> __attribute__((noinline)) T unused_shared(T x) { return x > 3 ? x / 2 : used_shared<int>(4); }
