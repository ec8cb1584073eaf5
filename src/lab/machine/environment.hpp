// SPDX-License-Identifier: Apache-2.0
// Facts about the machine and the build for a record. They are the same in every record of a run.
#pragma once

#include "backend/backend.hpp"
#include "record/record.hpp"

namespace tilewise::lab {

/// This build: version, commit, compiler, flags.
record::tool tool_facts();
/// This machine: system, CPU, caches, memory and its limit, governor, load, and variables that configure runtimes.
record::host host_facts();
record::device device_facts(const device_info& info);

/// False for a build without optimization, whose times mean nothing.
bool is_release_build();

struct session {
  std::vector<std::string> argv;
  record::tool tool;
  record::host host;

  /// Adds the run, the current time and a new id to a record.
  void sign(record::result& r) const;
};
session describe_session(std::vector<std::string> argv);

}  // namespace tilewise::lab
