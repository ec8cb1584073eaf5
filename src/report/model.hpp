// SPDX-License-Identifier: Apache-2.0
// The records, sorted for a reader: panels (one problem, all sizes) contain boards (one processor), and these contain
// series (one variant on one device). Everything that is ranked, drawn or tabulated comes from here.
#pragma once

#include "record/record.hpp"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tilewise::report {

using record::interval;

/// Whether a whole job was timed and not a kernel alone: "file_to_file", "host_to_host".
inline bool is_job(std::string_view mode) { return mode.find("_to_") != mode.npos; }

struct ratio {
  const std::string &to, &device, &tuning;  // the other row's variant, device and tuning
  interval value;                           // time of the other / our time
};

using registry::speed_unit;
/// The unit of an algorithm's speeds; bytes for an algorithm that this build does not know.
speed_unit unit_of(const std::string& algorithm);

/// The least that the other time can be over this one, by the ends of their intervals. A time without an interval is
/// assumed to be off by up to a factor of 2.
inline double least_ratio(const interval& one, const interval& other) {
  return other.low.value_or(other.median / 2) / one.high.value_or(2 * one.median);
}
/// Whether one's interval ends before the other's begins.
inline bool is_surely_shorter(const interval& one, const interval& other) { return least_ratio(one, other) > 1; }

/// A machine and the build on it, as the first record describes them.
struct machine {
  std::string name;
  record::host host;
  record::tool tool;
  std::string first_time, last_time;  // when its records were measured
};

/// One record as it is ranked, drawn and tabulated. The row_table owns its texts.
struct row {
  const report::machine& on;
  const record::device& hardware;  // as the device's first record describes it
  const std::string& machine;      // its name
  const std::string &group, &algorithm, &variant, &backend, &device, &dtype, &settings, &tuning, &mode, &data;
  const std::string& asked_data;  // as record::asked_data
  const std::string &reason, &digest, &reference_digest, &reference, &governor, &build_type, &commit;
  const std::string& command;  // the command that measured it
  const std::string& shape;    // "4096x4096x512"; a single size as its digits
  record::status status = record::status::ok;
  std::uint64_t n = 0;  // the first dimension
  std::uint64_t threads = 0, seed = 0;
  double operations = 0, bytes = 0;  // counted and compulsory; for a limit, in each call
  bool is_cpu = false, peer = false, own_order = false;
  bool is_busy = false, is_dirty = false;  // the machine when the case began; the tool's source
  bool verified = false, plausible = true;
  std::optional<interval> kernel{};  // for a whole job, from end to end
  std::optional<interval> h2d{}, d2h{}, round_trip{};
  std::optional<record::phases> phases{};  // for a whole job
  std::optional<double> bytes_per_s{}, elements_per_s{}, operations_per_s{};
  std::optional<double> min_effect{}, visits_effect{};
  std::size_t runs = 1;  // how many runs it was joined from (compare/)
  /// Its share of the limit that bounds it. Once there is a model, the limit comes from the roofs of all records
  /// (roofline.hpp). Before that, or if the roofs have none, it is the limit in the row's own record. Both members are
  /// empty if only a copy was measured and the copy does not bound the row.
  std::optional<double> fraction{};
  std::optional<record::ceiling> bound_by{};
  bool has_sure_limit = true;              // whether the time of its limit can be trusted
  std::optional<std::uint64_t> changed{};  // outputs that differed between two runs on the same input
  std::optional<double> relative_error{};  // the largest, against the definition; for an order of its own
  std::vector<ratio> ratios{};
  const record::experiment* experiment = nullptr;  // null: none
  const record::course* course = nullptr;
  const record::ranks* ranks = nullptr;  // for a group of devices

