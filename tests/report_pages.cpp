// Writes the pages that report_browser_test opens: one of made-up records, and one that every text attacks.
#include "report/report.hpp"
#include "report_fixture.hpp"

#include <filesystem>

int main(int, char** argv) {
  using namespace tilewise::report;
  const std::filesystem::path folder = argv[1];
  write_html(typed(made_up_records()), folder / "plain.html");
  write_html(typed(hostile_records(
                 "<injected-element </script><script>document.documentElement.dataset.broken = 1</script>\"'>"
                 "<img src=http://injected.invalid/x onerror=\"document.documentElement.dataset.broken = 1\">"
                 "\n\xE2\x80\xA8<style>body { display: none }</style>")),
             folder / "hostile.html");
}
