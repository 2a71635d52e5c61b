# Flags that hold for everything compiled here, set once so that no target and no build type can lose them.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# The bits of a result are part of what Lathe promises: g++ contracts a*b+c to an FMA by default, across
# statements, so that has to be off everywhere. The other two change no bits and let sqrt and selects be one
# instruction.
add_compile_options(-ffp-contract=off -fno-math-errno -fno-trapping-math)
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections)

find_program(LATHE_CCACHE ccache)
if(LATHE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${LATHE_CCACHE})
  if(SKBUILD)   # what the presets put into the environment: objects are then shared with ./dev build
    list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
         CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1)
  endif()
endif()
find_program(LATHE_LLD ld.lld)
if(LATHE_LLD)
  add_link_options(-fuse-ld=lld)
endif()

# g++ 12's flow-based warnings take absl::InlinedVector for an overrun (it merges the code of two sizes before
# it looks) and misfire under sanitizers; ASan sees the real ones.
set(LATHE_WARNINGS -Wall -Wextra -Werror -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  list(APPEND LATHE_WARNINGS -Wno-missing-braces)
else()
  list(APPEND LATHE_WARNINGS -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict
       -Wno-maybe-uninitialized)
  list(APPEND LATHE_WARNINGS -fpch-preprocess)   # lets ccache hit where a precompiled header is used
endif()

# Everything lands in three places, whatever the folder: bin, lib and python under the build folder. A program
# finds plug-ins beside itself or in ../lib, in the build tree as after installation.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
