// SPDX-License-Identifier: Apache-2.0
#include "cli/kept_json.hpp"

#if TILEWISE_WITH_OPENCL
#include "backend/opencl/opencl_cache.hpp"
#endif

#include <nlohmann/json.hpp>

namespace tilewise::cli {

#if TILEWISE_WITH_OPENCL
using backend::opencl::disk_cache;

kept_json find_kept(std::span<const std::string_view> key) {
  const disk_cache cache;
  const std::string name = backend::opencl::cache_key(key);
  const auto kept = cache.find(name);
  if (!kept) return {{}, cache.has_entry(name)};
  return {std::string(kept->begin(), kept->end())};
}

void keep(std::span<const std::string_view> key, const nlohmann::json& told) {
  const std::string text = told.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  disk_cache().store(backend::opencl::cache_key(key),
                     {reinterpret_cast<const unsigned char*>(text.data()), text.size()});
}
#else
kept_json find_kept(std::span<const std::string_view>) { return {}; }
void keep(std::span<const std::string_view>, const nlohmann::json&) {}
#endif

}  // namespace tilewise::cli
