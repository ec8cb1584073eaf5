// SPDX-License-Identifier: Apache-2.0
// Reads, writes and reserves bytes of an open file or stream, with as many system calls as needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tilewise::io {

/// Reads from byte `at` on. Returns the bytes read: fewer than asked for at the end of the file, with errno 0, or after
/// a failure, with errno set.
std::uint64_t read_at(int file, std::uint64_t at, std::span<std::byte> into);

/// Writes from byte `at` on. Returns the bytes written: fewer than asked for after a failure, with errno set.
std::uint64_t write_at(int file, std::uint64_t at, std::span<const std::byte> bytes);

/// The same for streams without positions, such as pipes. They also wait for non-blocking streams.
std::uint64_t read_stream(int stream, std::span<std::byte> into);
std::uint64_t write_stream(int stream, std::span<const std::byte> bytes);

/// Makes the file this long and reserves the space on disk, if the file system can. Returns false with errno set on
/// failure.
bool reserve(int file, std::uint64_t bytes);

/// Whether the file is in a file system in memory, such as tmpfs.
bool is_in_memory(int file);

}  // namespace tilewise::io
