// SPDX-License-Identifier: Apache-2.0
// The page made from some records, as text, and helpers that find its parts.
#pragma once

#include "fixture.hpp"
#include "report/report.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>
#include <zlib.h>

namespace tilewise::report {

/// A folder that is removed at the end of the test.
struct scratch {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tilewise-report-test-" + std::to_string(getpid()));
  scratch() { std::filesystem::create_directories(folder); }
  ~scratch() { std::filesystem::remove_all(folder); }

  std::filesystem::path file(const std::string& text) const {
    std::ofstream(folder / "records.jsonl", std::ios::binary) << text;
    return folder / "records.jsonl";
  }
};

inline std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

inline std::string page_of(const std::vector<nlohmann::json>& records) {
  const scratch where;
  write_html(make_model(typed(records)), where.folder / "page.html");
  return contents(where.folder / "page.html");
}

inline std::string csv_of(const std::vector<nlohmann::json>& records) {
  const scratch where;
  csv_file file(where.folder / "table.csv");
  for (const record::result& r : typed(records)) file.add(r);
  file.commit();
  return contents(where.folder / "table.csv");
}

inline std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// What packed() packed.
inline std::string unpacked(const std::string& text) {
  static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string gzip, plain(1 << 24, '\0');
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < text.size() && text[i] != '='; ++i) {
    bits = bits << 6 | static_cast<std::uint32_t>(letters.find(text[i]));
    if (i % 4 != 0) gzip += static_cast<char>(bits >> (6 - i % 4 * 2));
  }
  z_stream in{};
  in.next_in = reinterpret_cast<Bytef*>(gzip.data());
  in.avail_in = static_cast<uInt>(gzip.size());
  in.next_out = reinterpret_cast<Bytef*>(plain.data());
  in.avail_out = static_cast<uInt>(plain.size());
  EXPECT_EQ(inflateInit2(&in, 15 + 16), Z_OK);
  EXPECT_EQ(inflate(&in, Z_FINISH), Z_STREAM_END);
  plain.resize(in.total_out);
  inflateEnd(&in);
  return plain;
}

/// The data of the page's charts.
inline nlohmann::json charts_of(const std::string& page) {
  const std::string opening = "id=\"charts\">";
  const std::size_t begin = page.find(opening) + opening.size();
  return nlohmann::json::parse(unpacked(page.substr(begin, page.find("</script>", begin) - begin)));
}

/// The rest of a table's row, from there.
inline std::string row_from(const std::string& body, std::size_t at) {
  return body.substr(at, std::min(body.find("<tr>", at), body.find("</tbody>", at)) - at);
}

/// The page without its style and scripts: only what comes from records.
inline std::string body_of(const std::string& page) {
  const std::size_t begin = page.find("<main>"), end = page.find("</main>");
  return page.substr(begin, end - begin);
}

/// The made-up records of scan on f32, after `change` was applied to each.
template <class Change>
std::vector<nlohmann::json> scans_with(Change change) {
  std::vector<nlohmann::json> records = made_up_records();
  std::erase_if(records,
                [](const auto& r) { return !r["case"]["group"].template get<std::string>().starts_with("scan.f32 "); });
  for (nlohmann::json& r : records) change(r);
  return records;
}
inline bool is_time_of(const nlohmann::json& r, const std::string& variant) {
  return r["case"]["variant"] == variant && r["status"] == "ok";
}
inline void widen(nlohmann::json& r) {
  r["timing"]["kernel"]["ci95_hi_ns"] = r["timing"]["kernel"]["median_ns"].get<double>() * 1.12;
}
/// Multiplies the times of a record, and removes its ratios.
inline void scale(nlohmann::json& r, double by) {
  for (const char* key : {"median_ns", "ci95_lo_ns", "ci95_hi_ns"})
    r["timing"]["kernel"][key] = r["timing"]["kernel"][key].get<double>() * by;
  for (const char* key : {"bytes_per_s", "elements_per_s"}) r["derived"][key] = r["derived"][key].get<double>() / by;
  r["ratios"] = nlohmann::json::array();
}

/// The matrix of algorithms and devices.
inline std::string matrix_of(const std::string& body) {
  const std::size_t begin = body.find("<div class=\"matrix\">");
  return begin == body.npos ? "" : body.substr(begin, body.find("</table>", begin) - begin);
}

}  // namespace tilewise::report