  bool is_limit() const { return record::word_of<record::ceiling>(algorithm).has_value(); }
  bool is_arithmetic() const {
    const auto which = record::word_of<record::ceiling>(algorithm);
    return which && record::is_arithmetic(*which);
  }
  bool is_serial() const { return backend == "serial"; }
  bool is_ok() const { return status == record::status::ok; }
  bool wrong() const { return status == record::status::wrong || (is_ok() && !verified && !is_limit()); }
  bool failed() const { return status == record::status::failed || status == record::status::timeout; }
  bool timed() const { return is_ok() && !wrong() && kernel.has_value(); }
  /// Whether its own time is steady enough to be quoted.
  bool ranked() const { return timed() && plausible && kernel->is_narrow(); }
  /// The other row's time over this one's, by rounds in which both ran in turns; with an interval. Load on the machine
  /// slows both of a round alike, so the ratio may be sure while the times are in doubt. None if a time cannot be true.
  std::optional<interval> in_turns_with(const row& other) const;
  double smallest_effect() const { return record::smallest_effect(min_effect); }
  /// Compares by turns if there were any, else the two intervals, however wide they are. False for a row without one.
  bool is_surely_shorter(const row& other) const;
  /// Whether its time is called impossible only because of a limit that is itself in doubt.
  bool is_above_limit_in_doubt() const { return !plausible && reason.empty() && !has_sure_limit; }
  /// Why a time is not ranked: "interval ± 12 %". Empty if it is.
  std::string doubt() const;
  std::optional<double> throughput(speed_unit unit) const {
    return unit == speed_unit::bytes ? bytes_per_s : unit == speed_unit::elements ? elements_per_s : operations_per_s;
  }
  std::string size() const;  // "1,024" or "512x512x512"
  std::string at() const;    // "n = 1,024" with no-break spaces, or "512x512x512"
  std::string name() const;  // "cuda:lookback", "cpu:packed @cpu:openmp": executors of a CPU share a board
};

// Facts about variants that records do not have and that a reader needs to judge a speed. methods.cpp has them by
// variant name, since a report may contain backends and other people's code that this build lacks.

/// Whether its method needs far fewer operations than the definition's, which are counted. Then its operations do not
/// limit it, and only its bytes do.
bool needs_fewer_operations(const row& r);
/// For a product: whether its error shows that its operands were rounded to fewer digits than their type has.
bool is_less_exact(const std::string& algorithm, std::optional<double> error);
inline bool is_less_exact(const row& r) { return is_less_exact(r.algorithm, r.relative_error); }

/// Whether moving its bytes bounds the row even if no arithmetic was measured. Devices do 5 to 16 multiply-adds of f32,
/// and 1.5 to 16 of f64, while they copy a byte (results/), so a case with more than 8 operations per byte needs a
/// measured arithmetic limit. A row whose method needs fewer operations than are counted is bound by its bytes, too.
bool is_bound_by_memory_alone(const row& r);

/// What identifies a case: what was measured on which machine. A group has an algorithm, a type, a shape and settings.
/// In a report a later record of a case replaces an earlier one; `compare` joins them (compare/).
inline auto case_key(const row& r) {
  return std::tie(r.group, r.asked_data, r.variant, r.device, r.tuning, r.threads, r.mode);
}

/// What a report needs of records. Texts, machines and devices that many records share are stored once, so a record
/// takes about a kilobyte.
class row_table {
 public:
  row_table() = default;
  row_table(const record::results& records);  // NOLINT: implicit
  row_table(row_table&&) = default;

  void add(const record::result& of);

  auto begin() { return rows_.begin(); }
  auto end() { return rows_.end(); }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }
  std::size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }
  const row& operator[](std::size_t i) const { return rows_[i]; }

 private:
  const std::string& kept(std::string_view text) { return *texts_.emplace(text).first; }
  machine& machine_of(const record::result& of);
  const record::device& device_of(const record::result& of, const machine& on);
  void add_ratios(const record::result& of, row& to);
  void add_course(const record::course& course, row& to);

  // All these containers keep the addresses of what they hold.
  std::unordered_set<std::string> texts_;
  std::map<std::string, machine> machines_;       // by all that identifies a machine
  std::map<std::string, std::size_t> namesakes_;  // how many machines have the same host name and processor
  std::map<std::tuple<const machine*, std::string, std::string>, record::device> devices_;  // by name and hardware
  std::deque<record::experiment> experiments_;
  std::deque<record::ranks> ranks_;
  std::deque<record::course> courses_;
  std::map<const machine*, record::course*> longest_;  // a machine's longest course; only this one keeps its pictures
  std::deque<row> rows_;
};

enum class role { serial, tilewise, peer, limit };

struct series {
  std::string variant, device;
  std::string detail;  // threads or tuning, if one variant was run with several
  std::string label;   // "cuda:lookback", "cpu @cpu:openmp"
  role kind = role::tilewise;
  std::vector<const row*> rows;  // by n

  const row* at(std::uint64_t n) const;
  /// Multiply-adds do the same work at every size: only their rate means anything, not their time.
  bool does_fixed_work() const { return !rows.empty() && rows.front()->is_arithmetic(); }
  std::vector<const row*> measured() const;  // those with a time, one for each n
  /// Whether the series may be called the fastest. Of our variants, those that keep the order may. Of others, all that
  /// solve the same problem may. Excluded are those that compute with fewer digits, and those with their own order that
  /// reach 1.5 times the multiply-adds or more, since they use another unit.
  bool competes() const;
};

