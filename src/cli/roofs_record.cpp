// SPDX-License-Identifier: Apache-2.0
#include "cli/roofs_record.hpp"

#include "cli/kept_json.hpp"
#include "lab/figures.hpp"
#include "record/record_json.hpp"

#include <tilewise/version.hpp>

namespace tilewise::cli {

namespace {

using nlohmann::json;

/// A CPU says in its identity how many threads it has. The method's number changes when other working sets are read.
class roofs_key {
 public:
  explicit roofs_key(const backend::device& of)
      : identity_(lab::identity_of(of.info())), words_{"roofs",        "2",      TILEWISE_VERSION, record::schema_name,
                                                       of.info().name, identity_} {}
  std::span<const std::string_view> words() const { return words_; }

 private:
  const std::string identity_;
  const std::string_view words_[6];
};

}  // namespace

std::vector<record::result> find_roofs(const backend::device& of) {
  const kept_json kept = find_kept(roofs_key(of).words());
  if (!kept.text) return {};
  const json told = json::parse(*kept.text, nullptr, false);
  if (!told.is_array()) return {};
  std::vector<record::result> roofs;
  for (const json& one : told) {
    roofs.push_back(record::from_json(one));
    if (!roofs.back().what.is_limit()) return {};
  }
  return roofs;
}

void keep_roofs(const backend::device& of, const std::vector<record::result>& roofs) {
  json told = json::array();
  for (const record::result& r : roofs) told.push_back(record::to_json(r));
  keep(roofs_key(of).words(), told);
}

}  // namespace tilewise::cli
