# SPDX-License-Identifier: Apache-2.0
# The loader looks for libraries and modules only in folders of this project. Nearly all lie in one folder, both in the
# build and installed. CMake must not replace the path at installation: it would pad it with colons. Each colon stands
# for an empty name, which means the current folder, where anybody could have put a library.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH $ORIGIN)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)  # to libraries outside the system's own folders

# tilewise_search_path(TARGET BUILT INSTALLED FOLDER): sets the path of a target that has another relative location in
# the build than installed. Call it after install(TARGETS) into FOLDER. A path can only be replaced by one that is not
# longer, so slashes are added, which the loader ignores.
function(tilewise_search_path target built installed folder)
  string(LENGTH ${built} built_length)
  string(LENGTH ${installed} installed_length)
  if(built_length LESS installed_length)
    math(EXPR missing "${installed_length} - ${built_length}")
    string(REPEAT / ${missing} slashes)
  endif()
  set_target_properties(${target} PROPERTIES INSTALL_RPATH ${built}${slashes})
  if(NOT CMAKE_SKIP_RPATH AND NOT CMAKE_SKIP_INSTALL_RPATH)
    install(CODE "cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX OUTPUT_VARIABLE prefix)
      cmake_path(APPEND prefix [[${folder}]] OUTPUT_VARIABLE folder)
      file(RPATH_CHANGE FILE \"\$ENV{DESTDIR}\${folder}/$<TARGET_FILE_NAME:${target}>\"
           OLD_RPATH [[${built}${slashes}]] NEW_RPATH [[${installed}]])")
  endif()
endfunction()
