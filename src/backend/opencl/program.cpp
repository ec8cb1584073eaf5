// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/program.hpp"

#include "backend/opencl/device.hpp"
#include "backend/opencl/driver_folder.hpp"

#include <tilewise/version.hpp>

#include <array>
#include <bit>
#include <filesystem>

namespace tilewise::backend::opencl {

namespace {

std::vector<unsigned char> binary_of(cl_program built) {
  std::size_t bytes = 0;
  if (TW_CL_WATCHED(cl().clGetProgramInfo(built, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr)) != CL_SUCCESS)
    return {};
  std::vector<unsigned char> binary(bytes);
  unsigned char* where = binary.data();
  if (bytes == 0 ||
      TW_CL_WATCHED(cl().clGetProgramInfo(built, CL_PROGRAM_BINARIES, sizeof where, &where, nullptr)) != CL_SUCCESS)
    return {};
  return binary;
}

/// Whether a program has no kernels, as when PoCL loads an empty file.
bool has_no_kernel(cl_program built) {
  std::size_t kernels = 1;
  const cl_int told =
      TW_CL_WATCHED(cl().clGetProgramInfo(built, CL_PROGRAM_NUM_KERNELS, sizeof kernels, &kernels, nullptr));
  return told == CL_SUCCESS && kernels == 0;
}

bool is_pocl(cl_device_id device) { return platform_text(device) == "Portable Computing Language"; }

/// Call this before PoCL compiles: PoCL ends the process if it cannot store the result.
void require_folder() {
  if (const std::string fault = fault_of_folder_in_use(); !fault.empty())
    throw error(errc::unsupported, "OpenCL drivers can compile no more because " + fault);
}

}  // namespace

std::string definitions_of(dtype type, op operation) {
  const bool wraps = operation == op::sum || operation == op::product;
  std::string text = "-DTW_OP=" + std::to_string(static_cast<int>(operation));
  const auto add = [&](const char* name, const char* vector, int width, const char* lowest, const char* largest) {
    text += std::string(" -DTW_T=") + name + " -DTW_V=" + vector + " -DTW_W=" + std::to_string(width) +
            " -DTW_FLOAT=" + (is_float(type) ? "1" : "0") + " -DTW_LOWEST=" + lowest + " -DTW_LARGEST=" + largest;
  };
  if (type == dtype::f32) add("float", "float4", 4, "-INFINITY", "INFINITY");
  if (type == dtype::f64) add("double", "double2", 2, "-INFINITY", "INFINITY");
  if (type == dtype::i32 && !wraps) add("int", "int4", 4, "INT_MIN", "INT_MAX");
  if (type == dtype::i64 && !wraps) add("long", "long2", 2, "LONG_MIN", "LONG_MAX");
  if (type == dtype::u32 || (type == dtype::i32 && wraps)) add("uint", "uint4", 4, "0", "UINT_MAX");
  if (type == dtype::u64 || (type == dtype::i64 && wraps)) add("ulong", "ulong2", 2, "0", "ULONG_MAX");
  return type == dtype::f64 ? text + " -DTW_FP64=1" : text;
}

cl_kernel program::kernel(const std::string& name) {
  const auto known = kernels_.find(name);
  if (known != kernels_.end()) return known->second.get();
  kernel_handle made(TW_CL_MAKE(cl().clCreateKernel(built_.get(), name.c_str(), tw_status)));
  return kernels_.emplace(name, std::move(made)).first->second.get();
}

/// PoCL has its own cache, in the folder that we choose, so ours is not used for it. It compiles each kernel at its
/// first launch; if we asked for the program's binary, it would compile all kernels.
program_store::program_store(cl_context context, cl_device_id device)
    : context_(context), device_(device), is_pocl_(opencl::is_pocl(device)), is_cached_(cache_.usable() && !is_pocl_) {}

program& program_store::get(std::string_view source, const std::string& definitions) {
  const auto key = std::pair(source.data(), definitions);
  const auto known = programs_.find(key);
  if (known != programs_.end()) return known->second;
  return programs_.emplace(key, program(build(source, "-cl-std=CL1.2 " + definitions))).first->second;
}

void program_store::refuse_foreign_code() const {
  constexpr const char* taken = "libgcc_s.so.1";
  std::error_code none;
  if (is_pocl_ && std::filesystem::exists(std::filesystem::symlink_status(taken, none)))
    throw error(errc::unsupported,
                std::string("PoCL would link the file ") + taken +
                    " of the current folder into this process; start in another folder, or remove it");
}

/// PoCL compiles a kernel once for each group size, and again for large grids.
void program_store::admit_launch(cl_kernel kernel, std::size_t width, std::size_t height, std::size_t items) {
  refuse_foreign_code();
  if (is_pocl_ && !admitted_.contains({kernel, width, height, std::bit_width(items)})) {
    require_folder();
    admitted_.emplace(kernel, width, height, std::bit_width(items));
  }
}

program_handle program_store::build(std::string_view source, const std::string& options) const {
  if (!is_cached_) {
    if (is_pocl_) require_folder();
    if (cache_.usable()) tidy_driver_folder();  // a folder that others can use is left unchanged
    return is_pocl_ ? build_by_pocl(source, options) : build_from_source(source, options);
  }
  const std::string key = key_of(source, options);
  if (const auto binary = cache_.find(key))
    if (program_handle built = build_from_binary(*binary, options); built.get() != nullptr) return built;
  program_handle built = build_from_source(source, options);
  if (const std::vector<unsigned char> binary = binary_of(built.get()); !binary.empty()) cache_.store(key, binary);
  return built;
}

/// A program without kernels means that PoCL's cache is damaged; then the cache is moved aside and the program built
/// again. A failed build is no reason to move it, since other processes may be using it.
program_handle program_store::build_by_pocl(std::string_view source, const std::string& options) const {
  program_handle built = build_from_source(source, options);
  return has_no_kernel(built.get()) && move_driver_folder_aside() ? build_from_source(source, options)
                                                                  : std::move(built);
}

cl_int program_store::compile(cl_program what, const std::string& options) const {
  return TW_CL_WATCHED(cl().clBuildProgram(what, 1, &device_, options.c_str(), nullptr, nullptr));
}

program_handle program_store::build_from_binary(const std::vector<unsigned char>& binary,
                                                const std::string& options) const {
  const unsigned char* bytes = binary.data();
  const std::size_t size = binary.size();
  cl_int loaded = CL_SUCCESS, status = CL_SUCCESS;
  program_handle made(
      TW_CL_WATCHED(cl().clCreateProgramWithBinary(context_, 1, &device_, &size, &bytes, &loaded, &status)));
  if (status != CL_SUCCESS || loaded != CL_SUCCESS) return {};  // the driver no longer accepts it: build it again
  if (compile(made.get(), options) != CL_SUCCESS) return {};
  return made;
}

program_handle program_store::build_from_source(std::string_view source, const std::string& options) const {
  const char* text = source.data();
  const std::size_t length = source.size();
  program_handle made(TW_CL_MAKE(cl().clCreateProgramWithSource(context_, 1, &text, &length, tw_status)));
  const cl_int status = compile(made.get(), options);
  if (status == CL_SUCCESS) return made;
  const bool is_short =
      status == CL_OUT_OF_HOST_MEMORY || status == CL_OUT_OF_RESOURCES || status == CL_MEM_OBJECT_ALLOCATION_FAILURE;
  const errc code = is_short                            ? errc::out_of_memory
                    : status == CL_DEVICE_NOT_AVAILABLE ? errc::device_lost
                                                        : errc::build_failed;
  throw error(code, "clBuildProgram returned " + name_of_status(status) + " for options '" + options +
                        "'; the compiler's log: " + log_of(made.get()));
}

std::string program_store::key_of(std::string_view source, const std::string& options) const {
  const std::string device = device_text(device_, CL_DEVICE_NAME), driver = device_text(device_, CL_DRIVER_VERSION),
                    version = device_text(device_, CL_DEVICE_VERSION), platform = platform_text(device_);
  return base::cache_key({source, options, device, driver, version, platform, TILEWISE_VERSION});
}

std::string program_store::log_of(cl_program what) const {
  std::size_t bytes = 0;
  if (cl().clGetProgramBuildInfo(what, device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes) != CL_SUCCESS || bytes == 0)
    return "(none)";
  std::string log(bytes, '\0');
  if (cl().clGetProgramBuildInfo(what, device_, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr) != CL_SUCCESS)
    return "(none)";
  return log.substr(0, log.find('\0'));
}

}  // namespace tilewise::backend::opencl
