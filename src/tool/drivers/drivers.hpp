// SPDX-License-Identifier: Apache-2.0
// OpenCL drivers are other people's code in our process: a faulty one may crash or hang as soon as it is listed. So
// each is listed in a child process first, and only good ones that are needed are left to this process.
#pragma once

#include "backend/backend.hpp"
#include "tool/drivers/record.hpp"

#include <memory>

namespace tilewise::cli {

/// Lists every OpenCL driver in its own child and, if some are faulty, points OCL_ICD_VENDORS of this process at
/// the others. Call it before anything here loads OpenCL; does its work once.
const std::vector<faulty_driver>& leave_out_faulty_drivers();

/// The same for `auto`, which takes no CPU device of OpenCL: earlier findings may show that no driver is needed, so
/// that none is listed or loaded; otherwise this process keeps the good drivers that are. Call it instead of
/// leave_out_faulty_drivers, not after it.
struct auto_drivers {
  std::vector<faulty_driver> faulty;
  bool needs_opencl = true;
  bool is_recorded = false;  // what is said about the faulty ones is from earlier
};
const auto_drivers& leave_out_drivers_for_auto();

/// The .icd files of drivers that are listed without a fault and have no device, be it that their library is missing.
/// To be called before faulty ones are left out.
std::vector<std::filesystem::path> drivers_without_devices();

/// A backend without devices, or a driver that was left out.
struct absent {
  std::string name, reason;
};

/// What this machine can compute on, and which backends and drivers cannot be used.
struct survey {
  std::vector<std::shared_ptr<backend::device>> devices;
  std::vector<absent> backends, drivers;
};

/// Lists all drivers afresh, each in its own process first, and notes for `auto` what they have.
survey look_around();

}  // namespace tilewise::cli
