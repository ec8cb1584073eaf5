// SPDX-License-Identifier: Apache-2.0
// Made-up records for tests of the report. No machine measured them.
#pragma once

#include "record/record.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tilewise::report {

/// Two algorithms on a CPU, an OpenCL and a CUDA device, in ten sizes, with peers, copies, interleaved ratios and a
/// field. There is one case each that is wrong, implausible, skipped, timed out and interrupted.
std::vector<nlohmann::json> made_up_records();
/// The records without the documents that asked for them.
std::vector<nlohmann::json> of_no_document(std::vector<nlohmann::json> records);

/// Some of them as whole jobs from file to file, with phases: two sizes of scan on f32.
std::vector<nlohmann::json> made_up_jobs();

/// made_up_records with every text replaced by `hostile`, except for the words that the schema fixes.
std::vector<nlohmann::json> hostile_records(const std::string& hostile);

/// The records as read from a file. A model keeps pointers into them.
record::results typed(const std::vector<nlohmann::json>& records);

}  // namespace tilewise::report
