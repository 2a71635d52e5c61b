// Steps of recurrent layers, from the gates' parts of the input and of the state. Definitions of
// their own, so that a step in eager code is one kernel, and one node of the tape.
#include <absl/strings/str_cat.h>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

/// The gates side by side in x[..., gates * width], each as wide as the state.
std::vector<Tensor> gates_of(std::string_view op, const Tensor& x, const Tensor& state, int gates) {
  if (x.rank() == 0 || state.rank() == 0 ||
      !require(Relation::eq, x.size(-1), state.size(-1) * Int(gates)))
    throw ShapeError(
        {.op = std::string(op),
         .problem = "the gates are not as wide as the state",
         .got = absl::StrCat("gates", to_string(x.shape()), ", state", to_string(state.shape())),
         .expected = absl::StrCat("gates[..., ", gates, " * the state's last size]"),
         .next = "check hidden_size, and that all gates are there"});
  std::vector<Tensor> found;
  for (int k = 0; k < gates; ++k)
    found.push_back(S::narrow(x, Int(-1), state.size(-1) * Int(k), state.size(-1)));
  return found;
}

Outputs lstm_step(Args a) {
  const Tensor cell = a.tensor(2);
  const auto g = gates_of("lstm_step", M::add(a.tensor(0), a.tensor(1)), cell, 4);
  const Tensor next =
      M::add(M::mul(M::sigmoid(g[1]), cell), M::mul(M::sigmoid(g[0]), M::tanh(g[2])));
  return {M::mul(M::sigmoid(g[3]), M::tanh(next)), next};
}

Outputs gru_step(Args a) {
  const Tensor hidden = a.tensor(2);
  const auto x = gates_of("gru_step", a.tensor(0), hidden, 3);
  const auto h = gates_of("gru_step", a.tensor(1), hidden, 3);
  const Tensor reset = M::sigmoid(M::add(x[0], h[0])), update = M::sigmoid(M::add(x[1], h[1]));
  const Tensor next = M::tanh(M::add(x[2], M::mul(reset, h[2])));
  return {M::add(next, M::mul(update, M::sub(hidden, next)))};
}

}  // namespace

void add_recurrent_definitions(Definitions& r) {
  r.composite(
      "lstm_step(Tensor projected, Tensor recurrent, Tensor cell) -> (Tensor hidden, Tensor cell)",
      lstm_step,
      {.places = kNowhere,
       .doc = "The state of an LSTM after a step, of the parts that the input and the last hidden "
              "state have in the gates i, f, g, o."});
  r.composite("gru_step(Tensor projected, Tensor recurrent, Tensor hidden) -> Tensor", gru_step,
              {.places = kNowhere,
               .doc = "The state of a GRU after a step, of the parts that the input and the last "
                      "hidden state have in the gates r, z, n."});
}

}  // namespace lathe
