// What the seed programs ask of C++, one word on the command line each. Prints what a test in
// tests/python/seeds/test_deployment.py compares, and needs no Python itself.
#include <lathe/lathe.hpp>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

namespace {

using lathe::ops;
using lathe::Tensor;

Tensor floats(const char* path, lathe::Sizes sizes) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  return Tensor(reinterpret_cast<const float*>(bytes.data()), std::move(sizes));
}

void write(const Tensor& t) {
  std::vector<float> values = t.values<float>();
  std::fwrite(values.data(), sizeof(float), values.size(), stdout);
}

// One handle, many shapes and threads; a wrong shape is an error that names line and parameters.
int handle() {
  auto axpy = lathe::trace([](Tensor alpha, Tensor x, Tensor y) { return alpha * x + y; }, "axpy");
  Tensor alpha({2.f}, {});
  lathe::Program program = axpy.capture({alpha, ops::ones({3}), ops::ones({3})});
  std::vector<int> wrong(8, 0);
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; ++k)
    threads.emplace_back([&, k] {
      for (int64_t n = 0; n < 50; ++n) {
        Tensor x = ops::full({n}, static_cast<double>(k)), y = ops::full({n}, 1.0);
        for (float v : program(alpha, x, y).values<float>())
          wrong[static_cast<size_t>(k)] += v != 2.f * static_cast<float>(k) + 1.f;
      }
    });
  for (std::thread& t : threads) t.join();
  for (int w : wrong)
    if (w != 0) return 1;
  try {
    program(alpha, ops::ones({3}), ops::ones({4}));
  } catch (const lathe::Error& e) {
    std::printf("%s\n%s\n", e.name(), e.what());
  }
  try {
    lathe::here();
    ops::ones({3}) + ops::ones({4});
  } catch (const lathe::Error& e) {
    std::printf("%s\n%s\n", e.name(), e.what());
  }
  return 0;
}

// A graph of constants alone is one constant after the pipeline.
int constants() {
  auto axpy = lathe::trace(
      [](Tensor) {
        Tensor x({1.f, 2.f, 3.f}, {3}), y({4.f, 5.f, 6.f}, {3});
        return 3.0 * x + y;
      },
      "axpy");
  Tensor like = ops::ones({1});
  std::vector<float> first = axpy(like).values<float>();
  if (axpy(like).values<float>() != first) return 1;
  std::printf("%s\n", axpy.capture({like}).optimised().c_str());
  return 0;
}

// The graph that the builder records, as text.
int graph() {
  auto f = lathe::trace(
      [](Tensor x, Tensor w, Tensor b) {
        Tensor product = ops::matmul(x, w);  // one at a time: C++ does not order operands
        Tensor chances = ops::softmax(product + b * 2.0, -1);
        return chances - ops::sum(x, {1}, true);
      },
      "f");
  Tensor x = ops::ones({2, 3}), w = ops::ones({3, 4}), b = ops::ones({4});
  std::printf("%s", f.capture({x, w, b}).graph().c_str());
  return 0;
}

// Logistic regression from ops and gradients: the losses, as raw floats.
int train(const char* images, const char* labels) {
  Tensor x = floats(images, {64, 3}), t = floats(labels, {64});
  Tensor w = ops::zeros({3}), b = ops::zeros({1});
  w.set_requires_grad();
  b.set_requires_grad();
  for (int step = 0; step < 20; ++step) {
    Tensor y = ops::sigmoid(ops::matmul(x, w) + b);
    Tensor loss = -ops::mean(t * ops::log(y) + (1.0 - t) * ops::log(1.0 - y));
    lathe::Tensors g = lathe::grad({loss}, {w, b});
    lathe::NoGrad off;
    w.assign(w - g[0] * 0.5);
    b.assign(b - g[1] * 0.5);
    write(loss);
  }
  write(w);
  return 0;
}

int run(const char* path, const char* input, int64_t n) {
  lathe::Program program = lathe::load(path);
  write(program(floats(input, {n})));
  return 0;
}

// Runs the graph in a file of text, and lists the kernel chosen for each node.
int run_graph(const char* path) {
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  Tensor x({1.f, 2.f, 3.f, 4.f}, {4}), y = ops::ones({4});
  for (float v : lathe::run(text, {x, y})[0].values<float>()) std::printf("%.9g ", v);
  lathe::Program program = lathe::parse(text);
  if (lathe::run(program, {x, y})[0].values<float>() !=
      lathe::run(lathe::parse(text, "f"), {x, y})[0].values<float>())
    return 1;
  for (const lathe::Program::Kernel& k : program.kernels())
    std::printf("\n%s %s %s", k.op.c_str(), k.kernel.c_str(), k.line.c_str());
  try {
    lathe::run("graph f(%x: f32[4]) { %0 = no_op(%x) return %0 }", {x});
  } catch (const lathe::Error& e) {
    std::printf("\n%s", e.name());
  }
  return 0;
}

// A program of two integers that prints.
int fizzbuzz(const char* path, int64_t i, int64_t n) {
  lathe::Program program = lathe::load(path);
  Tensor from(&i, {}), to(&n, {});
  Tensor end = program(from, to);
  std::printf("%lld\n", static_cast<long long>(end.item<int64_t>()));
  return 0;
}

int threads() {
  std::printf("%s\n", lathe::threads().c_str());
  lathe::set_flag("threads", "5");
  std::printf("%s\n", lathe::threads().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::strcmp(argv[1], "handle") == 0) return handle();
    if (argc == 2 && std::strcmp(argv[1], "constants") == 0) return constants();
    if (argc == 2 && std::strcmp(argv[1], "graph") == 0) return graph();
    if (argc == 2 && std::strcmp(argv[1], "threads") == 0) return threads();
    if (argc == 3 && std::strcmp(argv[1], "run_graph") == 0) return run_graph(argv[2]);
    if (argc == 4 && std::strcmp(argv[1], "train") == 0) return train(argv[2], argv[3]);
    if (argc == 5 && std::strcmp(argv[1], "fizzbuzz") == 0)
      return fizzbuzz(argv[2], atoll(argv[3]), atoll(argv[4]));
    if (argc == 5 && std::strcmp(argv[1], "run") == 0) return run(argv[2], argv[3], atoll(argv[4]));
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
