# Installation, in two shapes; both hold liblathe.so, its plug-ins, headers and CMake files, and may be moved.
#   cmake --install: with the vendors' libraries.
#   the wheel (scikit-build-core sets SKBUILD): all inside of the package, with the module; the vendors' libraries are
#   wheels of their own, found from lathe/lib through the run path (LatheWheel.cmake says how the library is made).
include(CMakePackageConfigHelpers)

get_property(plugins GLOBAL PROPERTY LATHE_PLUGIN_TARGETS)
set(run_path "$ORIGIN")
if(SKBUILD)
  list(APPEND run_path "$ORIGIN/../../../.." "$ORIGIN/../../scipy_openblas32/lib")
endif()
if(plugins)
  set_target_properties(${plugins} PROPERTIES INSTALL_RPATH "${run_path}")
endif()
if(NOT TARGET lathe)
  return()
endif()
set_target_properties(lathe PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS lathe EXPORT LatheTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(plugins)
  install(TARGETS ${plugins} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(SKBUILD)
  install(TARGETS _lathe LIBRARY DESTINATION lathe)
else()
  foreach(vendor IN ITEMS onednn openblas)
    if(TARGET vendor::${vendor} AND lathe_${vendor} IN_LIST plugins)
      get_target_property(library vendor::${vendor} IMPORTED_LOCATION)
      install(FILES ${library} DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
  endforeach()
endif()
install(DIRECTORY include/lathe DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# Named in lower case, so that find_package(Lathe) and find_package(lathe) both find it.
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/lathe)
install(EXPORT LatheTargets NAMESPACE Lathe:: DESTINATION ${package_folder})
configure_package_config_file(cmake/LatheConfig.cmake.in ${PROJECT_BINARY_DIR}/lathe-config.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lathe-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lathe-config.cmake ${PROJECT_BINARY_DIR}/lathe-config-version.cmake
        DESTINATION ${package_folder})
