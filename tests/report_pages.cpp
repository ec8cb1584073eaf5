// SPDX-License-Identifier: Apache-2.0
// Writes the page that report_browser_test opens: of made-up records, and of ones in which every text attacks it. Each
// kind of chart is drawn for both; a second algorithm or type would only have more of the same.
#include "report/report.hpp"
#include "report_fixture.hpp"

#include <filesystem>

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
  for (auto& job : made_up_jobs()) all.push_back(std::move(job));
  write_html(make_model(typed(all)), argv[1]);
}
