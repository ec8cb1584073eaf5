// SPDX-License-Identifier: Apache-2.0
// OpenCL programs: built from embedded source for one device, and cached in their queue and on disk.
#pragma once

#include "backend/opencl/error.hpp"
#include "base/disk_cache.hpp"

#include <tilewise/types.hpp>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace tilewise::backend::opencl {

/// The macro definitions that order/operators.cl and order/block_tree.cl need: type, operator, vector, limits. Sums and
/// products of signed integers are computed as unsigned, which wrap by definition; the bits are the same.
std::string definitions_of(dtype type, op operation);

class program {
 public:
  explicit program(program_handle built) : built_(std::move(built)) {}

  /// A kernel of the program, created on first use. Throws if the program has no kernel of this name.
  cl_kernel kernel(const std::string& name);

 private:
  program_handle built_;
  std::map<std::string, kernel_handle> kernels_;
};

/// All programs of one queue.
class program_store {
 public:
  program_store(cl_context context, cl_device_id device);

  /// The program of this source and these definitions (-D options), built on first use with -cl-std=CL1.2. Throws
  /// `build_failed` with the log.
  program& get(std::string_view source, const std::string& definitions);

  bool is_pocl() const { return is_pocl_; }

  /// Call this before launching a kernel with this group shape and number of work-items. Throws `unsupported` if the
  /// driver would compile it now but cannot store the result, or if it might link foreign code.
  void admit_launch(cl_kernel kernel, std::size_t width, std::size_t height, std::size_t items);

  /// Throws `unsupported` if the driver might link foreign code. When a kernel is first launched with a new group size,
  /// PoCL links it with ld, which looks for one of GCC's libraries in the current folder. A file of that name there
  /// would bring a stranger's code into this process.
  void refuse_foreign_code() const;

 private:
  program_handle build(std::string_view source, const std::string& options) const;
  program_handle build_by_pocl(std::string_view source, const std::string& options) const;
  cl_int compile(cl_program what, const std::string& options) const;
  program_handle build_from_binary(const std::vector<unsigned char>& binary, const std::string& options) const;
  program_handle build_from_source(std::string_view source, const std::string& options) const;
  std::string key_of(std::string_view source, const std::string& options) const;
  std::string log_of(cl_program what) const;

  cl_context context_;
  cl_device_id device_;
  base::disk_cache cache_;
  bool is_pocl_, is_cached_;
  std::set<std::tuple<cl_kernel, std::size_t, std::size_t, int>> admitted_;
  std::map<std::pair<const char*, std::string>, program> programs_;  // embedded sources have fixed addresses
};

}  // namespace tilewise::backend::opencl
