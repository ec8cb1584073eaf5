// SPDX-License-Identifier: Apache-2.0
// OpenCL drivers are other people's code in our process, and a faulty one may crash or hang as soon as it is listed. So
// a child process lists each driver first, and this process loads only the good ones that it needs.
#pragma once

#include "backend/backend.hpp"
#include "tool/drivers/record.hpp"

#include <memory>

namespace tilewise::cli {

/// Lists every OpenCL driver in its own child and, if some are faulty, points OCL_ICD_VENDORS of this process at
/// the others. Call it before anything here loads OpenCL; does its work once.
const std::vector<faulty_driver>& leave_out_faulty_drivers();

/// The same for `auto`, which uses no CPU device of OpenCL. Earlier findings may show that no driver is needed; then
/// none is listed or loaded. Otherwise this process uses the good drivers that are needed. Call it instead of
/// leave_out_faulty_drivers, not after it.
struct auto_drivers {
  std::vector<faulty_driver> faulty;
  bool needs_opencl = true;
  bool is_recorded = false;  // the faulty ones are known from an earlier look
};
const auto_drivers& leave_out_drivers_for_auto();

/// The .icd files of drivers that are listed without a fault but have no device, for example because a library is
/// missing. Call it before faulty drivers are left out.
std::vector<std::filesystem::path> drivers_without_devices();

/// A backend without devices, or a driver that was left out.
struct absent {
  std::string name, reason;
};

/// What this machine can compute on, and which backends and drivers it cannot use.
struct survey {
  std::vector<std::shared_ptr<backend::device>> devices;
  std::vector<absent> backends, drivers;
};

/// Lists all drivers again, each in a child process first, and records for `auto` what devices they have.
survey look_around();

}  // namespace tilewise::cli
