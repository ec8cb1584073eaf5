# SPDX-License-Identifier: Apache-2.0
# Options that make a memory error end the program instead of running an attacker's code: tables that are read-only from
# the start, guarded stacks, checked copies, marked jump targets. scripts/check_hardening checks that built files have
# them. Not with sanitizers, which have their own checks for the same errors.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize" OR TILEWISE_FUZZ)
  return()
endif()
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)
foreach(flag IN ITEMS -fstack-protector-strong -fcf-protection)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:${flag}> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${flag}>)
endforeach()
# Checked copies need optimisation. GPU kernels do not use them.
add_compile_options("$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
if(TILEWISE_TOOL_OPTIONS MATCHES "-O0")
  list(APPEND TILEWISE_TOOL_OPTIONS -U_FORTIFY_SOURCE)
endif()
add_link_options(LINKER:-z,relro,-z,now,-z,text,-z,noexecstack)
