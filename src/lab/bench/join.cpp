// SPDX-License-Identifier: Apache-2.0
#include "lab/bench/join.hpp"

#include "lab/bench/agreement.hpp"
#include "lab/bench/derive.hpp"
#include "record/fields.hpp"

#include <algorithm>

namespace tilewise::lab {

namespace {

void join(const std::optional<record::clock>& first, std::optional<record::clock>& last) {
  if (first) last = last ? joined(*first, *last) : *first;
}

/// What moves a row against itself is at least what it was at either visit.
void join(const std::optional<record::noise>& first, std::optional<record::noise>& last) {
  if (first && (!last || first->min_effect > last->min_effect)) last = first;
}

/// Each phase has a median of its own; between two visits to a job its time is their mean.
void join(const record::added<record::phases>& first, record::added<record::phases>& last) {
  if (!first || !last) return;
  record::each_field<record::phases>([&](const auto& f) {
    auto& ns = (*last).*f.member;
    if (const auto& before = (*first).*f.member; ns && before) *ns = (*ns + *before) / 2;
  });
}

/// What is measured beside the kernels' times, at the first visit alone.
void keep_beside(const record::result& first, record::result& last) {
  for (const auto part : {&record::timing::h2d, &record::timing::d2h, &record::timing::round_trip})
    (*last.timing).*part = (*first.timing).*part;
  if (first.timing->kernel) last.timing->end_to_end = first.timing->end_to_end;
  last.ranks = first.ranks;
}

/// Whether it came to an end at its last visit, and not for want of time or memory that the first one had.
bool is_known_again(const measured& last) {
  return last.time() != nullptr || last.result.state == record::status::wrong ||
         last.result.state == record::status::failed || last.result.state == record::status::timeout;
}

void join(measured first, measured& last) {
  if (!first.is_ok() || !is_known_again(last)) return std::swap(first, last);
  if (last.time() == nullptr) return;
  record::timing &from = *first.result.timing, &to = *last.result.timing;
  join(first.result.noise, last.result.noise);
  if (last.result.noise) last.result.noise->visits_effect.emplace(visits_effect(*first.time(), *last.time()));
  join(from.kernel, to.kernel);
  if (!from.kernel) join(from.end_to_end, to.end_to_end);
  join(from.phases, to.phases);
  to.first_call_ns = from.first_call_ns;
  keep_beside(first.result, last.result);
  if (last.is_ok()) last.result.reason.reset();  // why its own times could not be true
}

}  // namespace

group to_visit_again(group what, std::span<const measured> found, const stop_rule& both) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const record::clock* const taken = found[i].time();
    if (!found[i].is_ok() || taken == nullptr)
      what.rows[i].skip = "it has no time from the first visit";
    else if (as_first_rank(taken->n == 1 && *found[i].quickest_ns() >= both.max_ns ? 1 : 0) != 0)
      what.rows[i].skip = "one call takes as long as all samples may";
  }
  return what;
}

void join(const group& what, std::vector<measured> first, std::vector<measured>& last) {
  for (std::size_t i = 0; i < last.size(); ++i) join(std::move(first[i]), last[i]);
  derive(what, last);
  for (measured& m : last) hold_against_round_trip(m);
}

}  // namespace tilewise::lab
