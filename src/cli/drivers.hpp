// OpenCL drivers are other people's code in our process: a faulty one may crash or hang as soon as it is listed. So
// each is listed in a child process first, and the faulty ones are left out of this process.
#pragma once

#include <string>
#include <vector>

namespace tilewise::cli {

struct faulty_driver {
  std::string file;  // "/etc/OpenCL/vendors/pocl.icd"
  std::string what;  // "crashed with signal 11 (Segmentation fault) while being listed"
};

/// Lists every OpenCL driver in a child of its own and, if some are faulty, points OCL_ICD_VENDORS of this process at
/// the others. To be called before anything here loads OpenCL; does its work once.
const std::vector<faulty_driver>& leave_out_faulty_drivers();

}  // namespace tilewise::cli
