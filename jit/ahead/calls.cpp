#include "jit/ahead/calls.h"

#include "core/dispatch/fn.h"
#include "core/ops/names.h"
#include "include/lathe/ops/activations.h"
#include "include/lathe/ops/loss.h"

namespace lathe::jit {
namespace {

using namespace names;
using Losses = loss_ops<Tensor>;

Shape rows() { return {Int(6), Int(11)}; }
Shape sequence() { return {Int(3), Int(5), Int(11)}; }
Shape images() { return {Int(3), Int(8), Int(5), Int(7)}; }
Shape width() { return {Int(11)}; }
Shape channels() { return {Int(8)}; }

using Calls = std::vector<AheadCall>;

void add_row_calls(Calls& calls) {
  for (const Shape& shape : {rows(), sequence(), images(), width()}) {
    calls.push_back({{shape}, [](const Tensors& in) { return N::softmax(in[0], -1); }});
    calls.push_back({{shape}, [](const Tensors& in) { return N::log_softmax(in[0], -1); }});
    calls.push_back({{shape}, [](const Tensors& in) { return R::logsumexp(in[0], Ints{-1}); }});
    calls.push_back({{shape}, [](const Tensors& in) { return R::var(in[0], Arg(Int(-1))); }});
    calls.push_back({{shape}, [](const Tensors& in) { return R::std(in[0], Arg(Int(-1))); }});
  }
  for (const Shape& shape : {rows(), images()}) {
    calls.push_back({{shape}, [](const Tensors& in) { return N::softmax(in[0], 1); }});
    calls.push_back({{shape}, [](const Tensors& in) { return N::log_softmax(in[0], 1); }});
    calls.push_back({{shape}, [](const Tensors& in) { return R::var(in[0]); }});
  }
}

void add_norm_calls(Calls& calls) {
  for (const Shape& shape : {rows(), sequence()}) {
    calls.push_back({{shape, width(), width()}, [](const Tensors& in) {
                       return N::layer_norm(in[0], width(), in[1], in[2]);
                     }});
    calls.push_back(
        {{shape, width()}, [](const Tensors& in) { return N::layer_norm(in[0], width(), in[1]); }});
    calls.push_back({{shape}, [](const Tensors& in) { return N::layer_norm(in[0], width()); }});
    calls.push_back(
        {{shape, width()}, [](const Tensors& in) { return N::rms_norm(in[0], width(), in[1]); }});
    calls.push_back({{shape}, [](const Tensors& in) { return N::rms_norm(in[0], width()); }});
  }
  calls.push_back({{images(), channels(), channels()},
                   [](const Tensors& in) { return N::group_norm(in[0], 2, in[1], in[2]); }});
  calls.push_back({{images()}, [](const Tensors& in) { return N::group_norm(in[0], 2); }});
  for (const Shape& shape : {Shape{Int(9), Int(8)}, images()}) {
    for (const bool training : {false, true}) {
      calls.push_back({{shape, channels(), channels()}, [training](const Tensors& in) {
                         const Tensor mean = C::zeros(channels(), in[1].dtype());
                         const Tensor var = C::full(channels(), 2.0, in[1].dtype());
                         return N::batch_norm(in[0], in[1], in[2], mean, var, training, 0.1, 1e-5);
                       }});
    }
  }
  calls.push_back({{images()}, [](const Tensors& in) {
                     return N::instance_norm(in[0], Arg(), Arg(), Arg(), Arg(), true, 0.1, 1e-5,
                                             false);
                   }});
}

void add_loss_calls(Calls& calls) {
  for (const Shape& shape : {rows(), sequence()}) {
    for (const char* how : {"mean", "sum", "none"})  // not an op: ways to put losses together
      calls.push_back(
          {{shape, shape}, [how](const Tensors& in) { return N::mse_loss(in[0], in[1], how); }});
    calls.push_back({{shape, shape}, [](const Tensors& in) { return N::l1_loss(in[0], in[1]); }});
    calls.push_back(
        {{shape, shape}, [](const Tensors& in) { return Losses::huber_loss(in[0], in[1]); }});
    calls.push_back(
        {{shape, shape}, [](const Tensors& in) { return Losses::smooth_l1_loss(in[0], in[1]); }});
    calls.push_back(
        {{shape, shape}, [](const Tensors& in) { return N::cosine_similarity(in[0], in[1], -1); }});
    calls.push_back(
        {{shape, shape}, [](const Tensors& in) { return Losses::kl_div(in[0], in[1]); }});
  }
  calls.push_back({{rows()}, [](const Tensors& in) {
                     const Tensor classes = C::zeros({in[0].size(0)}, DType::i64);
                     return N::cross_entropy(in[0], classes);
                   }});
  calls.push_back({{rows()}, [](const Tensors& in) {
                     const Tensor classes = C::zeros({in[0].size(0)}, DType::i64);
                     return N::nll_loss(in[0], classes);
                   }});
}

}  // namespace

std::vector<AheadCall> ahead_calls() {
  Calls calls;
  add_row_calls(calls);
  add_norm_calls(calls);
  add_loss_calls(calls);
  return calls;
}

}  // namespace lathe::jit
