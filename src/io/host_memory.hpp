// SPDX-License-Identifier: Apache-2.0
// How much memory this process may still use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace tilewise::io {

/// Bytes that are free or can be freed by the kernel's estimate, within the limits of the control group and of the
/// process's address space. Linux's files are read below `root`, which tests replace.
std::uint64_t available_host_memory(const std::filesystem::path& root = "/");

/// Throws `out_of_memory`, with the bytes needed and the limit, if less than `bytes` is left. `what` begins the
/// sentence: "x.npy needs 8000 bytes".
void require_host_memory(std::uint64_t bytes, const std::string& what);

}  // namespace tilewise::io
