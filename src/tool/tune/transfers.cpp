// SPDX-License-Identifier: Apache-2.0
#include "tool/tune/transfers.hpp"

#include "backend/cpu/device.hpp"
#include "lab/jobs/figures.hpp"
#include "lab/time/clock.hpp"
#include "report/format.hpp"
#include "tool/bench/record_cells.hpp"
#include "tool/drivers/device_use.hpp"
#include "tool/output.hpp"
#include "tool/tune/figures_record.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>

namespace tilewise::cli {

namespace {

using lab::device_figures;
using lab::machine_figures;
using nlohmann::ordered_json;

/// What `auto` takes where nothing is measured, and how long it took to open.
std::optional<device_figures> measure_other(common_options options,
                                            const std::function<void(const std::string&)>& tell) {
  unsetenv("TILEWISE_DEVICE");  // a device that is named is taken without any figures
  options.device = "auto";
  const std::int64_t started = lab::now_ns();
  const device_handle device = open_device(options);
  if (device->info().backend == "cpu") return std::nullopt;
  device->queue().finish();
  const auto start_ns = static_cast<double>(lab::now_ns() - started);
  device_figures figures = lab::measure_device(*device, tell);
  figures.start_ns = start_ns;
  return figures;
}

ordered_json to_json(const device_figures& f) {
  ordered_json told{{"name", f.name}, {"identity", f.identity}};
  if (f.upload_bytes_per_s > 0) {
    told["start_ns"] = f.start_ns;
    told["latency_ns"] = f.latency_ns;
    told["upload_bytes_per_s"] = f.upload_bytes_per_s;
    told["download_bytes_per_s"] = f.download_bytes_per_s;
    told["pieces_from_bytes"] = f.pieces_from_bytes;
  }
  told["computing"] = ordered_json::object();
  for (const auto& [name, g] : f.computing)
    told["computing"][name] = {{"operations", g.operations}, {"ns", g.ns}, {"power", g.power}};
  return told;
}

void print_figures(const machine_figures& all, bool is_kept) {
  print_json({{"command", "tune"},
              {"read_bytes_per_s", all.read_bytes_per_s},
              {"cpu", to_json(all.cpu)},
              {"device", all.device ? to_json(*all.device) : ordered_json()},
              {"kept", is_kept}});
}

std::string line_of(const std::string& what, const std::string& here, const std::string& there) {
  return left(what, 16) + right(here, 12) + (there.empty() ? "" : right(there, 12)) + "\n";
}

void print_table(const machine_figures& all) {
  const device_figures* const device = all.device ? &*all.device : nullptr;
  const auto there = [&](const auto& text) { return device == nullptr ? std::string() : text(*device); };
  print(all.cpu.name + ": " + all.cpu.identity + "\n" +
        there([](const device_figures& d) { return d.name + ": " + d.identity + "\n"; }) + "\n");
  print(line_of("", all.cpu.name, there([](const device_figures& d) { return d.name; })));
  print(line_of("read a file", report::rate(all.read_bytes_per_s), ""));
  if (device != nullptr) {
    print(line_of("start", "", report::duration(device->start_ns)));
    print(line_of("latency", "", report::duration(device->latency_ns)));
    print(line_of("upload", "", report::rate(device->upload_bytes_per_s)));
    print(line_of("download", "", report::rate(device->download_bytes_per_s)));
  }
  for (const auto& [name, g] : all.cpu.computing)
    print(line_of(name, report::duration(g.ns), there([&name = name](const device_figures& d) {
                    const auto found = d.computing.find(name);
                    return found == d.computing.end() ? std::string("-") : report::duration(found->second.ns);
                  })));
  if (device == nullptr)
    print("\nauto finds no other device here, so it takes the CPU and needs no prediction.\n");
  else
    print("\nauto takes whichever of the two is predicted to be done first; -v shows both times.\n");
}

}  // namespace

exit_code tune_transfers(const common_options& common) {
  const auto tell = [&](const std::string& what) {
    if (!common.quiet) progress("measuring " + what);
  };
  const device_handle cpu = backend::cpu::make_device("cpu", {.threads = common.threads, .instruction_set = {}});
  machine_figures all;
  all.device = measure_other(common, tell);
  all.cpu = lab::measure_device(*cpu, tell);
  tell("a file that is read");
  all.read_bytes_per_s = lab::measure_reading(lab::memory_folder());
  const bool is_kept = keep_figures(all, cpu->info());
  common.json ? print_figures(all, is_kept) : print_table(all);
  if (!is_kept && !common.quiet)
    note(
        "tilewise: the figures are not kept, so auto will not know them: there is no private cache folder; "
        "TILEWISE_CACHE can name one");
  return exit_code::ok;
}

}  // namespace tilewise::cli
