// SPDX-License-Identifier: Apache-2.0
#include "lab/bench/group.hpp"

#include "backend/group/device.hpp"
#include "lab/bench/public_call.hpp"
#include "lab/roofline/limit.hpp"
#include "record/record.hpp"

namespace tilewise::lab {

std::string sized_name(const backend::device& of) {
  const std::string& name = of.info().name;
  return name.starts_with("mpi") ? std::to_string(backend::group::facts_of(of).ranks) + "*" + name : name;
}

std::string row::place() const {
  const device_info& info = on->info();
  const bool uses_executor =
      variant->backend != "serial" && !variant->peer && !is_public_call(*variant) && !is_limit(*variant);
  return info.backend == "cpu" && !uses_executor ? "cpu" : sized_name(*on);
}

bool row::is_default_tuning() const { return tuning == registry::default_tuning(variant->tuning); }

bool share_memory(const row& a, const row& b) {
  return a.on == b.on || (a.on->info().backend == "cpu" && b.on->info().backend == "cpu");
}

bool group::has_own_inputs() const { return from != nullptr && from->inputs != nullptr; }

data_class group::made_of() const { return asked_data.value_or(data_for(problem)); }

std::string group::data() const { return std::string(has_own_inputs() ? from->data : name_of(made_of())); }

std::string group::title() const { return registry::to_string(problem) + (from == nullptr ? "" : " " + data()); }

std::string group::name() const {
  const bool is_apart = has_own_inputs() || made_of() != data_for(problem);
  return registry::to_string(problem) + (is_apart ? " data=" + data() : "") + " @" + where;
}

data_class data_for(const registry::problem& p) {
  const std::string_view usual = record::usual_data(registry::named_settings(p));
  return usual == name_of(data_class::near_one) ? data_class::near_one : data_class::uniform;
}

}  // namespace tilewise::lab
