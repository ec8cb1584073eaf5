// SPDX-License-Identifier: Apache-2.0
// What a command line asks to be measured.
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
  bool of_documents = false;   // the documents' experiments, with their own types, settings and sizes
  bool is_first_look = false;  // few rows unless something is selected: what each device would choose, and a ladder
};
/// quick, normal, thorough, seeds.
std::vector<preset> presets();
/// Throws `invalid_argument` with the nearest name.
preset find_preset(std::string_view name);

struct request {
  std::vector<std::string> selectors;  // algorithm, variant or pattern such as 'scan/cuda:*'; none: all
  std::string variant;                 // only variants of this name
  std::vector<std::shared_ptr<backend::device>> devices;
  bool names_devices = false;        // they were asked for by name; else they are all there are
  std::vector<std::uint64_t> sizes;  // of arrays; N means NxN or NxNxN for products of matrices
  std::vector<registry::extents>
      shapes;  // more of them, each for the algorithms of its rank; if there are none at all: the preset's
  std::vector<dtype> types;
  /// Names and words, such as order, descending; each of several words of one name is measured.
  std::vector<std::pair<std::string, std::string>> settings;
  std::optional<data_class> data;  // instead of each problem's own
  std::string tuning;              // "all", a tuning's text, or empty: what calls start with; of documents the default
  bool public_calls = true;        // rows for the library's own functions, which choose their own number of threads
  preset base;
  mode what = mode::hot;
  std::span<const experiment> documents = experiments();  // of the preset seeds

  /// A request that names variants or tunings wants to see them all.
  bool is_first_look() const { return base.is_first_look && selectors.empty() && variant.empty() && tuning.empty(); }
};

}  // namespace tilewise::lab
