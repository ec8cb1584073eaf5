// SPDX-License-Identifier: Apache-2.0
// The documents' charts, drawn again with what was measured here, and their questions, answered with it.
#pragma once

#include "report/page_builder.hpp"
#include "report/seeds/rows.hpp"

namespace tilewise::report {

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
