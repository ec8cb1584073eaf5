// SPDX-License-Identifier: Apache-2.0
#include "tool/diffuse/parameters.hpp"

#include "base/nearest.hpp"
#include "base/number.hpp"
#include "base/printable.hpp"
#include "diffuse/problem.hpp"
#include "io/host_memory.hpp"
#include "io/png.hpp"
#include "lab/plan/problems.hpp"
#include "registry/catalog.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

namespace tilewise::hiperc {

double parameters::time_step() const {
  const double shorter = std::min(dx, dy);
  return co * shorter * shorter / (4.0 * dc);
}

diffusion parameters::problem(std::uint64_t steps) const {
  const std::uint64_t all = 2 * ghosts();
  if (nx <= all || ny <= all)
    throw error(errc::invalid_argument, "a grid of " + std::to_string(nx) + "x" + std::to_string(ny) +
                                            " points is nothing but ghosts; mask " + std::to_string(mask) + " takes " +
                                            std::to_string(ghosts()) + " on each side, so nx and ny must be at least " +
                                            std::to_string(all + 1));
  return {.rows = ny - all,
          .columns = nx - all,
          .steps = steps,
          .mask = mask,
          .dx = dx,
          .dy = dy,
          .rate = time_step() * dc};
}

registry::problem parameters::problem(std::uint64_t steps, dtype type) const {
  return impl::diffuse::problem_of(problem(steps), type);
}

double parameters::largest_stable_co() const { return largest_stable_rate(problem(1)) / problem(1).rate * co; }

void require_room(const parameters& p, dtype type) {
  const diffusion d = p.problem(0);
  io::require_picture(p.nx - 2, p.ny - 2);  // the original leaves out one ring of points
  const std::uint64_t points = d.rows * d.columns;
  // The field; two more fields and a workspace, which the pool keeps, on a CPU device; a picture; and its file, with
  // room for data that does not compress.
  const std::uint64_t bytes = points * (4 * size_of(type) + 3);
  io::require_host_memory(bytes, "a grid of " + std::to_string(p.nx) + "x" + std::to_string(p.ny) +
                                     " points and its files need " + std::to_string(bytes) + " bytes");
}

void require_stable(const parameters& p) {
  const double limit = p.largest_stable_co();
  const auto text = [](double value) { return base::to_string(base::scalar_value::of(value)); };
  if (p.co > limit)
    throw error(errc::invalid_argument, "co = " + text(p.co) + " is unstable with mask " + std::to_string(p.mask) +
                                            ": the limit is " + text(limit) +
                                            "; take a smaller one, or --allow-unstable");
}

namespace {

using words = std::vector<std::string>;

constexpr std::size_t most_bytes = 4096;  // of a line

/// A key: how many values it has, and the function that takes them, which returns false if they are invalid.
struct key {
  std::size_t values;
  std::string wanted;
  std::function<bool(const words&)> take;
  bool optional = false;
};

template <class T>
bool parse(const std::string& text, T& value) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size();
}

key whole(std::uint64_t& to, std::uint64_t least, bool optional = false) {
  return {1, "a whole number from " + std::to_string(least) + " to " + std::to_string(lab::most_elements),
          [&to, least](const words& w) { return parse(w[0], to) && to >= least && to <= lab::most_elements; },
          optional};
}

key positive(double& to) {
  return {1, positive_words, [&to](const words& w) { return take_positive(w[0], to); }};
}

/// Takes the width of the mask and its code.
bool take_mask(const words& w, unsigned& mask) {
  return parse(w[1], mask) && ((w[0] == "3" && (mask == 53 || mask == 93)) || (w[0] == "5" && mask == 95));
}

std::map<std::string, key> keys_of(parameters& p) {
  return {{"nx", whole(p.nx, 1)},
          {"ny", whole(p.ny, 1)},
          {"dx", positive(p.dx)},
          {"dy", positive(p.dy)},
          {"dc", positive(p.dc)},
          {"co", positive(p.co)},
          {"ns", whole(p.ns, 0)},
          {"nc", whole(p.nc, 1)},
          {"bx", whole(p.bx, 1, true)},
          {"by", whole(p.by, 1, true)},
          {"sc", {2, "a mask: 3 53, 3 93 or 5 95", [&p](const words& w) { return take_mask(w, p.mask); }}}};
}

words words_of(const std::string& line) {
  std::istringstream text(line.substr(0, line.find('#')));
  words all;
  for (std::string word; text >> word;) all.push_back(word);
  return all;
}

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw error(errc::io, where + ": " + what);
}

void take_line(const words& line, const std::string& where, std::map<std::string, key>& missing,
               const std::map<std::string, key>& keys) {
  const std::string name = base::printable(line[0]);
  const auto known = keys.find(line[0]);
  if (known == keys.end()) {
    words names;
    for (const auto& [word, ignored] : keys) names.push_back(word);
    refuse(where, "there is no key '" + name + "';" + base::nearest(name, names));
  }
  if (missing.erase(line[0]) == 0) refuse(where, name + " is given a second time");
  const words values(line.begin() + 1, line.end());
  if (values.size() == known->second.values && known->second.take(values)) return;
  std::string given;
  for (const std::string& value : values) given += " " + value;
  refuse(where, name + (given.empty() ? " has no value" : " is" + base::printable(given)) + "; it must be " +
                    known->second.wanted);
}

}  // namespace

bool take_positive(const std::string& text, double& to) { return parse(text, to) && to > 0 && std::isfinite(to); }

parameters read_parameters(const std::string& path) {
  const std::string shown = base::printable(path);
  std::error_code unknown;  // ignored: opening the file reports it
  if (std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown))
    refuse(shown, "is not a regular file; name a parameter file");
  std::ifstream file(path);
  if (!file) refuse(shown, std::string("cannot be read: ") + std::strerror(errno));
  parameters p;
  const std::map<std::string, key> keys = keys_of(p);
  std::map<std::string, key> missing = keys;
  std::array<char, most_bytes + 1> line;
  std::uint64_t number = 1;
  const auto place = [&] { return shown + ", line " + std::to_string(number); };
  for (; file.getline(line.data(), line.size()); ++number) {
    const auto length = static_cast<std::size_t>(file.gcount()) - (file.eof() ? 0 : 1);
    if (const words found = words_of({line.data(), length}); !found.empty()) take_line(found, place(), missing, keys);
  }
  if (!file.eof() && !file.bad()) refuse(place(), "is longer than " + std::to_string(most_bytes) + " bytes");
  if (file.bad()) refuse(shown, std::string("cannot be read: ") + std::strerror(errno));
  std::erase_if(missing, [](const auto& entry) { return entry.second.optional; });
  std::string names;
  for (const auto& [name, ignored] : missing) names += (names.empty() ? "" : ", ") + name;
  if (!names.empty()) refuse(shown, "lacks " + names + "; give each a line such as `ns 1000`");
  return p;
}

}  // namespace tilewise::hiperc
