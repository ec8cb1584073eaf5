# SPDX-License-Identifier: Apache-2.0
# Uses ccache if it is found; without it, only repeated builds are slower. Paths are kept relative to the source, so
# that two build folders, or two checkouts, share compiled files.
find_program(TILEWISE_CCACHE ccache)
mark_as_advanced(TILEWISE_CCACHE)
if(TILEWISE_CCACHE)
  foreach(language IN ITEMS CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER
          ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${TILEWISE_CCACHE})
    endif()
  endforeach()
endif()
