// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

#include "record/json.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <set>

namespace tilewise::report {

namespace {

using nlohmann::json;

struct made_up_device {
  const char *name, *backend, *description, *platform;
  double copy_ns_per_byte;
};
constexpr made_up_device host{"cpu:threads", "cpu", "Imaginary CPU 2000", "threads, x86-64-v3", 1 / 20.0};
constexpr made_up_device openmp{"cpu:openmp", "cpu", "Imaginary CPU 2000", "openmp, x86-64-v3", 1 / 20.0};
constexpr made_up_device opencl{"opencl:0", "opencl", "Imaginary GPU 9000", "Imaginary OpenCL", 1 / 4000.0};
constexpr made_up_device cuda{"cuda:0", "cuda", "Imaginary GPU 9000", "CUDA", 1 / 4100.0};

/// A time is start_ns + bytes * copy time * slowness.
struct made_up_variant {
  const char *backend, *name;
  const made_up_device* device;
  bool peer;
  double start_ns, slowness;
};
constexpr std::array<made_up_variant, 13> variants{{
    {"serial", "", &host, false, 20, 7.1},
    {"cpu", "", &host, false, 9000, 1.18},
    {"cpu", "", &openmp, false, 4000, 1.15},
    {"cpu", "std", &host, true, 15, 3.4},
    {"cpu", "tbb", &host, true, 6000, 2.6},
    {"copy", "cpu", &host, false, 2500, 1},
    {"opencl", "blelloch", &opencl, false, 60000, 2.9},
    {"opencl", "chunked", &opencl, false, 45000, 1.7},
    {"copy", "opencl", &opencl, false, 9000, 1},
    {"cuda", "blelloch", &cuda, false, 14000, 2.2},
    {"cuda", "lookback", &cuda, false, 5200, 1.09},
    {"cuda", "cub", &cuda, true, 5600, 1.14},
    {"copy", "cuda", &cuda, false, 4100, 1},
}};
constexpr std::array<std::uint64_t, 10> sizes{64,      1024,     4096,     65536,     262144,
                                              1048576, 16777217, 67108865, 134217728, 268435456};

/// A repeatable variation of about one percent.
double wobble(std::uint64_t counter) {
  counter = (counter + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
  return 1 + 0.01 * (static_cast<double>((counter >> 40) & 0xffff) / 65536 - 0.5);
}

std::string digest_for(const std::string& problem, std::uint64_t n) {
  std::uint64_t state = std::hash<std::size_t>{}(problem.size()) + n * 0x9e3779b97f4a7c15ull;
  std::string text;
  for (int i = 0; i < 32; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    text += "0123456789abcdef"[state >> 60];
  }
  return text;
}

json clock_of(double median, double spread) {
  return {{"n", 31},
          {"calls_per_sample", 4},
          {"median_ns", median},
          {"ci95_lo_ns", median * (1 - spread)},
          {"ci95_hi_ns", median * (1 + spread)},
          {"min_ns", median * (1 - 2 * spread)},
          {"max_ns", median * (1 + 9 * spread)},
          {"outliers", 1},
          {"stop_reason", "precision"},
          {"samples_ns", json::array({median})}};
}

json device_of(const made_up_device& d) {
  return {{"name", d.name},          {"backend", d.backend},         {"description", d.description},
          {"platform", d.platform},  {"driver", "1.0 (made up)"},    {"api_version", "1.0"},
          {"compute_units", 132},    {"max_clock_mhz", 1980},        {"memory_bytes", 150754820096ull},
          {"cache_bytes", 52428800}, {"local_memory_bytes", 233472}, {"is_cpu", std::string(d.backend) == "cpu"}};
}

json frame(const made_up_device& d) {
  return {{"schema", "tilewise.result/1"},
          {"time_utc", "2026-01-01T00:00:00Z"},
          {"argv", {"tilewise", "bench", "--preset", "normal", "-o", "made up.jsonl"}},
          {"status", "ok"},
          {"reason", nullptr},
          {"tool", {{"version", "0.1.0"}, {"commit", "0000000"}, {"dirty", false}, {"build_type", "Release"}}},
          {"host",
           {{"hostname", "made-up-machine"},
            {"os", "Imaginary OS 12"},
            {"cpu_model", host.description},
            {"cores", 16},
            {"threads", 32},
            {"ram_bytes", 137438953472ull},
            {"governor", "performance"},
            {"load_avg_1m", 0.3},
            {"caches", json::array({{{"level", 3}, {"bytes", 33554432}}})},
            {"env", {{"OMP_NUM_THREADS", "32"}}}}},
          {"device", device_of(d)},
          {"noise", {{"aa_median_ratio", 1.001}, {"min_effect", 0.012}}}};
}

struct problem {
  const char *algorithm, *dtype;
  json settings;
  double bytes_per_element, slowness;
};

json record_of(const problem& p, const made_up_variant& v, std::uint64_t n) {
  const bool is_copy = std::string(v.backend) == "copy";
  const std::string algorithm = is_copy ? "copy" : p.algorithm;
  const std::string id =
      is_copy ? "copy/" + std::string(v.name)
              : algorithm + "/" + v.backend + (std::string(v.name).empty() ? "" : ":" + std::string(v.name));
  const double element = std::string(p.dtype) == "f64" ? 2 : 1;
  const double bytes = static_cast<double>(n) * element * (is_copy ? 8 : p.bytes_per_element);
  const double slowness = is_copy || v.slowness < 2 ? v.slowness : v.slowness * p.slowness;
  const std::uint64_t counter = n * 64 + static_cast<std::uint64_t>(&v - variants.data());
  const double kernel = (v.start_ns + bytes * v.device->copy_ns_per_byte * slowness) * wobble(counter);
  const double rate = bytes / kernel * 1e9;
  json r = frame(*v.device);
  r["id"] = std::to_string(counter) + p.algorithm + p.dtype;
  std::string words;
  for (const auto& [name, value] : p.settings.items()) words += " " + name + "=" + value.get<std::string>();
  r["case"] = {
      {"group", std::string(p.algorithm) + "." + p.dtype + " n=" + std::to_string(n) + words + " @" + v.device->name},
      {"algorithm", algorithm},
      {"variant", id},
      {"backend", is_copy ? v.device->backend : v.backend},
      {"name", v.name},
      {"peer", v.peer},
      {"order", v.peer ? "own" : "tilewise"},
      {"source", "made up"},
      {"dtype", p.dtype},
      {"shape", {n}},
      {"n", n},
      {"settings", is_copy ? json::object() : p.settings},
      {"tuning", ""},
      {"data", "uniform"},
      {"seed", 1},
      {"threads", 32},
      {"mode", "hot"},
      {"bytes_min", bytes},
      {"operations", n}};
  r["verify"] = {{"ok", true},
                 {"method", v.peer ? "tolerance" : "digest"},
                 {"digest", digest_for(v.peer ? id : p.algorithm, n)},
                 {"reference_digest", digest_for(p.algorithm, n)},
                 {"mismatches", 0},
                 {"max_relative_error", v.peer ? 1e-7 : 0.0},
                 {"changed_outputs", v.peer ? json(n / 2) : json()}};
  r["timing"] = {{"kernel", clock_of(kernel, 0.004)}, {"clock", "steady_clock"}, {"first_call_ns", kernel * 30}};
  if (std::string(v.device->backend) != "cpu" && !is_copy) {
    const double there = 7000 + static_cast<double>(n) * 4 * element / 25, back = there * (p.bytes_per_element / 8);
    r["timing"]["h2d"] = clock_of(there, 0.01);
    r["timing"]["d2h"] = clock_of(back, 0.01);
    r["timing"]["round_trip"] = clock_of(there + kernel + back, 0.01);
  }
  const double copy_rate = 1e9 / v.device->copy_ns_per_byte;
  r["derived"] = {{"elements_per_s", static_cast<double>(n) / kernel * 1e9},
                  {"bytes_per_s", rate},
                  {"ceiling", "copy"},
                  {"ceiling_bytes_per_s", copy_rate},
                  {"fraction_of_ceiling", rate / copy_rate},
                  {"plausible", true}};
  r["ratios"] = json::array();
  if (std::string(v.name) == "lookback") {
    const double other = (5600 + bytes * v.device->copy_ns_per_byte * 1.14) / kernel;
    r["ratios"].push_back(
        {{"to", algorithm + "/cuda:cub"}, {"median", other}, {"ci95_lo", other * 0.985}, {"ci95_hi", other * 1.015}});
  }
  return r;
}

/// Adds what a document says about one of the problems, with the published figures of one variant.
void publish(json& r) {
  if (r["case"]["dtype"] != "f32" || r["case"]["algorithm"] != "scan" || r["case"]["n"] != 67108865) return;
  json figures = json::array();
  if (r["case"]["variant"] == "scan/opencl:blelloch")
    for (const bool with_transfers : {false, true})
      figures.push_back({{"system", "a made-up scan"},
                         {"machine", "Imaginary GPU 1"},
                         {"ns", with_transfers ? 61e6 : 4e6},
                         {"with_transfers", with_transfers}});
  r["experiment"] = {{"document", "A. Body, Sums, 2020"},
                     {"baseline", "scan/serial"},
                     {"first_outputs", "1 2 3"},
                     {"published", figures}};
}

/// Adds the run of a field by two of the variants; the later one is shorter. Its picture is one grey pixel.
void add_course(json& r) {
  const std::string variant = r["case"]["variant"];
  const bool is_cut = variant == "scan/cuda:lookback";
  if (r["case"]["dtype"] != "f32" || r["case"]["n"] != 1048576 || (variant != "scan/opencl:chunked" && !is_cut)) return;
  json moments = json::array();
  for (const std::uint64_t step : {0, 1000, 10000, 100000}) {
    if (step == 100000 && is_cut) break;
    const std::string hash = digest_for("field", step).substr(16);
    moments.push_back({{"step", step},
                       {"simulated_time", static_cast<double>(step) / 2},
                       {"residual", static_cast<double>(step) * 3e-8},
                       {"hash", hash},
                       {"published_hash", step == 10000 ? json(hash) : json()},
                       {"picture_png",
                        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAA"
                        "CklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="}});
  }
  r["course"] = {{"stopped", is_cut ? json("too slow") : json()}, {"hash_function", "FNV-1a"}, {"moments", moments}};
}

void spoil(json& record, const char* status, const json& reason) {
  record["status"] = status;
  record["reason"] = reason;
  record["timing"] = nullptr;
  record["derived"] = nullptr;
  record["verify"] = nullptr;
}

/// Makes one case of each kind that is not a plain success.
void spoil_some(std::vector<json>& records) {
  int faults = 0;
  for (json& r : records) {
    const std::string id = r["case"]["variant"];
    const std::uint64_t n = r["case"]["n"];
    if (r["case"]["dtype"] != "f32") continue;
    if (id == "scan/opencl:blelloch" && n == 268435456)
      spoil(r, "skipped", "needs 2.1 GiB in one piece; the device allows 1.0 GiB");
    if (id == "scan/cuda:blelloch" && n == 1024) {
      spoil(r, "wrong", "first difference at index 17: expected 0.5 (0x3f000000), got 0.25 (0x3e800000)");
      r["verify"] = {{"ok", false}, {"method", "digest"}, {"digest", std::string(32, '0')}, {"mismatches", 12}};
    }
    if (id == "reduce/opencl:blelloch" && n == 134217728) spoil(r, "timeout", nullptr);
    if (id == "reduce/opencl:chunked" && n == 268435456) spoil(r, "interrupted", nullptr);
    if (id == "reduce/cpu:tbb" && n == 64 && faults++ == 0) r["derived"]["plausible"] = false;
  }
}

/// Words that the schema fixes. Replacing them would make another record, not a hostile one.
bool is_fixed(const std::string& key) {
  static const std::set<std::string> fixed{"schema", "status", "backend", "variant", "group", "order", "mode"};
  return fixed.contains(key);
}

void replace_texts(json& value, const std::string& hostile) {
  if (value.is_string()) value = value.get<std::string>() + hostile;
  if (value.is_array())
    for (json& item : value) replace_texts(item, hostile);
  if (!value.is_object()) return;
  json replaced = json::object();
  for (const auto& [key, item] : value.items()) {
    json copy = item;
    if (!is_fixed(key)) replace_texts(copy, hostile);
    replaced[key] = copy;
  }
  value = std::move(replaced);
}

}  // namespace

std::vector<json> made_up_records() {
  const std::array<problem, 3> problems{
      {{"scan", "f32", {{"op", "sum"}, {"kind", "inclusive"}, {"init", "none"}}, 8, 1},
       {"scan", "f64", {{"op", "sum"}, {"kind", "inclusive"}, {"init", "none"}}, 8, 1.1},
       {"reduce", "f32", {{"op", "sum"}, {"init", "none"}}, 4, 0.8}}};
  std::vector<json> records;
  for (const problem& p : problems)
    for (const std::uint64_t n : sizes)
      for (const made_up_variant& v : variants) records.push_back(record_of(p, v, n));
  for (json& r : records) {
    publish(r);
    add_course(r);
  }
  spoil_some(records);
  return records;
}

std::vector<json> of_no_document(std::vector<json> records) {
  for (json& r : records)
    for (const char* key : {"experiment", "course"}) r.erase(key);
  return records;
}

std::vector<json> made_up_jobs() {
  std::vector<json> jobs;
  for (json r : made_up_records()) {
    json& c = r["case"];
    const std::uint64_t n = c["n"];
    if (c["algorithm"] != "scan" || c["dtype"] != "f32" || (n != 1048576 && n != 67108865) || r["status"] != "ok")
      continue;
    const json& taken = r["timing"];
    const double bytes = 4 * static_cast<double>(n);
    json phases{{"read", bytes * 0.2}, {"kernel", taken["kernel"]["median_ns"]}, {"write", bytes * 0.3}};
    if (taken.contains("h2d")) phases["upload"] = taken["h2d"]["median_ns"];
    if (taken.contains("d2h")) phases["download"] = taken["d2h"]["median_ns"];
    double sum = 0;
    for (const json& ns : phases) sum += ns.get<double>();
    c["mode"] = "file_to_file";
    r["timing"] = {{"kernel", nullptr}, {"end_to_end", clock_of(sum * 0.8, 0.01)}, {"phases", phases}};
    jobs.push_back(std::move(r));
  }
  return of_no_document(std::move(jobs));
}

std::vector<json> hostile_records(const std::string& hostile) {
  std::vector<json> records = made_up_records();
  for (json& record : records) {
    replace_texts(record, hostile);
    // These identify series and groups, which must stay distinct, so the text is appended.
    for (const char* key : {"variant", "group"}) record["case"][key] = record["case"][key].get<std::string>() + hostile;
    record["case"]["settings"][hostile] = hostile;
    record["host"]["env"][hostile] = hostile;
  }
  return records;
}

record::results typed(const std::vector<json>& records) {
  record::results read;
  for (const json& r : records) read.push_back(record::from_json(r));
  return read;
}

}  // namespace tilewise::report
