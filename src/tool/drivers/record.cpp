// SPDX-License-Identifier: Apache-2.0
#include "tool/drivers/record.hpp"

#include "base/disk_cache.hpp"
#include "tool/drivers/icd_files.hpp"
#include "tool/kept_json.hpp"

#include <tilewise/version.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::cli {

namespace fs = std::filesystem;

#if TILEWISE_WITH_OPENCL
namespace {

using nlohmann::json;

constexpr std::int64_t longest_s = 24 * 60 * 60;

std::string facts_of(const fs::path& file) {
  struct stat facts {};
  if (stat(file.c_str(), &facts) != 0) return file.string() + " is missing";
  return file.string() + " " + std::to_string(facts.st_ino) + " " + std::to_string(facts.st_size) + " " +
         std::to_string(facts.st_mtim.tv_sec) + "." + std::to_string(facts.st_mtim.tv_nsec);
}

/// What drivers can list depends on the kernel: device nodes appear with hardware and modules.
std::string device_nodes() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev", ignored))
    if (const std::string name = entry.path().filename(); name.starts_with("nvidia") || name == "kfd")
      names.push_back(name);
  for (const auto& entry : fs::directory_iterator("/dev/dri", ignored)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += name + " ";
  return text;
}

/// The environment variables that tell loaders and drivers which devices to show, but not those for their caches.
std::string driver_variables() {
  std::vector<std::string> found;
  for (char** variable = environ; *variable != nullptr; ++variable)
    for (const std::string_view prefix : {"AMD_", "CL_", "CUDA_", "GPU_", "HIP_", "HSA_", "LD_", "MESA_", "NEO",
                                          "NVIDIA_", "OCL_", "OPENCL_", "POCL_", "ROCR_", "RUSTICL_", "SYCL_", "ZE_"})
      if (const std::string_view text(*variable); text.starts_with(prefix) && !text.starts_with("POCL_CACHE_DIR="))
        found.emplace_back(text);
  std::sort(found.begin(), found.end());
  std::string text;
  for (const std::string& variable : found) text += variable + "\n";
  return text;
}

std::string key_of(std::span<const fs::path> icds) {
  std::string boot, files;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  for (const fs::path& icd : icds) {
    files += facts_of(icd) + "\n";
    for (const fs::path& library : files_of_library(library_of(icd))) files += "  " + facts_of(library) + "\n";
  }
  const std::string nodes = device_nodes(), variables = driver_variables();
  return base::cache_key({"drivers", TILEWISE_VERSION, boot, files, nodes, variables});
}

}  // namespace

std::optional<driver_findings> recorded_findings(std::span<const fs::path> icds, std::time_t now) {
  const kept_json kept = find_kept(key_of(icds));
  if (!kept.text) return {};
  try {
    const json record = json::parse(*kept.text);
    const std::int64_t age = now - record.at("time").get<std::int64_t>();
    if (age < 0 || age > longest_s) return {};
    driver_findings found;
    for (const json& driver : record.at("faulty"))
      found.faulty.push_back({driver.at(0).get<std::string>(), driver.at(1).get<std::string>()});
    for (const json& file : record.at("wanted")) found.wanted.emplace_back(file.get<std::string>());
    return found;
  } catch (const json::exception&) {
    return {};  // written by another version, or not by us
  }
}

void record_findings(std::span<const fs::path> icds, const driver_findings& found) {
  json record{{"time", std::time(nullptr)}, {"faulty", json::array()}, {"wanted", json::array()}};
  for (const faulty_driver& driver : found.faulty) record["faulty"].push_back({driver.file, driver.what});
  for (const fs::path& file : found.wanted) record["wanted"].push_back(file.string());
  keep(key_of(icds), record);
}
#else
std::optional<driver_findings> recorded_findings(std::span<const fs::path>, std::time_t) { return {}; }
void record_findings(std::span<const fs::path>, const driver_findings&) {}
#endif

}  // namespace tilewise::cli
