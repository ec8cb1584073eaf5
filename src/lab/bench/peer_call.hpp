// SPDX-License-Identifier: Apache-2.0
// Notes which peer is running, for the watchdog that ends the tool if a call does not return: a peer is other people's
// code.
#pragma once

#include "lab/bench/group.hpp"

#include <atomic>

namespace tilewise::lab {

struct peer_call {
  const registry::variant* of;  // nullptr between calls
  std::uint64_t number;         // a new one for each call
};

namespace detail {
inline std::atomic<const registry::variant*> called_peer{nullptr};
inline std::atomic<std::uint64_t> peer_call_number{0};
}  // namespace detail

inline peer_call current_peer_call() noexcept { return {detail::called_peer, detail::peer_call_number}; }

/// Enqueues the row's work. Only one thread of the laboratory may call it.
inline void run_variant(const row& r, const registry::problem& p, const registry::bindings& where) {
  const struct mark {
    ~mark() { detail::called_peer = nullptr; }
  } until_it_ends;
  if (r.variant->peer) ++detail::peer_call_number, detail::called_peer = r.variant;
  r.variant->run(p, where, r.tuning, r.on->queue());
}

}  // namespace tilewise::lab
