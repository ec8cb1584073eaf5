// SPDX-License-Identifier: Apache-2.0
// The tables of times that the documents published, in their own words and digits. The laboratory quotes them in the
// records, and the report prints them row by row, also beside records that were made before a table was here.
#pragma once

#include "record/record.hpp"

#include <span>
#include <string_view>

namespace tilewise::record {

/// The documents of which something is quoted here, as records call them.
inline constexpr std::string_view polynomials_document = "A. Hus, GPU polynomial multiplication with OpenCL, 2025";
inline constexpr std::string_view prefix_sum_document = "Y. Fayzieva, Laboratory 2: prefix sum";
inline constexpr std::string_view blocks_document = "A. Malinovsky, Laboratory 4: algorithms for GPGPU, 2025";
inline constexpr std::string_view diffusion_document = "HiPerC, analysis of the diffusion benchmark problem";

struct published_row {
  std::string_view program;  // in the document's words
  std::string_view time;     // in the document's digits
  std::string_view speedup;  // in the document's digits; empty if it gives none
  // What the records call it. These three identify a time of a problem.
  std::string_view system, machine;
  bool with_transfers = false;   // from host to host; otherwise the computation alone
  std::string_view tuning = "";  // the tuning it was measured with, if the document names one: "group_size=64"
};

struct published_table {
  std::string_view document, title;
  registry::extents shape;  // of the problem, as records have it
  std::string_view size;    // the document's name for that problem
  std::string_view unit;    // "ms" or "s"
  std::span<const published_row> rows;
  std::string_view note = "";  // what the document says below the table

  /// A row's time, of the whole run.
  double ns(const published_row& of) const;
};

/// All tables, in the order of each document.
std::span<const published_table> published_tables();

/// The row that has this time of a problem; null if no table does.
const published_row* find_published(std::string_view document, std::string_view shape, const published_time& time);

/// The time in the document's digits, with its unit: "1085.05 ms"; empty if no table has it.
std::string published_digits(std::string_view document, std::string_view shape, const published_time& time);

/// Whether the time belongs beside a row with this tuning: the document may have measured it with one.
bool stands_beside(std::string_view document, std::string_view shape, std::string_view tuning,
                   const published_time& time);

/// The largest error that a document allows in an algorithm's results, in its words; empty if it says nothing of it.
std::string_view allowed_error(std::string_view document, std::string_view algorithm);

/// Whether a tuning such as "group_size=64 carry=local" has this part; any has the empty one.
bool has_tuning(std::string_view tuning, std::string_view part);

}  // namespace tilewise::record
