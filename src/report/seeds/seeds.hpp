// SPDX-License-Identifier: Apache-2.0
// The documents' problems, found among the records: chapters (one document on one machine) of studies (one experiment)
// of problems (one size). Their charts are drawn again, and their questions answered, with what was measured here.
#pragma once

#include "report/page_builder.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tilewise::report {

/// One size, all devices.
struct document_problem {
  std::string name;                // "sort.i32 n=50,000"
  const record::experiment* from;  // as in the last row
  std::vector<const row*> rows;

  /// On the document's device, if that was measured.
  const row* baseline() const;
  /// All that the document gives, by any of the rows.
  std::vector<record::published_time> published() const;
  /// What a time here is to be multiplied by to be that of the document's run.
  double times_in_run() const { return from->times_in_run.value_or(1); }
};

/// One algorithm on one kind of inputs.
struct document_study {
  std::string algorithm, title;         // "sort i32, reversed"
  std::vector<document_problem> sizes;  // from the smallest
  std::size_t left_out = 0;             // sizes that the page has no room for

  /// The document counts the transfers of a device.
  bool counts_transfers() const;
};

struct document_chapter {
  std::string document, machine;
  std::vector<document_study> studies;
};

std::vector<document_chapter> document_chapters(const model& m);

/// The time of a row as the document counts it, or nothing.
const interval* counted_time(const row& r, bool with_transfers);
/// Whether that one can be trusted: copies may be in doubt where the kernel between them is not, or the other way
/// round.
bool is_counted_sure(const row& r, bool with_transfers);
/// The faster of two, or whichever there is.
const row* faster(const row* a, const row* b, bool with_transfers);
/// Whether a row may be called the fastest here: it is ours, and no product of operands rounded to fewer digits.
bool may_be_fastest(const row& r);
/// Its time with transfers, marked where that cannot be trusted; "–" without one.
std::string transfers_text(const row& r);
/// Which of the document's programs a row repeats; empty if none.
std::string system_of(const row& r);
/// "opencl:0", and for a CPU's row "cpu:serial".
std::string place_of(const row& r);

/// Time and speedup against size, of the rows that repeat the document's programs; the document's own times beside
/// them, as curves where it has three sizes and as bars where it has fewer.
html study_charts(const document_study& s, page_builder& page);

/// Time against a tuning that was swept, a line for each device and each way of the others.
html sweep_charts(const document_study& s, page_builder& page);

/// "group_size=64 carry=local": its numbers and words by name.
std::vector<std::pair<std::string, std::string>> tuning_parts(const std::string& tuning);

/// Those that can be answered: when a device beats the CPU, what local memory gains, which way of adding is faster, and
/// where the variants of an algorithm wait for each other.
html study_answers(const document_study& s);

}  // namespace tilewise::report
