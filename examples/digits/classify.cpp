// Classifies images of digits with a program that Python saved. No Python in it.
//
//   digits_classify digits.lathe images.f32 labels.i64 logits.f32
//
// images: raw float32[n, 1, 8, 8]; labels: raw int64[n]; logits are written as raw float32[n, 10].
#include <lathe/lathe.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point began) {
  return std::chrono::duration<double, std::micro>(Clock::now() - began).count();
}

template <class T>
std::vector<T> read_all(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}

/// The most memory that this process has had resident so far.
double peak_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:" && status >> word) return std::stod(word) / 1024;
  return 0;
}

/// Microseconds an image, as the median of many calls with `batch` images each.
double time_per_image(const lathe::Program& program, const float* pixels, int64_t batch) {
  lathe::Tensor images(pixels, {batch, 1, 8, 8});
  std::vector<double> times(200);
  for (double& t : times) {
    auto began = Clock::now();
    program(images);
    t = since(began) / static_cast<double>(batch);
  }
  std::nth_element(times.begin(), times.begin() + 100, times.end());
  return times[100];
}

void run(char** argv) {
  std::vector<float> pixels = read_all<float>(argv[2]);
  std::vector<int64_t> labels = read_all<int64_t>(argv[3]);
  auto n = static_cast<int64_t>(labels.size());

  auto began = Clock::now();
  lathe::Program program = lathe::load(argv[1]);
  program.compile();
  program(lathe::Tensor(pixels.data(), {1, 1, 8, 8}));
  double load_ms = since(began) / 1000;

  std::vector<float> logits = program(lathe::Tensor(pixels, {n, 1, 8, 8})).values<float>();
  int64_t right = 0;
  for (int64_t i = 0; i < n; ++i) {
    const float* scores = &logits[static_cast<size_t>(10 * i)];
    right += std::max_element(scores, scores + 10) - scores == labels[static_cast<size_t>(i)];
  }
  std::ofstream out(argv[4], std::ios::binary);
  out.write(reinterpret_cast<const char*>(logits.data()),
            static_cast<std::streamsize>(logits.size() * sizeof(float)));
  if (!out.flush()) throw std::runtime_error(std::string("cannot write ") + argv[4]);

  std::printf("accuracy %.6f\n", static_cast<double>(right) / static_cast<double>(n));
  std::printf("load_ms %.3f\n", load_ms);
  for (int64_t batch : {1, 32})
    if (batch <= n)
      std::printf("us_at_%d %.3f\n", static_cast<int>(batch),
                  time_per_image(program, pixels.data(), batch));
  std::printf("peak_mib %.1f\n", peak_mib());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: %s PROGRAM IMAGES LABELS LOGITS\n", argv[0]);
    return 2;
  }
  try {
    run(argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
