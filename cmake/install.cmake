# cmake --install: a tree that may be moved anywhere, with find_package(tilewise) and pkg-config. The library is static, so
# both hand on what it links; every link item of `tilewise` must be known here, so that neither list falls behind.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tilewise)
set(TILEWISE_DEPENDENCIES "")
set(TILEWISE_PC_REQUIRES "")
set(TILEWISE_PC_LIBS "")
get_target_property(links tilewise LINK_LIBRARIES)
list(REMOVE_DUPLICATES links)
list(FILTER links EXCLUDE REGEX "^::@|NOTFOUND$")  # CMake's marks of the folder that added an item
foreach(item IN LISTS links)
  if(item STREQUAL "OpenMP::OpenMP_CXX")
    string(APPEND TILEWISE_DEPENDENCIES "find_dependency(OpenMP COMPONENTS CXX)\n")
    string(APPEND TILEWISE_PC_LIBS " ${OpenMP_CXX_FLAGS}")
  elseif(item STREQUAL "TBB::tbb")
    string(APPEND TILEWISE_DEPENDENCIES "find_dependency(TBB)\n")
    string(APPEND TILEWISE_PC_REQUIRES " tbb")
  elseif(item STREQUAL "Threads::Threads")
    string(APPEND TILEWISE_DEPENDENCIES "find_dependency(Threads)\n")
    string(APPEND TILEWISE_PC_LIBS " -pthread")
  elseif(item STREQUAL "CUDA::cudart_static")
    find_package(CUDAToolkit REQUIRED)  # its variables end with the folder that asked first
    string(APPEND TILEWISE_DEPENDENCIES "find_dependency(CUDAToolkit)\n")
    string(APPEND TILEWISE_PC_LIBS " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt -ldl -pthread")
  elseif(item MATCHES "::|/|^\\$")
    message(FATAL_ERROR "tilewise links ${item}; say in cmake/install.cmake how an installed copy finds it")
  else()
    string(APPEND TILEWISE_PC_LIBS " -l${item}")
  endif()
endforeach()

if(TILEWISE_OPENACC)
  list(JOIN TILEWISE_OPENACC_LINK_OPTIONS " " options)
  string(APPEND TILEWISE_PC_LIBS " ${options}")
endif()

install(TARGETS tilewise EXPORT tilewise-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tilewise ${PROJECT_BINARY_DIR}/include/tilewise
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
if(TILEWISE_TOOL)
  install(TARGETS tilewise-tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/src/lab/record.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/tilewise)
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
