// Convolution and its two gradients, over one to three axes, and transposed convolution, which is a
// convolution's gradient by its input.
//
// oneDNN computes in a layout of its own choosing; operands are reordered into it and the result
// out of it, image by image of the batch, so that threads can share the forward pass and the
// gradient by input. The gradient by weight sums over the batch, in oneDNN's order, so it is one
// call.
#include <cstring>

#include "kernels/onednn/library.h"

namespace lathe::onednn {
namespace {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

struct Pass {
  Desc x, w, y, scratch;
  dnnl::primitive primitive;
};

struct ConvPlan final : Prepared {
  ConvPass pass = ConvPass::none;
  bool turned = false;  // by weight: operand 0 is y
  int64_t images = 0, outputs = 0, groups = 1;
  Dims x, w, y;  // of one call; w with a leading group axis if there are groups
  Dims x_strides, w_strides, y_strides;
  DType operands = DType::f32, result = DType::f32;
  int64_t x_image = 0, y_image = 0;  // bytes from image to image
  Dims stride, dilation, left, right;
  bool empty = false;  // a size is 0: the result is zeros
  Pass made;           // what runs, in the layouts that it wants

  /// Of what this pass computes, or of one of its operands.
  dnnl::memory::data_type type(ConvPass computes) const {
    return type_of(pass == computes ? result : operands);
  }
  Desc plain_x() const { return Desc(x, type(ConvPass::by_input), x_strides); }
  Desc plain_w() const { return Desc(w, type(ConvPass::by_weight), w_strides); }
  Desc plain_y() const { return Desc(y, type(ConvPass::forward), y_strides); }
  Desc any_x() const { return any(x, type(ConvPass::by_input)); }
  Desc any_w() const { return any(w, type(ConvPass::by_weight)); }
  Desc any_y() const { return any(y, type(ConvPass::forward)); }
  /// In the operands' dtype, whatever the result's: oneDNN knows a gradient by its forward pass,
  /// which is one that it computes.
  Desc hint_x() const { return any(x, type_of(operands)); }
  Desc hint_w() const { return any(w, type_of(operands)); }

