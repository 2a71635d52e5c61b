#include <gtest/gtest.h>

#include "jit/initialise.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  lathe::initialise();
  return RUN_ALL_TESTS();
}
