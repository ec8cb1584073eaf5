// SPDX-License-Identifier: Apache-2.0
// Reads, writes and room at places of an open file, or of a stream, in as many calls as the system needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tilewise::io {

/// How many bytes were read from the byte `at` on. Fewer than asked for where the file ends, with errno 0, or where
/// reading failed, with errno set.
std::uint64_t read_at(int file, std::uint64_t at, std::span<std::byte> into);

/// How many bytes were written from the byte `at` on; fewer than asked for with errno set.
std::uint64_t write_at(int file, std::uint64_t at, std::span<const std::byte> bytes);

/// The same of what has no places, as a pipe. One whose calls return where they would have to wait is waited for too.
std::uint64_t read_stream(int stream, std::span<std::byte> into);
std::uint64_t write_stream(int stream, std::span<const std::byte> bytes);

/// Makes the file this long, on disk where the file system can promise that. False with errno set.
bool reserve(int file, std::uint64_t bytes);

/// Whether the file lies in memory.
bool is_in_memory(int file);

}  // namespace tilewise::io