/// One processor: all CPU executors together, or one other device.
struct board {
  std::string name;   // "cpu", "cuda:0"
  std::string title;  // the hardware's own name
  bool is_cpu = false;
  bool is_group = false;
  bool computes_on_cpu = false;             // an OpenCL device or a group may, too
  speed_unit speed_in = speed_unit::bytes;  // the unit of the algorithm's speeds
  std::vector<series> all;

  std::vector<std::uint64_t> sizes() const;
  /// The algorithm's unit; bytes if a record lacks it.
  speed_unit unit() const;
  std::string size_at(std::uint64_t n) const;  // as row::size
  /// The largest size that all series share, or else most of them. Series with only a few sizes are ignored.
  std::uint64_t common_size() const;
  /// The largest size at which a variant of ours has a time; 0 if none has.
  std::uint64_t largest_size() const;
  /// The fastest competing series of a role at `n`. It is named if its time is ranked and no other is surely shorter,
  /// or if it is surely shorter than all others. Otherwise null.
  const series* fastest(role kind, std::uint64_t n) const;
  /// The same, even if its time is in doubt.
  const series* fastest_of_all(role kind, std::uint64_t n) const;
  /// fastest(), or fastest_of_all() if that names none.
  const series* fastest_shown(role kind, std::uint64_t n) const;
};

struct panel {
  std::string algorithm, dtype, mode, machine;
  std::string settings;    // "op=sum kind=inclusive"
  std::string shape;       // for matrices that are not square, which have their own panel; otherwise empty
  std::string data;        // "seeds" for a document's own inputs, "sorted" if asked for; empty: the usual
  std::string asked_data;  // as record::asked_data
  std::string title;       // "scan f32, op=sum kind=inclusive"
  std::vector<board> boards;
  std::size_t results = 0, of_no_document = 0;  // of_no_document leaves out results that documents ask for
  double operations = 0;                        // of its largest problem

  bool is_of_jobs() const { return is_job(mode); }
  bool has_data_of(const panel& other) const { return data == other.data && asked_data == other.asked_data; }
  const char* time_words() const { return is_of_jobs() ? "time of the whole job" : "kernel time"; }
  /// Its boards without groups of ranks on the CPU, unless it has no others: such groups show how a program scales, not
  /// how fast a processor is.
  std::vector<const board*> processors() const;
  const board* cpu() const;
  const series* serial() const;
  std::set<std::uint64_t> sizes() const;
  std::uint64_t largest_size() const;          // of its boards
  std::string size_at(std::uint64_t n) const;  // as row::size
};

struct model {
  row_table rows;
  std::vector<panel> panels;          // for each algorithm, the one with the most results and operations first
  std::vector<std::string> machines;  // by first appearance
  std::vector<std::string> warnings;
};

/// A page larger than these would take too much memory, and nobody would read it. The page says how much it leaves out.
/// Real reports stay below these limits.
struct page_limits {
  static constexpr std::size_t machines = 50, panels = 500;
  static constexpr std::size_t boards = 20;   // of a panel
  static constexpr std::size_t series = 100;  // of a board
  static constexpr std::size_t cells = 2500;  // of a panel's tables: one for each series at each size
  // In bytes:
  static constexpr std::size_t name = 100, text = 500, sentence = 2000;
  static constexpr std::size_t list = 300'000;        // a table or a list
  static constexpr std::size_t section = 1'000'000;   // all that a section shows of machines, documents or fields
  static constexpr std::size_t problems = 4'000'000;  // all panels with their charts
};

/// If a case was measured more than once, the last record counts. Takes linear time, except for sorting the rows.
model make_model(row_table rows);

/// For each algorithm on each machine, in the model's order: its fullest panel of kernels and its fullest panel of
/// whole jobs, without results that documents ask for. A panel of a document's inputs, or of other than the usual data,
/// is taken only if there are no others.
std::vector<const panel*> main_panels(const model& of);

/// The shape, if it needs a panel of its own: in a chart of time against n, only squares and cubes belong together.
std::string shape_apart(const row& r);
/// A problem's settings for a reader: without those that are "none".
std::string shown_settings(const std::string& settings);
/// A problem's settings and the data that was asked for, if any: "order=ascending data=sorted".
std::string with_data(const std::string& settings, const std::string& asked_data);

/// The last part of a variant's id: "cuda:lookback" for "scan/cuda:lookback". Cut if it is longer than any variant's
/// name.
std::string short_name(const std::string& variant);
/// The name with its device, as in the tool's tables: "cpu:packed @cpu:threads", "cpu @cpu:threads".
std::string name_on(const std::string& variant, const std::string& device);

}  // namespace tilewise::report
