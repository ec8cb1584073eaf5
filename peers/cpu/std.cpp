// SPDX-License-Identifier: Apache-2.0
// The C++ standard library on one thread, as the compiler ships it.
#include "peers/variants.hpp"

#include <numeric>

namespace tilewise::peers {

namespace {

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  const std::string elsewhere = one_thread_only(on);
  return elsewhere.empty() ? plain_sums_only(p, on, t) : elsewhere;
}

void run_reduce(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue&) {
  order::with_wrapping_type(p.type, [&]<class T>(T zero) {
    const T* x = where.in[0].as<const T>();
    *where.out[0].as<T>() = std::reduce(x, x + p.n(), zero);
  });
}

void run_scan(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue&) {
  order::with_wrapping_type(p.type, [&]<class T>(T) {
    const T* x = where.in[0].as<const T>();
    std::inclusive_scan(x, x + p.n(), where.out[0].as<T>());
  });
}

}  // namespace

std::vector<registry::variant> std_variants() {
  return {cpu_peer("reduce", "std", "std::reduce", unsupported, run_reduce),
          cpu_peer("scan", "std", "std::inclusive_scan", unsupported, run_scan)};
}

}  // namespace tilewise::peers
