#include "autodiff/vjp.h"

namespace lathe {

ir::Data read(const Vjp& vjp, const ir::Data& inputs, const ir::Data& results) {
  ir::Data out;
  for (const Vjp::Read& r : vjp.reads) {
    const bool input = r.from == Vjp::Read::From::input;
    const ir::Datum& d = input ? inputs[r.index] : results[vjp.given_at(r.index)];
    if (r.axis < 0)
      out.push_back(d);
    else
      out.emplace_back(Arg(d.tensor().size(r.axis)));
  }
  return out;
}

}  // namespace lathe
