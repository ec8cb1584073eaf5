// SPDX-License-Identifier: Apache-2.0
#include "lab/plan/experiment.hpp"

#include "record/published.hpp"
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
                                      const std::string& place, const std::string& tuning) {
  std::vector<const figure*> beside = figures_at(from, shape);
  std::erase_if(beside, [&](const figure* f) {
    return !record::has_tuning(tuning, f->tuning) ||
           std::none_of(f->counterparts.begin(), f->counterparts.end(),
                        [&](std::string_view pattern) { return fits(pattern, id + " @" + place); });
  });
  return beside;
}

std::vector<figure> published_figures(std::string_view document, std::span<const counterpart> counterparts) {
  std::vector<figure> all;
  for (const record::published_table& t : record::published_tables()) {
    if (t.document != document) continue;
    for (const record::published_row& r : t.rows) {
      const bool is_known = std::any_of(all.begin(), all.end(), [&](const figure& f) {
        return f.shape == t.shape && f.system == r.system && f.machine == r.machine &&
               f.with_transfers == r.with_transfers;
      });
      const auto beside = std::find_if(counterparts.begin(), counterparts.end(),
                                       [&](const counterpart& c) { return c.system == r.system; });
      if (!is_known && beside != counterparts.end())
        all.push_back({t.shape, r.system, beside->rows, t.ns(r), r.with_transfers, r.machine, r.tuning});
    }
  }
  return all;
}

}  // namespace tilewise::lab
