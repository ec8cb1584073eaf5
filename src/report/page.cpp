#include "report/file.hpp"
#include "report/format.hpp"
#include "report/html.hpp"
#include "report/model.hpp"
#include "report/report.hpp"

namespace tilewise::embedded {
extern const std::string_view report_page_html, report_page_css, report_page_js, report_chart_js, report_policy;
}

namespace tilewise::report {

using nlohmann::json;

void write_html(const std::vector<json>& records, const std::filesystem::path& out) {
  const model m = make_model(records);
  html content;
  for (const panel& p : m.panels) content += tag("h2", html::text(p.title));
  write_file(out, content.code());
}

std::string markdown(const std::vector<json>& records) { return count(records.size()); }

}  // namespace tilewise::report
