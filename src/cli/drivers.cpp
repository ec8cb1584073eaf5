#include "cli/drivers.hpp"

#include "cli/child_probe.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <unistd.h>

namespace tilewise::cli {

namespace {

namespace fs = std::filesystem;

/// The .icd files that the OpenCL loader would read, in the order of their names. Empty where OCL_ICD_VENDORS names a
/// single file or library: the caller chose that one.
std::vector<fs::path> icd_files() {
  fs::path folder = "/etc/OpenCL/vendors";
  for (const char* name : {"OPENCL_VENDOR_PATH", "OCL_ICD_VENDORS"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') folder = value;
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".icd") found.push_back(fs::absolute(entry.path(), ignored));
  std::sort(found.begin(), found.end());
  return found;
}

/// A private folder of links to some .icd files; goes away with its scope.
class icd_folder {
 public:
  icd_folder() {
    const char* wanted = std::getenv("TMPDIR");
    for (const std::string& parent : {std::string(wanted == nullptr ? "/tmp" : wanted), std::string("/tmp")}) {
      std::string name = parent + "/tilewise-icd-XXXXXX";
      if (mkdtemp(name.data()) == nullptr) continue;
      path_ = name;
      return;
    }
    throw error(errc::io, "cannot make a folder for temporary files in /tmp; set TMPDIR to one that can be written");
  }
  icd_folder(const icd_folder&) = delete;
  ~icd_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  void add(const fs::path& icd) const { fs::create_symlink(icd, path_ / icd.filename()); }
  const std::string& name() const { return path_.native(); }

 private:
  fs::path path_;
};

std::vector<faulty_driver> find_faulty(const std::vector<fs::path>& drivers) {
  std::vector<faulty_driver> faulty;
  for (const fs::path& driver : drivers) {
    const icd_folder alone;
    alone.add(driver);
    const std::pair<std::string, std::string> environment[] = {{"OCL_ICD_VENDORS", alone.name()},
                                                               {"OPENCL_VENDOR_PATH", alone.name()}};
    if (const std::string fault = listing_fault("opencl", environment); !fault.empty())
      faulty.push_back({driver.string(), fault});
  }
  return faulty;
}

}  // namespace

const std::vector<faulty_driver>& leave_out_faulty_drivers() {
  static std::unique_ptr<icd_folder> good;  // read by the loader until the tool ends
  static const std::vector<faulty_driver> faulty = [] {
    const std::vector<fs::path> drivers = icd_files();
    std::vector<faulty_driver> bad = find_faulty(drivers);
    if (bad.empty()) return bad;
    good = std::make_unique<icd_folder>();
    for (const fs::path& driver : drivers)
      if (std::none_of(bad.begin(), bad.end(), [&](const faulty_driver& f) { return f.file == driver; }))
        good->add(driver);
    setenv("OCL_ICD_VENDORS", good->name().c_str(), 1);
    setenv("OPENCL_VENDOR_PATH", good->name().c_str(), 1);
    return bad;
  }();
  return faulty;
}

}  // namespace tilewise::cli
