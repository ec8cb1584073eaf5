// SPDX-License-Identifier: Apache-2.0
#include "tool/bench/part.hpp"

#include "base/enter.hpp"
#include "lab/bench/describe.hpp"
#include "lab/bench/measure.hpp"
#include "lab/roofline/measure.hpp"
#include "record/json.hpp"
#include "tool/bench/documents.hpp"
#include "tool/drivers/child.hpp"
#include "tool/exit_code.hpp"
#include "tool/interrupt.hpp"
#include "tool/output.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <new>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::cli {

using nlohmann::json;

namespace {

constexpr std::size_t progress_bytes = 4096;  // one page, before the report
constexpr std::string_view whole_plan = "plan", launches = "launches";

[[noreturn]] void fail_to_share(const char* what) {
  throw error(errc::io, std::string("what a child of bench reports cannot be ") + what + ": " + std::strerror(errno));
}

}  // namespace

bench_part parse_part(const std::string& text) {
  if (text == whole_plan) return {};
  if (text == launches) return {.group = {}, .without = {}, .of_launches = true};
  if (text == word_of_turn) return {.group = {}, .without = {}, .is_turn = true};
  bench_part part;
  const char *at = text.data(), *const end = at + text.size();
  for (bool more = true; more; ++at) {
    std::size_t number = 0;
    const auto [after, failure] = std::from_chars(at, end, number);
    if (failure != std::errc() || (after != end && *after != ','))
      throw error(errc::invalid_argument, "--part is for the children of `bench --isolate`");
    if (part.group)
      part.without.insert(number);
    else
      part.group = number;
    at = after;
    more = after != end;
  }
  return part;
}

std::string to_string(const bench_part& part) {
  if (!part.group) return std::string(part.of_launches ? launches : whole_plan);
  std::string text = std::to_string(*part.group);
  for (const std::size_t row : part.without) text += "," + std::to_string(row);
  return text;
}

part_report::part_report() : file_(memfd_create("tilewise-bench", MFD_CLOEXEC)) {
  if (file_ < 0 || ftruncate(file_, progress_bytes) != 0) fail_to_share("made");
  map();
  new (progress_) part_progress;
}

part_report::part_report(int of_the_parent) : file_(of_the_parent) {
  struct stat facts {};
  if (fstat(file_, &facts) != 0 || facts.st_size < static_cast<off_t>(progress_bytes) ||
      fcntl(file_, F_SETFD, FD_CLOEXEC) != 0)
    throw error(errc::invalid_argument, "--part is for the children of `bench --isolate`");
  map();
}

void part_report::map() {
  void* const page = mmap(nullptr, progress_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (page == MAP_FAILED) fail_to_share("mapped");
  progress_ = static_cast<part_progress*>(page);
}

part_report::~part_report() {
  munmap(progress_, progress_bytes);
  close(file_);
}

void part_report::write(const json& told) {
  const std::string line = told.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
  lseek(file_, 0, SEEK_END);
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t written = ::write(file_, line.data() + done, line.size() - done);
    if (written < 0 && errno != EINTR) fail_to_share("written");
    if (written > 0) done += static_cast<std::size_t>(written);
  }
}

std::vector<json> part_report::lines() const {
  struct stat facts {};
  if (fstat(file_, &facts) != 0) fail_to_share("read");
  std::string text(static_cast<std::size_t>(facts.st_size) - progress_bytes, '\0');
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t got = pread(file_, text.data() + done, text.size() - done, static_cast<off_t>(progress_bytes + done));
    if (got <= 0 && errno != EINTR) fail_to_share("read");
    if (got > 0) done += static_cast<std::size_t>(got);
  }
  std::vector<json> all;
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != text.npos; at = end + 1)
    all.push_back(
        json::parse(text.begin() + static_cast<std::ptrdiff_t>(at), text.begin() + static_cast<std::ptrdiff_t>(end)));
  return all;
}

json to_json(const lab::measured& m) {
  const json document = m.from == nullptr ? json() : json(m.from - documents().data());
  return {{"record", record::to_json(m.result)},
          {"place", m.place},
          {"tuning", m.tuning_changes},
          {"unit", static_cast<int>(m.unit)},
          {"elements", m.elements},
          {"failure", m.failure ? json(static_cast<int>(*m.failure)) : json()},
          {"document", document}};
}

lab::measured measured_from(const json& told) {
  lab::measured m;
  m.result = record::from_json(told.at("record"));
  m.place = told.at("place");
  m.tuning_changes = told.at("tuning");
  m.unit = static_cast<registry::speed_unit>(told.at("unit").get<int>());
  m.elements = told.at("elements");
  if (!told.at("failure").is_null()) m.failure = static_cast<errc>(told.at("failure").get<int>());
  if (told.at("document").is_null()) return m;
  m.from = &documents()[told.at("document").get<std::size_t>()];
  registry::extents shape;
  for (const std::uint64_t size : m.result.what.shape) shape.size[shape.rank++] = size;
  m.published = lab::figures_of(*m.from, shape, m.result.what.variant, m.place, m.result.what.tuning);
  return m;
}

namespace {

json all_to_json(std::span<const lab::measured> rows) {
  json all = json::array();
  for (const lab::measured& m : rows) all.push_back(to_json(m));
  return all;
}

std::vector<lab::measured> rows_from(const json& told) {
  std::vector<lab::measured> rows;
  for (const json& row : told) rows.push_back(measured_from(row));
  return rows;
}

}  // namespace

