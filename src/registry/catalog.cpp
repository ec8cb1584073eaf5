// SPDX-License-Identifier: Apache-2.0
#include "registry/catalog.hpp"

#include "base/lasting.hpp"
#include "base/nearest.hpp"
#include "registry/meanings.hpp"

#include <algorithm>
#include <utility>

namespace tilewise::registry {

std::vector<variant> listed_variants();  // catalog.gen.cpp

namespace {

/// All variants, and a list for each algorithm, since every call needs that.
struct variant_lists {
  std::vector<variant> all;
  std::vector<std::pair<std::string_view, std::vector<const variant*>>> of;

  explicit variant_lists(std::vector<variant> listed) : all(std::move(listed)) {
    for (const variant& v : all) list_of(v.algorithm).push_back(&v);
  }
  variant_lists(variant_lists&&) = default;  // moving keeps the variants' addresses
  variant_lists& operator=(variant_lists&&) = default;

 private:
  std::vector<const variant*>& list_of(std::string_view algorithm) {
    for (auto& [name, its] : of)
      if (name == algorithm) return its;
    return of.emplace_back(algorithm, 0).second;
  }
};

variant_lists& lists() {
  static variant_lists& made = base::lasting([] { return variant_lists(listed_variants()); });
  return made;
}

void refuse_duplicates(const std::vector<variant>& all) {
  std::vector<std::string> ids;
  for (const variant& v : all) ids.push_back(v.id());
  std::sort(ids.begin(), ids.end());
  if (const auto twice = std::adjacent_find(ids.begin(), ids.end()); twice != ids.end())
    throw error(errc::invalid_argument, "two variants are called " + *twice);
}

}  // namespace

std::string variant::id() const { return std::string(algorithm) + "/" + label(); }

std::string variant::label() const { return std::string(backend) + (name.empty() ? "" : ":") + std::string(name); }

bool variant::is_called(std::string_view wanted) const {
  return (!name.empty() && name == wanted) || label() == wanted || id() == wanted;
}

const std::vector<variant>& variants() { return lists().all; }

const std::vector<const variant*>& variants_of(const algorithm& what) {
  static const auto& none = base::lasting([] { return std::vector<const variant*>(); });
  for (const auto& [name, its] : lists().of)
    if (name == what.name) return its;
  return none;
}

void add_peers(std::span<const variant> peers) {
  std::vector<variant> wider = variants();
  wider.insert(wider.end(), peers.begin(), peers.end());
  refuse_duplicates(wider);
  lists() = variant_lists(std::move(wider));
}

std::string nearest_variant(std::string_view wanted, std::span<const variant* const> among) {
  const bool is_id = wanted.find('/') != wanted.npos, has_backend = wanted.find(':') != wanted.npos;
  std::vector<base::proposal> all;
  for (const variant* v : among) {
    const bool is_shared = std::any_of(among.begin(), among.end(), [&](const variant* other) {
      return other->name == v->name && other->backend != v->backend;
    });
    const std::string name = v->name.empty() ? v->label() : std::string(v->name);
    const std::string written = is_id ? v->id() : has_backend ? v->label() : name;
    all.push_back({written, written == name && is_shared ? v->label() : written});
  }
  return base::propose(wanted, std::move(all));
}

const algorithm& find_algorithm(std::string_view name) {
  for (const algorithm* a : algorithms())
    if (a->name == name) return *a;
  std::vector<std::string> names;
  for (const algorithm* a : algorithms()) names.emplace_back(a->name);
  throw error(errc::invalid_argument,
              "there is no algorithm '" + std::string(name) + "';" + suggestion(missing::algorithm, name, names));
}

const variant& find_variant(std::string_view id) {
  std::vector<std::string> ids;
  for (const variant& v : variants()) {
    if (v.id() == id) return v;
    ids.push_back(v.id());
  }
  throw error(errc::invalid_argument, "there is no variant '" + std::string(id) + "';" + base::nearest(id, ids));
}

const variant& reference_of(const algorithm& what) { return find_variant(std::string(what.name) + "/serial"); }

}  // namespace tilewise::registry
