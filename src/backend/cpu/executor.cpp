// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/executor.hpp"

#include "backend/cpu/executors.hpp"

#include <array>
#include <stdexcept>

namespace tilewise::backend::cpu {

namespace {

struct maker {
  std::string_view name;
  std::unique_ptr<executor> (*make)(unsigned threads);
  std::string (*why_none)() = nullptr;  // where it can be missing
};

constexpr std::array makers {
  maker{"serial", make_serial_executor}, maker{"threads", make_threads_executor},
#if TILEWISE_WITH_OPENMP
      maker{"openmp", make_openmp_executor},
#endif
#if TILEWISE_WITH_TBB
      maker{"tbb", make_tbb_executor, why_no_tbb_executor},
#endif
};

constexpr auto names = [] {
  std::array<std::string_view, makers.size()> all;
  for (std::size_t i = 0; i < makers.size(); ++i) all[i] = makers[i].name;
  return all;
}();

const maker& maker_of(std::string_view name) {
  for (const maker& m : makers)
    if (m.name == name) return m;
  throw std::logic_error("unknown executor");  // make_device has checked the name
}

}  // namespace

std::span<const std::string_view> executor_names() { return names; }

std::string why_no_executor(std::string_view name) {
  const maker& m = maker_of(name);
  return m.why_none == nullptr ? "" : m.why_none();
}

std::unique_ptr<executor> make_executor(std::string_view name, unsigned threads) {
  return maker_of(name).make(threads);
}

}  // namespace tilewise::backend::cpu
