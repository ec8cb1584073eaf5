// SPDX-License-Identifier: Apache-2.0
#include "lab/bench/public_call.hpp"

#include <tilewise/reduce.hpp>
#include <tilewise/scan.hpp>

namespace tilewise::lab {

namespace {

/// Only plain calls are measured: any operation (the first setting of both algorithms), and the first word of every
/// other setting.
std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  if (p.n() > largest_public_call) return "measured up to " + std::to_string(largest_public_call) + " elements";
  if (on.info().name != "cpu" && on.info().name != "cpu:threads") return "the public call runs on the CPU";
  for (std::size_t i = 1; i < p.what->settings.size(); ++i)
    if (p.setting[i] != 0) return "measured only inclusive and without an initial value";
  return "";
}

void call_reduce(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
                 backend::queue&) {
  with_type(p.type, [&]<class T>(T) {
    const std::span<const T> x(where.in[0].as<const T>(), p.n());
    *where.out[0].as<T>() = reduce(x, {.op = static_cast<op>(p.setting[0])});
  });
}

void call_scan(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue&) {
  with_type(p.type, [&]<class T>(T) {
    const std::span<const T> x(where.in[0].as<const T>(), p.n());
    inclusive_scan(x, std::span<T>(where.out[0].as<T>(), p.n()), {.op = static_cast<op>(p.setting[0])});
  });
}

registry::variant public_call(std::string_view algorithm, decltype(registry::variant::run) run) {
  return {.algorithm = algorithm,
          .backend = "cpu",
          .name = "call",
          .types = all_dtypes,
          .source = "the public function on a host span",
          .unsupported = unsupported,
          .run = run};
}

}  // namespace

const std::vector<registry::variant>& public_calls() {
  static const std::vector<registry::variant> calls{public_call("reduce", call_reduce), public_call("scan", call_scan)};
  return calls;
}

bool is_public_call(const registry::variant& v) { return v.name == "call"; }

}  // namespace tilewise::lab
