// SPDX-License-Identifier: Apache-2.0
// The documents' problems among the records: chapters (one document on one machine) contain studies (one experiment),
// and these contain problems (one size). The documents' charts are drawn again and their questions answered from what
// was measured here.
#pragma once

#include "report/page_builder.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tilewise::report {

/// One size, all devices.
struct document_problem {
  std::string name;                // "sort.i32 n=50,000"
  const record::experiment* from;  // from the last row
  std::vector<const row*> rows;

  /// The row on the document's baseline device, if it was measured.
  const row* baseline() const;
  /// All times that the document gives, collected from all rows.
  std::vector<record::published_time> published() const;
  /// The factor from a time measured here to that of the document's whole run.
  double times_in_run() const { return from->times_in_run.value_or(1); }
};

/// One algorithm on one kind of inputs.
struct document_study {
  std::string algorithm, title;         // "sort i32, reversed"
  std::vector<document_problem> sizes;  // from the smallest
  std::size_t left_out = 0;             // sizes that do not fit on the page

  /// Whether the document counts the transfers of a device.
  bool counts_transfers() const;
};

struct document_chapter {
  std::string document, machine;
  std::vector<document_study> studies;
};

std::vector<document_chapter> document_chapters(const model& m);

/// The row's time as the document counts it, or null.
const interval* counted_time(const row& r, bool with_transfers);
/// Whether counted_time can be trusted: the time with transfers may be in doubt although the kernel's is not, or the
/// other way round.
bool is_counted_sure(const row& r, bool with_transfers);
/// The faster row. If only one is given or timed, that one.
const row* faster(const row* a, const row* b, bool with_transfers);
/// Whether a row may be called the fastest here: it is ours, and not a product with operands rounded to fewer digits.
bool may_be_fastest(const row& r);
/// Its time with transfers, marked if it cannot be trusted; "–" if there is none.
std::string transfers_text(const row& r);
/// The document's program that a row repeats; empty if none.
std::string system_of(const row& r);
/// "opencl:0"; for a CPU row "cpu:serial".
std::string place_of(const row& r);

/// Time and speedup against size, for the rows that repeat the document's programs. The document's own times are shown
/// beside them: as curves if it has three sizes or more, else as bars.
html study_charts(const document_study& s, page_builder& page);

/// Time against a tuning that was swept, with one line for each device and each combination of the other tunings.
html sweep_charts(const document_study& s, page_builder& page);

/// The numbers and words of a tuning such as "group_size=64 carry=local", by name.
std::vector<std::pair<std::string, std::string>> tuning_parts(const std::string& tuning);

/// Answers to the document's questions, if the records allow it: when a device beats the CPU, what local memory gains,
/// which way of adding is faster, and where the variants of an algorithm wait for each other.
html study_answers(const document_study& s);

}  // namespace tilewise::report
