// SPDX-License-Identifier: Apache-2.0
// The peers of all backends, and what they share.
#pragma once

#include "base/variable.hpp"
#include "order/operators.hpp"
#include "registry/algorithm.hpp"
#include "registry/variant.hpp"

#include <functional>
#include <vector>

namespace tilewise::peers {

std::vector<registry::variant> std_variants();
std::vector<registry::variant> tbb_variants();
std::vector<registry::variant> openblas_variants();
std::vector<registry::variant> flint_variants();
std::vector<registry::variant> sort_variants();
std::vector<registry::variant> convolve_variants();
std::vector<registry::variant> diffuse_variants();

std::vector<registry::variant> clblast_variants();
std::vector<registry::variant> diffuse_opencl_variants();

std::vector<registry::variant> cub_variants();
std::vector<registry::variant> cublas_variants();
std::vector<registry::variant> cufft_variants();
std::vector<registry::variant> diffuse_cuda_variants();
std::vector<registry::variant> npp_variants();

/// Runs `work` in a TBB arena with the queue's number of threads. The arena is kept between calls, as a program would
/// keep it.
void in_tbb_arena(backend::queue& queue, const std::function<void()>& work);

/// The error of adding n uniform floats in any order is about sqrt(n) * 2^-24 of the largest partial sum: 1e-3 at n =
/// 2^28. Ten times that still detects a lost or doubled block.
inline constexpr double other_order_bound = 1e-2;

/// The error of a chain of K uniform products is about sqrt(K) * 2^-24 of the largest element: 4e-6 at K = 4096. There,
/// one lost product is 4e-3.
inline constexpr double product_bound = 1e-3;

/// Peers are measured for sums, inclusive and without an initial value: the first word of each setting.
inline bool has_first_settings(const registry::problem& p) {
  for (std::size_t i = 0; i < p.what->settings.size(); ++i)
    if (p.setting[i] != 0) return false;
  return true;
}
inline std::string plain_sums_only(const registry::problem& p, const backend::device&, const registry::tuning&) {
  return has_first_settings(p) ? "" : "as a peer it is measured only on plain sums";
}
inline std::string plain_sorts_only(const registry::problem& p, const backend::device&, const registry::tuning&) {
  return has_first_settings(p) ? "" : "as a peer it is measured only on ascending keys without values";
}

/// Why a peer is not what its users have, if one of these variables is in the environment; else empty. A peer that is
/// limited would seem to be beaten.
inline std::string limited_by(std::initializer_list<const char*> variables) {
  for (const char* name : variables)
    if (!base::variable(name).empty())
      return std::string(name) + "=" + base::variable(name) + " limits it; unset that to measure it";
  return "";
}

/// For peers that run on the calling thread.
inline std::string one_thread_only(const backend::device& on) {
  return on.info().name == "cpu:serial" ? "" : "it runs on one thread: cpu:serial";
}

inline registry::variant cpu_peer(std::string_view algorithm, std::string_view name, std::string_view source,
                                  decltype(registry::variant::unsupported) unsupported,
                                  decltype(registry::variant::run) run) {
  return {.algorithm = algorithm,
          .backend = "cpu",
          .name = name,
          .order = registry::claim::own,
          .types = all_dtypes,
          .source = source,
          .unsupported = unsupported,
          .run = run,
          .bound = other_order_bound,
          .peer = true};
}

/// The results may differ from ours only in the signs of zeros among equal keys.
inline registry::variant sorting_peer(std::string_view name, std::string_view source,
                                      decltype(registry::variant::unsupported) unsupported,
                                      decltype(registry::variant::run) run, std::string_view algorithm = "sort") {
  registry::variant peer = cpu_peer(algorithm, name, source, unsupported, run);
  peer.bound = 0;
  return peer;
}

}  // namespace tilewise::peers
