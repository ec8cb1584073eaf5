// SPDX-License-Identifier: Apache-2.0
// The tool with deliberately faulty variants of scan, which show how it handles faults, and with made-up figures of the
// machine and an applied tuning.
#include "backend/cpu/device.hpp"
#include "planted_variant.hpp"
#include "registry/catalog.hpp"
#include "registry/tuned.hpp"
#include "tool/commands.hpp"
#include "tool/tune/figures_record.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <new>
#include <span>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

namespace {

using namespace tilewise;
using run_function = decltype(registry::variant::run);

registry::variant planted(std::string_view name, run_function run, std::string_view algorithm = "scan") {
  return tests::planted_variant(algorithm, name, run);
}

bool has_word(const registry::problem& p, std::string_view word) {
  for (std::size_t s = 0; s < p.what->settings.size(); ++s)
    if (p.what->settings[s].values[p.setting[s]] == word) return true;
  return false;
}

/// Correct except for the lowest bit of one element.
void one_bit(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
             backend::queue& queue) {
  registry::reference_of(*p.what).run(p, where, t, queue);
  if (p.n() > 0) where.out[0].as<unsigned char>()[p.n() / 2 * size_of(p.type)] ^= 1;
}

/// The same, but only in exclusive scans.
void exclusive_bit(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
                   backend::queue& queue) {
  (has_word(p, "exclusive") ? one_bit : registry::reference_of(*p.what).run)(p, where, t, queue);
}

/// The same, but only in exclusive scans by the maximum.
void pair_bit(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
              backend::queue& queue) {
  (has_word(p, "exclusive") && has_word(p, "max") ? one_bit : registry::reference_of(*p.what).run)(p, where, t, queue);
}

/// Takes 1 us for each element, and computes next to nothing.
void grows(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
           backend::queue& queue) {
  registry::reference_of(*p.what).run(p, where, t, queue);
  usleep(static_cast<useconds_t>(p.n()));
}

void first_bit(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
               backend::queue& queue) {
  registry::reference_of(*p.what).run(p, where, t, queue);
  where.out[0].as<unsigned char>()[0] ^= 1;
}

/// So slow that it must not run twice.
void once(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
          backend::queue& queue) {
  static int runs = 0;
  if (++runs > 1) throw error(errc::device_lost, "it ran twice");
  registry::reference_of(*p.what).run(p, where, t, queue);
}

void crash() {
  std::signal(SIGSEGV, SIG_DFL);  // even where a sanitizer would report it in its own way
  std::raise(SIGSEGV);
}

void crashes(const registry::problem&, const registry::bindings&, const registry::tuning&, backend::queue&) { crash(); }

/// Crashes while it is timed: the first call of a process is a check.
void crashes_later(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
                   backend::queue& queue) {
  static int runs = 0;
  (++runs > 1 ? crashes : registry::reference_of(*p.what).run)(p, where, t, queue);
}

/// Sleeps for a minute, once the file that PLANTED_SEEN names exists.
void sleeps(const registry::problem&, const registry::bindings&, const registry::tuning&, backend::queue&) {
  if (const char* const seen = std::getenv("PLANTED_SEEN")) close(open(seen, O_CREAT | O_CLOEXEC, 0600));
  sleep(60);
}

/// Crashes in each process after the first one that runs it, which creates the file that PLANTED_SEEN names.
void crashes_again(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
                   backend::queue& queue) {
  static const int first = open(std::getenv("PLANTED_SEEN"), O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  (first < 0 ? crashes : registry::reference_of(*p.what).run)(p, where, t, queue);
}

void end_with_3() { _exit(3); }

/// Ends its process once that has done all its work.
template <void (*End)()>
void at_the_end(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
                backend::queue& queue) {
  static const int registered = std::atexit(End);
  if (registered != 0) throw std::bad_alloc();
  registry::reference_of(*p.what).run(p, where, t, queue);
}

void has_no_memory(const registry::problem&, const registry::bindings&, const registry::tuning&, backend::queue&) {
  throw std::bad_alloc();
}

template <errc Code>
void fails(const registry::problem&, const registry::bindings&, const registry::tuning&, backend::queue&) {
  throw error(Code, "planted");
}

/// A kernel of ours that reads an invalid address.
void unmapped(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
              backend::queue& queue) {
  const registry::variant& by = registry::find_variant("scan/cuda:lookback");
  registry::bindings beyond = where;
  beyond.in[0].offset += std::uint64_t{1} << 40;
  by.run(p, beyond, registry::default_tuning(by.tuning), queue);
}

registry::variant planted_on(std::string_view backend, registry::variant v) {
  v.backend = backend;
  return v;
}

/// Computes as a group does, and then waits 30 ms; but not in the second rank's first call.
void uneven(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
            backend::queue& queue) {
  static int calls = 0;
  registry::find_variant("reduce/group").run(p, where, t, queue);
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (calls++ != 0 || rank == nullptr || std::atoi(rank) != 1) usleep(30'000);
}

constexpr std::array<unsigned, 3> paces{0, 1, 2};
constexpr std::array<std::string_view, 3> pace_words{"slow", "quick", "altering"};
constexpr std::array<registry::tuning_axis, 1> pace_axes{{{"pace", paces, 0, pace_words}}};
constexpr std::array<registry::tuning_axis, 1> right_axes{{{"pace", std::span(paces).first<2>(), 0, pace_words}}};

/// By default milliseconds slower than with another tuning. One tuning gives other bits.
void paced(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
           backend::queue& queue) {
  const auto [pace] = t.of(pace_axes);
  (pace == 2 ? one_bit : registry::reference_of(*p.what).run)(p, where, {}, queue);
  if (pace == 0) usleep(2000);
}

/// With all values of the axes, or only those that keep the bits. Not every value accepts 700 elements.
registry::variant planted_pace(std::string_view name, std::span<const registry::tuning_axis> axes) {
  registry::variant v = planted(name, paced);
  v.tuning = axes;
  v.unsupported = [](const registry::problem& p, const backend::device&, const registry::tuning& t) {
    return std::string(p.n() == 700 && t != registry::default_tuning(right_axes) ? "700 elements are taken slowly"
                                                                                 : "");
  };
  return v;
}

/// PLANTED_END="<part> <code>": a child of `bench --isolate` for this part ends with the code; a negative number is a
/// signal.
void end_as_planted(const char* text, std::span<char*> words) {
  const std::string_view end = text, part = end.substr(0, end.find(' '));
  const auto option = std::find(words.begin(), words.end(), std::string_view("--part"));
  if (words.end() - option < 2 || option[1] != part) return;
  const int code = std::atoi(text + part.size());
  if (code >= 0) _exit(code);
  std::signal(-code, SIG_DFL);
  std::raise(-code);
}

/// PLANTED_FIGURES="<ns on the CPU> <ns on opencl:0> <identity>": the times of each algorithm for a million operations.
void plant_figures(const char* text) {
  char *after_cpu = nullptr, *after_device = nullptr;
  const double cpu_ns = std::strtod(text, &after_cpu), device_ns = std::strtod(after_cpu, &after_device);
  const device_info cpu = backend::cpu::make_device("cpu", {})->info();
  lab::machine_figures all;
  all.read_bytes_per_s = 1e12;
  all.cpu.name = cpu.name;
  all.device.emplace();
  all.device->name = "opencl:0";
  all.device->identity = after_device + 1;
  all.device->upload_bytes_per_s = all.device->download_bytes_per_s = 1e12;
  for (const char* name : {"reduce.f32", "scan.f32", "sort.f32", "matmul.f32"}) {
    all.cpu.computing[name] = {.operations = 1e6, .ns = cpu_ns};
    all.device->computing[name] = {.operations = 1e6, .ns = device_ns};
  }
  cli::keep_figures(all, cpu);
}

/// PLANTED_TUNING="<n> <tuning>": applies it to scans of about n floats on two threads.
void plant_tuning(const char* text) {
  char* after_n = nullptr;
  const std::uint64_t n = std::strtoull(text, &after_n, 10);
  const registry::variant& by = registry::find_variant("scan/cpu");
  const auto on = backend::find_device("cpu", {.threads = 2, .instruction_set = {}});
  registry::write_tunings(
      std::vector<registry::tuned>{{.device = registry::key_of_device(on->info()),
                                    .by = &by,
                                    .problem = {.what = &registry::find_algorithm("scan"), .shape = {n}},
                                    .best = registry::parse_tuning(after_n + 1, by.tuning),
                                    .is_applied = true,
                                    .time_utc = "2026-11-23T20:10:00Z",
                                    .default_ns = 1e6}});
}

}  // namespace

int main(int argc, char** argv) {
  const auto internal = [](const registry::problem&, const registry::bindings&, const registry::tuning&,
                           backend::queue&) { throw std::logic_error("planted"); };
  const auto uncaught = [](const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
                           backend::queue& queue) noexcept { fails<errc::overflow>(p, where, t, queue); };
  const auto uncaught_memory = [](const registry::problem& p, const registry::bindings& where,
                                  const registry::tuning& t,
                                  backend::queue& queue) noexcept { has_no_memory(p, where, t, queue); };
  const std::vector<registry::variant> faulty{
      planted("one_bit", one_bit),
      planted("exclusive_bit", exclusive_bit),
      planted("pair_bit", pair_bit),
      planted("first_bit", first_bit, "reduce"),
      planted("once", once),
      planted("crashes", crashes),
      planted("crashes_later", crashes_later),
      planted("crashes_again", crashes_again),
      planted("crashes_again_too", crashes_again),
      planted("crashes_at_the_end", at_the_end<crash>),
      planted("exits_at_the_end", at_the_end<end_with_3>),
      planted("lost", fails<errc::device_lost>),
      planted("unbuilt", fails<errc::build_failed>),
      planted("overflows", fails<errc::overflow>),
      planted("fails", fails<errc::build_failed>, "reduce"),
      planted("fails", fails<errc::device_lost>),
      planted("fails_too", fails<errc::device_lost>, "reduce"),
      planted("fails_too", fails<errc::build_failed>),
      planted("sleeps", sleeps),
      tests::planted_peer("scan", "peer_sleeps", sleeps),
      planted_on("opencl", tests::planted_peer("scan", "peer_sleeps", sleeps)),
      planted_on("cuda", planted("unmapped", unmapped)),
      planted("grows", grows),
      planted_on("group", planted("uneven", uneven, "reduce")),
      planted("no_memory", has_no_memory),
      planted("internal", internal),
      planted("uncaught", uncaught),
      planted("uncaught_memory", uncaught_memory),
      planted_pace("paced", right_axes),
      planted_pace("altering", pace_axes),
  };
  registry::add_peers(faulty);
  if (const char* end = std::getenv("PLANTED_END"))
    end_as_planted(end, std::span(argv, static_cast<std::size_t>(argc)));
  if (const char* figures = std::getenv("PLANTED_FIGURES")) plant_figures(figures);
  if (const char* tuning = std::getenv("PLANTED_TUNING")) plant_tuning(tuning);
  return cli::run_tool(argc, argv);
}
