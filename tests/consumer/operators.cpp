// Numbers beside tensors, elements of every type, many results, and what a traced lambda captures.
// Prints what is wrong; gives 0 if nothing is.
#include <lathe/lathe.hpp>

#include <complex>
#include <cstdio>
#include <string>
#include <type_traits>

namespace {

using lathe::DType;
using lathe::Tensor;
using lathe::Tensors;

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  ++failures;
}

/// No number is made of a pointer.
static_assert(!std::is_constructible_v<lathe::Any, Tensor*>);
static_assert(!std::is_constructible_v<lathe::Any, float*>);

void numbers_on_either_side() {
  Tensor i({1, 2, 3}, {3}), f({1.f, 2.f}, {2});
  for (const Tensor& t : {i * 2, 2 * i, i + 2, 2 + i, 2 - i, true * i})
    expect(t.dtype() == DType::i32, "an integer beside integers");
  expect((2 * i).values<int32_t>() == std::vector<int32_t>{2, 4, 6}, "2 * i");
  expect((7 - i).values<int32_t>() == std::vector<int32_t>{6, 5, 4}, "7 - i");
  expect((0.5 * i).dtype() == DType::f32, "a float beside integers");
  const int64_t big = (int64_t{1} << 53) + 1;
  Tensor l({int64_t{1}}, {1});
  expect((big + l).values<int64_t>()[0] == big + 1, "an integer that no double holds");
  const size_t n = 3;
  expect((f * n).values<float>()[1] == 6.f && (n * f).values<float>()[1] == 6.f, "a size_t");
  expect((f * 2LL).values<float>()[0] == 2.f && (f * 2u).values<float>()[0] == 2.f, "long long");
  expect((f * f).values<float>()[1] == 4.f, "two tensors");
  try {
    f + UINT64_MAX;
    expect(false, "an integer above 2^63 is taken");
  } catch (const lathe::Error& e) {
    expect(std::string(e.name()) == "OverflowError", "its error");
  }
}

void elements_of_every_type() {
  const std::vector<bool> bits{true, false, true};
  Tensor mask(bits, {3});
  expect(mask.dtype() == DType::bool_ && mask.values<bool>() == bits, "a vector of bool");
  const std::vector<std::complex<float>> z{{1, 2}, {3, -4}};
  Tensor c(z, {2});
  expect(c.dtype() == DType::c64 && (c * 1).values<std::complex<float>>() == z, "complex numbers");
  const Tensors parts = lathe::call("unbind", lathe::ops::ones({20, 2}), 0);
  expect(parts.size() == 20, "twenty results");
  std::string text = "graph f(%x: f32[2]) {", names;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "%y" + std::to_string(i);
    text += "\n  " + name + " = add(%x, " + std::to_string(i) + ")";
    names += (i == 0 ? "" : ", ") + name;
  }
  const lathe::Program many = lathe::parse(text + "\n  return " + names + "\n}");
  expect(many.run({Tensor({1.f, 2.f}, {2})}).size() == 300, "a program of 300 results");
  const Tensor x({1.f, 5.f, 3.f, 2.f}, {2, 2});
  expect(lathe::call("split", x, 1).size() == 2, "split");
  expect(lathe::call("max.dim", x, 1)[0].values<float>()[0] == 5.f, "max.dim");
  expect(lathe::call("where.positions", x / x)[0].numel() == 4, "where.positions");
}

void gradients() {
  Tensor x({1.f, 2.f}, {2}), w({3.f, 5.f}, {2});
  x.set_requires_grad();
  const Tensors d = lathe::grad({x * x}, {x}, false, {w});
  expect(d[0].values<float>() == std::vector<float>{6.f, 20.f}, "gradients of ys * dys");
  try {
    lathe::grad({x * x}, {x}, false, {w, w});
    expect(false, "one dy too many");
  } catch (const lathe::Error& e) {
    expect(std::string(e.name()) == "ValueError", "its error");
  }
}

void results_given_twice() {
  auto f = lathe::trace([](Tensor a) {
    Tensor b = a + 1.0, c = a * 2.0;
    return Tensors{b, c, b};
  });
  Tensor x({1.f, 2.f}, {2});
  const Tensors out = f.capture({x}).run({x});
  expect(out.size() == 3 && out[2].values<float>()[1] == 3.f, "a result that is given twice");
}

void captured_tensors() {
  Tensor x({1.f, 2.f}, {2}), k({3.f, 4.f}, {2});
  auto f = lathe::trace([&](Tensor a) { return (a * k).sum(); });
  expect(f(x).item<float>() == 11.f, "a captured tensor");
  k.set_requires_grad();
  try {
    f(x);
    expect(false, "the gradient of a captured tensor is lost");
  } catch (const lathe::Error& e) {
    expect(std::string(e.name()) == "TraceError", "its error");
  }
  lathe::NoGrad off;
  expect(f(x).item<float>() == 11.f, "a captured tensor without gradients");
}

void files_that_are_none() {
  for (const char* path : {"/", "/dev/null"}) try {
      lathe::load(path);
      expect(false, "a file that is none");
    } catch (const lathe::Error& e) {
      expect(std::string(e.what()).find("No such file") == std::string::npos, e.what());
    }
}

}  // namespace

int main() {
  numbers_on_either_side();
  elements_of_every_type();
  gradients();
  results_given_twice();
  captured_tensors();
  files_that_are_none();
  return failures;
}
