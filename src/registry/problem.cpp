// SPDX-License-Identifier: Apache-2.0
#include "registry/problem.hpp"

#include "base/nearest.hpp"
#include "registry/catalog.hpp"
#include "registry/meanings.hpp"

#include <algorithm>

namespace tilewise::registry {

std::string to_string(const extents& shape) {
  std::string text;
  for (unsigned i = 0; i < shape.rank; ++i) text += (i == 0 ? "" : "x") + std::to_string(shape[i]);
  return text;
}

std::vector<std::pair<std::string_view, std::string_view>> named_settings(const problem& p) {
  std::vector<std::pair<std::string_view, std::string_view>> named;
  for (std::size_t i = 0; i < p.what->settings.size(); ++i) {
    const setting& axis = p.what->settings[i];
    if (p.setting[i] != 0 || !axis.plain_first) named.emplace_back(axis.name, axis.values[p.setting[i]]);
  }
  return named;
}

std::string to_string(const problem& p) {
  std::string text(p.what->name);
  text += "." + std::string(name_of(p.type)) + " n=" + to_string(p.shape);
  for (const auto& [name, word] : named_settings(p)) text += " " + std::string(name) + "=" + std::string(word);
  return text;
}

double total_bytes(std::span<const operand> operands) {
  double bytes = 0;
  for (const operand& o : operands) bytes += static_cast<double>(o.bytes());
  return bytes;
}

double bytes_of_operands(const problem& p) { return total_bytes(p.what->inputs(p)) + total_bytes(p.what->outputs(p)); }

void choose_setting(problem& p, std::string_view name, std::string_view word) {
  for (std::size_t s = 0; s < p.what->settings.size(); ++s) {
    const setting& axis = p.what->settings[s];
    if (axis.name != name) continue;
    const auto found = std::find(axis.values.begin(), axis.values.end(), word);
    if (found == axis.values.end()) {
      const std::vector<std::string> words(axis.values.begin(), axis.values.end());
      throw error(errc::invalid_argument,
                  std::string(p.what->name) + " has no " + std::string(name) + " '" + std::string(word) + "';" +
                      (name == "op" ? suggestion(missing::op, word, words) : base::nearest(word, words)));
    }
    p.setting[s] = static_cast<std::uint8_t>(found - axis.values.begin());
    return;
  }
  throw error(errc::invalid_argument, std::string(p.what->name) + " has no setting " + std::string(name));
}

}  // namespace tilewise::registry
