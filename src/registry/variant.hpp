// SPDX-License-Identifier: Apache-2.0
// A variant: one way to compute an algorithm on one backend.
#pragma once

#include "registry/algorithm.hpp"
#include "registry/tuning.hpp"

namespace tilewise::registry {

/// What a variant promises about its bits.
enum class claim : std::uint8_t {
  tilewise,  // the order: compared with memcmp
  own,       // another order: compared within `bound`
};

struct variant {
  std::string_view algorithm;  // "scan"
  std::string_view backend;    // "serial", "cpu", "opencl", "cuda", "openacc", "group": the name of its file or folder
  std::string_view name;       // "lookback"; empty if the backend has only one variant
  claim order = claim::tilewise;
  std::span<const dtype> types;
  std::string_view source;  // the paper or book that describes the method
  std::span<const tuning_axis> tuning = {};

  /// Why this device cannot run this problem at this tuning; empty if it can. Looks at no data.
  std::string (*unsupported)(const problem&, const backend::device&, const registry::tuning&) =
      [](const problem&, const backend::device&, const registry::tuning&) { return std::string(); };
  /// Why choose() should prefer a later variant, such as "naive is faster up to 200 coefficients". Empty if this one
  /// should run. Must be empty if no later variant can compute the problem.
  std::string (*yields)(const problem&, const backend::device&) = [](const problem&, const backend::device&) {
    return std::string();
  };
  /// Enqueues the work. Does not check its arguments. Outputs may be the inputs if the algorithm allows it.
  void (*run)(const problem&, const bindings&, const registry::tuning&, backend::queue&);

  /// claim::own: largest error allowed, relative to the largest magnitude of the reference or of its terms.
  double bound = 0;
  bool peer = false;  // another library's code, only measured for comparison; never chosen

  /// "scan/cuda:lookback", "scan/serial". Commands, tests, records and the report all use it.
  std::string id() const;
  /// "cuda:lookback", "serial": the id without the algorithm, as tables print it.
  std::string label() const;
  /// Whether `wanted` is its id, its label or its name. Variants of other backends may have the same name.
  bool is_called(std::string_view wanted) const;
  /// The backend of the devices it runs on: "cpu" for "serial".
  std::string_view device_backend() const { return backend == "serial" ? std::string_view("cpu") : backend; }
};

}  // namespace tilewise::registry
