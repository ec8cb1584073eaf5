// Which cases a command line asks for. A plan holds no data and opens no device.
#pragma once

#include "lab/ceiling.hpp"
#include "lab/experiment.hpp"
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
  bool of_documents = false;  // the documents' experiments, with their own types, settings and sizes
};
/// quick, normal, thorough, seeds. Throws `invalid_argument` with the nearest name.
preset find_preset(std::string_view name);

struct request {
  std::vector<std::string> selectors;  // algorithm, variant or pattern such as 'scan/cuda:*'; none: all
  std::string variant;                 // only variants of this name
  std::vector<std::shared_ptr<backend::device>> devices;
  std::vector<std::uint64_t> sizes;  // of arrays; N means NxN or NxNxN where matrices are multiplied
  std::vector<registry::extents>
      shapes;  // further ones, each for the algorithms of its rank; none at all: the preset's
  std::vector<dtype> types;
  /// Names and words such as order, descending; several words of one name are measured each.
  std::vector<std::pair<std::string, std::string>> settings;
  std::string tuning;        // "all", a tuning's text, or empty: the default
  bool public_calls = true;  // rows for the library's own functions, which take their own number of threads
  preset base;
  std::span<const experiment> documents = experiments();  // of the preset seeds
};

/// One line of a group: a variant, or what the device can do at most where `variant` is null.
struct row {
  const registry::variant* variant;
  std::shared_ptr<backend::device> on;
  registry::tuning tuning = {};
  std::string skip = {};  // why it cannot run here; it gets a record all the same
  ceiling limit = ceiling::copy;

  std::string id() const;  // "scan/cuda:lookback", "copy/cuda", "fma/cuda"
  /// Where it runs: "cuda:0", "cpu:openmp"; "cpu" for what brings its own threads, or none, whatever `on` is.
  std::string place() const;
  bool is_default_tuning() const;
};

/// Rows that are compared: one problem on one device. All CPU executors are one device here.
struct group {
  registry::problem problem;
  std::string where;  // "cpu", "cuda:0"
  std::vector<row> rows;
  const experiment* from = nullptr;  // the document's that asks for it

  std::string data() const;  // "seeds" for a document's own inputs, "uniform"
  std::string name() const;  // "scan.f32 n=1024 op=sum kind=inclusive init=none @cpu"
};

/// In the order of measuring: all devices of a problem in succession. Throws `invalid_argument` for a selector, variant
/// tuning, shape or setting that matches nothing, and if no problem asked for has an answer.
std::vector<group> make_plan(const request& wanted);

/// Selected variants of the plan's algorithms that have no row in it, each with the reason: "polymul/cuda:tiles", "no
/// cuda device was found or asked for".
std::vector<std::pair<std::string, std::string>> left_out(std::span<const group> plan, const request& wanted);

}  // namespace tilewise::lab
