// Streams, locales, containers, regular expressions, threads and exceptions of the C++ library.
#include <algorithm>
#include <future>
#include <iomanip>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <typeinfo>
#include <vector>
struct Shape { virtual ~Shape() = default; virtual int sides() const { return 0; } };
struct Square : Shape { int sides() const override { return 4; } };
int main(int argc, char **) {
    std::map<std::string, std::vector<int>> table;
    for (int i = 0; i < 50; i++) table["key" + std::to_string(i % 7)].push_back(i * argc);
    for (auto &[key, values] : table) {
        std::sort(values.rbegin(), values.rend());
        std::cout << std::setw(8) << key << ' ' << std::hex << values.front() << std::dec << ' ' << values.size() << '\n';
    }
    std::istringstream numbers("1 2.5 x 4");
    for (double d; numbers >> d;) std::cout << std::fixed << std::setprecision(3) << d << '\n';
    std::smatch match;
    std::string text = "year 2024, month 07";
    if (std::regex_search(text, match, std::regex("([0-9]+), [a-z]+ ([0-9]+)"))) std::cout << match[1] << match[2] << '\n';
    try {
        std::vector<int>().at(3);
    } catch (const std::exception &e) {
        std::cout << e.what() << '\n';
    }
    try {
        std::stoi("no number");
    } catch (const std::invalid_argument &e) {
        std::cout << e.what() << '\n';
    }
    auto task = std::async(std::launch::async, [] { if (std::string("x").size()) throw std::runtime_error("in a thread"); return 1; });
    try { task.get(); } catch (const std::runtime_error &e) { std::cout << e.what() << '\n'; }
    Shape *shape = argc ? new Square : new Shape;
    std::cout << (dynamic_cast<Square *>(shape) != nullptr) << shape->sides() << typeid(*shape).name() << '\n';
    if (argc > 4) dynamic_cast<Square &>(*new Shape);
    try { std::locale bad("no-such-locale"); } catch (const std::runtime_error &e) { std::cout << "locale\n"; }
    delete shape;
}
