// SPDX-License-Identifier: Apache-2.0
// tilewise doctor: says what would spoil measurements on this machine, and what is missing.
#include "backend/cpu/executor.hpp"
#include "backend/group/mpi_world.hpp"
#include "lab/machine/environment.hpp"
#include "lab/machine/health.hpp"
#include "registry/tuned.hpp"
#include "report/format.hpp"
#include "tool/bench/record_cells.hpp"
#include "tool/commands.hpp"
#include "tool/drivers/drivers.hpp"
#include "tool/drivers/icd_files.hpp"
#include "tool/output.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <thread>

namespace tilewise::cli {

namespace {

using lab::finding;
using lab::severity;
using nlohmann::ordered_json;

/// Waits half a second, in which other processes are observed.
double let_pass() {
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// How to get a backend or its devices. Package names are Debian's.
std::string remedy_for(const std::string& backend) {
  if (backend == "opencl")
    return "`sudo apt-get install ocl-icd-libopencl1 pocl-opencl-icd` for the CPU, or the driver of your GPU";
  if (backend == "cuda") return "a driver from NVIDIA; to build it, the CUDA toolkit with nvcc in PATH";
  return "`sudo apt-get install gcc-12-offload-nvptx` and build again; it runs on NVIDIA's GPUs";
}

bool is_built(std::string_view backend) {
  const auto& built = backend::runtimes();
  return std::any_of(built.begin(), built.end(), [&](const backend::runtime& r) { return r.name == backend; });
}

void add_builds(std::vector<finding>& to) {
  if (!lab::is_release_build())
    to.push_back({severity::harms, "build",
                  "this is a " + lab::tool_facts().build_type + " build: its times mean nothing",
                  "`cmake --preset release` and build again"});
  for (const char* name : {"opencl", "cuda", "openacc"})
    if (!is_built(name))
      to.push_back({severity::note, name, "this build has no " + std::string(name), remedy_for(name)});
}

void add_modules(std::vector<finding>& to) {
  const auto built = backend::cpu::executor_names();
  for (const auto& [name, remedy] : {std::pair("openmp", "build again with a compiler that has OpenMP, such as g++"),
                                     std::pair("tbb", "`sudo apt-get install libtbb-dev` and build again")})
    if (std::find(built.begin(), built.end(), name) == built.end())
      to.push_back({severity::note, "cpu:" + std::string(name), "this build has no cpu:" + std::string(name), remedy});
  for (const std::string_view name : built)
    if (const std::string why = backend::cpu::why_no_executor(name); !why.empty())
      to.push_back({severity::note, "cpu:" + std::string(name), why,
                    "`sudo apt-get install libtbb12`; the file of Tilewise lies beside its library"});
  if (const std::string why = backend::group::why_no_mpi(); !why.empty())
    to.push_back({severity::note, "mpi", why,
                  "`sudo apt-get install libopenmpi3 openmpi-bin`; the file of Tilewise lies beside its library"});
}

void add_icd_files(std::vector<finding>& to) {
  if (is_built("opencl"))
    for (const std::filesystem::path& icd : drivers_without_devices())
      to.push_back({severity::note, "icd",
                    icd.string() + " adds no OpenCL device: its library '" + library_of(icd) +
                        "' is missing, or the hardware that it drives",
                    "install the library's package again, or remove the file"});
}

void add_drivers(const survey& seen, std::vector<finding>& to) {
  for (const absent& d : seen.drivers)
    to.push_back({severity::may_harm, "driver", d.name + " " + d.reason + "; it is left out",
                  "remove the driver, or install another version of it"});
  for (const absent& b : seen.backends)
    to.push_back({severity::note, b.name, "no " + b.name + " device: " + b.reason, remedy_for(b.name)});
}

/// Reports applied tunings, since they change the times of calls that ask for no tuning.
void add_tunings(const survey& seen, std::vector<finding>& to) {
  const std::string back = "`tilewise tune --forget` goes back to the defaults";
  const registry::kept_tunings kept = registry::read_tunings();
  if (!kept.fault.empty())
    to.push_back({severity::may_harm, "tuning", "the tunings that were kept are not used: " + kept.fault, back});
  std::set<std::string> in_force, elsewhere;
  for (const registry::tuned& t : kept.all) {
    const auto is_its = [&](const auto& d) { return registry::key_of_device(d->info()) == t.device; };
    const bool is_here = std::any_of(seen.devices.begin(), seen.devices.end(), is_its);
    if (t.is_applied && !t.is_default()) (is_here ? in_force : elsewhere).insert(t.by->id());
  }
  const auto add = [&](const std::set<std::string>& which, const std::string& where) {
    if (!which.empty())
      to.push_back({severity::note, "tuning",
                    "tunings that `tilewise tune` found are applied " + where + ": " +
                        report::listed({which.begin(), which.end()}, 6),
                    back});
  };
  add(in_force, "here");
  add(elsewhere, "for other drivers, hardware or numbers of threads");
}

std::string mark_of(severity how) {
  if (how == severity::harms) return coloured("BAD  ", colour::red);
  return how == severity::may_harm ? "doubt" : coloured("note ", colour::dim);
}

/// The text beside a margin, on lines of 80 columns in all.
std::string beside_margin(const std::string& text) {
  const std::string margin(7, ' ');
  std::string lines;
  for (const char c : folded(text, 80 - margin.size(), "")) lines += c == '\n' ? "\n" + margin : std::string(1, c);
  return lines + "\n";
}

void print_findings(const std::vector<finding>& found) {
  for (const finding& f : found)
    print(mark_of(f.how) + "  " + beside_margin(f.what) + "    -> " + beside_margin(f.advice));
  if (found.empty()) print("Nothing was found that makes measurements here bad.\n");
}

exit_code examine_machine(bool json) {
  progress("watching for half a second");
  std::vector<finding> found = lab::examine(lab::system_files(), let_pass);
  add_builds(found);
  add_icd_files(found);  // first, since the next step may leave out what it lists
  const survey seen = look_around();
  add_drivers(seen, found);
  add_tunings(seen, found);
  add_modules(found);
  std::stable_sort(found.begin(), found.end(), [](const finding& a, const finding& b) { return a.how < b.how; });
  if (!json) {
    print_findings(found);
    return exit_code::ok;
  }
  ordered_json all = ordered_json::array();
  for (const finding& f : found)
    all.push_back({{"severity", name_of(f.how)}, {"check", f.check}, {"what", f.what}, {"advice", f.advice}});
  print_json({{"findings", all}});
  return exit_code::ok;
}

}  // namespace

void add_doctor(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("doctor", "what makes measurements here bad, and what to do");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "one JSON object on one line, also for errors");
  command->footer(
      "BAD moves times, doubt marks what may move them, and a note should be known when\n"
      "they are read. Looked at are clocks, load, other processes, limits of control\n"
      "groups, memory, drivers, tunings that are applied, and what this build lacks.\n"
      "Nothing is changed; commands with sudo are for you to judge. The exit code is 0\n"
      "also where something is found.\n"
      "\n"
      "Examples:\n"
      "  tilewise doctor\n"
      "  tilewise doctor --json | jq '.findings[] | select(.severity == \"harms\").check'");
  command->callback([&call, json] { call.run = [json] { return examine_machine(*json); }; });
}

}  // namespace tilewise::cli
