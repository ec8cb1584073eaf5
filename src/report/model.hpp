// What the records say, sorted for a reader: panels (one problem, all sizes) of boards (one processor) of series (one
// variant on one device). Everything that is ranked, drawn or tabulated comes from here.
#pragma once

#include "record/record.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::report {

struct interval {
  double median = 0;
  std::optional<double> low, high;  // 95 % of the median; none below six samples
};

struct ratio {
  std::string_view to, device;  // the other variant's id, and its device
  interval value;               // time of the other / our time
};

using registry::speed_unit;

/// One record as it is ranked, drawn and tabulated.
struct row {
  const record::result* result = nullptr;
  std::string group, algorithm, variant, backend, device, dtype, settings, tuning, mode, data, machine;
  record::status status = record::status::ok;
  std::string reason, digest, reference_digest, source;
  std::string shape;    // "4096x4096x512"; a single size as its digits
  std::uint64_t n = 0;  // the first size
  std::uint64_t threads = 0, seed = 0;
  bool is_cpu = false, peer = false, own_order = false, plausible = true;
  bool verified = false;
  std::optional<interval> kernel, h2d, d2h, round_trip;
  std::optional<double> bytes_per_s, elements_per_s, operations_per_s, fraction, min_effect;
  std::optional<record::ceiling> bound_by;
  std::optional<std::uint64_t> changed;  // outputs that differed between two runs on the same input

  std::vector<ratio> ratios() const;
  bool is_limit() const { return result->what.is_limit(); }
  bool is_fma() const { return algorithm == name_of(record::ceiling::fma); }
  bool is_serial() const { return backend == "serial"; }
  bool is_ok() const { return status == record::status::ok; }
  bool wrong() const { return status == record::status::wrong || (is_ok() && !verified && !is_limit()); }
  bool timed() const { return is_ok() && !wrong() && kernel.has_value(); }
  bool ranked() const { return timed() && plausible; }
  std::optional<double> throughput(speed_unit unit) const {
    return unit == speed_unit::bytes ? bytes_per_s : unit == speed_unit::elements ? elements_per_s : operations_per_s;
  }
  std::string size() const;  // "1,024" or "512x512x512"
  std::string at() const;    // "n = 1,024" with no-break spaces, or "512x512x512"
};

enum class role { serial, tilewise, peer, limit };

struct series {
  std::string variant, device;
  std::string detail;  // threads or tuning, if one variant was run with several
  std::string label;   // "cuda:lookback", "cpu:openmp"
  role kind = role::tilewise;
  std::vector<const row*> rows;  // by n

  const row* at(std::uint64_t n) const;
  /// The multiply-adds are the same work at every size: their rate is a limit, their time means nothing.
  bool does_fixed_work() const { return !rows.empty() && rows.front()->is_fma(); }
  std::vector<const row*> measured() const;  // those with a time, one for each n
};

/// One processor: all CPU executors together, each other device by itself.
struct board {
  std::string name;   // "cpu", "cuda:0"
  std::string title;  // the hardware's own name
  bool is_cpu = false;
  speed_unit speed_in = speed_unit::bytes;  // what the algorithm's speed is given in
  std::vector<series> all;

  std::vector<std::uint64_t> sizes() const;
  /// The algorithm's unit, in which its limit is measured too; elements if a record lacks it.
  speed_unit unit() const;
  std::string size_at(std::uint64_t n) const;  // as row::size
  /// The largest size that all series, or else most of them, share. Those with only a few sizes have no say.
  std::uint64_t common_size() const;
  /// The fastest ranked series of a role at `n`, or null.
  const series* fastest(role kind, std::uint64_t n) const;
};

struct panel {
  std::string algorithm, dtype, settings, mode, machine;
  std::string shape;  // of matrices that are not square, which have their own panel; else empty
  std::string data;   // "seeds": a document's own inputs, with another digest; else empty
  std::string title;  // "scan f32, op=sum kind=inclusive"
  std::vector<board> boards;
  std::size_t results = 0;

  const board* cpu() const;
  const series* serial() const;
  std::set<std::uint64_t> sizes() const;
  std::string size_at(std::uint64_t n) const;  // as row::size
};

struct model {
  std::vector<row> rows;
  std::vector<panel> panels;          // for each algorithm, the one with the most results first
  std::vector<std::string> machines;  // by first appearance
  std::vector<std::string> warnings;
};

/// Beyond these a page would take more memory than it is worth, and nobody would read it: the model says how many
/// results it leaves out.
struct page_limits {
  static constexpr std::size_t machines = 50, panels = 500;
  static constexpr std::size_t boards = 20;   // of a panel
  static constexpr std::size_t series = 100;  // of a board
  /// Of a panel's tables, most of which are empty where each variant has sizes of its own: one or the other, whichever
  /// is more.
  static constexpr std::size_t cells = 1000, cells_per_result = 5;
};

/// Keeps pointers into `records`, which must outlive it. If a case was measured more than once, the last one counts.
/// Takes time in proportion to the records, but for sorting them.
model make_model(const record::results& records);

/// The fullest panel of each algorithm on each machine, in the model's order; a document's inputs only if there are no
/// others.
std::vector<const panel*> main_panels(const model& of);

row make_row(const record::result& of);

/// The last part of a variant's id: "cuda:lookback" of "scan/cuda:lookback".
std::string short_name(const std::string& variant);

}  // namespace tilewise::report
