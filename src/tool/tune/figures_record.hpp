// SPDX-License-Identifier: Apache-2.0
// The measured figures of this machine, in the private cache folder. `tilewise tune --transfers` writes them, and
// `auto` reads them before any driver is loaded.
#pragma once

#include "lab/jobs/figures.hpp"

#include <optional>
#include <string>

namespace tilewise::cli {

struct kept_figures {
  std::optional<lab::machine_figures> figures;
  std::string fault;  // why the kept figures cannot be used; empty if there are none
};
/// The figures of the machine whose CPU is described by `cpu`.
kept_figures find_figures(const device_info& cpu);

/// False if there is no private folder to keep them in.
bool keep_figures(const lab::machine_figures& figures, const device_info& cpu);

}  // namespace tilewise::cli
