// SPDX-License-Identifier: Apache-2.0
// Memory for the elements of one array on the host: not filled with zeros first, and in huge pages where the system
// gives them. Its pages come into being on the threads that first write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace tilewise::io {

class host_block {
 public:
  host_block() = default;
  /// Throws std::bad_alloc.
  explicit host_block(std::uint64_t bytes);

  std::uint64_t size() const { return bytes_; }
  std::byte* data() { return memory_.get(); }
  const std::byte* data() const { return memory_.get(); }
  std::byte* begin() { return data(); }
  std::byte* end() { return data() + bytes_; }
  const std::byte* begin() const { return data(); }
  const std::byte* end() const { return data() + bytes_; }

 private:
  struct releaser {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, releaser> memory_;
  std::uint64_t bytes_ = 0;
};

}  // namespace tilewise::io
