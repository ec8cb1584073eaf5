// SPDX-License-Identifier: Apache-2.0
// Compares our fastest variant on a processor with the best peer, and says why if no verdict is possible.
#pragma once

#include "report/model.hpp"

namespace tilewise::report {

enum class position : std::uint8_t { ahead, on_a_par, behind, unclear, no_peer, in_doubt, not_measured };

struct standing {
  report::position position = report::position::not_measured;
  const row* ours = nullptr;           // our fastest whose time is sure, else our fastest
  const row* peer = nullptr;           // the peer that is fastest beside ours, whatever its time
  std::optional<interval> speed = {};  // the peer's time / ours
  /// Whether the speed can be trusted: because both times can, or because rounds with both gave it an interval that is
  /// narrow or says who is faster.
  bool has_sure_speed = false;
  std::optional<double> at_least = {};  // the speed is at least this, all that can be said of it
  const row* rounding = nullptr;        // a faster peer that rounds its operands, so it does not compete
  std::string why;                      // there is no clear verdict, ours is not the shortest, or what is in doubt
};

/// At the largest size at which ours was measured on this processor. If peers were not measured there, compares at the
/// largest size at which they were.
standing standing_of(const board& b);
/// At the largest size whose times can be trusted, down to a sixteenth of the largest; otherwise not_measured.
standing largest_trusted(const board& b);
/// The largest size with a time of ours and a time of a peer; 0 if there is none.
std::uint64_t largest_with_peer(const board& b);
/// At size `n`.
standing standing_at(const board& b, std::uint64_t n);
/// Compares our time with this peer's.
standing standing_against(const row& ours, const row& peer);

/// "1.22", marked if it cannot be trusted, or "≥ 9.00". It must have a speed.
std::string speed_text(const standing& s);

/// "0.57 × cuda:cublas_tf32": our speed relative to the peer that rounds its operands.
std::string rounding_words(const standing& s);

/// A position in words, so that it is not shown by colour alone: "ahead".
const char* words_of(position p);
/// The position's class in page.css.
const char* style_of(position p);

/// The peer's time over ours. It is taken from rounds in which both ran, if there are any. Otherwise it is the ratio of
/// medians of separate rounds, with the widest interval that both allow.
std::optional<interval> speed_against(const row& ours, const row& peer);

}  // namespace tilewise::report
