// SPDX-License-Identifier: Apache-2.0
// tilewise probe: hidden; the child processes of other commands run it. It loads drivers without precautions, so that
// it crashes in place of the tool.
#include "tool/commands.hpp"
#include "tool/drivers/cache.hpp"
#include "tool/drivers/child.hpp"
#include "tool/output.hpp"

#include "backend/backend.hpp"
#include "backend/probe.hpp"

namespace tilewise::cli {

namespace {

constexpr std::string_view finding = "finding: ", listed = "listed: ";  // mark our lines: drivers may print too

exit_code list_backend(const std::string& name) {
  std::string why_none;
  for (const backend::runtime& r : backend::runtimes())
    if (r.name == name)
      for (const auto& device : r.devices(why_none))
        print("\n" + std::string(listed) + (device->info().is_cpu ? "cpu" : "other") + "\n");
  return exit_code::ok;
}

exit_code probe_here(const std::string& name) {
  const auto device = backend::find_device(name, {});
  for (const std::string& what : backend::probe(device->queue())) print(std::string(finding) + what + "\n");
  return exit_code::ok;
}

}  // namespace

listing list_in_child(const std::string& backend, std::span<const std::pair<std::string, std::string>> environment) {
  const std::string arguments[] = {"probe", "--list", backend};
  const child_result child = run_self(arguments, environment);
  if (!child.succeeded()) return {explain(child) + " while being listed", {}};
  listing result;
  std::istringstream lines(child.out);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(listed)) result.is_cpu.push_back(line.substr(listed.size()) == "cpu");
  return result;
}

probe_result probe_device(const std::string& name) {
  const std::string arguments[] = {"probe", name};
  child_result child = run_self(arguments);
  if (child.crashed() && name.starts_with("opencl:") && is_mended_after_crash()) child = run_self(arguments);
  if (!child.succeeded()) return {.answered = false, .findings = {"its probe " + explain(child)}};
  probe_result result{.answered = true, .findings = {}};
  std::istringstream lines(child.out);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(finding)) result.findings.push_back(line.substr(finding.size()));
  return result;
}

void add_probe(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("probe", "what other commands run in a child process")->group("");
  auto name = std::make_shared<std::string>();
  auto lists = std::make_shared<bool>(false);
  command->add_option("NAME", *name, "a device; with --list a backend")->required();
  command->add_flag("--list", *lists, "only list the backend's devices");
  command->callback(
      [&call, name, lists] { call.run = [=] { return *lists ? list_backend(*name) : probe_here(*name); }; });
}

}  // namespace tilewise::cli
