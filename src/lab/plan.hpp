// Which cases a command line asks for. A plan holds no data and opens no device.
#pragma once

#include "lab/generate.hpp"
#include "lab/stop_rule.hpp"
#include "registry/choose.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tilewise::lab {

struct preset {
  std::string_view name;
  std::vector<dtype> types;
  std::vector<op> operations;
  bool all_sizes;  // the algorithms' normal_shapes instead of quick_shapes
  stop_rule rule;
};
/// quick, normal, thorough. Throws `invalid_argument` with the nearest name.
preset find_preset(std::string_view name);

struct request {
  std::vector<std::string> selectors;  // algorithm, variant id or a pattern such as 'scan/cuda:*'; none: all
  std::string variant;                 // only variants of this name
  std::vector<std::shared_ptr<backend::device>> devices;
  std::vector<std::uint64_t> sizes;  // none: the preset's
  std::vector<dtype> types;
  std::vector<op> operations;
  std::string tuning;        // "all", a tuning's text, or empty: the default
  bool public_calls = true;  // rows for the library's own functions, which take their own number of threads
  preset base;
};

/// One line of a group: a variant, or the device's plain copy where `variant` is null.
struct row {
  const registry::variant* variant;
  std::shared_ptr<backend::device> on;
  registry::tuning tuning = {};
  std::string skip = {};  // why it cannot run here; it gets a record all the same

  std::string id() const;  // "scan/cuda:lookback", "copy/cuda"
  /// Where it runs: "cuda:0", "cpu:openmp"; "cpu" for what brings its own threads, or none, whatever `on` is.
  std::string place() const;
  bool is_default_tuning() const;
};

/// Rows that are compared: one problem on one device. All CPU executors are one device here.
struct group {
  registry::problem problem;
  std::string where;  // "cpu", "cuda:0"
  std::vector<row> rows;

  std::string name() const;  // "scan.f32 n=1024 op=sum kind=inclusive init=none @cpu"
};

/// In the order of measuring: all devices of a problem in succession. Throws `invalid_argument` for a selector, variant
/// or tuning that matches nothing.
std::vector<group> make_plan(const request& wanted);

}  // namespace tilewise::lab
