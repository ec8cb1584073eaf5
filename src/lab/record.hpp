// One measured case as one line of JSON, schema "tilewise.result/1" (record.schema.json).
#pragma once

#include "lab/ceiling.hpp"
#include "lab/experiment.hpp"
#include "lab/noise.hpp"
#include "lab/statistics.hpp"
#include "lab/verify.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace tilewise::lab {

/// What is the same in every record of a run.
struct session {
  std::vector<std::string> argv;
  nlohmann::json tool, host;
};
session describe_session(std::vector<std::string> argv);

enum class status { ok, wrong, skipped, failed, timeout, interrupted };
std::string_view name_of(status s);

struct case_facts {
  std::string group;  // rows of one group were measured in turns
  std::string algorithm, variant, backend, name;
  bool peer = false;
  registry::claim order = registry::claim::tilewise;
  std::string source, tuning;
  std::string place, tuning_changes;  // for people: row::place, and what differs from the default tuning
  dtype type = dtype::f32;
  registry::extents shape;
  std::vector<std::pair<std::string, std::string>> settings;
  std::string data = "uniform";
  std::uint64_t seed = 1;
  unsigned threads = 0;  // of a CPU device
  bool cold = false;
  registry::speed_unit unit = registry::speed_unit::bytes;  // of the group: what its speeds are told in
  double bytes_min = 0, operations = 0;
  double elements = 0;  // 0 where their number is not what the work grows with
};

struct timings {
  std::optional<series> kernel, h2d, d2h, round_trip, end_to_end;
  std::optional<double> first_call_ns;
  std::string clock;
};

/// The time of another row over this row's, from the rounds both were in.
struct ratio {
  std::string to, device, tuning;
  summary value;
};

struct record {
  status state = status::ok;
  std::string reason;
  std::optional<errc> failure;  // of a failed one, where it has a code
  device_info device;
  case_facts what;
  std::optional<verdict> verified;
  std::string reference;  // the variant whose bits were expected
  std::string reference_digest;
  std::optional<std::uint64_t>
      changed_outputs;  // order of its own: outputs that differ between two runs on equal input
  timings time;
  ceiling bound_by = ceiling::copy;
  std::optional<double> ceiling_per_s;  // in bytes, or operations under ceiling::fma
  bool plausible = true;
  std::vector<ratio> ratios;
  std::optional<noise_floor> noise;
  const experiment* from = nullptr;        // the document's that asked for it
  std::vector<const figure*> published{};  // its figures of this row's counterparts
  std::optional<field_course> course{};    // of the row that ran the document's
};

/// The work of a case in the unit of its ceiling.
inline double work_of(const case_facts& c, ceiling bound) { return bound == ceiling::fma ? c.operations : c.bytes_min; }

/// Numbers that are not finite become null. Only `ok` and `interrupted` records carry times.
nlohmann::json to_json(const record& r, const session& s);

/// Appends; each line has left the process when write returns, so that a killed run loses one case at most.
class record_file {
 public:
  explicit record_file(std::filesystem::path path);  // throws io
  void write(const nlohmann::json& record);          // throws io

 private:
  std::filesystem::path path_;
  std::ofstream out_;
};

}  // namespace tilewise::lab
