# SPDX-License-Identifier: Apache-2.0
# The one place for floating-point flags. Compilers contract a*b+c into one rounding by default; the order needs each
# operation rounded as written, and a fused operation written as fma. OpenCL programs say so in operators.cl.
add_compile_options(
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
  $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off>)

foreach(flags IN ITEMS "${CMAKE_CXX_FLAGS}" "${CMAKE_CUDA_FLAGS}" "$ENV{CXXFLAGS}")
  if(flags MATCHES "fast-math|Ofast|associative-math|unsafe-math|use_fast_math|fp-contract=(fast|on)|fmad=true|ftz=true")
    message(FATAL_ERROR "'${flags}' changes the bits of floating-point results; remove the fast-math options")
  endif()
endforeach()

# The x86-64 levels for which CPU kernels are built, one object library each; all return the same bits. If a level is
# left out, functions that are named for it are taken from a level that is built, and are never called.
set(TILEWISE_CPU_LEVELS v2 v3 v4 CACHE STRING "The x86-64 levels of the CPU kernels: some of v2, v3 and v4")
if(NOT TILEWISE_CPU_LEVELS MATCHES "^v[234](;v[234])*$")
  message(FATAL_ERROR "TILEWISE_CPU_LEVELS is '${TILEWISE_CPU_LEVELS}'; give a list such as v2;v3;v4")
endif()
list(REMOVE_DUPLICATES TILEWISE_CPU_LEVELS)
list(SORT TILEWISE_CPU_LEVELS)
list(GET TILEWISE_CPU_LEVELS 0 built)
foreach(level IN ITEMS v2 v3 v4)
  string(TOUPPER TILEWISE_${level} name)
  if(level IN_LIST TILEWISE_CPU_LEVELS)
    add_compile_definitions(${name}=${level})
  else()
    add_compile_definitions(${name}=${built})
  endif()
endforeach()
