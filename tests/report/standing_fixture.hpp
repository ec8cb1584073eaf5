// SPDX-License-Identifier: Apache-2.0
// How our fastest variant stands against a peer in made-up records, and what the first screen says of it.
#pragma once

#include "page.hpp"
#include "report/standing/standing.hpp"

#include <deque>

namespace tilewise::report {

/// The standing on cuda:0, where lookback is our fastest and cub is the peer.
inline standing on_gpu(const std::vector<nlohmann::json>& records) {
  static std::deque<model> kept;  // standings point into it
  const model& m = kept.emplace_back(make_model(typed(records)));
  return standing_of(m.panels.front().boards.back());
}

inline std::string verdict_of(const std::vector<nlohmann::json>& records) {
  const std::string body = body_of(page_of(records));
  const std::size_t begin = body.find("<ul class=\"verdict\">");
  return body.substr(begin, body.find("</ul>", begin) - begin);
}

}  // namespace tilewise::report
