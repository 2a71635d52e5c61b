# One target a folder, and the precompiled header they share.

# Abseil as seen by every folder. Its headers count as system headers: their warnings are not ours. Locks are the
# standard library's: the thread sanitizer sees nothing of what a mutex inside of Abseil's archives orders.
set(LATHE_ABSEIL absl::flat_hash_map absl::flat_hash_set absl::node_hash_map absl::inlined_vector
    absl::fixed_array absl::span absl::strings absl::str_format absl::hash
    absl::function_ref absl::any_invocable absl::cleanup absl::int128 absl::bits absl::base
    absl::core_headers absl::optional absl::variant absl::time)

# Only what nearly every file includes anyway. LLVM, Eigen, oneDNN and <immintrin.h> stay out: they cost each
# file that does not need them more than they save the few that do.
set(LATHE_PCH_HEADERS
    <algorithm> <array> <atomic> <cstddef> <cstdint> <cstring> <functional> <memory> <mutex> <optional>
    <span> <string> <string_view> <type_traits> <utility> <variant> <vector>
    <absl/container/flat_hash_map.h> <absl/container/flat_hash_set.h> <absl/container/inlined_vector.h>
    <absl/strings/str_cat.h> <absl/strings/str_format.h> <absl/strings/str_join.h> <absl/types/span.h>)

# What every target of ours compiles with; include paths start at the root of the tree ("core/tensor/tensor.h",
# "lathe/lathe.h").
add_library(lathe_common INTERFACE)
target_include_directories(lathe_common INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include
                           ${PROJECT_BINARY_DIR}/include)
target_link_libraries(lathe_common INTERFACE ${LATHE_ABSEIL} Threads::Threads ${CMAKE_DL_LIBS})

file(WRITE ${PROJECT_BINARY_DIR}/pch.cpp "")

function(lathe_use_pch target)
  if(NOT LATHE_PCH)
    return()
  endif()
  if(NOT TARGET lathe_pch)
    add_library(lathe_pch OBJECT ${PROJECT_BINARY_DIR}/pch.cpp)
    target_link_libraries(lathe_pch PRIVATE lathe_common)
    target_compile_options(lathe_pch PRIVATE ${LATHE_WARNINGS})
    target_precompile_headers(lathe_pch PRIVATE ${LATHE_PCH_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM lathe_pch)
endfunction()

# lathe_folder(NAME SEES targets... [WITHOUT subfolders...])
# Makes lathe_NAME, a static library of all .cpp under the current folder but those in WITHOUT. A folder that
# is still empty becomes an interface library, so that those above it need not know.
function(lathe_folder name)
  cmake_parse_arguments(arg "" "" "SEES;WITHOUT" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
  foreach(folder IN LISTS arg_WITHOUT)
    list(FILTER sources EXCLUDE REGEX "^${folder}/")
  endforeach()
  if(sources)
    add_library(lathe_${name} STATIC ${sources})
    target_link_libraries(lathe_${name} PUBLIC lathe_common ${arg_SEES})
    target_compile_options(lathe_${name} PRIVATE ${LATHE_WARNINGS})
    lathe_use_pch(lathe_${name})
  else()
    add_library(lathe_${name} INTERFACE)
    target_link_libraries(lathe_${name} INTERFACE lathe_common ${arg_SEES})
  endif()
endfunction()

# Sources that run once a program or a text, not once a call, or only around long work, are compiled for size: the
# library is to stay small.
function(lathe_compile_for_size)
  if(CMAKE_BUILD_TYPE STREQUAL Release)   # the precompiled header is for speed
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -Os SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# What is linked for others: no symbols but the public ones. Hidden visibility alone lets templates of the standard
# library through, which two copies would then share.
function(lathe_limit_exports target)
  set(map ${PROJECT_SOURCE_DIR}/cmake/exports.map)
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,--version-script=${map})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    target_link_options(${target} PRIVATE -Wl,-s)
  endif()
endfunction()
