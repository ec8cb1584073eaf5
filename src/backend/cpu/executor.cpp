// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/executor.hpp"

#include "backend/cpu/thread_limit.hpp"
#include "base/lasting.hpp"
#include "base/module.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace tilewise::backend::cpu {

namespace {

class serial_executor final : public executor {
 public:
  std::string_view name() const override { return "serial"; }
  void share(unsigned workers, const std::function<void(unsigned)>& body) override { run_alone(workers, body); }
};

}  // namespace

std::unique_ptr<executor> make_serial_executor(unsigned) { return std::make_unique<serial_executor>(); }

#if TILEWISE_WITH_TBB
namespace {

/// The module of oneTBB's executor, loaded on first use.
const base::module_function& loaded() {
  static const base::module_function& once = base::lasting([] {
    return base::find_in_module(TILEWISE_TBB_MODULE, "tilewise_tbb_executor", "cpu:tbb needs",
                                "oneTBB, such as Debian's libtbb12");
  });
  return once;
}

}  // namespace

std::string why_no_tbb_executor() { return loaded().why_none; }

std::unique_ptr<executor> make_tbb_executor(unsigned threads) {
  require_threads(std::min(threads, std::thread::hardware_concurrency()));  // oneTBB starts no more
  return std::unique_ptr<executor>(loaded().as<decltype(tilewise_tbb_executor)>()(threads));
}
#endif

namespace {

struct maker {
  std::string_view name;
  std::unique_ptr<executor> (*make)(unsigned threads);
  std::string (*why_none)() = nullptr;  // null if it is always available
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
