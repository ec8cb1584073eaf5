// SPDX-License-Identifier: Apache-2.0
// Where and with which build a time was measured, as facts for the record: what is the same in every record of a run.
#pragma once

#include "backend/backend.hpp"
#include "record/record.hpp"

namespace tilewise::lab {

/// This build: version, commit, compiler, flags.
record::tool tool_facts();
/// This machine: system, CPU, caches, memory and its limit, governor, load, variables that steer runtimes.
record::host host_facts();
record::device device_facts(const device_info& info);

/// False for builds whose times mean nothing.
bool is_release_build();

struct session {
  std::vector<std::string> argv;
  record::tool tool;
  record::host host;

  /// Signs a record: made by this run, now, with its own id.
  void sign(record::result& r) const;
};
session describe_session(std::vector<std::string> argv);

}  // namespace tilewise::lab
