# The wheel's shape: one library, liblathe.so, for Python and C++ alike. The bindings are linked into it, and the module
# lathe._lathe only calls into it.
#
# A C++ program has no Python, so that what the bindings want from it must be allowed to be absent: their undefined
# symbols are made weak. Nothing calls them but what PyInit__lathe has set up.
nanobind_build_library(nanobind-static)
target_compile_options(nanobind-static PRIVATE -w)

add_library(lathe_bindings STATIC ${sources})
target_link_libraries(lathe_bindings PRIVATE nanobind-static lathe_jit lathe_autodiff lathe_graph lathe_kernels
                      lathe_core)
target_compile_options(lathe_bindings PRIVATE ${LATHE_WARNINGS})
nanobind_compile_options(lathe_bindings)

set(weak ${CMAKE_CURRENT_BINARY_DIR}/libweak_bindings.a ${CMAKE_CURRENT_BINARY_DIR}/libweak_nanobind.a)
set(makes_weak ${CMAKE_OBJCOPY} --wildcard --weaken-symbol=Py* --weaken-symbol=_Py*)
list(GET weak 0 weak_bindings)
list(GET weak 1 weak_nanobind)
add_custom_command(OUTPUT ${weak}
                   COMMAND ${makes_weak} $<TARGET_FILE:lathe_bindings> ${weak_bindings}
                   COMMAND ${makes_weak} $<TARGET_FILE:nanobind-static> ${weak_nanobind}
                   DEPENDS lathe_bindings nanobind-static COMMENT "Making Python's symbols weak" VERBATIM)
add_custom_target(lathe_weak DEPENDS ${weak})
add_dependencies(lathe lathe_weak)
target_link_libraries(lathe PRIVATE ${weak_bindings} ${weak_nanobind})

# What archives hold is not exported: a function of the library's own leads to it.
set(entry ${PROJECT_BINARY_DIR}/entry.cpp)
file(CONFIGURE OUTPUT ${entry} CONTENT
"extern \"C\" void* PyInit__lathe();
extern \"C\" __attribute__((visibility(\"default\"))) void* lathe_python_module() { return PyInit__lathe(); }
")
target_sources(lathe PRIVATE ${entry})
set(module ${PROJECT_BINARY_DIR}/module.cpp)
file(CONFIGURE OUTPUT ${module} CONTENT
"extern \"C\" void* lathe_python_module();
extern \"C\" __attribute__((visibility(\"default\"))) void* PyInit__lathe() { return lathe_python_module(); }
")
Python_add_library(_lathe MODULE WITH_SOABI ${module})
target_link_libraries(_lathe PRIVATE lathe)
set_target_properties(_lathe PROPERTIES INSTALL_RPATH "$ORIGIN/lib")