listed_plan plan_from(std::span<const json> lines) {
  listed_plan plan;
  for (const json& line : lines)
    if (line.contains("closing")) {
      plan.has_launches = line.at("launches");
      plan.coming = line.at("coming");
      plan.last = {line.at("closing"), line.at("limited")};
      for (const json& v : line.at("visits")) plan.visits.push_back({v.at(0), v.at(1), v.at(2)});
    } else {
      plan.groups.push_back({line.at("name"), line.at("title"), rows_from(line.at("rows"))});
    }
  return plan;
}

json to_json(const part_history& of) {
  json groups = json::array();
  for (const auto& rows : of.groups) {
    json& told = groups.emplace_back(json::array());
    for (const lab::pace_of_row& r : rows) told.push_back({r.ns ? json(*r.ns) : json(), r.was_too_slow});
  }
  return {{"elapsed_ns", of.elapsed_ns},
          {"step", of.step},
          {"groups", std::move(groups)},
          {"first", all_to_json(of.first)}};
}

namespace {

/// The pace of the whole plan, as if this process had measured all earlier groups.
lab::pace pace_after(const json& history, std::span<const lab::group> plan, const lab::measuring& how) {
  lab::pace kept(plan, how, history.at("elapsed_ns"), true);
  const json& groups = history.at("groups");
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::vector<lab::pace_of_row> rows;
    for (const json& r : groups[i])
      rows.push_back({r.at(0).is_null() ? std::nullopt : std::optional(r.at(0).get<double>()), r.at(1)});
    kept.note(kept.affordable(plan[i]), rows);
  }
  return kept;
}

}  // namespace

void tell_plan(std::span<const lab::group> plan, const lab::measuring& how, bool has_launches,
               const std::string& coming, const closing_words& last) {
  part_report report(descriptor_of_child);
  for (const lab::group& g : plan) {
    std::vector<lab::measured> rows;
    for (const lab::row& r : g.rows) rows.push_back(lab::describe(g, r, how));
    report.write({{"name", g.name()}, {"title", g.title()}, {"rows", all_to_json(rows)}});
  }
  json visits = json::array();
  for (const lab::visit& v : lab::visits_of(plan, how, true)) visits.push_back({v.group, v.is_last, v.cost_ns});
  report.write({{"launches", has_launches},
                {"coming", coming},
                {"closing", last.closing},
                {"limited", last.limited},
                {"visits", std::move(visits)}});
}

void tell_launches(std::span<const device_handle> devices, lab::measuring how) {
  part_report report(descriptor_of_child);
  how.hooks.before_sample = [&](const lab::contender&, std::size_t) { ++report.progress().steps; };
  for (const device_handle& on : devices)
    for (const record::result& r : lab::measure_launch(*on, how.hooks)) report.write(record::to_json(r));
}

void tell_group(std::span<const lab::group> plan, std::size_t index, const std::set<std::size_t>& without,
                lab::measuring how) {
  part_report report(descriptor_of_child);
  part_progress& progress = report.progress();
  const json history = report.lines().at(0);
  const lab::stop_rule both = how.rule;
  lab::pace kept = pace_after(history, plan, how);
  const std::size_t step_of_plan = history.at("step");
  const bool is_last = kept.visits().at(step_of_plan).is_last;
  lab::group only = is_last ? plan[index] : kept.affordable(plan[index]);
  kept.limit(step_of_plan, only, how);
  for (const std::size_t i : without) only.rows.at(i).skip = "it ended another process";
  const auto step = [&](std::int64_t row) {
    progress.row = row;
    ++progress.steps;
  };
  how.on_row = [&](std::optional<std::size_t> row) { step(row ? static_cast<std::int64_t>(*row) : -1); };
  how.hooks.before_sample = [&](const lab::contender&, std::size_t) { ++progress.steps; };
  how.hooks.interrupted = [&] {
    ++progress.steps;
    return interrupt_requested();
  };
  how.hooks.on_failure = [](const std::exception& failure) {
    if (base::failure_code(failure) != errc::device_lost) return;
    end_at_once(fail(name_of(errc::device_lost), exit_code::device_lost, failure.what()));
  };
  lab::bench_events events;
  events.before_course = [&](const lab::row& by) { step(&by - only.rows.data()); };
  lab::visitor goes(both, events);
  const auto rows = is_last ? goes.last(only, rows_from(history.at("first")), how) : goes.first(only, how);
  for (const lab::measured& m : rows) report.write(to_json(m));
}

bool is_contested(const lab::group& g, const lab::row& r) {
  return r.variant->algorithm == g.problem.what->name && !r.variant->peer && r.skip.empty();
}

void tell_turn(std::span<const lab::group> plan, lab::measuring how) {
  how.is_checked = true;
  how.with_transfers = false;
  for (lab::group g : plan) {
    std::erase_if(g.rows, [&](const lab::row& r) { return !is_contested(g, r); });
    if (g.rows.empty()) continue;
    const lab::verified_case inputs = lab::make_unchecked_case(g.problem, g.made_of(), how.seed);
    for (const lab::measured& m : lab::measure_group(g, inputs, how)) {
      if (m.time() == nullptr) throw std::runtime_error(m.result.reason.value_or("the row has no time"));
      print(std::to_string(*m.time()->median_ns) + "\n");
    }
  }
}

}  // namespace tilewise::cli
