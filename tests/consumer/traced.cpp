// Traced lambdas that call themselves, that throw on several threads at once, and that are trained
// through; one word on the command line each. Prints nothing and gives 0 if all is as it should be.
#include <lathe/lathe.hpp>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>

namespace {

using lathe::Tensor;
using lathe::Tensors;

int wrong(const char* what) {
  std::fprintf(stderr, "wrong: %s\n", what);
  return 1;
}

/// An exception of the lambda's own, which Lathe knows nothing of.
struct Mine {
  int rank;
};

/// Each thread gets what its own call threw, though all call one function at once.
int threads() {
  constexpr int kThreads = 6, kRounds = 100;
  auto f = lathe::trace([](Tensor x) -> Tensor {
    const int rank = x.rank();
    if (rank % 3 == 1) throw Mine{rank};
    if (rank % 3 == 2) throw lathe::Error(LATHE_VALUE_ERROR, std::to_string(rank));
    return x + 1.0;
  });
  std::atomic<int> failures{0};
  std::vector<std::thread> all;
  for (int rank = 0; rank < kThreads; ++rank)
    all.emplace_back([&f, &failures, rank] {
      Tensor x = lathe::ops::ones(lathe::Sizes(static_cast<size_t>(rank), 1));
      for (int i = 0; i < kRounds; ++i) {
        int got = -1;
        try {
          if (f(x).item<float>() == 2.f) got = rank % 3 == 0 ? rank : -2;
        } catch (const Mine& mine) {
          got = rank % 3 == 1 ? mine.rank : -3;
        } catch (const lathe::Error& e) {
          got = rank % 3 == 2 ? std::atoi(e.what()) : -4;
        }
        if (got != rank) ++failures;
      }
    });
  for (std::thread& t : all) t.join();
  return failures == 0 ? 0 : wrong("a thread got what another one threw");
}

/// What an inner function threw reaches the outer call as it was, and the next call works.
int nested() {
  bool fails = true;
  lathe::Function inner("inner", [&](const Tensors& in) {
    if (fails) throw Mine{7};
    return Tensors{in[0] + 1.0};
  });
  lathe::Function outer("outer", [&](const Tensors& in) { return inner.run(in); });
  Tensor x = lathe::ops::ones({2});
  try {
    outer.run({x});
    return wrong("nothing was thrown");
  } catch (const Mine& mine) {
    if (mine.rank != 7) return wrong("another exception");
  }
  fails = false;
  return outer.run({x})[0].sum().item<float>() == 4.f ? 0 : wrong("the call after it");
}

template <class F>
int refused(F call) {
  try {
    call();
  } catch (const lathe::Error& e) {
    const bool right = e.status() == LATHE_TRACE_ERROR && std::strstr(e.what(), "next:") != nullptr;
    return right ? 0 : wrong(e.what());
  }
  return wrong("a recursion without an end came to one");
}

int recursion() {
  Tensor x = lathe::ops::ones({2});
  lathe::Function* self = nullptr;
  lathe::Function endless("endless", [&](const Tensors& in) { return self->run(in); });
  self = &endless;
  for (int i = 0; i < 2; ++i)
    if (refused([&] { endless.run({x}); }) != 0) return 1;
  if (refused([&] { endless.capture({x}); }) != 0) return 1;

  lathe::Function* other = nullptr;
  lathe::Function ping("ping", [&](const Tensors& in) { return other->run({in[0] + 1.0}); });
  lathe::Function pong("pong", [&](const Tensors& in) { return ping.run({in[0] * 2.0}); });
  other = &pong;
  if (refused([&] { ping.run({x}); }) != 0) return 1;

  lathe::Function again("again", [&](const Tensors& in) {
    self->capture(in);
    return in;
  });
  self = &again;
  if (refused([&] { again.run({x}); }) != 0) return 1;

  int depth = 0;
  lathe::Function bounded("bounded", [&](const Tensors& in) {
    if (++depth > 20) return in;
    return self->run({in[0] + 1.0});
  });
  self = &bounded;
  return bounded.run({x})[0].sum().item<float>() == 42.f ? 0 : wrong("a recursion with an end");
}

/// Ten steps of gradient descent through a traced lambda, and through the program it was saved as:
/// the weights are inputs, and have the bits that eager gives them.
int training(const char* file) {
  using ops = lathe::ops;
  auto loss = [](Tensor w, Tensor x, Tensor wanted) -> Tensor {
    Tensor apart = ops::tanh(ops::matmul(x, w)) - wanted;
    return (apart * apart).sum();
  };
  const Tensor x({0.5f, -1.f, 2.f, 1.5f, 0.25f, -0.75f}, {3, 2});
  const Tensor wanted({0.5f, -0.25f, 0.75f}, {3, 1});
  auto train = [&](auto&& of) {
    Tensor w({0.1f, -0.2f}, {2, 1});
    std::vector<float> seen;
    for (int i = 0; i < 10; ++i) {
      w.set_requires_grad();
      Tensor y = of(w, x, wanted);
      y.backward();
      seen.push_back(y.item<float>());
      w = (w.detach() - w.grad() * 0.1).detach();
    }
    for (float v : w.values<float>()) seen.push_back(v);
    return seen;
  };
  auto traced = lathe::trace(loss);
  traced.capture({Tensor({0.1f, -0.2f}, {2, 1}), x, wanted}).save(file);
  const auto eager = train(loss);
  if (train(traced) != eager) return wrong("the traced lambda trains to other bits");
  if (train(lathe::load(file)) != eager) return wrong("the loaded program trains to other bits");
  return eager[9] < eager[0] ? 0 : wrong("nothing is learnt");
}

}  // namespace

int main(int argc, char** argv) {
  const char* word = argc > 1 ? argv[1] : "";
  try {
    if (std::strcmp(word, "threads") == 0) return threads();
    if (std::strcmp(word, "nested") == 0) return nested();
    if (std::strcmp(word, "recursion") == 0) return recursion();
    if (std::strcmp(word, "training") == 0 && argc > 2) return training(argv[2]);
  } catch (const std::exception& e) {
    return wrong(e.what());
  }
  return wrong("no such word");
}
