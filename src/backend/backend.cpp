// SPDX-License-Identifier: Apache-2.0
#include "backend/backend.hpp"

#include "backend/cpu/device.hpp"
#include "backend/group/device.hpp"
#if TILEWISE_WITH_OPENCL
#include "backend/opencl/device.hpp"
#endif
#if TILEWISE_WITH_CUDA
#include "backend/cuda/device.hpp"
#endif
#if TILEWISE_WITH_OPENACC
#include "backend/openacc/device.hpp"
#endif
#include <tilewise/float_mode.hpp>
#include "base/nearest.hpp"
#include "base/printable.hpp"
#include "base/variable.hpp"

#include <algorithm>
#include <array>

namespace tilewise::backend {

bool device::is_usable() const noexcept { return forks_ == forks_so_far() || facts_.backend == "cpu"; }

device::~device() {
  if (!is_usable()) static_cast<void>(queue_.release());  // only the process that opened the device may close it
}

queue& device::queue() {
  if (!is_usable()) throw error(errc::device_lost, used_before_fork(facts_.name));
  std::call_once(opened_, [this] {
    const default_float_mode during;
    queue_ = make_queue();
  });
  return *queue_;
}

void queue::copy_rows(memory to, std::uint64_t to_stride, memory from, std::uint64_t from_stride, std::uint64_t width,
                      std::uint64_t rows) {
  for (std::uint64_t i = 0; i < rows; ++i) copy(to.at(i * to_stride, width), from.at(i * from_stride, width), width);
}

std::string identity_of(const device_info& info) {
  std::string text;
  for (const std::string& part : {info.description, info.platform, info.driver, info.api_version})
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  return text;
}

namespace {

using device_list = std::vector<std::shared_ptr<device>>;

/// Loading a driver may change this thread's floating-point mode.
template <auto list>
device_list listed(std::string& why_none) {
  const default_float_mode during;
  return list(why_none);
}

}  // namespace

std::span<const runtime> runtimes() {
  static constexpr std::array all {
    runtime{"cpu", listed<cpu::devices>},
#if TILEWISE_WITH_OPENCL
        runtime{"opencl", listed<opencl::devices>},
#endif
#if TILEWISE_WITH_CUDA
        runtime{"cuda", listed<cuda::devices>},
#endif
#if TILEWISE_WITH_OPENACC
        runtime{"openacc", listed<openacc::devices>},
#endif
  };
  return all;
}

namespace {

std::shared_ptr<device> best_device() {
  std::string ignored;
  for (std::string_view wanted : {"cuda", "opencl"})
    for (const runtime& r : runtimes())
      if (r.name == wanted)
        for (auto& found : r.devices(ignored))
          if (!found->info().is_cpu) return found;
  return cpu::make_device("cpu", {});
}

/// "opencl:NVIDIA": the first device of the backend whose hardware or platform name holds the text.
std::shared_ptr<device> match(const device_list& all, std::string_view name) {
  for (auto& d : all)
    if (d->info().name == name) return d;
  const auto colon = name.find(':');
  if (colon == name.npos) return all.empty() ? nullptr : all.front();
  const std::string part(name.substr(colon + 1));
  if (part.empty() || part.find_first_not_of("0123456789") == part.npos) return nullptr;
  for (auto& d : all)
    if (d->info().description.find(part) != std::string::npos || d->info().platform.find(part) != std::string::npos)
      return d;
  return nullptr;
}

[[noreturn]] void no_such_device(std::string_view name) {
  std::vector<std::string> names{"auto", "cpu"};
  std::string reason, written = base::in_small_letters(std::string(name));
  for (const auto& [left_out, option] :
       {std::pair{"cuda", "CUDA"}, std::pair{"opencl", "OPENCL"}, std::pair{"openacc", "OPENACC"}})
    if (written.starts_with(left_out))  // false if the backend is in this build
      reason = " It is left out of this build; CMake's -DTILEWISE_" + std::string(option) + "=ON adds it.";
  if (written == "gpu" || written == "nvidia") reason = " auto takes a GPU if there is one.";
  for (const runtime& r : runtimes()) {
    std::string why;
    for (auto& d : r.devices(why)) names.push_back(d->info().name);
    if (written.starts_with(r.name)) reason = why.empty() ? "" : " " + why;
  }
  const std::string says = base::variable("TILEWISE_DEVICE") == name ? "TILEWISE_DEVICE names a device, but " : "";
  throw error(errc::device_lost, says + "there is no device '" + std::string(name) + "'" +
                                     (reason.empty() ? ";" + base::nearest(written, names) : "." + reason) +
                                     " `tilewise devices` lists what is here");
}

}  // namespace

std::shared_ptr<device> find_device(std::string_view name, const open_options& options) {
  if (name == "auto" || name.empty()) {
    const std::string wanted = base::variable("TILEWISE_DEVICE");
    if (wanted.empty() || wanted == "auto") return best_device();
    if (group::is_group(wanted) && wanted.find("auto") != wanted.npos)
      throw error(errc::invalid_argument, "TILEWISE_DEVICE is '" + base::printable(wanted) +
                                              "', but auto is what TILEWISE_DEVICE names; name a device there");
    return find_device(wanted, options);
  }
  if (group::is_group(name)) return group::make_device(name, options);
  if (name == "cpu" || name.starts_with("cpu:")) return cpu::make_device(name, options);
  std::string ignored;
  for (const runtime& r : runtimes())
    if (name == r.name || name.starts_with(std::string(r.name) + ":"))
      if (auto found = match(r.devices(ignored), name)) return found;
  no_such_device(name);
}

}  // namespace tilewise::backend
