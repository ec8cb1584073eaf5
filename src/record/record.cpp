// SPDX-License-Identifier: Apache-2.0
#include "record/record.hpp"

#include "registry/catalog.hpp"

namespace tilewise::record {

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

}  // namespace tilewise::record
