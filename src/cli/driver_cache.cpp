// SPDX-License-Identifier: Apache-2.0
#include "cli/driver_cache.hpp"

#include "base/cache_folder.hpp"
#include "base/variable.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "io/unfinished.hpp"
#if TILEWISE_WITH_OPENCL
#include "backend/opencl/opencl_driver_folder.hpp"
#endif

#include <csignal>
#include <cstdio>
#include <string>

#include <unistd.h>

namespace tilewise::cli {

#if TILEWISE_WITH_OPENCL
namespace {

namespace opencl = backend::opencl;

/// All that the handler needs, since it may not allocate.
struct {
  std::string from, to, sentence;
} at_crash;

extern "C" void end_by_crash(int) {
  if (std::rename(at_crash.from.c_str(), at_crash.to.c_str()) == 0)
    static_cast<void>(!::write(STDERR_FILENO, at_crash.sentence.data(), at_crash.sentence.size()));
  io::remove_unfinished();
  _exit(static_cast<int>(exit_code::device_lost));
}

bool uses(const std::string& folder) { return !folder.empty() && folder == base::variable("POCL_CACHE_DIR"); }

}  // namespace

void tell_of_cache(bool quiet) {
  static bool told = false;
  if (told || quiet) return;
  told = true;
  if (const std::string why_none = base::why_no_cache_folder(); !why_none.empty())
    note("tilewise: OpenCL programs are rebuilt in every run: " + why_none);
}

void end_on_driver_crash() {
  const std::string folder = opencl::driver_folder();
  if (!at_crash.from.empty() || !uses(folder)) return;
  at_crash = {folder, opencl::driver_folder_aside(), ""};
  at_crash.sentence =
      "tilewise: it crashed with an OpenCL driver loaded. What the driver had compiled may be damaged and was moved to "
      "'" +
      at_crash.to + "'; try again\n";
  for (const int crash : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV}) std::signal(crash, end_by_crash);
}

bool is_mended_after_crash() {
  if (!opencl::move_driver_folder_aside()) return false;
  note("tilewise: what OpenCL drivers had compiled may be damaged and was moved to '" + opencl::driver_folder_aside() +
       "'");
  return true;
}
#else
void tell_of_cache(bool) {}
void end_on_driver_crash() {}
bool is_mended_after_crash() { return false; }
#endif

}  // namespace tilewise::cli
