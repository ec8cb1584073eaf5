// SPDX-License-Identifier: Apache-2.0
// How our code stands on a processor: the fastest variant against the best peer, and why where nothing can be said.
#pragma once

#include "report/model.hpp"

namespace tilewise::report {

enum class position : std::uint8_t { ahead, on_a_par, behind, unclear, no_peer, in_doubt, not_measured };

struct standing {
  report::position position = report::position::not_measured;
  const row* ours = nullptr;           // our fastest that can be trusted; in_doubt: our fastest, which cannot
  const row* peer = nullptr;           // the fastest of other people's, whether it can be trusted or not
  std::optional<interval> speed = {};  // the peer's time / ours
  const row* rounding = nullptr;       // a peer that is ahead, and rounds its operands: it competes with nobody
  std::string why;                     // of unclear and in_doubt, and where the peer was measured at another size
};

/// At the largest size that one of ours was measured at on this processor; against peers at the largest size that they
/// were measured at, if they were not at that one.
standing standing_of(const board& b);
/// At the largest size that can be trusted, of a sixteenth of the largest or more; else not_measured.
standing largest_trusted(const board& b);
/// The largest size with times of ours and of a peer; 0 if there is none.
std::uint64_t largest_with_peer(const board& b);
/// At `n`.
standing standing_at(const board& b, std::uint64_t n);
/// Of our time, which is ranked, against this peer's.
standing standing_against(const row& ours, const row& peer);

/// Whether that can be trusted: as both times can, or by a narrow interval of its own, which rounds of both have.
bool is_sure(const interval& speed, const row& ours, const row& peer);
/// "1.22", marked where it cannot. It has a speed.
std::string speed_text(const standing& s);

/// "0.57 × cuda:cublas_tf32": how our speed is to that of the peer that rounds its operands.
std::string rounding_words(const standing& s);

/// No position is told by colour alone: "A", "ahead".
const char* letter_of(position p);
const char* words_of(position p);
/// A position's name in page.css.
const char* style_of(position p);

/// The peer's time over ours, of rounds in which both ran if there are any; else of the medians of separate rounds,
/// with the widest interval that both allow.
std::optional<interval> speed_against(const row& ours, const row& peer);

}  // namespace tilewise::report
