// SPDX-License-Identifier: Apache-2.0
#include "lab/roofline/limit.hpp"

#include "backend/roofs.hpp"

#include <algorithm>

namespace tilewise::lab {

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
