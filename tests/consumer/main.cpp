// The C++ header alone, as C++17 with every warning.
#include <lathe/lathe.hpp>

int main() { return 0; }
