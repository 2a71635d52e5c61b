// A tour of lathe.hpp: tensors, gradients, a traced lambda, and a program on disk. It needs the
// header and liblathe.so, and no Python.
//
//   clang++ -std=c++17 -stdlib=libc++ -I include examples/cpp/tour.cpp -L build/release/lib -llathe
#include <lathe/lathe.hpp>

#include <cstdio>
#include <iostream>

namespace {

void check(bool good, const char* what) {
  std::printf("%s: %s\n", good ? "ok" : "WRONG", what);
  if (!good) throw std::runtime_error(what);
}

void gradients() {
  lathe::Tensor x({1.f, 2.f, 3.f}, {3});
  x.set_requires_grad();
  (x * x + 1.0).sum().backward();
  check(x.grad().values<float>() == std::vector<float>{2, 4, 6}, "the gradient of x * x");
  lathe::Tensor cubed = x * x * x;
  lathe::Tensor first = lathe::grad({cubed.sum()}, {x}, true)[0];
  check(lathe::grad({first.sum()}, {x})[0].values<float>() == std::vector<float>{6, 12, 18},
        "the second derivative of x * x * x");
}

void tracing(const std::string& path) {
  using lathe::ops;
  auto layer = lathe::trace([](lathe::Tensor x, lathe::Tensor w, lathe::Tensor b) {
    return ops::gelu(ops::matmul(x, w) + b);
  });
  for (int64_t n : {1, 2, 5, 17}) {
    lathe::Tensor x = ops::randn({n, 8}), w = ops::randn({8, n}), b = ops::randn({n});
    lathe::Tensor eager = ops::gelu(ops::matmul(x, w) + b);
    check(layer(x, w, b).values<float>() == eager.values<float>(), "traced is eager, bit for bit");
  }
  check(layer.traces() == 1, "one trace serves all sizes");

  lathe::Tensor x = ops::randn({3, 8}), w = ops::randn({8, 4}), b = ops::randn({4});
  layer.capture({x, w, b}).save(path);
  lathe::Program program = lathe::load(path);
  check(program(x, w, b).values<float>() == layer(x, w, b).values<float>(),
        "a program from disk gives the same bits");
}

void settings() {
  lathe::manual_seed(1);
  std::vector<float> first = lathe::ops::rand({4}).values<float>();
  lathe::manual_seed(1);
  check(lathe::ops::rand({4}).values<float>() == first, "the same seed, the same numbers");
}

void errors() {
  lathe::here();
  try {
    lathe::ops::matmul(lathe::ops::ones({2, 3}), lathe::ops::ones({4, 5}));
    check(false, "a mistake is reported");
  } catch (const lathe::Error& e) {
    check(std::string(e.name()) == "ShapeError", "a mistake has a type");
    check(std::string(e.what()).find("tour.cpp:") != std::string::npos, "and a line");
    std::cout << e.what() << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    lathe::check_version();
    gradients();
    settings();
    tracing(argc > 1 ? argv[1] : "layer.lathe");
    errors();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
