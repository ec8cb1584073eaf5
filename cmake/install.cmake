# SPDX-License-Identifier: Apache-2.0
# cmake --install: a tree that may be moved anywhere, with find_package(tilewise) and pkg-config.
#
# Programs that link the shared library need nothing else. The static library (BUILD_SHARED_LIBS=OFF) passes on the
# libraries that it links. Every link item of `tilewise` must be handled here, or there is an error, so that no list
# becomes outdated.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tilewise)
set(TILEWISE_DEPENDENCIES "")
set(TILEWISE_PC_LIBS "")
if(BUILD_SHARED_LIBS)
  set(library tilewise-shared)
  if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")  # anywhere else, the system may not look for libraries
    set(TILEWISE_PC_LIBS " -Wl,-rpath,\${libdir}")
  endif()
else()
  set(library tilewise)
  set_target_properties(tilewise PROPERTIES EXPORT_NAME tilewise)
  get_target_property(links tilewise LINK_LIBRARIES)
  list(REMOVE_DUPLICATES links)
  list(FILTER links EXCLUDE REGEX "^::@|NOTFOUND$")  # CMake's marks of the folder that added an item
  foreach(item IN LISTS links)
    if(item STREQUAL "CUDA::cudart_static")
      find_package(CUDAToolkit REQUIRED)  # its variables do not outlive the folder that asked first
      string(APPEND TILEWISE_DEPENDENCIES "include(CMakeFindDependencyMacro)\nfind_dependency(CUDAToolkit)\n")
      string(APPEND TILEWISE_PC_LIBS " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt -ldl -pthread")
    elseif(item MATCHES "::|/|^\\$")
      message(FATAL_ERROR "tilewise links ${item}; say in cmake/install.cmake how an installed copy finds it")
    else()
      string(APPEND TILEWISE_PC_LIBS " -l${item}")
    endif()
  endforeach()
endif()

install(TARGETS ${library} EXPORT tilewise-targets DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TILEWISE_MPI)
  install(TARGETS tilewise-mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TILEWISE_TBB)
  install(TARGETS tilewise-tbb LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tilewise ${PROJECT_BINARY_DIR}/include/tilewise
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
if(TILEWISE_TOOL)
  file(RELATIVE_PATH libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  install(TARGETS tilewise-tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  tilewise_search_path(tilewise-tool $ORIGIN $ORIGIN/${libraries} ${CMAKE_INSTALL_BINDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/src/record/record.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/tilewise)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  set(TILEWISE_ZSH_DIR ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Where cmake --install puts zsh's completion")
  set(completions ${PROJECT_SOURCE_DIR}/share/completions)
  install(FILES ${completions}/tilewise.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tilewise)
  install(FILES ${completions}/_tilewise DESTINATION ${TILEWISE_ZSH_DIR})
  install(FILES ${completions}/tilewise.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

install(EXPORT tilewise-targets NAMESPACE tilewise:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tilewiseConfig.cmake.in ${PROJECT_BINARY_DIR}/tilewiseConfig.cmake
                              INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tilewiseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tilewiseConfig.cmake ${PROJECT_BINARY_DIR}/tilewiseConfigVersion.cmake
        DESTINATION ${package_dir})

# pkg-config finds the prefix from where tilewise.pc lies.
file(RELATIVE_PATH TILEWISE_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/tilewise.pc.in ${PROJECT_BINARY_DIR}/tilewise.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tilewise.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
