// The generator every random definition draws from. A stream is addressed by (seed, number of the
// random call, element), see core/scalar/philox.h; the state is therefore two numbers, and drawing
// in a graph, in threads or one by one gives the same.
#pragma once

#include <cstdint>

namespace lathe {

struct RandomState {
  uint64_t seed = 0;
  uint64_t call = 0;  // of the next random call
};

/// The process's state. Until someone sets a seed it is 0: programs repeat unless they ask not to.
RandomState random_state();
void set_random_state(RandomState state);
inline void manual_seed(uint64_t seed) { set_random_state({seed, 0}); }

/// While it lives, this thread draws from `state` in place of the process's.
class RandomScope {
 public:
  explicit RandomScope(RandomState* state);  // null: nothing changes
  ~RandomScope();
  RandomScope(const RandomScope&) = delete;

 private:
  RandomState* before_;
};

/// Takes the next `calls` call numbers and gives the first, with the seed. Any thread.
RandomState take_random_calls(uint64_t calls);

}  // namespace lathe
