// SPDX-License-Identifier: Apache-2.0
// The documents that Tilewise started from, its seeds: what each of them measured, and the figures that it published.
// Each document is one file in seeds/ and one line in experiment.cpp. A document with its own application, like HiPerC,
// is one file there and one line in the tool's documents.cpp. The figures are the document's own; they were not
// measured here.
#pragma once

#include "call/operands.hpp"
#include "record/record.hpp"
#include "registry/choose.hpp"

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::lab {

/// One time that a document published (record/published.hpp has its tables).
struct figure {
  registry::extents shape;
  std::string_view system;  // in the document's words: "naive GPU, local memory"
  /// The rows of ours to show it beside, as patterns of `id @place`: "polymul/*:local @*".
  std::array<std::string_view, 2> counterparts;
  double ns;
  bool with_transfers;  // from host to host; otherwise the computation alone
  std::string_view machine;
  std::string_view tuning = "";  // the only tuning to show it beside: "group_size=64"; empty: any
};

/// The rows of ours to show beside a document's program.
struct counterpart {
  std::string_view system;
  std::array<std::string_view, 2> rows;
};

/// A program of a document, and the row of ours that repeats it.
struct method {
  std::string_view system;        // in the document's words
  std::string_view row;           // a pattern of `id @place`
  std::string_view differs = "";  // how our row differs from it
};

/// One size that a document measured, and the first values of its result: "2 7 16", or empty if the document shows
/// none.
struct measured_size {
  registry::extents shape;
  std::string_view first_outputs;
  decltype(registry::problem::number) number = {};  // in the order of the algorithm's `numbers`
  /// The whole run that the measured work is a part of. It runs until `goes_on` returns false. Null if there is none.
  void (*course)(const registry::choice& how, backend::queue& queue, const std::function<bool()>& goes_on,
                 record::course& course) = nullptr;
  double times_in_run = 0;             // how often the document's whole run does this work; 0: it does it once
  bool is_course_of_programs = false;  // each of the document's programs takes the course; otherwise the fastest row
};

/// By what a document compares results: "coefficient sum". `of` computes it from the expected outputs.
struct own_check {
  std::string_view name;
  std::string (*of)(const registry::problem&, const call::host_operands& expected) = nullptr;
};

struct experiment {
  std::string_view algorithm;
  std::string_view document;  // author, title, year
  std::string_view baseline;  // the variant that speedups are relative to
  std::string_view baseline_device = "cpu:serial";
  dtype type;
  std::vector<measured_size> sizes;
  /// Makes the inputs that the document gives. Null if it gives none; then `bench` uses its usual inputs.
  call::host_operands (*inputs)(const registry::problem&) = nullptr;
  std::string_view data = "seeds";  // what records call these inputs
  std::vector<figure> figures = {};
  std::vector<method> methods = {};  // if several match a row, the first one counts
  std::string_view only = "*";       // a pattern of ids: the variants to measure
  std::string_view sweep = "";       // those of them to measure with every tuning
  /// The process counts that the document ran, and the device of each process. They are measured too, unless the caller
  /// names devices.
  std::vector<unsigned> ranks = {};
  std::string_view rank_device = "cpu:serial";
  own_check check = {};

  const measured_size* at(const registry::extents& shape) const;
  /// The problem at this size. Each setting has its first value: a plain sum, no modulus.
  registry::problem problem(const measured_size& size) const;
};

/// All documents in seeds/, in order.
std::span<const experiment> experiments();

/// `count` elements of a type; element i is `value(i)`.
template <class T, class Value>
std::vector<std::byte> operand_of(std::uint64_t count, Value value) {
  std::vector<std::byte> bytes(count * sizeof(T));
  for (std::uint64_t i = 0; i < count; ++i) {
    const T element = static_cast<T>(value(i));
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return bytes;
}

/// The document's program that this row of ours repeats, or null.
const method* method_of(const experiment& from, const std::string& id, const std::string& place);
/// All figures of a size.
std::vector<const figure*> figures_at(const experiment& from, const registry::extents& shape);
/// The figures of a size to show beside this row of ours.
std::vector<const figure*> figures_of(const experiment& from, const registry::extents& shape, const std::string& id,
                                      const std::string& place, const std::string& tuning = "");
/// The times of a document's tables, each once.
std::vector<figure> published_figures(std::string_view document, std::span<const counterpart> counterparts);

/// One function for each document; `experiments` calls all of them.
namespace seeds {
std::vector<experiment> polynomials();
std::vector<experiment> prefix_sum();
std::vector<experiment> lecture();
std::vector<experiment> blocks_and_merge();
}  // namespace seeds

}  // namespace tilewise::lab
