// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/api.hpp"

#include "backend/opencl/driver_folder.hpp"
#include "base/lasting.hpp"
#include "base/variable.hpp"

#include <tilewise/error.hpp>

#include <filesystem>

#include <dlfcn.h>

namespace tilewise::backend::opencl {

namespace {

namespace fs = std::filesystem;

struct loaded_api {
  api table;
  std::string why_none;
};

loaded_api load() {
  loaded_api result;
  const std::string named = base::variable("TILEWISE_OPENCL_LIBRARY"), file = named.empty() ? "libOpenCL.so.1" : named;
  if (base::says_no(named)) {
    result.why_none = "OpenCL is left out, since TILEWISE_OPENCL_LIBRARY is '" + named + "'; unset it.";
    return result;
  }
  if (std::error_code unknown;
      named.find('/') != named.npos && fs::exists(named, unknown) && !fs::is_regular_file(named, unknown)) {
    result.why_none =
        "OpenCL is left out, since TILEWISE_OPENCL_LIBRARY is '" + named + "', no regular file; unset it.";
    return result;
  }
  make_path_for_driver();  // drivers read environment variables when they are loaded
  result.why_none = make_folder_for_driver();
  if (!result.why_none.empty()) return result;
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed: drivers do not support it
  if (library == nullptr) {
    const char* words = dlerror();
    result.why_none = "There is no OpenCL loader on this machine (" + (words == nullptr ? file : words) +
                      "); install one, such as Debian's ocl-icd-libopencl1, and a driver.";
    return result;
  }
#define TILEWISE_LOOK_UP(name)                                                    \
  result.table.name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name)); \
  if (result.table.name == nullptr && result.why_none.empty())                    \
    result.why_none = file + " has no " #name "; OpenCL 1.2 or newer is needed.";
  TILEWISE_OPENCL_CALLS(TILEWISE_LOOK_UP)
#undef TILEWISE_LOOK_UP
  return result;
}

}  // namespace

const api* find_api(std::string& why_none) {
  static const loaded_api& loaded = base::lasting(load);
  why_none = loaded.why_none;
  return loaded.why_none.empty() ? &loaded.table : nullptr;
}

const api& cl() {
  std::string why_none;
  const api* table = find_api(why_none);
  if (table == nullptr) throw error(errc::device_lost, why_none);
  return *table;
}

}  // namespace tilewise::backend::opencl
