// SPDX-License-Identifier: Apache-2.0
// Two files of made-up records to compare.
#pragma once

#include "page.hpp"
#include "report/compare/comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tilewise::report {

/// A comparison, and the rows that it points to.
struct compared_runs {
  row_table before, after;
  comparison result;

  compared_runs(const std::vector<nlohmann::json>& olds, const std::vector<nlohmann::json>& news)
      : before(typed(olds)), after(typed(news)), result(compare(before, after)) {}

  const compared_case& of(const nlohmann::json& record) const {
    const auto found = std::find_if(result.cases.begin(), result.cases.end(), [&](const compared_case& c) {
      return c.after->group == record["case"]["group"] && c.after->variant == record["case"]["variant"] &&
             c.after->device == record["device"]["name"];
    });
    EXPECT_NE(found, result.cases.end()) << record["case"];
    return *found;
  }
};

/// A correct row of ours; the next function gives a peer's.
inline nlohmann::json& ours(std::vector<nlohmann::json>& records) { return records[1]; }
inline nlohmann::json& a_peer(std::vector<nlohmann::json>& records) {
  return *std::find_if(records.begin(), records.end(),
                       [](const nlohmann::json& r) { return r["case"]["peer"] == true; });
}

}  // namespace tilewise::report
