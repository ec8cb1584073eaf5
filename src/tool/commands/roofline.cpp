// SPDX-License-Identifier: Apache-2.0
// tilewise roofline: shows what bounds each algorithm on each device, and how close it comes, from records or measured
// here.
#include "backend/backend.hpp"
#include "backend/cpu/device.hpp"
#include "base/disk_cache.hpp"
#include "lab/machine/environment.hpp"
#include "lab/plan/problems.hpp"
#include "lab/roofline/measure.hpp"
#include "record/json.hpp"
#include "report/format.hpp"
#include "tool/bench/output.hpp"
#include "tool/drivers/device_use.hpp"
#include "tool/interrupt.hpp"
#include "tool/kept_json.hpp"
#include "tool/output.hpp"
#include "tool/ranks/voice.hpp"
#include "tool/roofline/table.hpp"
#include "tool/rows.hpp"

#include <tilewise/version.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace tilewise::cli {

namespace {

using nlohmann::json;

struct roofline_request {
  device_list_options devices;
  std::vector<std::string> files;
  std::uint64_t n = 0;
  double max_time_s = 1;
  std::string records;
  bool json = false, verbose = false;
};

void print_rooflines(const std::vector<report::roofline>& all, const roofline_request& asked) {
  if (asked.json) {
    nlohmann::ordered_json told{{"command", "roofline"}, {"devices", nlohmann::ordered_json::array()}};
    for (const report::roofline& of : all) told["devices"].push_back(to_json(of));
    return print_json(told);
  }
  std::set<std::string_view> machines;
  for (const report::roofline& of : all) machines.insert(of.machine);
  for (const report::roofline& of : all) {
    print((&of == &all.front() ? "" : "\n") + roofline_block(of, machines.size() > 1, asked.verbose));
    if (const std::string chart = roofline_chart(of, chart_columns()); !chart.empty()) print("\n" + chart);
  }
}

exit_code analyse(const roofline_request& asked) {
  const report::model m = report::make_model(read_rows(asked.files));
  const std::vector<report::roofline> all = report::rooflines(m);
  if (all.empty())
    throw error(errc::io, "among " + report::count(m.rows.size()) +
                              " records there is neither a limit nor a right time of a kernel; `tilewise bench -o "
                              "FILE` measures both");
  print_rooflines(all, asked);
  return exit_code::ok;
}

/// The key of a device's kept roofs. The identity of a CPU includes its number of threads. The method's number changes
/// when other roofs are measured.
std::string key_of(const backend::device& of) {
  return base::cache_key(
      {"roofs", "3", TILEWISE_VERSION, record::schema_name, of.info().name, backend::identity_of(of.info())});
}

/// The kept records of the roofs; empty if there are none that can be used.
std::vector<record::result> find_roofs(const backend::device& of) {
  const kept_json kept = find_kept(key_of(of));
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

/// Keeps the roofs, if there is a private folder.
void keep_roofs(const backend::device& of, const std::vector<record::result>& roofs) {
  json told = json::array();
  for (const record::result& r : roofs) told.push_back(record::to_json(r));
  keep(key_of(of), told);
}

/// The devices to measure. If none is named: the CPU as `auto` uses it, and every other device.
std::vector<device_handle> devices_for(const roofline_request& asked) {
  std::vector<device_handle> all = open_devices(asked.devices);
  if (asked.devices.names != device_list_options{}.names) return all;
  std::erase_if(all, [](const device_handle& d) { return d->info().backend == "cpu"; });
  all.insert(all.begin(), backend::cpu::make_device("cpu", {.threads = asked.devices.threads, .instruction_set = {}}));
  return all;
}

/// Adds the kept roofs, or measures them now.
void add_roofs(backend::device& of, analysed_rows& output) {
  std::vector<record::result> roofs = find_roofs(of);
  if (roofs.empty()) {
    output.tell("the roofs of " + of.info().name);
    roofs = lab::measure_roofs(of, measuring_for("quick", 1).hooks);
    for (record::result& r : roofs) output.sign(r);
    if (!interrupt_requested()) keep_roofs(of, roofs);
  }
  for (const record::result& r : roofs) output.keep(r);
}

exit_code measure(const roofline_request& asked, const std::vector<std::string>& argv) {
  require_one_process("roofline");
  if (!lab::is_release_build()) note("tilewise: WARNING: this is not a Release build; its times say nothing");
  const std::vector<device_handle> devices = devices_for(asked);
  take_interrupts();
  analysed_rows output(asked.records, asked.devices.quiet, argv);
  for (const device_handle& on : devices) {
    if (interrupt_requested()) break;
    add_roofs(*on, output);
    output.measure(lab::make_roofline_plan(on, asked.n), "quick", asked.max_time_s);
  }
  const report::model m = report::make_model(output.take_rows());
  print_rooflines(report::rooflines(m), asked);
  return judged(output.all());
}

}  // namespace

void add_roofline(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("roofline", "what bounds each algorithm, and how near it comes");
  const auto asked = std::make_shared<roofline_request>();
  CLI::Option* files = command->add_option("FILES", asked->files, "analyse these records; measure nothing");
  files->option_text("...")->check(file_name());
  add_device_list_options(*command, asked->devices);
  const std::vector<CLI::Option*> of_measuring{
      command->get_option("--device"),
      command->get_option("--threads"),
      command->get_option("--time-limit"),
      command->add_option("--n", asked->n, "elements: 1e6, 64K = 65536; for matrices the side")
          ->option_text("N")
          ->transform(number_of_elements(1)),
      add_max_time(*command, asked->max_time_s),
      add_file_option(*command, "-o", asked->records, "append one JSON record per row", "FILE.jsonl")};
  for (CLI::Option* option : of_measuring) option->excludes(files);
  command->add_flag("--json", asked->json, "one JSON object on one line, also for errors");
  command->add_flag("-v,--verbose", asked->verbose, "variant, speeds and doubts of each problem");
  command->add_flag("-q,--quiet", asked->devices.quiet, "no progress lines");
  command->footer(
      "A problem has counted operations and compulsory bytes: each input read once,\n"
      "each output written once; the README of each algorithm states both. Their ratio\n"
      "is its intensity, op/byte. A device moves so many bytes and does so many\n"
      "operations a second; the ratio of these is its balance for the problem. Below it\n"
      "memory is the bound, above it arithmetic. The limit is the longer of the two\n"
      "times, by the roof that is named; how much of it the fastest of our variants\n"
      "reaches stands last.\n"
      "read: as fast as the device reads a working set of this size, in a cache or not.\n"
      "Levels of memory are found by reading working sets from a few kilobytes to four\n"
      "times the last cache. copy: its plain copy, in the same rounds as the problem;\n"
      "beyond all caches it is the roof of what writes as much as it reads.\n"
      "fma: multiply-adds. muladd: product and sum rounded each, as most orders ask.\n"
      "launch: a kernel that does nothing, on a GPU or OpenCL, where that takes longer\n"
      "than the bytes and operations of the problem would.\n"
      "Below the table each algorithm and type at its largest size lies as a letter\n"
      "among the roofs of memory and arithmetic that problems here are held against.\n"
      "Both axes are logarithmic. The chart has 76 columns, or as few as COLUMNS says.\n"
      "? marks a time in doubt, and a limit whose own time is; what is reached is then\n"
      "in doubt too. ! marks more than 105 % of the limit: a cache, fewer operations\n"
      "than are counted, or the clock; -v says which.\n"
      "Without FILES each algorithm is checked and measured at one size, on the CPU and\n"
      "each other device, for at most a second a row. The roofs of a device are\n"
      "measured once, and kept in the cache folder until its driver, its threads or\n"
      "this version change.\n"
      "\n"
      "Examples:\n"
      "  tilewise roofline --device cpu -o roofs.jsonl\n"
      "  tilewise roofline roofs.jsonl bench.jsonl\n"
      "  tilewise report roofs.jsonl bench.jsonl -o report.html     the charts");
  command->callback([&call, asked] {
    call.run = [&call, asked] { return asked->files.empty() ? measure(*asked, call.argv) : analyse(*asked); };
  });
}

}  // namespace tilewise::cli
