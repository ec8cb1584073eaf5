// SPDX-License-Identifier: Apache-2.0
// The documents' questions, answered with what was measured here.
#pragma once

#include "report/page_builder.hpp"
#include "report/seeds/rows.hpp"

namespace tilewise::report {

/// Those that can be answered: when a device beats the CPU, what local memory gains, which way of adding is faster, and
/// where the variants of an algorithm wait for each other.
html study_answers(const document_study& s);

}  // namespace tilewise::report
