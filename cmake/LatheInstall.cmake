# Installation, in two shapes.
#   cmake --install: liblathe.so, its plug-ins, the vendors' libraries, headers and LatheConfig.cmake, all relocatable.
#   the wheel (scikit-build-core sets SKBUILD): the module and the plug-ins inside the package; the vendors'
#   libraries are wheels of their own, found from the package through the run path.
include(CMakePackageConfigHelpers)

get_property(plugins GLOBAL PROPERTY LATHE_PLUGIN_TARGETS)
if(plugins)
  set_target_properties(${plugins} PROPERTIES
                        INSTALL_RPATH "$ORIGIN;$ORIGIN/../../..;$ORIGIN/../scipy_openblas32/lib")
endif()

if(SKBUILD)
  if(TARGET _lathe)
    install(TARGETS _lathe ${plugins} LIBRARY DESTINATION lathe)
  endif()
  return()
endif()

if(NOT TARGET lathe)
  return()
endif()
set_target_properties(lathe PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS lathe EXPORT LatheTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(plugins)
  install(TARGETS ${plugins} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
foreach(vendor IN ITEMS onednn openblas)
  if(TARGET vendor::${vendor} AND lathe_${vendor} IN_LIST plugins)
    get_target_property(library vendor::${vendor} IMPORTED_LOCATION)
    install(FILES ${library} DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()
install(DIRECTORY include/lathe DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT LatheTargets NAMESPACE Lathe:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Lathe)
configure_package_config_file(cmake/LatheConfig.cmake.in ${PROJECT_BINARY_DIR}/LatheConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Lathe)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/LatheConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/LatheConfig.cmake ${PROJECT_BINARY_DIR}/LatheConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Lathe)
