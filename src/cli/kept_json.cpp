// SPDX-License-Identifier: Apache-2.0
#include "cli/kept_json.hpp"

#if TILEWISE_WITH_OPENCL
#include "backend/opencl/opencl_cache.hpp"
#endif

#include <nlohmann/json.hpp>

namespace tilewise::cli {

#if TILEWISE_WITH_OPENCL
using backend::opencl::disk_cache;

std::string kept_key(std::initializer_list<std::string_view> words) { return backend::opencl::cache_key(words); }

kept_json find_kept(const std::string& key) {
  const disk_cache cache;
  const auto kept = cache.find(key);
  if (!kept) return {{}, cache.has_entry(key)};
  return {std::string(kept->begin(), kept->end())};
}

void keep(const std::string& key, const nlohmann::json& told) {
  const std::string text = told.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  disk_cache().store(key, {reinterpret_cast<const unsigned char*>(text.data()), text.size()});
}
#else
std::string kept_key(std::initializer_list<std::string_view>) { return {}; }
kept_json find_kept(const std::string&) { return {}; }
void keep(const std::string&, const nlohmann::json&) {}
#endif

}  // namespace tilewise::cli
