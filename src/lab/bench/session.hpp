// SPDX-License-Identifier: Apache-2.0
// What is the same in every record of a run.
#pragma once

#include "record/record.hpp"

namespace tilewise::lab {

struct session {
  std::vector<std::string> argv;
  record::tool tool;
  record::host host;

  /// Signs a record: made by this run, now, with its own id.
  void sign(record::result& r) const;
};
session describe_session(std::vector<std::string> argv);

}  // namespace tilewise::lab
