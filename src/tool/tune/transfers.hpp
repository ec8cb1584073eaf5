// SPDX-License-Identifier: Apache-2.0
// `tilewise tune --transfers`: measures this machine once, so that `auto` can compare the CPU with the GPU and its
// transfers.
#pragma once

#include "tool/commands.hpp"

namespace tilewise::cli {

exit_code tune_transfers(const common_options& common);

}  // namespace tilewise::cli
