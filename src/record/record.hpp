// SPDX-License-Identifier: Apache-2.0
// One measured case, as in its line of JSON, schema "tilewise.result/1" (record.schema.json). The laboratory fills it
// in; the tool's tables and the report read it.
#pragma once

#include "registry/variant.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::record {

// Words that code acts on, each with its name in one table.

/// What became of a case. Only `ok` and `interrupted` records carry times.
enum class status : std::uint8_t { ok, wrong, skipped, failed, timeout, interrupted };

/// What bounds a case: the device's own plain copy, its multiply-adds, those with product and sum rounded each, the
/// speed at which it reads, or the launch of a kernel. Each is also a case itself.
enum class ceiling : std::uint8_t { copy, fma, muladd, read, launch };

/// The names of an enumeration, in its order.
template <class Word>
inline constexpr std::array<std::string_view, 0> names_of{};
template <>
inline constexpr std::array<std::string_view, 6> names_of<status>{"ok",     "wrong",   "skipped",
                                                                  "failed", "timeout", "interrupted"};
template <>
inline constexpr std::array<std::string_view, 5> names_of<ceiling>{"copy", "fma", "muladd", "read", "launch"};
template <>
inline constexpr std::array<std::string_view, 2> names_of<registry::claim>{"tilewise", "own"};

template <class T>
concept word = !names_of<T>.empty();

template <word W>
constexpr std::string_view name_of(W which) {
  return names_of<W>[static_cast<std::size_t>(which)];
}

/// Whether it bounds operations; copies and reads bound bytes.
constexpr bool is_arithmetic(ceiling which) { return which == ceiling::fma || which == ceiling::muladd; }

template <word W>
constexpr std::optional<W> word_of(std::string_view name) {
  for (std::size_t i = 0; i < names_of<W>.size(); ++i)
    if (names_of<W>[i] == name) return static_cast<W>(i);
  return std::nullopt;
}

using text = std::string;
using count = std::uint64_t;
/// Null in JSON if there is none. A number that is not finite is null too.
using maybe_text = std::optional<text>;
using maybe_count = std::optional<count>;
using maybe_number = std::optional<double>;

/// A key that is left out if it has no value: it applies to some cases only, or is newer than the first records.
template <class T>
struct added : std::optional<T> {
  using std::optional<T>::optional;
};

struct tool {
  text version;
  maybe_text commit;
  bool dirty = false;
  text compiler, flags, build_type;
  count order_version = 0;  // of docs/order.md
};

struct cache {
  count level = 0, bytes = 0;
};

struct host {
  text hostname;
  maybe_text os;
  text kernel;
  maybe_text cpu_model;
  maybe_count sockets, cores, threads;
  std::vector<cache> caches;
  maybe_count ram_bytes, cgroup_mem_bytes;
  maybe_text governor;
  maybe_number load_avg_1m;
  bool virtualised = false;
  std::map<text, text> env;  // variables that steer runtimes
};

struct device {
  text name, backend, description;
  maybe_text platform, driver, api_version;
  maybe_count compute_units, max_clock_mhz, memory_bytes, cache_bytes, local_memory_bytes;
  bool is_cpu = false;
};

/// One variant, or a limit, on one problem.
struct measured_case {
  text group;  // rows of one group were measured alternately
  text algorithm, variant, backend, name;
  bool peer = false;
  registry::claim order = registry::claim::tilewise;
  text source, dtype;
  std::vector<count> shape;
  count n = 0;  // the first size
  std::map<text, text> settings;
  text tuning;
  added<text> tuned_at;  // when `tilewise tune` found it, if it runs so because that was applied
  text data;
  count seed = 0;
  maybe_count threads;  // of a CPU device
  text mode;            // lab/bench/measuring.hpp: "hot", "file_to_file"
  double bytes_min = 0, operations = 0;

  /// Whether it is one of the device's ceilings, such as its own copy.
  bool is_limit() const { return word_of<ceiling>(algorithm).has_value(); }
};

struct mismatch {
  text operand;
  count index = 0;
  text expected, got;  // shortest round-trip number and its bits in hex
};

struct verification {
  bool ok = false;
  text method;  // "digest", "tolerance"
  maybe_text digest;
  added<text> reference;  // the variant whose bits were expected
  maybe_text reference_digest;
  count mismatches = 0;
  maybe_number max_relative_error;
  maybe_count changed_outputs;  // own order: outputs that differ between two runs on equal input
  std::optional<mismatch> first_mismatch;
};

/// A median with its 95 % interval; none below six samples.
struct interval {
  double median = 0;
  maybe_number low, high;

  /// How far its further end lies from the median, as a share of the median; none without both ends.
  maybe_number spread() const;
  /// Whether the median can be trusted, and what is held against it: it has an interval, within 5 % of it.
  bool is_narrow() const { return spread().value_or(1) <= widest; }
  static constexpr double widest = 0.05;
};

