#include "lab/limit.hpp"

#include <algorithm>

namespace tilewise::lab {

namespace {

using registry::variant;

void copy(const registry::problem&, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  queue.copy(where.out[0], where.in[0], where.in[0].bytes);
}

void multiply_add(const registry::problem& p, const registry::bindings&, const registry::tuning&,
                  backend::queue& queue) {
  queue.multiply_add(p.type);
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
      list.push_back(limit(ceiling::fma, backend, multiply_add));
    }
    return list;
  }();
  return all;
}

}  // namespace

const variant& limit_of(const registry::algorithm& what, std::string_view backend) {
  return *std::find_if(limits().begin(), limits().end(), [&](const variant& v) {
    return v.algorithm == name_of(ceiling_of(what.speed_in)) && v.backend == backend;
  });
}

const variant& limit_of_job(bool of_files) {
  static const variant link = limit(ceiling::copy, "link", nullptr),
                       files = limit(ceiling::copy, files_backend, nullptr);
  return of_files ? files : link;
}

bool is_limit(const variant& v) { return record::word_of<ceiling>(v.algorithm).has_value(); }

}  // namespace tilewise::lab
