// What is the same in every record of a run.
#pragma once

#include "record/record.hpp"

namespace tilewise::lab {

struct session {
  std::vector<std::string> argv;
  record::tool tool;
  record::host host;

  /// Signs a record: of this run, at this moment, with an id of its own.
  void sign(record::result& r) const;
};
session describe_session(std::vector<std::string> argv);

}  // namespace tilewise::lab
