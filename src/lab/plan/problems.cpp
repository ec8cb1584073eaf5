// SPDX-License-Identifier: Apache-2.0
#include "lab/plan/problems.hpp"

#include "base/nearest.hpp"
#include "lab/verify/verify.hpp"

#include <algorithm>
#include <set>

namespace tilewise::lab {

namespace {

using registry::algorithm;
using registry::extents;
using registry::problem;

/// The numbers of dimensions that the algorithm accepts, for plain shapes and for those with leading strides.
std::set<unsigned> ranks_of(const algorithm& what) {
  std::set<unsigned> ranks;
  for (const auto& shapes : {what.quick_shapes, what.edge_shapes})
    for (const extents& shape : shapes) ranks.insert(shape.rank);
  return ranks;
}

/// N, NxN or NxNxN. Other sizes of a shape, such as those of a mask, come from the first quick shape.
extents cube(const algorithm& what, std::uint64_t n) {
  extents shape = what.quick_shapes.front();
  for (unsigned i = shape.rank; i-- > 0;)
    if (shape[i] == shape[0]) shape.size[i] = n;
  return shape;
}

/// The largest quick shape at which the definition is timed, so that there is a baseline to compare with.
extents largest_with_definition(const algorithm& what) {
  const auto found = std::find_if(what.quick_shapes.rbegin(), what.quick_shapes.rend(), [&](const extents& shape) {
    return is_definition_timed({.what = &what, .type = what.types.front(), .shape = shape});
  });
  return found == what.quick_shapes.rend() ? what.quick_shapes.back() : *found;
}

std::vector<extents> shapes_of(const algorithm& what, const request& wanted) {
  std::vector<extents> shapes;
  for (const std::uint64_t n : wanted.sizes) shapes.push_back(cube(what, n));
  for (const extents& shape : wanted.shapes)
    if (ranks_of(what).contains(shape.rank)) shapes.push_back(shape);
  if (!wanted.sizes.empty() || !wanted.shapes.empty()) return shapes;
  if (wanted.is_first_look()) return {what.quick_shapes.front(), largest_with_definition(what)};
  const auto preset_shapes = wanted.base.all_sizes ? what.normal_shapes : what.quick_shapes;
  return {preset_shapes.begin(), preset_shapes.end()};
}

std::vector<std::string_view> words_of(std::string_view setting, const request& wanted) {
  std::vector<std::string_view> words;
  for (const auto& [name, word] : wanted.settings)
    if (name == setting) words.push_back(word);
  if (setting == "op" && words.empty())
    for (const op operation : wanted.base.operations) words.push_back(name_of(operation));
  return words;
}

/// All combinations of the words asked for. A setting that is not mentioned has its first word.
std::vector<problem> with_settings(const problem& plain, const request& wanted) {
  std::vector<problem> all{plain};
  for (const registry::setting& setting : plain.what->settings) {
    std::vector<problem> wider;
    for (const problem& p : all)
      for (const std::string_view word : words_of(setting.name, wanted))
        registry::choose_setting(wider.emplace_back(p), setting.name, word);
    if (!wider.empty()) all = std::move(wider);
  }
  for (problem& p : all) give_numbers(p, 1);
  return all;
}

std::string unanswerable(const problem& p) {
  if (std::string why = p.what->invalid(p); !why.empty()) return why;
  for (const auto& operands : {p.what->inputs(p), p.what->outputs(p)})
    for (const registry::operand& o : operands)
      if (o.count > most_elements) return "no machine holds its " + std::to_string(o.count) + " elements";
  return "";
}

std::string listed(const std::set<unsigned>& ranks) {
  std::string text;
  for (const unsigned rank : ranks) text += (text.empty() ? "" : " or ") + std::to_string(rank);
  return text;
}

/// The types asked for, or else the preset's. A first look uses only the algorithm's first type.
std::vector<dtype> types_of(const algorithm& what, const request& wanted) {
  if (!wanted.types.empty()) return wanted.types;
  if (wanted.is_first_look()) return {what.types.front()};
  std::vector<dtype> types = wanted.base.types;
  if (std::find(types.begin(), types.end(), what.types.front()) == types.end())
    types.insert(types.begin(), what.types.front());
  return types;
}

bool asks_for(const extents& shape, const request& wanted) {
  if (wanted.sizes.empty() && wanted.shapes.empty()) return true;
  return std::find(wanted.sizes.begin(), wanted.sizes.end(), shape[0]) != wanted.sizes.end() ||
         std::find(wanted.shapes.begin(), wanted.shapes.end(), shape) != wanted.shapes.end();
}

/// "sort at 10 32 50000, matmul at 256x256x256"
std::string measured_sizes(std::span<const experiment> documents) {
  std::vector<std::pair<std::string_view, std::vector<std::string>>> known;
  for (const experiment& e : documents) {
    auto at = std::find_if(known.begin(), known.end(), [&](const auto& entry) { return entry.first == e.algorithm; });
    if (at == known.end()) at = known.insert(known.end(), {e.algorithm, {}});
    for (const measured_size& size : e.sizes) {
      const std::string text = registry::to_string(size.shape);
      if (std::find(at->second.begin(), at->second.end(), text) == at->second.end()) at->second.push_back(text);
    }
  }
  std::string text;
  for (const auto& [name, sizes] : known) {
    text += (text.empty() ? "" : ", ") + std::string(name) + " at";
    for (const std::string& size : sizes) text += " " + size;
  }
  return text;
}

}  // namespace

bool is_definition_timed(const problem& p) {
  constexpr double operations_of_a_second = 536870912.0;  // of the slowest definition
  return p.what->operations(p) <= operations_of_a_second;
}

asked_problems problems_of(const algorithm& what, const request& wanted) {
  asked_problems asked;
  for (const extents& shape : shapes_of(what, wanted))
    for (const dtype type : types_of(what, wanted)) {
      if (std::find(what.types.begin(), what.types.end(), type) == what.types.end()) continue;
      for (const problem& p : with_settings({.what = &what, .type = type, .shape = shape}, wanted))
        if (const std::string why = unanswerable(p); why.empty())
          asked.all.push_back(p);
        else if (asked.refused.empty())
          asked.refused = registry::to_string(p) + ": " + why;
    }
  return asked;
}

std::vector<asked_experiment> experiments_of(std::span<const algorithm* const> selected, const request& wanted) {
  if (!wanted.types.empty() || !wanted.settings.empty())
    throw error(errc::invalid_argument,
                "the documents' experiments have types and settings of their own; leave --dtype, --op and --set out");
  std::vector<asked_experiment> asked;
  for (const experiment& e : wanted.documents)
    if (std::any_of(selected.begin(), selected.end(), [&](const algorithm* a) { return a->name == e.algorithm; }))
      for (const measured_size& size : e.sizes)
        if (asks_for(size.shape, wanted)) asked.push_back({e.problem(size), &e});
  if (asked.empty())
    throw error(errc::invalid_argument, "no document measures that; they measure " + measured_sizes(wanted.documents));
  return asked;
}

void refuse_foreign(std::span<const algorithm* const> selected, const request& wanted) {
  for (const extents& shape : wanted.shapes) {
    if (std::any_of(selected.begin(), selected.end(),
                    [&](const algorithm* a) { return ranks_of(*a).contains(shape.rank); }))
      continue;
    std::string takes;
    for (const algorithm* a : selected)
      takes += (takes.empty() ? "; " : ", ") + std::string(a->name) + " takes " + listed(ranks_of(*a));
    throw error(errc::invalid_argument, "--shape " + registry::to_string(shape) + " has " + std::to_string(shape.rank) +
                                            (shape.rank == 1 ? " size" : " sizes") + takes);
  }
  std::vector<std::string> names;
  for (const algorithm* a : selected)
    for (const registry::setting& s : a->settings) names.emplace_back(s.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const auto& [name, word] : wanted.settings)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw error(errc::invalid_argument, "nothing that is selected has a setting '" + name + "'" +
                                              (names.empty() ? "" : ";" + base::nearest(name, names)));
}

}  // namespace tilewise::lab
