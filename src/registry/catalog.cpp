#include "registry/catalog.hpp"

#include <algorithm>
#include <numeric>

namespace tilewise::registry {

std::vector<variant> listed_variants();  // catalog.gen.cpp

namespace {

std::vector<variant>& mutable_variants() {
  static std::vector<variant> all = listed_variants();
  return all;
}

void refuse_duplicates(const std::vector<variant>& all) {
  std::vector<std::string> ids;
  for (const variant& v : all) ids.push_back(v.id());
  std::sort(ids.begin(), ids.end());
  if (const auto twice = std::adjacent_find(ids.begin(), ids.end()); twice != ids.end())
    throw error(errc::invalid_argument, "two variants are called " + *twice);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string variant::id() const {
  std::string text = std::string(algorithm) + "/" + std::string(backend);
  if (!name.empty()) text += ":" + std::string(name);
  return text;
}

const std::vector<variant>& variants() { return mutable_variants(); }

std::vector<const variant*> variants_of(const algorithm& what) {
  std::vector<const variant*> found;
  for (const variant& v : variants())
    if (v.algorithm == what.name) found.push_back(&v);
  return found;
}

void add_peers(std::span<const variant> peers) {
  std::vector<variant> wider = variants();
  wider.insert(wider.end(), peers.begin(), peers.end());
  refuse_duplicates(wider);
  mutable_variants() = std::move(wider);
}

std::string nearest(std::string_view wanted, std::span<const std::string> names) {
  std::vector<std::string> sorted(names.begin(), names.end());
  std::stable_sort(sorted.begin(), sorted.end(), [&](const std::string& a, const std::string& b) {
    return edit_distance(wanted, a) < edit_distance(wanted, b);
  });
  sorted.resize(std::min<std::size_t>(sorted.size(), 3));
  std::string text = " did you mean ";
  for (std::size_t i = 0; i < sorted.size(); ++i)
    text += (i == 0 ? "" : i + 1 == sorted.size() ? " or " : ", ") + sorted[i];
  return sorted.empty() ? "" : text + "?";
}

const algorithm& find_algorithm(std::string_view name) {
  std::vector<std::string> names;
  for (const algorithm* a : algorithms()) {
    if (a->name == name) return *a;
    names.emplace_back(a->name);
  }
  throw error(errc::invalid_argument, "there is no algorithm '" + std::string(name) + "';" + nearest(name, names));
}

const variant& find_variant(std::string_view id) {
  std::vector<std::string> ids;
  for (const variant& v : variants()) {
    if (v.id() == id) return v;
    ids.push_back(v.id());
  }
  throw error(errc::invalid_argument, "there is no variant '" + std::string(id) + "';" + nearest(id, ids));
}

const variant& reference_of(const algorithm& what) { return find_variant(std::string(what.name) + "/serial"); }

}  // namespace tilewise::registry
