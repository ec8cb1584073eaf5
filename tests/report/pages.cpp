// SPDX-License-Identifier: Apache-2.0
// Writes the pages that report_browser_test opens: one of made-up records, and one of records in which every text is an
// attack. Each kind of chart is drawn for both; a second algorithm or type would add only more of the same.
#include "fixture.hpp"
#include "report/report.hpp"

#include <filesystem>

namespace {

/// Turns some scans into products by a peer that rounds its operands: no bar has longer words beside it.
std::vector<nlohmann::json> as_products(std::vector<nlohmann::json> records) {
  std::erase_if(records, [](const nlohmann::json& r) {
    const std::string group = r["case"]["group"];
    return r["status"] != "ok" || r["case"]["algorithm"] != "scan" || !group.starts_with("scan.f32 ") ||
           r["device"]["name"] != "cuda:0" || r["case"]["n"] != 1 << 20;
  });
  for (nlohmann::json& r : records) {
    const double operations = 1e9, ns = r["timing"]["kernel"]["median_ns"];
    const std::string variant = r["case"]["variant"];
    r["case"]["algorithm"] = "matmul";
    r["case"]["variant"] = "matmul" + variant.substr(variant.find('/'));
    r["case"]["group"] = "matmul.f32 n=1048576 @cuda:0";
    r["case"]["settings"] = nlohmann::json::object();
    r["case"]["operations"] = operations;
    r["derived"]["operations_per_s"] = operations / ns * 1e9;
    if (r["case"]["peer"]) r["verify"]["max_relative_error"] = 2e-4;
    r["ratios"] = nlohmann::json::array();
  }
  return records;
}

}  // namespace

int main(int, char** argv) {
  using namespace tilewise::report;
  std::vector<nlohmann::json> all = made_up_records();
  for (auto& hostile :
       hostile_records("<injected-element </script><script>document.documentElement.dataset.broken = 1</script>\"'>"
                       "<img src=http://injected.invalid/x onerror=\"document.documentElement.dataset.broken = 1\">"
                       "\n\xE2\x80\xA8<style>body { display: none }</style>"))
    all.push_back(std::move(hostile));
  std::erase_if(all, [](const nlohmann::json& r) {
    const std::string group = r["case"]["group"];
    return !group.starts_with("scan.f32 ");
  });
  for (auto& product : as_products(tilewise::report::of_no_document(made_up_records())))
    all.push_back(std::move(product));
  for (auto& job : made_up_jobs()) all.push_back(std::move(job));
  write_html(make_model(typed(all)), argv[1]);
}
