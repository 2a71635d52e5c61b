// What ducc's passes ask of threads, so that its own pool stays out: all is done by the caller.
#define DUCC0_NO_LOWLEVEL_THREADING  // as passes.h
#include <ducc0/infra/threading.h>

#include <utility>

namespace ducc0::detail_threading {
namespace {

class Whole : public Scheduler {
 public:
  explicit Whole(size_t count) : left_(0, count) {}
  size_t num_threads() const override { return 1; }
  size_t thread_num() const override { return 0; }
  Range getNext() override { return std::exchange(left_, Range()); }

 private:
  Range left_;
};

}  // namespace

void execStatic(size_t count, size_t, size_t, std::function<void(Scheduler&)> work) {
  Whole whole(count);
  work(whole);
}

}  // namespace ducc0::detail_threading
