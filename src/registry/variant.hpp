// SPDX-License-Identifier: Apache-2.0
// A variant: one way to compute an algorithm on one backend.
#pragma once

#include "registry/algorithm.hpp"
#include "registry/tuning.hpp"

namespace tilewise::registry {

/// What a variant promises about its bits.
enum class claim : std::uint8_t {
  tilewise,  // the order: compared with memcmp
  own,       // another association: compared within `bound`
};

struct variant {
  std::string_view algorithm;  // "scan"
  std::string_view backend;    // "serial", "cpu", "opencl", "cuda", "openacc", "group": its file or folder
  std::string_view name;       // "lookback"; empty where the backend has one way only
  claim order = claim::tilewise;
  std::span<const dtype> types;
  std::string_view source;  // the paper or book of the method
  std::span<const tuning_axis> tuning = {};

  /// Why this device cannot run this problem at this tuning; empty if it can. Looks at no data.
  std::string (*unsupported)(const problem&, const backend::device&, const registry::tuning&) =
      [](const problem&, const backend::device&, const registry::tuning&) { return std::string(); };
  /// Why `auto` looks further, such as "naive is faster up to 200 coefficients"; empty where this one is the choice, as
  /// it must be where no later one can compute the problem.
  std::string (*yields)(const problem&, const backend::device&) = [](const problem&, const backend::device&) {
    return std::string();
  };
  /// Enqueues the work. Trusts its arguments. Outputs may be the inputs where the algorithm allows it.
  void (*run)(const problem&, const bindings&, const registry::tuning&, backend::queue&);

  /// claim::own: largest error allowed, relative to the largest magnitude of the reference or of its terms.
  double bound = 0;
  bool peer = false;  // other people's code, there to be measured against; never chosen

  /// "scan/cuda:lookback", "scan/serial". Used in commands, tests, records and the report alike.
  std::string id() const;
  /// "cuda:lookback", "serial": the id within its algorithm, as tables print it.
  std::string label() const;
  /// Whether it is the one that is meant: by its name, which variants of other backends may share, its label or its id.
  bool is_called(std::string_view wanted) const;
  /// The device backend it runs on: "serial" runs on "cpu".
  std::string_view device_backend() const { return backend == "serial" ? std::string_view("cpu") : backend; }
};

}  // namespace tilewise::registry
