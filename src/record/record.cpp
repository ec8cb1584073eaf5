// SPDX-License-Identifier: Apache-2.0
#include "record/record.hpp"

#include "registry/catalog.hpp"

#include <algorithm>

namespace tilewise::record {

maybe_number interval::spread() const {
  if (!low || !high) return std::nullopt;
  return std::max(*high - median, median - *low) / median;
}

interval interval_of(const clock& taken) { return {*taken.median_ns, taken.ci95_lo_ns, taken.ci95_hi_ns}; }

text shape_text(const measured_case& c) {
  text sizes;
  for (const count size : c.shape) sizes += (sizes.empty() ? "" : "x") + std::to_string(size);
  return sizes.empty() ? std::to_string(c.n) : sizes;
}

std::vector<std::pair<text, text>> ordered_settings(const measured_case& c) {
  std::vector<std::pair<text, text>> ordered;
  std::map<text, text> left = c.settings;
  for (const registry::algorithm* known : registry::algorithms())
    for (const registry::setting& s : known->settings)
      if (known->name == c.algorithm)
        if (auto found = left.extract(text(s.name))) ordered.emplace_back(found.key(), found.mapped());
  ordered.insert(ordered.end(), left.begin(), left.end());
  return ordered;
}

std::string_view asked_data(const result& r) {
  const text& data = r.what.data;
  const bool is_of_document = r.experiment.has_value() || data == "seeds";
  const bool is_of_roof = r.what.is_limit() && data == "constant";
  if (data.empty() || is_of_document || is_of_roof || data == usual_data(r.what.settings)) return {};
  return data;
}

}  // namespace tilewise::record
