// SPDX-License-Identifier: Apache-2.0
// Any bytes give either records that are the same after they are written and read again, with a warning for each line
// that is left out, or an io error.
#include "fuzz.hpp"
#include "record/file.hpp"
#include "record/json.hpp"

#include <new>

#include <sanitizer/asan_interface.h>

using namespace tilewise;

namespace {

/// Replaces the reader's buffer for the longest line. AddressSanitizer would map, poison and unmap it for each input,
/// which takes most of the time. Here it is mapped once, and the part that an input used is poisoned afterwards.
class lent_again {
 public:
  bool is_meant(std::size_t bytes) const { return bytes > (1 << 20) && !is_lent_ && (bytes == bytes_ || bytes_ == 0); }
  void* lend(std::size_t bytes) {
    if (bytes_ == 0) memory_ = ::operator new[](bytes_ = bytes, std::nothrow);
    is_lent_ = true;
    __asan_unpoison_memory_region(memory_, reached);
    return memory_;
  }
  bool takes_back(void* memory) {
    if (memory != memory_ || memory == nullptr) return false;
    is_lent_ = false;
    __asan_poison_memory_region(memory_, reached);
    return true;
  }

 private:
  static constexpr std::size_t reached = 1 << 16;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  bool is_lent_ = false;
};

constinit lent_again longest_line;

}  // namespace

void* operator new[](std::size_t bytes) {
  return longest_line.is_meant(bytes) ? longest_line.lend(bytes) : ::operator new[](bytes, std::nothrow);
}
void operator delete[](void* memory) noexcept {
  if (!longest_line.takes_back(memory)) ::operator delete[](memory, std::nothrow);
}
void operator delete[](void* memory, std::size_t) noexcept { operator delete[](memory); }

namespace {

void require_written_alike(const record::result& r) {
  const std::string written = record::to_json(r).dump();
  const std::string again = record::to_json(record::from_json(nlohmann::json::parse(written))).dump();
  fuzz::require(again == written, "a record is read as it was written", again);
}

}  // namespace

TILEWISE_FUZZ_TARGET {
  const fuzz::memory_file file(text);
  std::vector<std::string> warnings;
  fuzz::is_file_read(file.path(), {errc::io},
                     [&] { record::read_records(file.path(), require_written_alike, &warnings); });
  fuzz::require(warnings.size() <= 6, "few warnings are told of one file");
  for (const std::string& warning : warnings)
    fuzz::require(warning.find(file.path()) != warning.npos, "a warning names the file", warning);
}
