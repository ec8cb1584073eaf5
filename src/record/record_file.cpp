#include "record/record_file.hpp"

#include "record/record_json.hpp"

#include <tilewise/error.hpp>

namespace tilewise::record {

namespace {

using nlohmann::json;

constexpr int depth_limit = 64;  // a record nests 5 deep; deeper ones are hostile

/// A line that a killed run left unfinished must not swallow the next record.
bool ends_within_line(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in || in.tellg() <= 0) return false;
  in.seekg(-1, std::ios::end);
  return in.get() != '\n';
}

text text_of(const json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<text>() : text();
}

bool has_part(const json& object, std::string_view key) {
  return object.contains(key) && object[std::string(key)].is_object();
}

/// What no record can be without; empty if it has all.
std::string lack(const json& object) {
  for (const std::string_view part :
       {key_of(&result::tool), key_of(&result::host), key_of(&result::device), key_of(&result::what)})
    if (!has_part(object, part)) return "has no object '" + std::string(part) + "'";
  const text what(key_of(&result::what)), device(key_of(&result::device));
  for (const auto member : {&measured_case::group, &measured_case::algorithm, &measured_case::variant,
                            &measured_case::backend, &measured_case::dtype})
    if (text_of(object[what], key_of(member)).empty())
      return "has no text '" + what + "." + std::string(key_of(member)) + "'";
  if (const text name(key_of(&device::name)); text_of(object[device], name).empty())
    return "has no text '" + device + "." + name + "'";
  const text n(key_of(&measured_case::n));
  return object[what].contains(n) && object[what][n].is_number_unsigned() ? ""
                                                                          : "has no count '" + what + "." + n + "'";
}

/// What is wrong with a line, or empty.
std::string damage(const json& object) {
  if (!object.is_object()) return "is not a JSON object";
  if (const text got = text_of(object, key_of(&result::schema)); got != schema_name)
    return "has the schema '" + got + "', and this tool reads '" + std::string(schema_name) + "'";
  const text state = text_of(object, key_of(&result::state));
  if (!word_of<status>(state)) return "has the unknown status '" + state + "'";
  return lack(object);
}

json parse_line(const std::string& line) {
  return json::parse(line, [](int depth, json::parse_event_t, json&) {
    if (depth > depth_limit) throw error(errc::io, "nests deeper than " + std::to_string(depth_limit) + " levels");
    return true;
  });
}

/// What is wrong with a line, or empty; `r` is set if nothing is.
std::string read_line(const std::string& line, result& r) {
  try {
    const json object = parse_line(line);
    const std::string problem = damage(object);
    if (problem.empty()) r = from_json(object);
    return problem;
  } catch (const json::exception& problem) {
    return "is damaged: " + std::string(problem.what());
  } catch (const error& problem) {
    return problem.what();
  }
}

}  // namespace

record_file::record_file(std::filesystem::path path) : path_(std::move(path)) {
  const bool broken = ends_within_line(path_);
  out_.open(path_, std::ios::app);
  if (!out_) throw error(errc::io, "'" + path_.string() + "' cannot be opened for writing; give another file with -o");
  if (broken) out_ << '\n';
}

void record_file::write(const result& r) {
  out_ << to_json(r).dump(-1, ' ', false, json::error_handler_t::replace) << '\n' << std::flush;
  if (!out_) throw error(errc::io, "'" + path_.string() + "' cannot be written; is the disk full?");
}

std::vector<result> read_records(const std::filesystem::path& file, std::vector<std::string>* warnings) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream || std::filesystem::is_directory(file))
    throw error(errc::io, file.string() + " cannot be read; give a file that `tilewise bench -o` wrote");
  std::vector<result> records;
  std::string line;
  for (std::size_t number = 1; std::getline(stream, line); ++number) {
    result r;
    const std::string problem = read_line(line, r);
    if (problem.empty()) {
      records.push_back(std::move(r));
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

}  // namespace tilewise::record
