// Files that somebody made to do harm, every hash in them right: each is refused with an error that
// says what is wrong. The flips and cuts of a good file are in graph_file_test.cpp.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <limits>
#include <random>
#include <set>

#include "core/base/error.h"
#include "core/dispatch/custom.h"
#include "core/dispatch/fn.h"
#include "graph/file/file.h"
#include "graph/file/layout.h"
#include "graph/file/xxhash.h"
#include "graph/trace/interpret.h"
#include "include/lathe/ops/math.h"
#include "kernels/executor.h"
#include "tests/cpp/support/samples.h"

namespace lathe::ir {
namespace {

using namespace file;  // NOLINT: the format's numbers

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

struct Part {
  uint32_t kind;
  std::string bytes;
  uint32_t index = 0;
};

struct Described {
  uint32_t dtype = static_cast<uint32_t>(DType::f32), rank = 1;
  int64_t sizes[5] = {4};
  uint64_t section = 2, zero = 0;
};
std::string described(const std::vector<Described>& all) {
  std::string out;
  for (const Described& d : all) {
    put(out, d.dtype), put(out, d.rank);
    for (int64_t s : d.sizes) put(out, s);
    put(out, d.section), put(out, d.zero);
  }
  return out;
}

/// A well-formed file of these sections, with right hashes.
std::string file_of(const std::vector<Part>& parts) {
  uint64_t at = aligned(kHeader + kEntry * parts.size());
  std::string table, body;
  for (const Part& p : parts) {
    put(table, p.kind), put(table, p.index), put(table, at + body.size());
    put(table, uint64_t{p.bytes.size()}), put(table, xxhash64(p.bytes)), put(table, uint64_t{0});
    body += p.bytes;
    if (&p != &parts.back()) body.resize(aligned(body.size()), '\0');
  }
  std::string out(kMagic);
  put(out, kVersion), put(out, static_cast<uint32_t>(parts.size()));
  put(out, at + body.size()), put(out, uint64_t{0});
  out += table;
  if (!parts.empty()) out.resize(at, '\0');
  out += body;
  return out;
}

/// The hash of header and table made right; those of sections stay as they are.
std::string sealed(std::string bytes, uint32_t count) {
  std::memset(bytes.data() + kHashAt, 0, 8);
  uint64_t hash = xxhash64(std::string_view(bytes).substr(0, kHeader + kEntry * count));
  std::memcpy(bytes.data() + kHashAt, &hash, 8);
  return bytes;
}
std::string sealed(const std::vector<Part>& parts) {
  return sealed(file_of(parts), static_cast<uint32_t>(parts.size()));
}

constexpr std::string_view kText =
    "graph f(%x: f32[s0, 4]) -> (f32[s0, 4]) {\n"
    "  size s0 = 2\n"
    "  %w: f32[4] = const#0\n"
    "  %y: f32[s0, 4] = add(%x, %w)\n"
    "  return %y\n"
    "}\n";

std::vector<Part> good_parts() {
  return {
      {program, std::string(kText)}, {tensors, described({{}})}, {weight, std::string(16, 'a')}};
}
std::string good() { return sealed(good_parts()); }

template <class T>
std::string with(size_t at, T value) {
  std::string bytes = good();
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return sealed(bytes, 3);
}
constexpr size_t entry(size_t section, size_t field) { return kHeader + kEntry * section + field; }

std::string with_text(std::string text) {
  auto parts = good_parts();
  parts[0].bytes = std::move(text);
  return sealed(parts);
}
/// The program with `from` replaced.
std::string edited(std::string_view from, std::string_view to) {
  std::string text(kText);
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return with_text(text.replace(at, from.size(), to));
}
std::string with_text_alone(std::string text) { return sealed({{program, std::move(text)}}); }
std::string with_tensor(const Described& d) {
  auto parts = good_parts();
  parts[1].bytes = described({d});
  return sealed(parts);
}
std::string with_part(Part part) {
  auto parts = good_parts();
  parts.push_back(std::move(part));
  return sealed(parts);
}
std::string repeated(std::string_view s, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += s;
  return out;
}

struct Hostile {
  const char* what;
  std::string (*bytes)();
};

const Hostile kHeaders[] = {
    {"no magic", [] { return with(0, uint64_t{0}); }},
    {"version 0", [] { return with(8, uint32_t{0}); }},
    {"the next version", [] { return with(8, kVersion + 1); }},
    {"no sections", [] { return sealed({}); }},
    {"more sections than bytes", [] { return with(12, uint32_t{1u << 20}); }},
    {"2^32 - 1 sections", [] { return with(12, ~uint32_t{0}); }},
    {"another size", [] { return with(16, uint64_t{64}); }},
    {"2^64 - 1 bytes", [] { return with(16, kHuge); }},
    {"a section of kind 0", [] { return with(entry(0, 0), uint32_t{0}); }},
    {"a section of an unknown kind", [] { return with(entry(0, 0), uint32_t{99}); }},
    {"an offset that is not aligned", [] { return with(entry(1, 8), uint64_t{257}); }},
    {"an offset behind the file", [] { return with(entry(1, 8), uint64_t{1} << 40); }},
    {"an offset of 2^64 - 64", [] { return with(entry(1, 8), kHuge - 63); }},
    {"a section over the header", [] { return with(entry(0, 8), uint64_t{0}); }},
    {"a section over another", [] { return with(entry(1, 8), uint64_t{192}); }},
    {"a size that leaves the file", [] { return with(entry(2, 16), uint64_t{1} << 30); }},
    {"a size that wraps round", [] { return with(entry(2, 16), kHuge - 10); }},
    {"a wrong hash of a section", [] { return with(entry(0, 24), uint64_t{1}); }},
    {"bytes behind the last section", [] { return good() + std::string(64, '\0'); }},
    {"no program",
     [] {
       return sealed({{note, "only a note"}});
     }},
    {"two programs",
     [] {
       return with_part({program, std::string(kText)});
     }},
    {"two tables of tensors",
     [] {
       return with_part({tensors, described({{}})});
     }},
};

const Hostile kTensors[] = {
    {"half a description",
     [] {
       auto parts = good_parts();
       parts[1].bytes.resize(40);
       return sealed(parts);
     }},
    {"an unknown dtype", [] { return with_tensor({.dtype = 200}); }},
    {"a dtype that no tensor has", [] { return with_tensor({.dtype = 13}); }},
    {"2^32 - 1 axes", [] { return with_tensor({.rank = ~0u}); }},
    {"a negative size", [] { return with_tensor({.sizes = {-4}}); }},
    {"a size of 2^62", [] { return with_tensor({.sizes = {int64_t{1} << 62}}); }},
    {"sizes whose product wraps round",
     [] {
       return with_tensor({.rank = 2, .sizes = {int64_t{1} << 33, int64_t{1} << 33}});
     }},
    {"sizes whose product is 4 again",
     [] {
       return with_tensor({.rank = 3, .sizes = {4, int64_t{1} << 32, int64_t{1} << 32}});
     }},
    {"more elements than bytes", [] { return with_tensor({.sizes = {5}}); }},
    {"fewer elements than bytes", [] { return with_tensor({.sizes = {3}}); }},
    {"another width of element",
     [] { return with_tensor({.dtype = static_cast<uint32_t>(DType::f64)}); }},
    {"elements in the program's text", [] { return with_tensor({.section = 0}); }},
    {"elements in no section", [] { return with_tensor({.section = kHuge}); }},
    {"another type than the text says",
     [] { return with_tensor({.dtype = static_cast<uint32_t>(DType::i32)}); }},
    {"another shape than the text says",
     [] {
       return with_tensor({.rank = 2, .sizes = {2, 2}});
     }},
};

const Hostile kTexts[] = {
    {"an empty text", [] { return with_text(""); }},
    {"bytes that are no text", [] { return with_text(std::string("\xff\xfe\0\x01", 4)); }},
    {"a text cut in the middle", [] { return with_text(std::string(kText.substr(0, 60))); }},
    {"something behind the graph", [] { return with_text(std::string(kText) + "import os\n"); }},
    {"an unknown op", [] { return edited("add(", "run_shell("); }},
    {"a later meaning of an op", [] { return edited("add(", "add@7("); }},
    {"an earlier meaning of an op", [] { return edited("add(%x, %w)", "lerp(%x, %w, 0.5)"); }},
    {"an argument that an older name never had",
     [] { return edited("add(%x, %w)", "max_dim(%x, 0, keep=True)"); }},
    {"too many arguments", [] { return edited("(%x, %w)", "(%x, %w, %x, %w)"); }},
    {"too few arguments", [] { return edited("(%x, %w)", "(%x)"); }},
    {"an unknown argument", [] { return edited("(%x, %w)", "(%x, %w, path='/etc')"); }},
    {"a value that is not there", [] { return edited("(%x, %w)", "(%x, %nobody)"); }},
    {"a value that is used before it is there", [] { return edited("(%x, %w)", "(%y, %w)"); }},
    {"a constant that is not there", [] { return edited("const#0", "const#1"); }},
    {"a constant of number 2^64", [] { return edited("const#0", "const#18446744073709551616"); }},
    {"a size of 2^62", [] { return edited("f32[s0, 4]", "f32[4611686018427387904, 4]"); }},
    {"a size that is no 64-bit number",
     [] { return edited("s0, 4]", "36893488147419103232, 4]"); }},
    {"a lie about a result's shape", [] { return edited("%y: f32[s0, 4]", "%y: f32[s0, 400]"); }},
    {"a lie about a result's dtype", [] { return edited("%y: f32", "%y: f64"); }},
    {"a lie about what is returned", [] { return edited("-> (f32[s0, 4])", "-> (f32[s0, 5])"); }},
    {"nothing is returned", [] { return edited("  return %y\n", ""); }},
    {"a negative size in the text", [] { return edited("f32[s0, 4]", "f32[s0, -4]"); }},
    {"a size beyond all sizes",
     [] { return edited("f32[s0, 4]", "f32[s0, 99999999999999999999]"); }},
    {"a symbol that is not declared", [] { return edited("(f32[s0, 4])", "(f32[s7, 4])"); }},
    {"symbol 4,000,000,000", [] { return edited("size s0", "size s4000000000"); }},
    {"a dtype that is none", [] { return edited("%x: f32", "%x: f128"); }},
    {"a text that does not end", [] { return edited("(%x, %w)", "(%x, 'text"); }},
    {"brackets 100,000 deep",
     [] { return edited("(%x, %w)", repeated("add(", 100000) + "%x" + repeated(")", 100000)); }},
    {"blocks 10,000 deep",
     [] { return edited("  return %y", repeated("%a = if %c { ", 10000) + "  return %y"); }},
    {"a list of a million items",
     [] { return edited("add(%x, %w)", "view(%x, [" + repeated("1, ", 1000000) + "1])"); }},
    {"a function that is not there", [] { return edited("add(%x, %w)", "call @g(%x)"); }},
    {"a write to a constant", [] { return edited("  return %y", "  write %w = %w\n  return %y"); }},
    {"a device that is not there",
     [] { return edited("add(%x, %w)", "full([4], 1, device=@gpu)"); }},
};

class Hostiles : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { install_executor(); }
};

int refused(absl::Span<const Hostile> all) {
  int count = 0;
  for (const Hostile& h : all) {
    std::string bytes = h.bytes();
    EXPECT_NE(bytes, good()) << h.what;
    try {
      from_bytes(bytes, {}, "model.lathe");
      ADD_FAILURE() << "accepted: " << h.what;
    } catch (const Error& e) {
      ++count;
      EXPECT_EQ(e.kind(), ErrorKind::file) << h.what << ": " << e.what();
      EXPECT_NE(e.parts().problem.find("model.lathe"), std::string::npos) << h.what;
      EXPECT_FALSE(e.parts().problem.empty()) << h.what;
      EXPECT_LT(std::string_view(e.what()).size(), 4096u) << h.what;
    }
  }
  return count;
}

TEST_F(Hostiles, TheGoodFileIsGood) {
  Loaded loaded = from_bytes(good());
  EXPECT_EQ(print(loaded.graph), kText);
}

TEST_F(Hostiles, AreRefused) {
  int count = refused(kHeaders) + refused(kTensors) + refused(kTexts);
  EXPECT_GE(count, 50);
  RecordProperty("files", count);
}

/// Recursion is a program like others; without an end it is an error when it runs, not a crash.
TEST_F(Hostiles, EndlessRecursionEnds) {
  Loaded loaded = from_bytes(edited("add(%x, %w)", "call @f(%x)"));
  std::vector<float> x(8, 1.0F);
  EXPECT_THROW(interpret(loaded.graph, {Datum(from_host(x.data(), DType::f32, {2, 4}))}),
               ValueError);
}

/// A disk that is full in the middle, as far as a process can tell: the limit of a file's size.
TEST_F(Hostiles, AFullDiskLeavesWhatWasThere) {
  auto folder = std::filesystem::temp_directory_path() / ("lathe-full-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::string path = folder / "model.lathe";
  Graph small = from_bytes(good()).graph;
  write_file(small, path);
  std::vector<float> many(100'000, 1.0F);
  Graph large = parse("graph g() -> (f32[100000]) {\n  %w: f32[100000] = const#0\n  return %w\n}\n",
                      {from_host(many.data(), DType::f32, {100'000})});
  auto* handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit tight{50'000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tight);
  EXPECT_THROW(write_file(large, path), FileError);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(print(read_file(path).graph), print(small));
  auto files = std::filesystem::directory_iterator(folder);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
  std::filesystem::remove_all(folder);
}

// ── every op with arguments that no front end would write ───────────────────────────────────────

/// A call of a sample as a program's text, its arguments apart.
struct CallText {
  std::string op, inputs, results, types;
  std::vector<std::string> args;
  Data tensors;
};

CallText call_text(const testing::Sample& sample) {
  std::mt19937_64 rng(1);
  testing::PreparedCall call = testing::prepare(
      sample, [&](const auto& t) { return testing::make_tensor(t, DType::f32, rng); });
  CallText text{.op = sample.op};
  auto type = [](const Tensor& t) { return lathe::to_string(type_of(t)); };
  auto input = [&](const Tensor& t) {
    std::string name = absl::StrCat("%t", text.tensors.size());
    absl::StrAppend(&text.inputs, text.tensors.empty() ? "" : ", ", name, ": ", type(t));
    text.tensors.emplace_back(t);
    return name;
  };
  for (const Arg& a : call.args) {
    if (a.tag == Tag::tensor) {
      text.args.push_back(input(a.tensor()));
    } else if (a.tag == Tag::list && a.list_->size > 0 && a.list_->data[0].tag == Tag::tensor) {
      std::string list;
      for (size_t i = 0; i < a.list_->size; ++i)
        absl::StrAppend(&list, i == 0 ? "" : ", ", input(a.list_->data[i].tensor()));
      text.args.push_back(absl::StrCat("[", list, "]"));
    } else {
      text.args.push_back(lathe::to_string(a));
    }
  }
  for (const Tensor& t : lathe::call(*call.op, call.view())) {
    std::string name = absl::StrCat("%r", text.results.size());
    absl::StrAppend(&text.results, text.results.empty() ? "" : ", ", name, ": ", type(t));
    absl::StrAppend(&text.types, text.types.empty() ? "" : ", ", type(t));
  }
  return text;
}

std::string program_of(const CallText& t, const std::vector<std::string>& args) {
  std::string returned;
  for (size_t at = 0; (at = t.results.find('%', at)) != std::string::npos; ++at)
    absl::StrAppend(&returned, returned.empty() ? "" : ", ",
                    t.results.substr(at, t.results.find(':', at) - at));
  return absl::StrCat("graph f(", t.inputs, ") -> (", t.types, ") {\n  ", t.results, " = ", t.op,
                      "(", absl::StrJoin(args, ", "), ")\n  return ", returned, "\n}\n");
}

/// What no argument should be, or at least not that of every op.
std::vector<std::string> odd_arguments() {
  std::vector<std::string> odd = {"-1",
                                  "0",
                                  "1",
                                  "7",
                                  "1.5",
                                  "-0.0",
                                  "nan",
                                  "inf",
                                  "-inf",
                                  "1e999",
                                  "True",
                                  "None",
                                  "'text'",
                                  "f32",
                                  "c64",
                                  "@cpu",
                                  "@gpu",
                                  "[]",
                                  "[-1]",
                                  "[0]",
                                  "[0, 0]",
                                  "[[1]]",
                                  "[1.5, None]",
                                  "[%t0]",
                                  "[%t0, %t0]",
                                  "%t0",
                                  "%nobody",
                                  "s0",
                                  "s0 * 4611686018427387903",
                                  "",
                                  "()",
                                  "[",
                                  "\xff\xfe",
                                  std::string("\0", 1),
                                  "-9223372036854775808",
                                  "9223372036854775807",
                                  "4611686018427387903",
                                  "4611686018427387904",
                                  "-4611686018427387904",
                                  "18446744073709551616",
                                  "[9223372036854775807]",
                                  "[4611686018427387903, 4611686018427387903]",
                                  "[2305843009213693952, 2, 2]"};
  odd.push_back(absl::StrCat("[", repeated("1, ", 70), "1]"));
  odd.push_back(absl::StrCat(repeated("[", 2000), repeated("]", 2000)));
  return odd;
}

/// Refused with a FileError and nothing else, or a program like others: then it also runs, or says
/// why not.
void expect_refused_or_sound(const CallText& t, const std::vector<std::string>& args) {
  const std::string text = program_of(t, args);
  try {
    Loaded loaded = from_bytes(with_text_alone(text), {}, "model.lathe");
    try {
      interpret(loaded.graph, t.tensors);
    } catch (const Error& e) {
      EXPECT_NE(e.kind(), ErrorKind::internal) << text << e.what();
    }
  } catch (const FileError& e) {
    EXPECT_LT(std::string_view(e.what()).size(), 8192u) << t.op;
  } catch (const Error& e) {
    ADD_FAILURE() << error_name(e.kind()) << " where a FileError is due: " << e.what() << "\n"
                  << text;
  }
}

TEST_F(Hostiles, EveryOpWithEveryArgumentChanged) {
  const std::vector<std::string> odd = odd_arguments();
  std::set<std::string> seen;
  for (const testing::Sample& sample : testing::samples()) {
    if (!seen.insert(sample.op).second) continue;
    const CallText t = call_text(sample);
    for (size_t i = 0; i < t.args.size(); ++i) {
      auto changed = t.args;
      for (const std::string& one : odd) {
        changed[i] = one;
        expect_refused_or_sound(t, changed);
      }
      auto fewer = t.args, more = t.args;
      fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
      more.insert(more.begin() + static_cast<ptrdiff_t>(i), t.args[i]);
      expect_refused_or_sound(t, fewer);
      expect_refused_or_sound(t, more);
      std::swap(changed[i] = t.args[i], changed[(i + 1) % changed.size()]);
      expect_refused_or_sound(t, changed);
    }
    auto named = t.args;
    named.push_back("nobody=1");
    expect_refused_or_sound(t, named);
    expect_refused_or_sound(t, {});
  }
  EXPECT_GT(seen.size(), 150u);
}

// ── custom ops in files ─────────────────────────────────────────────────────────────────────────

class Doubled final : public CustomOp {
 public:
  Types infer(const Op&, Args args) const override { return {type_of(args.tensor(0))}; }
  void run(const Call& call, Outputs& outputs) const override {
    outputs.push_back(math_ops<Tensor>::add(call.args.tensor(0), call.args.tensor(0)));
  }
  bool runs_on(Device device) const override { return device.kind == DeviceKind::cpu; }
};

TEST_F(Hostiles, ACustomOpIsKeptByNameAndRefusedWhereItIsNotDefined) {
  std::string bytes = edited("add(%x, %w)", "hostile_test_doubled(%x)");
  try {
    from_bytes(bytes);
    ADD_FAILURE() << "accepted an op that nobody defined";
  } catch (const FileError& e) {
    EXPECT_NE(std::string_view(e.what()).find("'hostile_test_doubled'"), std::string_view::npos);
  }
  define_custom({"hostile_test_doubled(Tensor x) -> Tensor", "x + x."},
                std::make_shared<Doubled>());
  Loaded loaded = from_bytes(bytes);
  EXPECT_EQ(print(from_bytes(to_bytes(loaded.graph)).graph), print(loaded.graph));
  std::vector<float> x{1, 2, 3, 4, 5, 6, 7, 8};
  Data out = interpret(loaded.graph, {Datum(from_host(x.data(), DType::f32, {2, 4}))});
  EXPECT_EQ(reinterpret_cast<const float*>(out[0].tensor().data())[7], 16.0F);
  std::string later = edited("add(%x, %w)", "hostile_test_doubled@2(%x)");
  EXPECT_THROW(from_bytes(later), Error);
}

}  // namespace
}  // namespace lathe::ir
