# Vendors and LLVM: each is a shared object opened on first use. The rest of Lathe learns of them from one
# generated list (generated/plugins_built.h), and prints the reason where one was not built.

# lathe_wheel_file(OUT DISTRIBUTION SUFFIX): a file of an installed Python distribution, found by its metadata
# because an isolated wheel build puts distributions in a temporary prefix.
function(lathe_wheel_file out distribution suffix)
  set(code "import importlib.metadata as m, sys
for f in m.files(sys.argv[1]) or []:
    if str(f).endswith(sys.argv[2]):
        print(f.locate().resolve())
        break")
  set(found "")
  if(Python_EXECUTABLE)
    execute_process(COMMAND ${Python_EXECUTABLE} -c "${code}" ${distribution} ${suffix}
                    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

function(lathe_note_plugin name reason)
  set_property(GLOBAL APPEND PROPERTY LATHE_PLUGINS "    {\"${name}\", \"liblathe_${name}.so\", \"${reason}\"},\n")
  if(reason)
    message(STATUS "Lathe: ${name} is not built: ${reason}")
  endif()
endfunction()

# lathe_plugin(NAME FOLDER folder [REASON text] [LINKS targets...] [LINK_OPTIONS options...])
# Builds liblathe_NAME.so from the .cpp files of FOLDER. REASON, when not empty, says why it cannot be.
#
# A plug-in is linked with the static archives of what it may see. It gets its own copy of the functions it
# calls, so nothing of ours is exported for its sake; state that must be one a process is handed to it when it
# is opened.
function(lathe_plugin name)
  cmake_parse_arguments(arg "" "FOLDER;REASON" "LINKS;LINK_OPTIONS;OPTIONS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${arg_FOLDER}/*.cpp)
  if(name IN_LIST LATHE_WITHOUT)
    set(arg_REASON "left out by LATHE_WITHOUT")
  elseif(NOT sources AND NOT arg_REASON)
    set(arg_REASON "its adapter is not written")
  endif()
  lathe_note_plugin(${name} "${arg_REASON}")
  if(arg_REASON)
    return()
  endif()
  add_library(lathe_${name} MODULE ${sources})
  target_link_libraries(lathe_${name} PRIVATE lathe_common ${arg_LINKS})
  target_compile_options(lathe_${name} PRIVATE ${LATHE_WARNINGS} ${arg_OPTIONS})
  target_link_options(lathe_${name} PRIVATE -Wl,-z,defs ${arg_LINK_OPTIONS})
  lathe_limit_exports(lathe_${name})
  if(LATHE_SANITIZER)   # the sanitizer's own symbols come from the program that opens the plug-in
    target_link_options(lathe_${name} PRIVATE -Wl,-z,undefs)
  endif()
  set_property(GLOBAL APPEND PROPERTY LATHE_PLUGIN_TARGETS lathe_${name})
endfunction()

function(lathe_write_plugin_list)
  get_property(rows GLOBAL PROPERTY LATHE_PLUGINS)
  string(CONCAT rows ${rows} "")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/generated/plugins_built.h @ONLY CONTENT
"// Written by cmake/LathePlugins.cmake: every plug-in this build knows.
#pragma once

namespace lathe {

struct BuiltPlugin {
  const char* name;
  const char* file;    // looked for beside the program or library that holds Lathe, then in ../lib
  const char* reason;  // empty: it was built
};

inline constexpr BuiltPlugin built_plugins[] = {
@rows@};

}  // namespace lathe
")
endfunction()
