// The C++ header alone, as C++17 with every warning: runs a program that Python saved.
//   consumer_cpp PROGRAM INPUT SIZES... > results, as raw float32
#include <lathe/lathe.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

// Two values for another number of elements, as a list and as a vector.
static bool is_refused(const lathe::Sizes& sizes) {
  int refused = 0;
  try {
    lathe::Tensor x({1.f, 2.f}, sizes);
  } catch (const lathe::Error&) {
    ++refused;
  }
  try {
    lathe::Tensor x(std::vector<float>{1.f, 2.f}, sizes);
  } catch (const lathe::Error&) {
    ++refused;
  }
  return refused == 2;
}

int main(int argc, char** argv) {
  try {
    lathe::check_version();
    if (argc < 3) {
      if (!is_refused({3}) || !is_refused({-2}) || !is_refused({1ll << 62, 4})) return 2;
      lathe::Tensor x = lathe::ops::ones({2, 2});
      return (x + x).sum().item<float>() == 8.f ? 0 : 1;
    }
    lathe::Sizes sizes;
    for (int i = 3; i < argc; ++i) sizes.push_back(std::atoll(argv[i]));
    std::ifstream file(argv[2], std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    lathe::Tensor x(reinterpret_cast<const float*>(bytes.data()), sizes);
    std::vector<float> y = lathe::load(argv[1])(x).values<float>();
    std::fwrite(y.data(), sizeof(float), y.size(), stdout);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
