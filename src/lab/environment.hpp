// Where and with what a time was measured, as facts for the record.
#pragma once

#include "backend/backend.hpp"

#include <nlohmann/json.hpp>

namespace tilewise::lab {

/// A fact that is not known is null.
nlohmann::json text_or_null(const std::string& text);

/// This build: version, commit, compiler, flags.
nlohmann::json tool_facts();
/// This machine: system, CPU, caches, memory and its limit, governor, load, variables that steer runtimes.
nlohmann::json host_facts();
nlohmann::json device_facts(const device_info& info);

/// False for builds whose times mean nothing.
bool is_release_build();

/// "2026-11-21T01:20:00Z"
std::string utc_now();

}  // namespace tilewise::lab
