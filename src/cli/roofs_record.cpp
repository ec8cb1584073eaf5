// SPDX-License-Identifier: Apache-2.0
#include "cli/roofs_record.hpp"

#if TILEWISE_WITH_OPENCL
#include "backend/opencl/opencl_cache.hpp"
#endif
#include "lab/figures.hpp"
#include "record/record_json.hpp"

#include <tilewise/version.hpp>

namespace tilewise::cli {

#if TILEWISE_WITH_OPENCL
namespace {

using nlohmann::json;

/// A CPU says in its identity how many threads it has.
std::string key_of(const backend::device& of) {
  const std::string identity = lab::identity_of(of.info());
  const std::string_view fields[] = {"roofs", TILEWISE_VERSION, record::schema_name, of.info().name, identity};
  return backend::opencl::cache_key(fields);
}

}  // namespace

std::vector<record::result> find_roofs(const backend::device& of) {
  const auto bytes = backend::opencl::disk_cache().find(key_of(of));
  if (!bytes) return {};
  const json told = json::parse(*bytes, nullptr, false);
  if (!told.is_array()) return {};
  std::vector<record::result> roofs;
  for (const json& one : told) {
    roofs.push_back(record::from_json(one));
    if (!roofs.back().what.is_limit()) return {};
  }
  return roofs;
}

void keep_roofs(const backend::device& of, const std::vector<record::result>& roofs) {
  json told = json::array();
  for (const record::result& r : roofs) told.push_back(record::to_json(r));
  const std::string text = told.dump(-1, ' ', false, json::error_handler_t::replace);
  backend::opencl::disk_cache().store(key_of(of), {reinterpret_cast<const unsigned char*>(text.data()), text.size()});
}
#else
std::vector<record::result> find_roofs(const backend::device&) { return {}; }
void keep_roofs(const backend::device&, const std::vector<record::result>&) {}
#endif

}  // namespace tilewise::cli
