// What libFuzzer calls. The variable LATHE_FUZZ names the target: one program for all, as linking
// takes longer than compiling. "targets" prints the names, each with its folders of the corpus.
// run.py starts it.
#include <cstdio>
#include <cstdlib>

#include "jit/initialise.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/targets.h"

namespace {

using namespace lathe::fuzz;  // NOLINT: what this calls

const Target& chosen() {
  const char* name = std::getenv("LATHE_FUZZ");
  for (const Target& t : targets())
    if (name != nullptr && std::string_view(name) == t.name) return t;
  const bool asked = name != nullptr && std::string_view(name) == "targets";
  if (!asked) std::fprintf(stderr, "LATHE_FUZZ names none of these targets:\n");
  for (const Target& t : targets()) {
    std::fprintf(asked ? stdout : stderr, "%s", t.name);
    for (const char* folder : t.corpora) std::fprintf(asked ? stdout : stderr, " %s", folder);
    std::fprintf(asked ? stdout : stderr, "\n");
  }
  std::exit(asked ? 0 : 2);
}

const Target* target = nullptr;

}  // namespace

extern "C" {

size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);  // libFuzzer's own

int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  target = &chosen();
  lathe::initialise();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    target->run({reinterpret_cast<const char*>(data), size});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "FINDING: %s\n", e.what());
    std::abort();
  }
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  std::mt19937_64 random(seed);
  if (random() % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string_view now(reinterpret_cast<const char*>(data), size);
  const bool as_file = is_file(now) || std::string_view(target->name) == "file";
  const std::string next = as_file ? mutate_file(now, random) : mutate_text(now, random);
  if (next.size() > most) return size;
  std::copy(next.begin(), next.end(), data);
  return next.size();
}

}  // extern "C"
