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

struct roofline;

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
  /// Whether the document's speedups are over our baseline. One that publishes times of other programs only has no such
  /// speedups.
  bool has_own_speedups() const;
};

struct document_chapter {
  std::string document, machine;
  std::vector<document_study> studies;
};

std::vector<document_chapter> document_chapters(const model& m);

/// A row of a document's table.
struct quoted_time {
  std::string program, time, speedup;  // as the document has them; no speedup: empty
  double ns;                           // of the whole run
  record::published_time as;           // what the records call it
  std::string tuning;                  // the one that it was measured with; empty if the document names none
};

struct quoted_table {
  std::string caption, note;  // the note is the document's own
  std::vector<quoted_time> rows;
};

/// The document's tables of a problem.
std::vector<quoted_table> quoted_tables(const document_problem& p);
/// Whether a time that the record quotes belongs beside the row: the document may have measured it with one tuning.
bool stands_beside(const row& r, const record::published_time& time);
/// A published time's speedup over the document's own baseline on the same machine.
std::optional<double> published_speedup(const document_problem& p, const record::published_time& of);
/// The document's names for a study's sizes; the rows', unless it has one for each.
std::vector<std::string> size_names(const document_study& s);

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
bool is_same(const record::published_time& a, const record::published_time& b);
/// The median of the row's kernel, or of its round trip; none if that has no time.
std::optional<double> median_of(const row* r, bool with_transfers);
// Cells of tables. A time or a quotient that cannot be trusted is marked; one that is missing is a dash.
html over(std::optional<double> theirs, std::optional<double> ours, bool is_sure);
html speedup_cell(const row* baseline, const row* r, bool with_transfers);
html marked_median(const row* r, bool with_transfers, double times);
/// The row of the same method without local memory, on the same device; null if there is none.
const row* global_beside(const row& local, const document_problem& p);
/// That row, if this one was skipped.
const row* fallback_of(const row& r, const document_problem& p);
/// The document's program that a row repeats; empty if none.
std::string system_of(const row& r);
/// Whether it repeats a program of the document, and not one of ours that the methods set beside it.
bool is_of_the_document(const row& r);
/// "opencl:0"; for a CPU row "cpu:serial"; for other people's code on the CPU, which brings its own threads, "cpu".
std::string place_of(const row& r);
/// The name of the row that speedups are over.
std::string name_with_place(const row& r);

/// For a document whose programs make long runs, of which a part was measured: the document's tables, whether all
/// programs have the same bits, and which of them is the fastest.
html programs_of_runs(const document_study& s);
/// For such a document: runtime against simulated time, from the logs of its programs' runs.
html runtime_figures(const document_study& s, page_builder& page);

/// Time and speedup against size, for the rows that repeat the document's programs. The document's own times are shown
/// beside them: as curves if it has three sizes or more, else as bars.
html study_charts(const document_study& s, page_builder& page);

/// Time against a tuning that was swept, with one line for each device and each combination of the other tunings. The
/// studies are of one experiment, on one machine or on several, whose devices are then in one chart.
html sweep_charts(const std::vector<const document_study*>& of_machines, page_builder& page);

/// The numbers and words of a tuning such as "group_size=64 carry=local", by name.
std::vector<std::pair<std::string, std::string>> tuning_parts(const std::string& tuning);

/// The examples that the lecture works out by hand, computed.
html lecture_worked();

/// The polynomial document's tables of architectures and of memories, with this machine's figures; empty for others.
html architecture_tables(const document_study& s, const std::vector<roofline>& all);

/// Where the parts of a call wait for each other, for each program of the document and for ours.
html what_waits_where(const document_study& s);

/// Answers to the document's questions, if the records allow it: when a device beats the CPU, what local memory gains,
/// which way of adding is faster, and where the variants of an algorithm wait for each other.
html study_answers(const document_study& s);

}  // namespace tilewise::report
