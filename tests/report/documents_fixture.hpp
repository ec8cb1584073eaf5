// SPDX-License-Identifier: Apache-2.0
// Made-up records of a document's problem.
#pragma once

#include "fixture.hpp"
#include "record/published.hpp"

namespace tilewise::report {

struct repeated_program {
  const char *from, *variant, *system;  // the made-up scan that lends its times, our variant, the document's program
};

/// Records of one problem of a document. Each row quotes the document's times of its program.
inline std::vector<nlohmann::json> document_records(std::string_view document, const registry::extents& shape,
                                                    const std::string& baseline,
                                                    const std::vector<repeated_program>& programs) {
  using nlohmann::json;
  std::vector<json> records;
  const std::string algorithm = baseline.substr(0, baseline.find('/'));
  for (const repeated_program& p : programs)
    for (json r : made_up_records()) {
      if (r["case"]["variant"] != p.from || r["case"]["dtype"] != "f32" || r["case"]["n"] != 67108865) continue;
      json& c = r["case"];
      c["algorithm"] = algorithm, c["variant"] = p.variant, c["data"] = "seeds", c["settings"] = json::object();
      c["n"] = shape[0], c["shape"] = std::vector<std::uint64_t>(shape.size.begin(), shape.size.begin() + shape.rank);
      c["group"] = algorithm + ".i32 n=" + registry::to_string(shape) + " @" + r["device"]["name"].get<std::string>();
      json all = json::array(), own = json::array();
      for (const record::published_table& t : record::published_tables())
        for (const record::published_row& of : t.rows) {
          if (t.document != document || t.shape != shape) continue;
          all.push_back({{"system", of.system},
                         {"machine", of.machine},
                         {"ns", t.ns(of)},
                         {"with_transfers", of.with_transfers}});
          if (of.system.starts_with(p.system)) own.push_back(all.back());
        }
      r["experiment"] = {{"document", document},   {"baseline", baseline}, {"baseline_device", "cpu:serial"},
                         {"first_outputs", "2 7"}, {"system", p.system},   {"published", own},
                         {"of_problem", all}};
      r.erase("course");
      records.push_back(r);
    }
  return records;
}

}  // namespace tilewise::report
