# SPDX-License-Identifier: Apache-2.0
# Warnings for our own targets; an installed library's users do not inherit them.
function(tilewise_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-psabi -Wno-restrict>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-uninitialized -Wno-maybe-uninitialized>  # false alarms: GCC bug 105593
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:$<$<BOOL:${CMAKE_UNITY_BUILD}>:-Wno-subobject-linkage>>  # to it, a batch's files are headers
    $<$<COMPILE_LANGUAGE:CUDA>:-Wno-deprecated-gpu-targets>)
endfunction()
