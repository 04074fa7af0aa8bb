// Exceptions through cleanups, filters, rethrows and cold code; sites far apart need longer table entries.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>
struct Noisy {
    const char *name;
    explicit Noisy(const char *n) : name(n) { std::printf("+%s ", n); }
    ~Noisy() { std::printf("-%s ", name); }
};
__attribute__((noinline)) int used_thrower(int x) {
    Noisy a("a");
    if (x == 1) throw std::runtime_error("one");
    Noisy b("b");
    if (x == 2) throw 42;
    if (x == 3) throw std::string("three, which is long enough not to be stored inline");
    if (x == 4) throw std::vector<int>{1, 2, 3};
    return x * 2;
}
__attribute__((noinline)) int used_middle(int x) noexcept(false) {
    Noisy m("m");
    try {
        return used_thrower(x);
    } catch (int v) {
        std::printf("int %d ", v);
        throw;
    } catch (const std::string &s) {
        std::printf("string %zu ", s.size());
        throw std::out_of_range(s);
    }
}
template <int N> __attribute__((noinline)) int used_deep(int x) {
    Noisy d("d");
    switch (x) {
    case 0: return used_deep<N - 1>(x) + N;
    case 1: return used_deep<N - 1>(x) - N;
    case 2: return used_deep<N - 1>(x) * N;
    case 3: return used_deep<N - 1>(x) ^ N;
    case 4: return used_deep<N - 1>(x) | N;
    default: return used_deep<N - 1>(x);
    }
}
template <> __attribute__((noinline)) int used_deep<0>(int x) { return used_middle(x); }
__attribute__((noinline)) int used_all(int x) {
    try {
        return used_deep<5>(x);
    } catch (const std::logic_error &e) {
        std::printf("logic %zu\n", std::string(e.what()).size());
    } catch (const std::exception &e) {
        std::printf("std %s\n", e.what());
    } catch (int v) {
        std::printf("again %d\n", v);
    } catch (...) {
        std::printf("something\n");
    }
    return -x;
}
int unused_catch(int x) {
    try { return used_thrower(x); } catch (...) { return 5; }
}
int main(int argc, char **) {
    int sum = 0;
    for (int i = 0; i < 7; i++) {
        sum += used_all(i * argc);
        std::printf("sum %d\n", sum);
    }
    if (argc > 4) return unused_catch(argc);
    return sum & 127;
}