/// The samples of one clock. Sample r of a visit was taken in its round r.
struct clock {
  count n = 0, calls_per_sample = 0;
  maybe_number median_ns, ci95_lo_ns, ci95_hi_ns, min_ns, max_ns, q1_ns, q3_ns, mad_ns, mean_ns;
  count outliers = 0;
  text stop_reason;
  added<std::vector<count>> visits;  // how many samples each took, where the row was visited more than once
  std::vector<double> samples_ns;
};
/// Of a clock that has samples.
interval interval_of(const clock& taken);

/// Where a whole job's time went, from file to file, in nanoseconds; a job without one of these has no such key. Parts
/// that ran at the same time count in full.
struct phases {
  added<double> read, upload, kernel, download, write;
};

struct timing {
  std::optional<clock> kernel, h2d, d2h, round_trip, end_to_end;
  maybe_number first_call_ns;
  maybe_text clock_name;
  count clock_resolution_ns = 0;
  added<record::phases> phases;
};

struct rates {
  maybe_number elements_per_s, bytes_per_s;
  added<maybe_number> operations_per_s;
  std::optional<ceiling> bound_by;
  maybe_number ceiling_bytes_per_s;
  added<maybe_number> ceiling_operations_per_s;
  maybe_number fraction_of_ceiling;
  bool plausible = true;
};

/// The time of another row over this row's, from the rounds both were in.
struct ratio {
  text to, device, tuning;
  maybe_number median, ci95_lo, ci95_hi;
};

struct noise {
  maybe_number aa_median_ratio, min_effect;  // of one row of the group against itself
  added<double> visits_effect{};             // what the medians of the row's own visits surely differ by, as a share
};

/// Of a row on a group of devices, what travels between its ranks. Unknown where nothing was measured, or where there
/// is only one rank.
struct ranks {
  count number = 0;
  text transport;                     // "threads", or the library of MPI with its version
  maybe_count sent_bytes, exchanges;  // of one call: by all ranks together, by each rank
  maybe_number exchange_ns;           // of one call, apart from its computing: the slowest rank's
  maybe_number latency_ns;            // of the shortest exchange, each rank with the next
  maybe_number link_bytes_per_s;      // of a long one, from each rank to the next
};

/// One time as a document gives it; it was not measured here.
struct published_time {
  text system, machine;
  double ns = 0;
  bool with_transfers = false;
};

/// The document that asked for the case.
struct experiment {
  text document, baseline, baseline_device, first_outputs;
  std::vector<published_time> published;          // beside this row
  added<std::vector<published_time>> of_problem;  // all that the document gives for the problem
  added<text> system;                             // which of the document's programs the row repeats
  added<text> differs;                            // what it does otherwise
  added<double> times_in_run;                     // how often the document's whole run has the case's work
};

struct moment {
  maybe_count step;
  maybe_number simulated_time;  // in the document's unit
  maybe_number residual;        // against the analytical solution
  text hash;                    // of the field, 16 hex digits
  maybe_text published_hash;    // the document's
  text picture_png;             // base64

  bool differs_from_document() const { return published_hash && *published_hash != hash; }
};

/// A document's run that the times are a part of, from its start: the field at some moments.
struct course {
  maybe_text stopped;               // why it has no further moments
  added<maybe_text> hash_function;  // of the moments' hashes: only those of the same function can be compared
  std::vector<moment> moments;

  bool differs_from_document() const {
    return std::any_of(moments.begin(), moments.end(), [](const moment& m) { return m.differs_from_document(); });
  }
};

inline constexpr std::string_view schema_name = "tilewise.result/1";

/// A record.
struct result {
  text schema{schema_name}, id, time_utc;
  std::vector<text> argv;
  status state = status::ok;
  maybe_text reason;
  record::tool tool;
  record::host host;
  record::device device;
  measured_case what;
  std::optional<verification> verify;
  std::optional<record::timing> timing;
  std::optional<rates> derived;
  std::vector<ratio> ratios;
  std::optional<record::noise> noise;
  added<record::experiment> experiment;
  added<record::course> course;
  added<record::ranks> ranks;
};

/// Each is large: none is moved as more come.
using results = std::deque<result>;

/// "4096x4096x512"; a single size as its digits.
text shape_text(const measured_case& c);
/// In the catalog's order of the algorithm's settings; then those that this build does not know.
std::vector<std::pair<text, text>> ordered_settings(const measured_case& c);

/// The data that a problem with these settings, names and words, is measured with if nothing else is asked for:
/// uniform, except for products, which would vanish: near_one.
template <class Settings>
std::string_view usual_data(const Settings& settings) {
  for (const auto& [name, word] : settings)
    if (word == name_of(op::product)) return "near_one";
  return "uniform";
}
/// The data that was asked for, which is part of the problem's name. Empty where it is the usual, a document's own, or
/// that of a roof.
std::string_view asked_data(const result& r);

}  // namespace tilewise::record
