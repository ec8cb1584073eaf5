// SPDX-License-Identifier: Apache-2.0
#include "lab/plan/experiment.hpp"

#include "registry/catalog.hpp"

#include <algorithm>

#include <fnmatch.h>

namespace tilewise::lab {

const measured_size* experiment::at(const registry::extents& shape) const {
  const auto found = std::find_if(sizes.begin(), sizes.end(), [&](const measured_size& s) { return s.shape == shape; });
  return found == sizes.end() ? nullptr : &*found;
}

registry::problem experiment::problem(const measured_size& size) const {
  return {.what = &registry::find_algorithm(algorithm), .type = type, .shape = size.shape, .number = size.number};
}

std::span<const experiment> experiments() {
  static const std::vector<experiment> all = [] {
    std::vector<experiment> list;
    for (const auto& document : {seeds::polynomials, seeds::prefix_sum, seeds::lecture, seeds::blocks_and_merge})
      for (experiment& e : document()) list.push_back(std::move(e));
    return list;
  }();
  return all;
}

namespace {

bool fits(std::string_view pattern, const std::string& row) {
  return fnmatch(std::string(pattern).c_str(), row.c_str(), 0) == 0;
}

}  // namespace

const method* method_of(const experiment& from, const std::string& id, const std::string& place) {
  const auto found = std::find_if(from.methods.begin(), from.methods.end(),
                                  [&](const method& m) { return fits(m.row, id + " @" + place); });
  return found == from.methods.end() ? nullptr : &*found;
}

std::vector<const figure*> figures_at(const experiment& from, const registry::extents& shape) {
  std::vector<const figure*> all;
  for (const figure& f : from.figures)
    if (f.shape == shape) all.push_back(&f);
  return all;
}

std::vector<const figure*> figures_of(const experiment& from, const registry::extents& shape, const std::string& id,
                                      const std::string& place) {
  std::vector<const figure*> beside = figures_at(from, shape);
  std::erase_if(beside, [&](const figure* f) {
    return std::none_of(f->counterparts.begin(), f->counterparts.end(),
                        [&](std::string_view pattern) { return fits(pattern, id + " @" + place); });
  });
  return beside;
}

}  // namespace tilewise::lab
