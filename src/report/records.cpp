#include "report/report.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <array>
#include <fstream>

namespace tilewise::report {

namespace {

using nlohmann::json;

constexpr std::string_view schema = "tilewise.result/1";
constexpr int depth_limit = 64;  // a record nests 4 deep; deeper ones are hostile
constexpr std::array<std::string_view, 6> statuses{"ok", "wrong", "skipped", "failed", "timeout", "interrupted"};

/// What is wrong with a line, or empty.
std::string damage(const json& record) {
  if (!record.is_object()) return "is not a JSON object";
  const auto text = [](const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (const std::string got = text(record, "schema"); got != schema)
    return "has the schema '" + got + "', and this tool reads '" + std::string(schema) + "'";
  if (std::find(statuses.begin(), statuses.end(), text(record, "status")) == statuses.end())
    return "has the unknown status '" + text(record, "status") + "'";
  for (const char* part : {"tool", "host", "device", "case"})
    if (!record.contains(part) || !record[part].is_object()) return "has no object '" + std::string(part) + "'";
  for (const char* field : {"group", "algorithm", "variant", "backend", "dtype"})
    if (text(record["case"], field).empty()) return "has no text 'case." + std::string(field) + "'";
  if (text(record["device"], "name").empty()) return "has no text 'device.name'";
  const auto n = record["case"].find("n");
  if (n == record["case"].end() || !n->is_number_unsigned()) return "has no count 'case.n'";
  return "";
}

json parse_line(const std::string& line) {
  return json::parse(line, [](int depth, json::parse_event_t, json&) {
    if (depth > depth_limit) throw error(errc::io, "nests deeper than " + std::to_string(depth_limit) + " levels");
    return true;
  });
}

/// What is wrong with a line, or empty; `record` is set if nothing is.
std::string read_line(const std::string& line, json& record) {
  try {
    record = parse_line(line);
  } catch (const json::exception& problem) {
    return "is damaged: " + std::string(problem.what());
  } catch (const error& problem) {
    return problem.what();
  }
  return damage(record);
}

}  // namespace

std::vector<json> read_records(const std::filesystem::path& file, std::vector<std::string>* warnings) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream || std::filesystem::is_directory(file))
    throw error(errc::io, file.string() + " cannot be read; give a file that `tilewise bench -o` wrote");
  std::vector<json> records;
  std::string line;
  for (std::size_t number = 1; std::getline(stream, line); ++number) {
    json record;
    const std::string problem = read_line(line, record);
    if (problem.empty()) {
      records.push_back(std::move(record));
      continue;
    }
    const std::string sentence = file.string() + ": line " + std::to_string(number) + " " + problem;
    const bool is_last = stream.eof() || stream.peek() == std::ifstream::traits_type::eof();
    if (!is_last || json::accept(line)) throw error(errc::io, sentence);  // not what a killed writer leaves
    if (warnings) warnings->push_back(sentence + "; it was left out");
  }
  if (stream.bad())
    throw error(errc::io, file.string() + ": reading failed after " + std::to_string(records.size()) +
                              " records; check the disk");
  if (records.empty())
    throw error(errc::io, file.string() + " holds no record; give a file that `tilewise bench -o` wrote");
  return records;
}

}  // namespace tilewise::report
