#include "registry/problem.hpp"

#include "registry/algorithm.hpp"

namespace tilewise::registry {

std::string to_string(const extents& shape) {
  std::string text;
  for (unsigned i = 0; i < shape.rank; ++i) text += (i == 0 ? "" : "x") + std::to_string(shape[i]);
  return text;
}

std::string to_string(const problem& p) {
  std::string text(p.what->name);
  text += "." + std::string(name_of(p.type)) + " n=" + to_string(p.shape);
  for (std::size_t i = 0; i < p.what->settings.size(); ++i)
    text += " " + std::string(p.what->settings[i].name) + "=" + std::string(p.what->settings[i].values[p.setting[i]]);
  return text;
}

}  // namespace tilewise::registry
