# Installs the client, its broker in memory and the API as the CMake package "skiplane", and the
# .proto files for clients in other languages.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/skiplane)
install(TARGETS skiplane_proto skiplane_client skiplane_testing EXPORT skiplane
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/skiplane DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_BINARY_DIR}/proto/skiplane ${PROJECT_BINARY_DIR}/proto/google
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.pb.h)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/proto/skiplane ${PROJECT_SOURCE_DIR}/proto/google
  DESTINATION ${CMAKE_INSTALL_DATADIR}/skiplane/proto FILES_MATCHING PATTERN *.proto)
install(EXPORT skiplane NAMESPACE skiplane:: FILE skiplane-targets.cmake
  DESTINATION ${package_dir})
configure_package_config_file(skiplane-config.cmake.in skiplane-config.cmake
  INSTALL_DESTINATION ${package_dir})
# Until 1.0 a minor version may change the API.
write_basic_package_version_file(skiplane-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/skiplane-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/skiplane-config-version.cmake
  DESTINATION ${package_dir})
