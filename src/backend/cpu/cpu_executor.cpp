#include "backend/cpu/cpu_executor.hpp"

#include "backend/cpu/executors.hpp"

#include <array>
#include <stdexcept>

namespace tilewise::backend::cpu {

namespace {

struct maker {
  std::string_view name;
  std::unique_ptr<executor> (*make)(unsigned threads);
};

constexpr std::array makers {
  maker{"serial", make_serial_executor}, maker{"threads", make_threads_executor},
#if TILEWISE_WITH_OPENMP
      maker{"openmp", make_openmp_executor},
#endif
#if TILEWISE_WITH_TBB
      maker{"tbb", make_tbb_executor},
#endif
};

constexpr auto names = [] {
  std::array<std::string_view, makers.size()> all;
  for (std::size_t i = 0; i < makers.size(); ++i) all[i] = makers[i].name;
  return all;
}();

}  // namespace

std::span<const std::string_view> executor_names() { return names; }

std::unique_ptr<executor> make_executor(std::string_view name, unsigned threads) {
  for (const maker& m : makers)
    if (m.name == name) return m.make(threads);
  throw std::logic_error("unknown executor");  // make_device has checked the name
}

}  // namespace tilewise::backend::cpu
