// SPDX-License-Identifier: Apache-2.0
#include "lab/bench/session.hpp"

#include "base/number.hpp"
#include "lab/machine/environment.hpp"

#include <ctime>
#include <random>

namespace tilewise::lab {

namespace {

std::string fresh_id() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i) id += base::hex_digits(random(), 8);
  return id;
}

/// "2026-11-21T01:20:00Z"
std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

void session::sign(record::result& r) const {
  r.id = fresh_id();
  r.time_utc = utc_now();
  r.argv = argv;
  r.tool = tool;
  r.host = host;
}

session describe_session(std::vector<std::string> argv) { return {std::move(argv), tool_facts(), host_facts()}; }

}  // namespace tilewise::lab
