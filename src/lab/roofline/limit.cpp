// SPDX-License-Identifier: Apache-2.0
#include "lab/roofline/limit.hpp"

#include "backend/roofs.hpp"

#include <algorithm>

namespace tilewise::lab {

using registry::speed_unit;
using registry::total_bytes;

std::optional<ceiling> arithmetic_of(const registry::algorithm& what) {
  if (what.speed_in == speed_unit::elements) return std::nullopt;
  return what.fuses ? ceiling::fma : ceiling::muladd;
}

std::vector<ceiling> ceilings_of(const registry::problem& p) {
  constexpr double least_operations_per_byte = 1;
  const std::optional<ceiling> arithmetic = arithmetic_of(*p.what);
  if (p.what->speed_in == speed_unit::operations) return {*arithmetic};
  const bool may_compute = p.what->operations(p) > least_operations_per_byte * p.what->compulsory_bytes(p);
  if (!arithmetic || !may_compute) return {ceiling::copy};
  return {ceiling::copy, *arithmetic};
}

double copied_bytes(const registry::problem& p) { return 2.0 * static_cast<double>(p.what->inputs(p).front().bytes()); }

bool is_plausible(const registry::problem& p, const claimed_speed& what) {
  if (record::is_arithmetic(what.bound_by))
    return what.order == registry::claim::own || p.what->has_shorter_methods || what.share_of_ceiling <= 1.05;
  if (copied_bytes(p) <= static_cast<double>(what.cache_bytes)) return true;
  const double in = total_bytes(p.what->inputs(p)), out = total_bytes(p.what->outputs(p));
  const double moved_per_counted = (in + 2 * out) / (in + out);
  return what.share_of_ceiling <= 1.05 * 1.5 / moved_per_counted;
}

namespace {

using registry::variant;

void copy(const registry::problem&, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  queue.copy(where.out[0], where.in[0], where.in[0].bytes);
}

template <ceiling Arithmetic>
void compute(const registry::problem& p, const registry::bindings&, const registry::tuning&, backend::queue& queue) {
  operations_of(Arithmetic, p.type, queue);
}

variant limit(ceiling which, std::string_view backend, decltype(variant::run) run) {
  return {.algorithm = name_of(which), .backend = backend, .name = "", .types = all_dtypes, .source = "", .run = run};
}

const std::vector<variant>& limits() {
  static const std::vector<variant> all = [] {
    std::vector<variant> list;
    std::vector<std::string_view> backends{"group"};
    for (const backend::runtime& r : backend::runtimes()) backends.push_back(r.name);
    for (const std::string_view backend : backends) {
      list.push_back(limit(ceiling::copy, backend, copy));
      list.push_back(limit(ceiling::fma, backend, compute<ceiling::fma>));
      if (backend::roofs_of(backend) != nullptr)
        list.push_back(limit(ceiling::muladd, backend, compute<ceiling::muladd>));
    }
    return list;
  }();
  return all;
}

}  // namespace

std::vector<const variant*> limits_of(const registry::problem& p, std::string_view backend) {
  std::vector<const variant*> found;
  for (const ceiling which : ceilings_of(p))
    for (const variant& v : limits())
      if (v.algorithm == name_of(which) && v.backend == backend) found.push_back(&v);
  return found;
}

const variant& limit_of_job(bool of_files) {
  static const variant link = limit(ceiling::copy, "link", nullptr),
                       files = limit(ceiling::copy, files_backend, nullptr);
  return of_files ? files : link;
}

bool is_limit(const variant& v) { return record::word_of<ceiling>(v.algorithm).has_value(); }

ceiling ceiling_of(const variant& limit) { return *record::word_of<ceiling>(limit.algorithm); }

double operations_of(ceiling arithmetic, dtype type, backend::queue& queue) {
  if (arithmetic == ceiling::fma) return queue.multiply_add(type);
  const backend::roofs* roofs = backend::roofs_of(queue.device().info().backend);
  return roofs == nullptr ? 0 : roofs->multiply_then_add(queue, type);
}

}  // namespace tilewise::lab
