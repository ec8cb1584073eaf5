// SPDX-License-Identifier: Apache-2.0
#include "tool/roofline/roofs_record.hpp"

#include "backend/backend.hpp"
#include "base/disk_cache.hpp"
#include "record/json.hpp"
#include "tool/kept_json.hpp"

#include <tilewise/version.hpp>

namespace tilewise::cli {

namespace {

using nlohmann::json;

/// A CPU says in its identity how many threads it has. The method's number changes when other roofs are measured.
std::string key_of(const backend::device& of) {
  return base::cache_key(
      {"roofs", "3", TILEWISE_VERSION, record::schema_name, of.info().name, backend::identity_of(of.info())});
}

}  // namespace

std::vector<record::result> find_roofs(const backend::device& of) {
  const kept_json kept = find_kept(key_of(of));
  if (!kept.text) return {};
  const json told = json::parse(*kept.text, nullptr, false);
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
  keep(key_of(of), told);
}

}  // namespace tilewise::cli
