# SKIPLANE_PACKAGE: what Debian's packages hold beside programs and libraries, and how cpack makes
# them. deploy/package does all of it.
if(NOT SKIPLANE_PACKAGE)
  return()
endif()
set(extras ${PROJECT_BINARY_DIR}/package)
set(programs $<TARGET_FILE:skiplaned> $<TARGET_FILE:skiplane>)
add_custom_command(OUTPUT ${extras}/made
  COMMAND ${PROJECT_SOURCE_DIR}/deploy/package-files ${extras} ${PROJECT_VERSION} ${programs}
  COMMAND ${CMAKE_COMMAND} -E touch ${extras}/made
  DEPENDS skiplaned skiplane deploy/package-files deploy/sbom deploy/licenses CHANGELOG.md
          deploy/debian/copyright
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
add_custom_target(skiplane_package_files ALL DEPENDS ${extras}/made)

# Our units name /usr/bin.
set(units ${CMAKE_INSTALL_PREFIX}/lib/systemd/system)
install(FILES deploy/systemd/skiplaned.service DESTINATION ${units} COMPONENT skiplaned)
install(FILES deploy/systemd/skiplane-worker@.service DESTINATION ${units} COMPONENT skiplane)
install(FILES deploy/skiplaned.conf DESTINATION /etc/skiplane COMPONENT skiplaned)

foreach(component IN ITEMS skiplaned skiplane libskiplane-dev)
  install(DIRECTORY ${extras}/${component}/ DESTINATION ${CMAKE_INSTALL_PREFIX}/share
    COMPONENT ${component})
endforeach()
install(FILES deploy/database-roles.sql DESTINATION ${CMAKE_INSTALL_DATADIR}/skiplane
  COMPONENT skiplaned)
set(documents ${CMAKE_INSTALL_DATADIR}/doc)
install(DIRECTORY deploy/example-mtls deploy/grafana deploy/prometheus deploy/proxy
  DESTINATION ${documents}/skiplaned/examples COMPONENT skiplaned)
install(PROGRAMS deploy/example-mtls/make-certificates
  DESTINATION ${documents}/skiplaned/examples/example-mtls COMPONENT skiplaned)
install(DIRECTORY DESTINATION /etc/skiplane-worker COMPONENT skiplane)
install(FILES deploy/systemd/worker.example
  DESTINATION ${documents}/skiplane/examples COMPONENT skiplane)
install(FILES client/examples/producer.cc client/examples/worker.cc client/examples/orders_test.cc
  DESTINATION ${documents}/libskiplane-dev/examples COMPONENT libskiplane-dev)
install(DIRECTORY client/examples/python
  DESTINATION ${documents}/libskiplane-dev/examples COMPONENT libskiplane-dev
  FILES_MATCHING PATTERN *.py)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "Skiplane <packages@skiplane.dev>")
set(CPACK_PACKAGE_HOMEPAGE_URL https://skiplane.dev)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_SET_DESTDIR ON)  # a file of /etc, too
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
  GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package_times.cmake)
set(CPACK_COMPONENTS_ALL skiplaned skiplane libskiplane-dev)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SOURCE skiplane)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_COMPONENT_SKIPLANED_DESCRIPTION "task queue broker in front of PostgreSQL
Skiplane is a durable task queue. Producers enqueue tasks, and workers in any
language lease them, by gRPC or by HTTP with JSON. PostgreSQL holds all state:
a broker may be killed at any moment, and several may serve one database.
.
This package has the broker, skiplaned, and its service.")
set(CPACK_DEBIAN_SKIPLANED_PACKAGE_NAME skiplaned)
set(CPACK_DEBIAN_SKIPLANED_PACKAGE_SECTION database)
set(CPACK_DEBIAN_SKIPLANED_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_SKIPLANED_PACKAGE_DEPENDS "passwd, procps, init-system-helpers (>= 1.54~)")
set(CPACK_DEBIAN_SKIPLANED_PACKAGE_RECOMMENDS skiplane)
set(CPACK_DEBIAN_SKIPLANED_PACKAGE_SUGGESTS "postgresql (>= 15)")
set(scripts ${PROJECT_SOURCE_DIR}/deploy/debian)
set(CPACK_DEBIAN_SKIPLANED_PACKAGE_CONTROL_EXTRA
  ${scripts}/skiplaned/conffiles ${scripts}/skiplaned/postinst ${scripts}/skiplaned/prerm
  ${scripts}/skiplaned/postrm)

set(CPACK_COMPONENT_SKIPLANE_DESCRIPTION "command line of the task queue Skiplane
Shows and changes queues and tasks of a Skiplane broker, enqueues tasks from
files and streams, and makes a worker of any program.
.
skiplane-worker@.service runs such a worker under systemd.")
set(CPACK_DEBIAN_SKIPLANE_PACKAGE_NAME skiplane)
set(CPACK_DEBIAN_SKIPLANE_PACKAGE_SECTION database)
set(CPACK_DEBIAN_SKIPLANE_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_SKIPLANE_PACKAGE_DEPENDS "init-system-helpers (>= 1.54~)")
set(CPACK_DEBIAN_SKIPLANE_PACKAGE_CONTROL_EXTRA
  ${scripts}/skiplane/postinst ${scripts}/skiplane/prerm ${scripts}/skiplane/postrm)

set(CPACK_COMPONENT_LIBSKIPLANE-DEV_DESCRIPTION "client of the task queue Skiplane for C++
Producers and workers for a Skiplane broker, and a broker in memory for their
tests, as the CMake package skiplane. The .proto files are for other
languages.")
set(CPACK_DEBIAN_LIBSKIPLANE-DEV_PACKAGE_NAME libskiplane-dev)
set(CPACK_DEBIAN_LIBSKIPLANE-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBSKIPLANE-DEV_PACKAGE_DEPENDS "libabsl-dev, libgrpc++-dev, libprotobuf-dev")
include(CPack)
