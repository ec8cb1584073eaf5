// Writes the page that report_browser_test opens: of made-up records, and of ones in which every text attacks it.
#include "report/report.hpp"
#include "report_fixture.hpp"

#include <filesystem>

int main(int, char** argv) {
  using namespace tilewise::report;
  auto records = made_up_records();
  for (auto& job : made_up_jobs()) records.push_back(std::move(job));
  for (auto& hostile :
       hostile_records("<injected-element </script><script>document.documentElement.dataset.broken = 1</script>\"'>"
                       "<img src=http://injected.invalid/x onerror=\"document.documentElement.dataset.broken = 1\">"
                       "\n\xE2\x80\xA8<style>body { display: none }</style>"))
    records.push_back(std::move(hostile));
  write_html(make_model(typed(records)), argv[1]);
}
