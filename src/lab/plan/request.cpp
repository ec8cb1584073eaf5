// SPDX-License-Identifier: Apache-2.0
#include "lab/plan/request.hpp"

#include "base/nearest.hpp"

namespace tilewise::lab {

std::vector<preset> presets() {
  stop_rule quick;
  quick.min_ns = 0.05e9;
  quick.max_ns = 0.25e9;
  stop_rule normal;
  normal.max_ns = 2e9;
  stop_rule documents;  // shorter, since there are hundreds of rows
  documents.min_ns = 0.1e9;
  documents.max_ns = 0.75e9;
  return {{"quick", {dtype::f32}, {op::sum}, false, quick, false, true},
          {"normal", {dtype::f32, dtype::f64, dtype::i32}, {op::sum}, true, normal},
          {"thorough", {all_dtypes.begin(), all_dtypes.end()}, {all_ops.begin(), all_ops.end()}, true, stop_rule{}},
          {"seeds", {}, {}, false, documents, true}};
}

preset find_preset(std::string_view name) {
  std::vector<std::string> names;
  for (const preset& p : presets()) {
    if (p.name == name) return p;
    names.emplace_back(p.name);
  }
  throw error(errc::invalid_argument, "there is no preset '" + std::string(name) + "';" + base::nearest(name, names));
}

}  // namespace tilewise::lab
