// Windows, and transforms of stretches of a signal under one.
//
// Windows are computed in float64 from the positions of their elements and rounded once. `span` is
// what a window's formula divides by: its length less one, or of a periodic one, which is the start
// of one that is longer by an element, the length.
#include <absl/strings/str_cat.h>

#include <cmath>

#include "core/ops/matrices.h"
#include "core/ops/names.h"
#include "include/lathe/ops/fft.h"

namespace lathe {
namespace {

using namespace names;
using F = fft_ops<Tensor>;

// ── windows ─────────────────────────────────────────────────────────────────────────────────────

struct Window {
  const char* op;
  Int length;
  bool symmetric;
  Arg dtype, device;
  bool wide = false;  // f32 and f64 only, as all of signal.windows

  /// The window whose elements are f(positions, span), of positions in float64; 1 if there is one
  /// element.
  template <class Function>
  Tensor make(Function f) const {
    const DType to = dtype.none() ? default_dtype() : dtype.dtype_;
    if (!is_floating(to) || (wide && size_of(to) < 4))
      throw DTypeError({.op = op,
                        .problem = "there are no windows of this dtype",
                        .got = absl::StrCat("dtype=", name(to)),
                        .expected = wide ? "float32 or float64" : "a floating dtype",
                        .next = wide ? "convert the window with .to(dtype)" : ""});
    if (!require(Relation::le, Int(0), length))
      throw ShapeError({.op = op,
                        .problem = "a window cannot have fewer than no elements",
                        .got = to_string(length),
                        .expected = "a length from 0"});
    if (length == Int(0) || length == Int(1)) return C::ones({length}, to, device);
    Tensor k = C::arange(0, length, 1, DType::f64, device);
    return M::cast(f(k, symmetric ? length - 1 : length), to);
  }
};

/// a0 - a1 cos(x) + a2 cos(2 x) - ... over one period.
Tensor cosines(const Window& w, const std::vector<double>& a) {
  return w.make([&](const Tensor& k, Int span) {
    Tensor sum;
    for (size_t i = 0; i < a.size(); ++i) {
      const double factor = i % 2 == 0 ? a[i] : -a[i];
      Tensor angle = M::div(M::mul(k, 2 * M_PI * static_cast<double>(i)), Arg(span));
      Tensor term = M::mul(M::cos(angle), factor);
      sum = sum.defined() ? M::add(sum, term) : term;
    }
    return sum.defined() ? sum : M::mul(k, 0.0);
  });
}

Tensor bartlett(const Window& w) {
  return w.make([](const Tensor& k, Int span) {
    return M::sub(1.0, M::abs(M::sub(M::div(M::mul(k, 2.0), Arg(span)), 1.0)));
  });
}

/// The modified Bessel function of order 0, of arguments up to `most`: its series, whose terms are
/// all positive.
Tensor bessel(const Tensor& x, double most) {
  Tensor quarter = M::mul(M::square(x), 0.25), sum = M::add(M::mul(quarter, 0.0), 1.0);
  for (int i = 20 + static_cast<int>(1.5 * most); i > 0; --i)
    sum = M::add(M::mul(M::mul(quarter, 1.0 / (static_cast<double>(i) * i)), sum), 1.0);
  return sum;
}

Tensor kaiser(const Window& w, double beta) {
  if (!(std::abs(beta) <= 700))
    throw ValueError({.op = w.op,
                      .problem = "beta is too large for a window of finite numbers",
                      .got = absl::StrCat(beta),
                      .expected = "a modulus of 700 at most"});
  return w.make([&](const Tensor& k, Int span) {
    Tensor at = M::sub(M::div(M::mul(k, 2.0), Arg(span)), 1.0);
    Tensor root = M::sqrt(M::clamp_min(M::sub(1.0, M::square(at)), 0.0));
    Tensor top = C::full(Shape{}, beta, DType::f64, w.device);
    return M::div(bessel(M::mul(root, beta), std::abs(beta)), bessel(top, std::abs(beta)));
  });
}

double positive(const char* op, const char* what, Real x) {
  const double value = x.value();
  if (value > 0) return value;
  throw ValueError({.op = op,
                    .problem = absl::StrCat(what, " is not positive"),
                    .got = absl::StrCat(value),
                    .expected = "a positive number"});
}

Extra creator(std::string_view doc, uint8_t places, std::vector<std::string_view> also = {}) {
  Extra e{.no_grad = true, .places = places, .also = std::move(also)};
  e.doc = doc;
  return e;
}

constexpr const char* kMade = "*, dtype? dtype=None, device? device=None) -> Tensor";

/// torch.<name>_window(window_length, periodic, ...more), of the arguments and where `more` begins.
template <class Make>
void add_window(Definitions& r, const char* name, const char* more, std::string_view doc,
                Make make) {
  const std::string schema =
      absl::StrCat(name, "(int window_length, bool periodic=True, ", more, kMade);
  r.composite(
      schema,
      [name, make](Args a) -> Outputs {
        const size_t last = a.size();
        return {make(Window{name, a.integer(0), !a.flag(1), a[last - 2], a[last - 1]}, a)};
      },
      creator(doc, kFunction));
}

/// lathe.signal.windows.<name>(M, *, ...more, sym).
template <class Make>
void add_signal(Definitions& r, const char* found, const char* more, std::string_view doc,
                Make make) {
  const std::string_view name =
      std::string_view(found).substr(std::string_view(found).rfind('.') + 1);
  const std::string schema =
      absl::StrCat("signal_", name, "(int M, *, ", more, "bool sym=True, ", kMade + 3);
  r.composite(
      schema,
      [found, make](Args a) -> Outputs {
        const size_t last = a.size();
        Window w{found,       a.integer(0), a.flag(static_cast<int>(last) - 3),
                 a[last - 2], a[last - 1],  true};
        return {make(w, a)};
      },
      creator(doc, kNowhere, {found}));
}

constexpr const char* kHann = "(1 - cos(x)) / 2 over one period.";
constexpr const char* kBartlett = "Straight up to 1 and down again.";
constexpr const char* kBlackman = "0.42 - 0.5 cos(x) + 0.08 cos(2 x) over one period.";
constexpr const char* kHamming = "alpha - beta cos(x) over one period.";
constexpr const char* kKaiser =
    "i0(beta sqrt(1 - t^2)) / i0(beta) for t from -1 to 1: the larger beta, the narrower.";

void add_windows(Definitions& r) {
  add_window(r, "hann_window", "", kHann, [](const Window& w, Args) {
    return cosines(w, {0.5, 0.5});
  });
  add_window(r, "bartlett_window", "", kBartlett,
             [](const Window& w, Args) { return bartlett(w); });
  add_window(r, "blackman_window", "", kBlackman, [](const Window& w, Args) {
    return cosines(w, {0.42, 0.5, 0.08});
  });
  add_window(r, "hamming_window", "float alpha=0.54, float beta=0.46, ", kHamming,
             [](const Window& w, Args a) {
               return cosines(w, {a.real(2).value(), a.real(3).value()});
             });
  add_window(r, "kaiser_window", "float beta=12.0, ", kKaiser,
             [](const Window& w, Args a) { return kaiser(w, a.real(2).value()); });
}

Tensor middle(const Window& w, Int span) {
  return M::mul(C::full(Shape{}, 0.5, DType::f64, w.device), Arg(span));
}

Tensor exponential(const Window& w, Args a) {
  const double tau = positive(w.op, "tau", a.real(2));
  if (w.symmetric && !a.none(1))
    throw ValueError({.op = w.op,
                      .problem = "a symmetric window has its centre in the middle",
                      .got = absl::StrCat("center=", to_string(a[1])),
                      .expected = "center=None, or sym=False"});
  return w.make([&](const Tensor& k, Int span) {
    Tensor from = a.none(1) ? M::sub(k, middle(w, span)) : M::sub(k, a[1]);
    return M::exp(M::div(M::neg(M::abs(from)), tau));
  });
}

Tensor gaussian(const Window& w, Args a) {
  const double deviation = positive(w.op, "std", a.real(1));
  return w.make([&](const Tensor& k, Int span) {
    Tensor t = M::div(M::sub(k, middle(w, span)), deviation);
    return M::exp(M::mul(M::square(t), -0.5));
  });
}

std::vector<double> reals(const Arg& list) {
  std::vector<double> out;
  for (size_t i = 0; i < list.list_->size; ++i)
    out.push_back(Args(list.list_->data + i, 1).real(0).value());
  return out;
}

void add_signals(Definitions& r) {
  add_signal(r, "signal.windows.bartlett", "", kBartlett,
             [](const Window& w, Args) { return bartlett(w); });
  add_signal(r, "signal.windows.blackman", "", kBlackman, [](const Window& w, Args) {
    return cosines(w, {0.42, 0.5, 0.08});
  });
  add_signal(r, "signal.windows.hann", "", kHann, [](const Window& w, Args) {
    return cosines(w, {0.5, 0.5});
  });
  add_signal(r, "signal.windows.hamming", "", "0.54 - 0.46 cos(x) over one period.",
             [](const Window& w, Args) {
               return cosines(w, {0.54, 0.46});
             });
  add_signal(r, "signal.windows.general_hamming", "float alpha=0.54, ",
             "alpha - (1 - alpha) cos(x) over one period.", [](const Window& w, Args a) {
               const double alpha = a.real(1).value();
               return cosines(w, {alpha, 1 - alpha});
             });
  add_signal(r, "signal.windows.general_cosine", "float[] a, ",
             "a[0] - a[1] cos(x) + a[2] cos(2 x) - ... over one period.",
             [](const Window& w, Args a) {
               const std::vector<double> factors = reals(a[1]);
               if (factors.empty())
                 throw ValueError({.op = w.op,
                                   .problem = "there is no cosine",
                                   .got = "a=[]",
                                   .expected = "a factor at least",
                                   .next = "give [1.0] for a window of ones"});
               return cosines(w, factors);
             });
  add_signal(r, "signal.windows.nuttall", "",
             "Nuttall's window of four cosines with the least side lobes.",
             [](const Window& w, Args) {
               return cosines(w, {0.3635819, 0.4891775, 0.1365995, 0.0106411});
             });
  add_signal(r, "signal.windows.kaiser", "float beta=12.0, ", kKaiser, [](const Window& w, Args a) {
    const double beta = a.real(1).value();
    if (beta < 0)
      throw ValueError({.op = w.op,
                        .problem = "beta is negative",
                        .got = absl::StrCat("beta=", beta),
                        .expected = "0 or more",
                        .next = "the window is that of -beta"});
    return kaiser(w, beta);
  });
  add_signal(r, "signal.windows.cosine", "", "Half a period of a sine.", [](const Window& w, Args) {
    return w.make([](const Tensor& k, Int span) {
      return M::sin(M::div(M::mul(M::add(k, 0.5), M_PI), Arg(span + 1)));
    });
  });
  add_signal(r, "signal.windows.exponential", "float? center=None, float tau=1.0, ",
             "exp(-|k - center| / tau); the centre is the middle unless given.", exponential);
  add_signal(r, "signal.windows.gaussian", "float std=1.0, ", "exp(-(k - middle)^2 / (2 std^2)).",
             gaussian);
}

// ── transforms of stretches ─────────────────────────────────────────────────────────────────────

[[noreturn]] void refuse(const char* op, std::string problem, std::string got,
                         std::string expected) {
  throw ShapeError({.op = op,
                    .problem = std::move(problem),
                    .got = std::move(got),
                    .expected = std::move(expected),
                    .next = "look at n_fft, hop_length, win_length and the window"});
}

void require_range(const char* op, const char* what, Int low, Int x, Int high) {
  if (require(Relation::le, low, x) && require(Relation::le, x, high)) return;
  refuse(op, absl::StrCat(what, " is out of range"), to_string(x),
         absl::StrCat(to_string(low), " to ", to_string(high)));
}

/// What stft and istft have in common.
struct Frames {
  const char* op;
  Int n, hop, width;
  Tensor window;  // n long; undefined: ones

