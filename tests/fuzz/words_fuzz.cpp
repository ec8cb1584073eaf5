// SPDX-License-Identifier: Apache-2.0
// Any text as a tuning, a setting, a number, a device's name and each variable that is parsed: it is either accepted,
// and the same after it is written and read again, or an error.
#include "backend/backend.hpp"
#include "backend/memory_limit.hpp"
#include "base/number.hpp"
#include "fuzz.hpp"
#include "registry/catalog.hpp"

#include <cmath>

using namespace tilewise;

namespace {

void read_tuning(std::string_view text) {
  const auto axes = registry::find_variant("scan/cpu:blocks").tuning;
  fuzz::is_read({errc::invalid_argument}, [&] {
    const registry::tuning t = registry::parse_tuning(text, axes);
    for (const std::string& written : {registry::to_string(t, axes), registry::changes_of(t, axes)})
      fuzz::require(registry::parse_tuning(written, axes) == t, "a tuning is read as it was written", written);
  });
}

void read_setting(std::string_view text) {
  const std::size_t middle = text.find('=');
  if (middle == text.npos) return;
  fuzz::is_read({errc::invalid_argument}, [&] {
    registry::problem p{.what = &registry::find_algorithm("scan"), .shape = {1}};
    registry::choose_setting(p, text.substr(0, middle), text.substr(middle + 1));
    const auto named = registry::named_settings(p);
    fuzz::require(std::find(named.begin(), named.end(), std::pair{text.substr(0, middle), text.substr(middle + 1)}) !=
                          named.end() ||
                      text == "order=ascending",
                  "a setting is what it was set to", text);
  });
}

void read_number(std::string_view text) {
  for (const dtype type : all_dtypes)
    fuzz::is_read({errc::invalid_argument}, [&] {
      const base::scalar_value value = base::parse_number(text, type);
      const std::string written = base::to_string(value);
      const bool is_nan = written.find("nan") != written.npos;
      fuzz::require(is_nan || base::parse_number(written, type) == value, "a number is read as it was written",
                    written);
    });
}

void read_memory(const std::string& text) {
  constexpr std::uint64_t all = ~std::uint64_t{0};
  setenv("TILEWISE_DEVICE_MEMORY", text.c_str(), 1);
  fuzz::is_read({errc::invalid_argument}, [&] {
    const std::string written = std::to_string(backend::limited_memory(all));
    setenv("TILEWISE_DEVICE_MEMORY", written.c_str(), 1);
    fuzz::require(std::to_string(backend::limited_memory(all)) == written, "a limit is read as it was written",
                  written);
  });
}

void read_device(const std::string& text) {
  const auto codes = {errc::invalid_argument, errc::device_lost, errc::unsupported};
  setenv("TILEWISE_DEVICE", text.c_str(), 1);
  const bool by_variable = fuzz::is_read(codes, [] { backend::find_device("auto", {}); });
  setenv("TILEWISE_DEVICE", "auto", 1);
  const bool by_name = fuzz::is_read(codes, [&] {
    const auto device = backend::find_device(text, {});
    fuzz::require(device->info().name == text || text.empty() || text == "auto",
                  "a device has the name it was called by", text);
  });
  fuzz::require(!by_variable || by_name, "what a variable names, a call may name", text);
}

}  // namespace

TILEWISE_FUZZ_TARGET {
  const std::string word(text.substr(0, text.find('\0')));  // the system's variables end at a null byte
  read_tuning(word);
  read_setting(word);
  read_number(word);
  read_memory(word);
  read_device(word);
}
