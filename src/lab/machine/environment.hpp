// SPDX-License-Identifier: Apache-2.0
// Where and with which build a time was measured, as facts for the record.
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

}  // namespace tilewise::lab