  Frames(const char* name, Args a, const Tensor& like, Int longest)
      : op(name),
        n(a.integer(1)),
        hop(a.none(2) ? floor_div(n, 4) : a.integer(2)),
        width(a.none(3) ? n : a.integer(3)),
        window(a.optional_tensor(4)) {
    require_range(op, "n_fft", 1, n, longest);
    require_range(op, "win_length", 1, width, n);
    if (!require(Relation::lt, Int(0), hop))
      refuse(op, "hop_length is not positive", to_string(hop), "a positive number");
    if (window.defined() && (window.rank() != 1 || !require(Relation::eq, window.size(0), width)))
      refuse(op, "the window is not of win_length elements", to_string(type_of(window)),
             absl::StrCat("[", to_string(width), "]"));
    if (identical(width, n) || width == n) return;
    if (!window.defined()) window = C::ones({width}, real_type(like.dtype()), like.device());
    const Int left = floor_div(n - width, 2);
    window = S::constant_pad_nd(window, {left, n - width - left}, 0);
  }
};

/// The signal with n / 2 elements more at both ends.
Tensor padded(const char* op, const Tensor& x, Int by, std::string_view mode) {
  if (mode == "constant") return S::constant_pad_nd(x, {by, by}, 0);
  const Int length = x.size(-1);
  Tensor at = C::arange(-by, length + by, 1, DType::i64, x.device());
  if (mode == "reflect") {
    require_range(op, "n_fft / 2, which is reflected,", 0, by, length - 1);
    at = M::sub(length - 1, M::abs(M::sub(length - 1, M::abs(at))));
  } else if (mode == "replicate") {
    at = M::clamp(at, 0, Arg(length - 1));
  } else if (mode == "circular") {
    require_range(op, "n_fft / 2, which is repeated,", 0, by, length);
    at = M::remainder(at, length);
  } else {
    throw ValueError({.op = op,
                      .problem = "an unknown pad_mode",
                      .got = absl::StrCat("'", mode, "'"),
                      .expected = "'reflect', 'constant', 'replicate' or 'circular'"});
  }
  return I::index_select(x, -1, at);
}

Tensor real_pair(const Tensor& x) { return S::stack({{M::real_part(x), M::imag_part(x)}}, -1); }

/// (input, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided,
/// return_complex, align_to_window)
Outputs stft_expansion(Args a) {
  const char* op = "stft";
  Tensor x = a.tensor(0);
  require_default(op, "align_to_window", a[10], a.none(10));
  if (x.rank() != 1 && x.rank() != 2)
    refuse(op, "the signal has neither one nor two axes", to_string(type_of(x)),
           "[time] or [batch, time]");
  const bool complex_window = !a.none(4) && is_complex(a.tensor(4).dtype());
  const bool complex = is_complex(x.dtype()) || complex_window;
  if (a.none(9) && !complex)
    throw ValueError({.op = op,
                      .problem = "of a real signal return_complex has to be given",
                      .got = "return_complex=None",
                      .expected = "True, or False for real and imaginary part on a last axis"});
  const bool onesided = a.none(8) ? !complex : a.flag(8);
  if (onesided && complex)
    throw ValueError({.op = op,
                      .problem = "the spectrum of complex numbers has no half that decides it",
                      .got = "onesided=True",
                      .expected = "onesided=False"});
  if (a.flag(5)) x = padded(op, x, floor_div(a.integer(1), 2), a.text(6));
  const Frames f(op, a, x, x.size(-1));
  Tensor pieces = S::unfold(x, -1, f.n, f.hop);
  if (f.window.defined()) pieces = M::mul(pieces, f.window);
  const char* norm = a.flag(7) ? "ortho" : "backward";
  Tensor y = onesided ? F::rfft(pieces, Arg(), -1, norm) : F::fft(pieces, Arg(), -1, norm);
  y = S::transpose(y, -1, -2);
  const bool return_complex = a.none(9) || a.flag(9);
  return {return_complex ? y : real_pair(y)};
}

/// Pieces [..., frames, n] added up where they lie in the signal.
Tensor overlapped(const Tensor& pieces, const Frames& f) {
  const Int count = pieces.size(-2);
  Tensor begins = M::mul(C::arange(0, count, 1, DType::i64, pieces.device()), f.hop);
  Tensor within = C::arange(0, f.n, 1, DType::i64, pieces.device());
  Tensor at = S::reshape(M::add(as_column(begins), within), {count * f.n});
  Shape flat = batch_of(pieces), whole = flat;
  flat.push_back(count * f.n);
  whole.push_back(f.n + f.hop * (count - 1));
  return I::index_add(C::zeros(whole, pieces.dtype(), pieces.device()), -1, at,
                      S::reshape(pieces, flat));
}

/// (input, n_fft, hop_length, win_length, window, center, normalized, onesided, length,
/// return_complex)
Outputs istft_expansion(Args a) {
  const char* op = "istft";
  Tensor x = a.tensor(0);
  if (!is_complex(x.dtype()))
    throw DTypeError({.op = op,
                      .problem = "the spectrum is not complex",
                      .got = std::string(name(x.dtype())),
                      .expected = "a complex dtype",
                      .next = "join real and imaginary part by lathe.complex()"});
  if (x.rank() != 2 && x.rank() != 3)
    refuse(op, "the spectrum has neither two nor three axes", to_string(type_of(x)),
           "[frequencies, time] or [batch, frequencies, time]");
  const bool complex = a.flag(9),
             onesided = a.none(7) ? !complex && x.size(-2) != a.integer(1) : a.flag(7);
  const Frames f(op, a, x, Int(int64_t{1} << 40));
  if (onesided && complex)
    throw ValueError({.op = op,
                      .problem = "half a spectrum is that of a real signal",
                      .got = "onesided=True, return_complex=True",
                      .expected = "one of the two"});
  const Int rows = onesided ? floor_div(f.n, 2) + 1 : f.n;
  if (!require(Relation::eq, x.size(-2), rows))
    refuse(op, "the spectrum has not as many frequencies as n_fft says", to_string(type_of(x)),
           absl::StrCat(to_string(rows), " frequencies"));
  const char* norm = a.flag(6) ? "ortho" : "backward";
  x = S::transpose(x, -1, -2);
  Tensor pieces = complex ? F::ifft(x, Arg(), -1, norm) : F::irfft(x, Arg(f.n), -1, norm);
  Tensor weights = f.window.defined() ? f.window : C::ones({f.n}, real_type(x.dtype()), x.device());
  Tensor y = overlapped(M::mul(pieces, weights), f);
  Tensor squares = M::mul(weights, weights);
  Shape every{x.size(-2), f.n};
  Tensor envelope = overlapped(S::expand(squares, every), f);
  const Int begin = a.flag(5) ? floor_div(f.n, 2) : Int(0), have = y.size(-1);
  const Int end = !a.none(8) ? begin + a.integer(8) : a.flag(5) ? have - floor_div(f.n, 2) : have;
  const Int stop = min(end, have);
  y = M::div(columns(y, begin, stop), S::narrow(envelope, -1, begin, stop - begin));
  if (end > have) y = S::constant_pad_nd(y, {0, end - have}, 0);
  return {y};
}

void add_short_time(Definitions& r) {
  r.composite(
      "stft(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
      "window=None, bool center=True, str pad_mode='reflect', bool normalized=False, bool? "
      "onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor",
      stft_expansion,
      {.autocast = Autocast::wide,
       .doc = "The transforms of stretches of n_fft elements, hop_length (n_fft / 4) apart, under "
              "a window: [..., frequencies, time]."});
  r.composite(
      "istft(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
      "window=None, bool center=True, bool normalized=False, bool? onesided=None, int? "
      "length=None, bool return_complex=False) -> Tensor",
      istft_expansion,
      {.doc = "The signal that stft() gives this of: the stretches under the window added up, by "
              "the sum of its squares there. Where that is 0, the signal is not finite."});
}

}  // namespace

void add_signal_window_definitions(Definitions& r) {
  add_windows(r);
  add_signals(r);
  add_short_time(r);
}

}  // namespace lathe