 private:
  static Desc any(const Dims& dims, dnnl::memory::data_type type) {
    return Desc(dims, type, dnnl::memory::format_tag::any);
  }
};

dnnl::convolution_forward::primitive_desc forward_desc(const ConvPlan& p) {
  return {cpu(),
          dnnl::prop_kind::forward_inference,
          dnnl::algorithm::convolution_direct,
          p.hint_x(),
          p.hint_w(),
          p.any_y(),
          p.stride,
          p.dilation,
          p.left,
          p.right,
          attributes()};
}

using Arguments = std::unordered_map<int, dnnl::memory>;

/// `plain` in the layout the primitive wants; `room` holds it if that is another.
dnnl::memory reordered(const dnnl::memory& plain, const Desc& want, std::optional<Room>& room,
                       dnnl::stream& stream) {
  if (plain.get_desc() == want) return plain;
  room.emplace(want);
  dnnl::memory to = room->memory();
  dnnl::reorder(plain, to).execute(stream, const_cast<dnnl::memory&>(plain), to);
  return to;
}

Pass make_pass(const ConvPlan& p) {
  OneThread one;
  auto hint = forward_desc(p);
  if (p.pass == ConvPass::forward)
    return {hint.src_desc(), hint.weights_desc(), hint.dst_desc(), hint.scratchpad_desc(),
            dnnl::convolution_forward(hint)};
  if (p.pass == ConvPass::by_input) {
    dnnl::convolution_backward_data::primitive_desc pd(
        cpu(), dnnl::algorithm::convolution_direct, p.any_x(), p.any_w(), p.any_y(), p.stride,
        p.dilation, p.left, p.right, hint, attributes());
    return {pd.diff_src_desc(), pd.weights_desc(), pd.diff_dst_desc(), pd.scratchpad_desc(),
            dnnl::convolution_backward_data(pd)};
  }
  dnnl::convolution_backward_weights::primitive_desc pd(
      cpu(), dnnl::algorithm::convolution_direct, p.any_x(), p.any_w(), p.any_y(), p.stride,
      p.dilation, p.left, p.right, hint, attributes());
  return {pd.src_desc(), pd.diff_weights_desc(), pd.diff_dst_desc(), pd.scratchpad_desc(),
          dnnl::convolution_backward_weights(pd)};
}

/// The same, complete when it returns.
dnnl::memory arranged(const dnnl::memory& plain, const Desc& want, std::optional<Room>& room) {
  OneThread one;
  dnnl::stream stream(cpu());
  dnnl::memory made = reordered(plain, want, room, stream);
  stream.wait();
  return made;
}

/// Where a result is to be computed: `plain`, or `room` where the primitive wants another layout.
dnnl::memory result_room(const dnnl::memory& plain, const Desc& want, std::optional<Room>& room) {
  if (plain.get_desc() == want) return plain;
  room.emplace(want);
  return room->memory();
}

/// One call: x and y as they are passed, w in the pass's layout if it is an operand; the one that
/// the pass computes is written.
void run_pass(const ConvPlan& p, std::byte* x, const dnnl::memory& w, std::byte* y) {
  OneThread one;
  const Pass& pass = p.made;
  dnnl::stream stream(cpu());
  dnnl::memory plain_x(p.plain_x(), cpu(), x), plain_y(p.plain_y(), cpu(), y);
  std::optional<Room> x_room, w_room, y_room;
  Room scratch(pass.scratch);
  bool fx = p.pass == ConvPass::by_input, fw = p.pass == ConvPass::by_weight,
       fy = p.pass == ConvPass::forward;
  dnnl::memory mx =
      fx ? result_room(plain_x, pass.x, x_room) : reordered(plain_x, pass.x, x_room, stream);
  dnnl::memory mw = fw ? result_room(w, pass.w, w_room) : w;
  dnnl::memory my =
      fy ? result_room(plain_y, pass.y, y_room) : reordered(plain_y, pass.y, y_room, stream);
  Arguments arguments{{fx ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, mx},
                      {fw ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, mw},
                      {fy ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, my},
                      {DNNL_ARG_SCRATCHPAD, scratch.memory()}};
  pass.primitive.execute(stream, arguments);
  dnnl::memory& made = fx ? mx : fw ? mw : my;
  dnnl::memory plain = fx ? plain_x : fw ? w : plain_y;
  if (made.get_data_handle() != plain.get_data_handle())
    dnnl::reorder(made, plain).execute(stream, made, plain);
  stream.wait();
}

/// w[g*o, c, kh, kw] as [g, o, c, kh, kw].
void group_weight(ConvPlan& p) {
  if (p.groups == 1) return;
  int64_t o = p.w[0] / p.groups;
  p.w[0] = o;
  p.w.insert(p.w.begin(), p.groups);
  p.w_strides.insert(p.w_strides.begin(), p.w_strides[0] * o);
}

Dims dims(const Sizes& s) { return Dims(s.begin(), s.end()); }

}  // namespace

Verdict conv_accepts(const Query& query) {
  if (conv_row(query.op).pass == ConvPass::none) return Verdict::no(Reason::op, query.op.name());
  return accepts_dtypes(query);
}

PreparedRef conv_prepare(const Problem& problem) {
  auto plan = std::make_unique<ConvPlan>();
  ConvPlan& p = *plan;
  const ConvRow row = conv_row(problem.op);
  p.pass = row.pass;
  p.turned = row.turned;
  const bool forward = p.pass == ConvPass::forward, by_weight = p.pass == ConvPass::by_weight;
  // forward(x, w), by input (y, w), by weight (x, y) or, turned, (y, x)
  const Operand& data = problem.in[by_weight && row.turned ? 1 : 0];
  const Operand& x = p.pass == ConvPass::by_input ? problem.out : data;
  const Operand& w = by_weight ? problem.out : problem.in[1];
  const Operand& y = forward                    ? problem.out
                     : by_weight && !row.turned ? problem.in[1]
                                                : problem.in[0];
  auto argument = [&](std::string_view name) { return problem.op.schema.find(name); };
  auto ints = [&](std::string_view name) {
    Sizes numbers;
    for (Int i : problem.args.ints(argument(name))) numbers.push_back(i.value());
    return numbers;
  };
  Sizes stride = ints("stride"), padding = ints("padding"), dilation = ints("dilation");
  p.groups = problem.args.integer(argument("groups")).value();
  p.x = dims(x.shape), p.w = dims(w.shape), p.y = dims(y.shape);
  p.x_strides = dims(x.strides), p.w_strides = dims(w.strides), p.y_strides = dims(y.strides);
  for (size_t i = 0; i < stride.size(); ++i) {
    p.stride.push_back(stride[i]);
    p.dilation.push_back(dilation[i] - 1);
    p.left.push_back(padding[i]);
    int64_t reach = (p.y[2 + i] - 1) * stride[i] + (p.w[2 + i] - 1) * dilation[i] + 1;
    p.right.push_back(reach - p.x[2 + i] - padding[i]);
  }
  for (const Operand* o : {&x, &w, &y}) p.empty |= o->numel() == 0;
  p.outputs = problem.out.numel();
  p.images = p.x[0];
  p.operands = problem.in[0].dtype;
  p.result = problem.out.dtype;
  p.x_image = p.x_strides[0] * static_cast<int64_t>(size_of(x.dtype));
  p.y_image = p.y_strides[0] * static_cast<int64_t>(size_of(y.dtype));
  if (p.pass != ConvPass::by_weight) p.x[0] = p.y[0] = 1;
  group_weight(p);
  if (p.empty) return plan;
  return if_possible([&]() -> PreparedRef {
    p.made = make_pass(p);
    return std::move(plan);
  });
}

void conv_run(const Prepared& prepared, const Launch& launch) {
  const auto& p = static_cast<const ConvPlan&>(prepared);
  auto at = [](const std::byte* d) { return const_cast<std::byte*>(d); };
  if (p.empty) {
    std::memset(launch.out, 0, static_cast<size_t>(p.outputs) * size_of(p.result));
  } else if (p.pass == ConvPass::by_weight) {
    std::byte *x = at(p.turned ? launch.b : launch.a), *y = at(p.turned ? launch.a : launch.b);
    run_pass(p, x, dnnl::memory(p.plain_w(), cpu(), launch.out), y);
  } else {
    std::optional<Room> room;  // of the weights, which all images read
    const dnnl::memory w = arranged(dnnl::memory(p.plain_w(), cpu(), at(launch.b)), p.made.w, room);
    g_host->parallel_for(p.images, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t x = i * p.x_image, y = i * p.y_image;
        if (p.pass == ConvPass::forward)
          run_pass(p, at(launch.a) + x, w, launch.out + y);
        else
          run_pass(p, launch.out + x, w, at(launch.a) + y);
      }
    });
  }
  launch.epilogue.at_the_end(p.outputs, g_host->parallel_for);
}

}  // namespace lathe::onednn
