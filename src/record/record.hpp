// SPDX-License-Identifier: Apache-2.0
// One measured case: one line of JSON in the schema "tilewise.result/1" (record.schema.json). The laboratory fills it
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

// Words that code compares, each with its name in one table.

/// What became of a case. Only `ok` and `interrupted` records carry times.
enum class status : std::uint8_t { ok, wrong, skipped, failed, timeout, interrupted };

/// What may bound a case: the device's own plain copy, its fused multiply-adds, multiply-adds that round product and
/// sum, its speed of reading, or the launch of a kernel. Each is also measured as a case of its own.
enum class ceiling : std::uint8_t { copy, fma, muladd, read, launch };

/// The names of an enumeration's values, in order.
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

/// Whether it limits operations. Copies and reads limit bytes.
constexpr bool is_arithmetic(ceiling which) { return which == ceiling::fma || which == ceiling::muladd; }

template <word W>
constexpr std::optional<W> word_of(std::string_view name) {
  for (std::size_t i = 0; i < names_of<W>.size(); ++i)
    if (names_of<W>[i] == name) return static_cast<W>(i);
  return std::nullopt;
}

using text = std::string;
using count = std::uint64_t;
/// Null in JSON if there is no value, or if a number is not finite.
using maybe_text = std::optional<text>;
using maybe_count = std::optional<count>;
using maybe_number = std::optional<double>;

/// A key that is left out if it has no value: it applies to some cases only, or was added to the schema later.
template <class T>
struct added : std::optional<T> {
  using std::optional<T>::optional;
};

struct tool {
  text version;
  maybe_text commit;
  bool dirty = false;
  text compiler, flags, build_type;
  count order_version = 0;  // the version of docs/order.md
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
  std::map<text, text> env;  // variables that configure runtimes
};

struct device {
  text name, backend, description;
  maybe_text platform, driver, api_version;
  maybe_count compute_units, max_clock_mhz, memory_bytes, cache_bytes, local_memory_bytes;
  bool is_cpu = false;
  added<count> max_group_size, group_multiple;  // of a work-group's size: the most, and what it is best a multiple of
};

/// One variant, or a limit, on one problem.
struct measured_case {
  text group;  // rows of one group were measured in turns
  text algorithm, variant, backend, name;
  bool peer = false;
  registry::claim order = registry::claim::tilewise;
  text source, dtype;
  std::vector<count> shape;
  count n = 0;  // the first dimension
  std::map<text, text> settings;
  text tuning;
  added<text> tuned_at;  // when `tilewise tune` found the tuning, if a stored one was applied
  text data;
  count seed = 0;
  maybe_count threads;  // of a CPU device
  text mode;            // lab/bench/measuring.hpp: "hot", "file_to_file"
  double bytes_min = 0, operations = 0;

  /// Whether the case is one of the device's limits, such as its own copy.
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

/// Whether this variant is a definition. Older records do not say with what they were compared.
inline bool is_definition(std::string_view reference) { return reference.empty() || reference.ends_with("/serial"); }

/// A median with its 95 % interval. Below six samples there is no interval.
struct interval {
  double median = 0;
  maybe_number low, high;

  /// How far the farther end lies from the median, as a share of the median; none unless both ends are known.
  maybe_number spread() const;
  /// Whether the median can be trusted: it has an interval, and that lies within 5 % of it.
  bool is_narrow() const { return spread().value_or(1) <= widest; }
  static constexpr double widest = 0.05;
};

/// The samples of one clock. Within a visit, sample r was taken in round r.
struct clock {
  count n = 0, calls_per_sample = 0;
  maybe_number median_ns, ci95_lo_ns, ci95_hi_ns, min_ns, max_ns, q1_ns, q3_ns, mad_ns, mean_ns;
  count outliers = 0;
  text stop_reason;
  added<std::vector<count>> visits;       // the number of samples of each visit, if there were several
  added<std::vector<double>> samples_ns;  // committed records have none
};
/// The clock must have samples.
interval interval_of(const clock& taken);

/// How long each phase of a whole job took, from file to file, in nanoseconds. A phase that the job does not have has
/// no key. Phases that overlap count in full.
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

/// The time of another row over this row's time, from the rounds that both were in.
struct ratio {
  text to, device, tuning;
  maybe_number median, ci95_lo, ci95_hi;
};

struct noise {
  maybe_number aa_median_ratio, min_effect;  // of one row of the group against itself
  added<double> visits_effect{};             // the least by which the medians of the row's visits differ, as a share
};

/// Differences of a smaller share may be chance: 1 %, or what a row of the same run differed by from itself.
inline double smallest_effect(const maybe_number& min_effect) { return std::max(0.01, min_effect.value_or(0)); }

/// What the ranks of a group of devices send each other during the row's call. Unknown if it was not measured or if
/// there is only one rank.
struct ranks {
  count number = 0;
  text transport;                     // "threads", or the MPI library with its version
  maybe_count sent_bytes, exchanges;  // in one call: by all ranks together, by each rank
  maybe_number exchange_ns;           // in one call, without computing: the slowest rank's
  maybe_number latency_ns;            // of the shortest exchange, each rank with the next
  maybe_number link_bytes_per_s;      // of a long exchange, from each rank to the next
};

/// One time that a document published. It was not measured here.
struct published_time {
  text system, machine;
  double ns = 0;
  bool with_transfers = false;
};

/// The document that asked for the case.
struct experiment {
  text document, baseline, baseline_device, first_outputs;
  std::vector<published_time> published;          // to show beside this row
  added<std::vector<published_time>> of_problem;  // all of the document's times for the problem
  added<text> system;                             // the program of the document that the row repeats
  added<text> differs;                            // how the row differs from that program
  added<double> times_in_run;                     // how often the document's whole run does the case's work
  added<text> check, check_value;                 // by what the document compares results, and its value here
};

struct moment {
  maybe_count step;
  maybe_number simulated_time;  // in the document's unit
  maybe_number residual;        // against the analytical solution
  text hash;                    // of the field, 16 hex digits
  maybe_text published_hash;    // the document's
  text picture_png;             // base64
  added<double> run_ns{};       // of all steps up to here, without output

  bool differs_from_document() const { return published_hash && *published_hash != hash; }
};

/// A document's whole run, which the times are a part of: the field at some moments.
struct course {
  maybe_text stopped;               // why there are no further moments
  added<maybe_text> hash_function;  // of the moments' hashes; hashes of different functions cannot be compared
  std::vector<moment> moments;

  bool differs_from_document() const {
    return std::any_of(moments.begin(), moments.end(), [](const moment& m) { return m.differs_from_document(); });
  }
  /// Whether it is the log of a program's run; otherwise it is of the field.
  bool is_log() const { return !moments.empty() && moments.back().run_ns; }
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

/// A deque, since records are large: it never moves them.
using results = std::deque<result>;

/// "4096x4096x512"; a single size as its digits.
text shape_text(const measured_case& c);
/// In the catalog's order of the algorithm's settings, and then settings that this build does not know.
std::vector<std::pair<text, text>> ordered_settings(const measured_case& c);

/// The data for a problem with these settings (names and words) if none is asked for: near_one for products, which
/// would vanish with uniform data, and uniform for all others.
template <class Settings>
std::string_view usual_data(const Settings& settings) {
  for (const auto& [name, word] : settings)
    if (word == name_of(op::product)) return "near_one";
  return "uniform";
}
/// The data that was asked for, which is part of the problem's name. Empty for the usual data, for a document's own,
/// and for a roof.
std::string_view asked_data(const result& r);

}  // namespace tilewise::record
