// SPDX-License-Identifier: Apache-2.0
#include "tool/drivers/cache.hpp"

#include "base/cache_folder.hpp"
#include "base/variable.hpp"
#include "io/unfinished.hpp"
#include "tool/exit_code.hpp"
#include "tool/output.hpp"
#if TILEWISE_WITH_OPENCL
#include "backend/opencl/driver_folder.hpp"
#endif

#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace tilewise::cli {

#if TILEWISE_WITH_OPENCL
namespace {

namespace opencl = backend::opencl;

/// All that the signal handler needs; it must not allocate memory.
struct {
  std::string from, to, sentence;
} at_crash;

constexpr std::string_view crashed = "tilewise: it crashed with an OpenCL driver loaded";

extern "C" void end_by_crash(int) {
  constexpr std::string_view alone = "; what the driver printed may say why, and `--device cpu` does without it\n";
  const bool is_moved = !at_crash.from.empty() && std::rename(at_crash.from.c_str(), at_crash.to.c_str()) == 0;
  for (const std::string_view part : {crashed, is_moved ? std::string_view(at_crash.sentence) : alone})
    static_cast<void>(!::write(STDERR_FILENO, part.data(), part.size()));
  io::remove_unfinished();
  _exit(static_cast<int>(exit_code::device_lost));
}

/// Blocks signals while it exists, so that what is created is recorded before a signal can end the process.
class held_signals {
 public:
  held_signals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~held_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  held_signals(const held_signals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

void tell_of_cache(bool quiet) {
  static bool told = false;
  if (told || quiet) return;
  told = true;
  std::string why = base::why_no_cache_folder();
  if (why.empty()) why = opencl::folders_left_out();
  if (why.empty()) return;
  const bool is_kept = !opencl::is_driver_folder_of_run(base::variable("POCL_CACHE_DIR"));
  note("tilewise: OpenCL programs are " + std::string(is_kept ? "kept elsewhere: " : "rebuilt in every run: ") + why);
}

void make_driver_folder() {
  static bool once = false;
  if (std::exchange(once, true)) return;
  static io::unfinished noted;
  const held_signals until_noted;
  opencl::make_folder_for_driver();  // on failure, loading the drivers reports why
  if (const std::string made = base::variable("POCL_CACHE_DIR"); opencl::is_driver_folder_of_run(made)) noted.set(made);
}

void end_on_driver_crash() {
  static bool once = false;
  if (std::exchange(once, true)) return;
  if (const std::string used = base::variable("POCL_CACHE_DIR"); !used.empty() && used == opencl::driver_folder()) {
    at_crash = {used, opencl::driver_folder_aside(), ""};
    at_crash.sentence =
        ". What the driver had compiled may be damaged and was moved to '" + at_crash.to + "'; try again\n";
  }
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
void make_driver_folder() {}
void end_on_driver_crash() {}
bool is_mended_after_crash() { return false; }
#endif

}  // namespace tilewise::cli
