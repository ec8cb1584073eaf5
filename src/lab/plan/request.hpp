// SPDX-License-Identifier: Apache-2.0
// What a command line asks to measure.
#pragma once

#include "lab/bench/measuring.hpp"
#include "lab/plan/experiment.hpp"
#include "lab/time/rounds.hpp"
#include "lab/verify/generate.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilewise::lab {

struct preset {
  std::string_view name;
  std::vector<dtype> types;
  std::vector<op> operations;
  bool all_sizes = false;  // the algorithms' normal_shapes instead of quick_shapes
  stop_rule rule;
  bool of_documents = false;   // the documents' experiments, with their types, settings and sizes
  bool is_first_look = false;  // few rows unless something is selected: each device's own choice, and a ladder
};
/// quick, normal, thorough, seeds.
std::vector<preset> presets();
/// Throws `invalid_argument`, with the nearest name, for an unknown one.
preset find_preset(std::string_view name);

struct request {
  std::vector<std::string> selectors;  // algorithm, variant or pattern such as 'scan/cuda:*'; empty: all
  std::string variant;                 // only variants of this name
  std::vector<std::shared_ptr<backend::device>> devices;
  bool names_devices = false;        // the caller named the devices; otherwise they are all that were found
  std::vector<std::uint64_t> sizes;  // of arrays; N means NxN or NxNxN for products of matrices
  std::vector<registry::extents>
      shapes;  // each is used by algorithms of its rank; without sizes and shapes the preset's are used
  std::vector<dtype> types;
  /// Pairs such as (order, descending). If a name has several words, each of them is measured.
  std::vector<std::pair<std::string, std::string>> settings;
  std::optional<data_class> data;  // instead of each problem's usual class
  std::string tuning;              // "all", a tuning's text, or empty: what calls use; the default for documents
  bool public_calls = true;        // also measure the library's own functions, which choose their number of threads
  preset base;
  mode what = mode::hot;
  std::span<const experiment> documents = experiments();  // used by the preset seeds

  /// A request that names variants or tunings is to show all of them.
  bool is_first_look() const { return base.is_first_look && selectors.empty() && variant.empty() && tuning.empty(); }
};

}  // namespace tilewise::lab
