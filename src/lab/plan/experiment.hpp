// SPDX-License-Identifier: Apache-2.0
// The documents that Tilewise started from, its seeds: what each measured, and the figures that it published. Each
// document is one file in seeds/ and one line in experiment.cpp; one with its own application, like HiPerC, is a file
// there and a line in the tool's documents.cpp. The figures are the document's and were never measured here.
#pragma once

#include "record/record.hpp"
#include "registry/choose.hpp"
#include "registry/operands.hpp"

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::lab {

/// One time as a document gives it.
struct figure {
  registry::extents shape;
  std::string_view system;  // as the document calls it: "naive GPU, local memory"
  /// Our rows that it is shown beside, as patterns of `id @place`: "polymul/*:local @*".
  std::array<std::string_view, 2> counterparts;
  double ns;
  bool with_transfers;  // from host to host; else the computation alone
  std::string_view machine;
};

/// A program of a document, and our row that repeats it.
struct method {
  std::string_view system;        // as the document calls it
  std::string_view row;           // a pattern of `id @place`
  std::string_view differs = "";  // what our row does otherwise
};

/// One size that a document measured, and how its result begins: "2 7 16", or empty where the document shows none.
struct measured_size {
  registry::extents shape;
  std::string_view first_outputs;
  decltype(registry::problem::number) number = {};  // as the algorithm's `numbers` name them
  /// The run that the times are a part of, from its start until `goes_on` says no; null if there is none.
  void (*course)(const registry::choice& how, backend::queue& queue, const std::function<bool()>& goes_on,
                 record::course& course) = nullptr;
  double times_in_run = 0;  // how often the document's whole run has this work; 0: it is the whole
};

struct experiment {
  std::string_view algorithm;
  std::string_view document;  // author, title, year
  std::string_view baseline;  // the variant that speedups are relative to
  std::string_view baseline_device = "cpu:serial";
  dtype type;
  std::vector<measured_size> sizes;
  /// The inputs that the document gives; null if it gives none: then those that `bench` uses everywhere else.
  registry::host_operands (*inputs)(const registry::problem&) = nullptr;
  std::string_view data = "seeds";  // what records call these inputs
  std::vector<figure> figures = {};
  std::vector<method> methods = {};  // of several that fit a row, the first is meant
  std::string_view only = "*";       // the variants that are measured, a pattern of ids
  std::string_view sweep = "";       // those of them that are measured with every tuning
  /// The numbers of processes that the document ran, and what each computes on: measured too, unless devices are named.
  std::vector<unsigned> ranks = {};
  std::string_view rank_device = "cpu:serial";

  const measured_size* at(const registry::extents& shape) const;
  /// Each setting has its first value: a plain sum, no modulus.
  registry::problem problem(const measured_size& size) const;
};

/// Those of the documents in seeds/, document by document.
std::span<const experiment> experiments();

/// `count` elements of a type, element i from `value(i)`.
template <class T, class Value>
std::vector<std::byte> operand_of(std::uint64_t count, Value value) {
  std::vector<std::byte> bytes(count * sizeof(T));
  for (std::uint64_t i = 0; i < count; ++i) {
    const T element = static_cast<T>(value(i));
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return bytes;
}

/// The program that one of our rows repeats, or null.
const method* method_of(const experiment& from, const std::string& id, const std::string& place);
/// All figures of a size.
std::vector<const figure*> figures_at(const experiment& from, const registry::extents& shape);
/// The figures of a size that one of our rows is shown beside.
std::vector<const figure*> figures_of(const experiment& from, const registry::extents& shape, const std::string& id,
                                      const std::string& place);

/// A function for each document; `experiments` has them all.
namespace seeds {
std::vector<experiment> polynomials();
std::vector<experiment> prefix_sum();
std::vector<experiment> lecture();
std::vector<experiment> blocks_and_merge();
}  // namespace seeds

}  // namespace tilewise::lab
