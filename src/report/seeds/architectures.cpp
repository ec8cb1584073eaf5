// SPDX-License-Identifier: Apache-2.0
// The polynomial document's tables of architectures and of global against local memory. Its words stand beside what
// this machine's devices report and what was measured here; what no record has says so.
#include "record/published.hpp"
#include "report/format.hpp"
#include "report/roofline/roofline.hpp"
#include "report/seeds/seeds.hpp"

#include <algorithm>
#include <array>

namespace tilewise::report {

namespace {

constexpr const char* unmeasured = "not measured";
constexpr std::uint64_t group_items = 256;  // of the document's kernels

struct architectures {
  const document_study& study;
  const std::vector<roofline>& roofs;
  const row *threads = nullptr, *ranks = nullptr;  // at the largest size, with the most of them
  std::vector<const row*> devices;                 // the fastest program of each at its largest size

  architectures(const document_study& of, const std::vector<roofline>& all) : study(of), roofs(all) {
    for (const document_problem& p : of.sizes)
      for (const row* r : p.rows) {
        if (!r->timed() || !is_of_the_document(*r)) continue;
        if (r->ranks && (!ranks || r->ranks->number >= ranks->ranks->number)) ranks = r;
        if (!r->ranks && r->is_cpu && (!threads || r->threads >= threads->threads)) threads = r;
        if (!r->ranks && !r->is_cpu) add_device(*r);
      }
  }

  /// Null if the device has no roofs.
  const device_roofs* roofs_of(const row& r) const {
    for (const roofline& of : roofs)
      if (of.machine == r.machine && of.device == (r.is_cpu ? "cpu" : r.device)) return &of.roofs;
    return nullptr;
  }

 private:
  void add_device(const row& r) {
    const auto known =
        std::find_if(devices.begin(), devices.end(), [&](const row* d) { return d->device == r.device; });
    if (known == devices.end())
      devices.push_back(&r);
    else
      *known = r.n > (*known)->n ? &r : faster(*known, &r, true);
  }
};

/// The largest copy is told with its size: caches hold small ones.
std::string copy_of(const architectures& of, const row& r) {
  const device_roofs* roofs = of.roofs_of(r);
  if (!roofs || roofs->copies.empty()) return unmeasured;
  const reading& largest = roofs->copies.back();
  return marked(roofs->are_copies_sure, rate(largest.bytes_per_s)) + ", copy of " + bytes(largest.bytes);
}

std::string memory_of(const row& r) {
  const auto size = r.hardware.memory_bytes;
  if (r.hardware.is_cpu && !r.is_cpu) return "the processor’s own memory";
  return size ? bytes(static_cast<double>(*size)) : "unknown";
}

std::string launch_of(const architectures& of, const row& r) {
  const device_roofs* roofs = of.roofs_of(r);
  return roofs && roofs->launch_ns ? duration(*roofs->launch_ns) + ", a launch" : std::string("no launch was measured");
}

/// "221 µs of 2.23 ms at 65536x65536"
std::string transfers_of(const row& r) {
  if (!r.round_trip || !r.h2d || !r.d2h) return unmeasured;
  return marked(is_counted_sure(r, true),
                duration(r.h2d->median + r.d2h->median) + " of " + duration(r.round_trip->median)) +
         " at " + r.size();
}

std::string exchange_of(const row& r) {
  if (!r.ranks->exchange_ns) return unmeasured;
  return marked(r.ranked(), duration(*r.ranks->exchange_ns) + " of " + duration(r.kernel->median)) + " at " + r.size();
}

std::string units_of(const row& r) {
  const auto units = r.hardware.compute_units;
  if (!units) return "unknown";
  return count(*units) + " units × " + count(group_items) + " = " + count(*units * group_items) + " items";
}

/// One aspect, in the document's words for threads, MPI and the GPU, and ours for the same.
struct aspect {
  const char *name, *threads, *mpi, *gpu;
  std::string (*of_threads)(const architectures&, const row&);
  std::string (*of_ranks)(const architectures&, const row&);
  std::string (*of_device)(const architectures&, const row&);
};

std::string ranks_told(const row& r) {
  return count(r.ranks->number) + " ranks, " +
         (r.ranks->transport == "threads" ? std::string("as threads of one process") : r.ranks->transport);
}

using all = const architectures&;
std::string by_size(all, const row&) { return "by size, see below"; }

constexpr std::array<aspect, 7> aspects{
    {{"Memory Model", "Shared address space", "Distributed (message passing)", "Device-separate (explicit transfer)",
      [](all, const row& r) { return memory_of(r) + ", shared"; }, [](all, const row& r) { return ranks_told(r); },
      [](all, const row& r) { return memory_of(r); }},
     {"Parallelism Scale", "~8-16 threads", "Scalable to N nodes", "~24,576 threads (96 EUs × 256)",
      [](all, const row& r) { return count(r.threads) + (r.threads == 1 ? " thread" : " threads"); },
      [](all, const row& r) { return count(r.ranks->number) + " ranks"; },
      [](all, const row& r) { return units_of(r); }},
     {"Synchronization Cost", "Low (futures, atomics)", "High (network latency)", "Medium (barriers, kernel launches)",
      [](all, const row&) { return std::string(unmeasured); },
      [](all, const row& r) {
        return r.ranks->latency_ns ? duration(*r.ranks->latency_ns) + ", the shortest exchange" : unmeasured;
      },
      [](all of, const row& r) { return launch_of(of, r); }},
     {"Memory Bandwidth", "~40 GB/s (DDR4)", "Network-dependent", "~200-300 GB/s (GDDR)",
      [](all of, const row& r) { return copy_of(of, r); },
      [](all, const row& r) {
        return r.ranks->link_bytes_per_s ? rate(*r.ranks->link_bytes_per_s) + ", a long exchange" : unmeasured;
      },
      [](all of, const row& r) { return copy_of(of, r); }},
     {"Best Use Case", "Medium problems", "Very large distributed", "Massively parallel computation", by_size, by_size,
      by_size},
     {"Communication Overhead", "Minimal (cache coherency)", "High (MPI messages)", "Medium (PCIe transfer)",
      [](all, const row&) { return std::string(unmeasured); }, [](all, const row& r) { return exchange_of(r); },
      [](all, const row& r) { return transfers_of(r); }},
     {"Scalability Limit", "Single node (~64 cores)", "Cluster size", "Single GPU (~10K cores)",
      [](all, const row& r) { return r.on.host.cores ? count(*r.on.host.cores) + " cores" : std::string("unknown"); },
      [](all, const row& r) {
        return r.ranks->transport == "threads" ? std::string("one machine; no network was measured")
                                               : std::string("see the records of its ranks");
      },
      [](all, const row& r) { return memory_of(r); }}}};

/// The document's words, and below them what there is here.
html beside(const std::string& published, const std::string& where, const std::string& here) {
  return html::text(published) + tag("div", html::text(where + ": " + here));
}

html architectural_table(const architectures& of) {
  std::vector<std::vector<html>> rows;
  for (const aspect& a : aspects) {
    html devices = html::text(a.gpu);
    for (const row* r : of.devices) devices += tag("div", html::text(place_of(*r) + ": " + a.of_device(of, *r)));
    rows.push_back({a.name, beside(a.threads, "here", of.threads ? a.of_threads(of, *of.threads) : unmeasured),
                    beside(a.mpi, "here", of.ranks ? a.of_ranks(of, *of.ranks) : unmeasured), devices});
  }
  return tag("h4", "Architectural comparison") +
         tag("div", {{"class", "beside"}},
             table("Published, and below that this machine.",
                   {"aspect", "lab 5 (shared memory)", "lab 7 (MPI)", "lab bonus (GPU/OpenCL)"}, rows,
                   content::words)) +
         paragraph(
             "The document expects threads to be better below a degree of 1,000, the GPU above 10,000, and MPI "
             "above 10,000,000.");
}

/// The device's two kernels at the largest size that both ran.
struct both_kernels {
  const row *global = nullptr, *local = nullptr;
};

both_kernels kernels_on(const document_study& s, const std::string& device) {
  both_kernels found;
  for (const document_problem& p : s.sizes)
    for (const row* local : p.rows)
      if (const row* global = global_beside(*local, p);
          local->device == device && local->timed() && global && global->timed())
        found = {global, local};
  return found;
}

double element_bytes(const row& r) { return r.dtype.ends_with("64") ? 8 : 4; }

/// How fast a kernel reads the factors: each product reads one coefficient of both.
std::string reads_of(const row* r) {
  if (!r) return unmeasured;
  const double products = static_cast<double>(r->n) * static_cast<double>(r->n);
  return marked(r->ranked(), rate(2 * element_bytes(*r) * products / r->kernel->median * 1e9)) + " at " + r->size();
}

/// The longest factors whose coefficients fit both.
std::string longest_of(const row& device) {
  const auto room = device.hardware.local_memory_bytes;
  if (!room) return "unknown";
  const double most = static_cast<double>(*room) / 2 / element_bytes(device);
  return "up to " + count(static_cast<std::uint64_t>(most)) + " coefficients in each factor";
}

html local_memory_table(const architectures& of) {
  struct factor_lines {
    const char* name;
    html global, local;
  };
  std::array<factor_lines, 5> lines{{{"Memory Footprint", "Unlimited", "≤ 64KB"},
                                     {"Latency", "~200 cycles", "~20 cycles"},
                                     {"Bandwidth", "~300 GB/s", "~3 TB/s"},
                                     {"Programming Complexity", "Simple", "Moderate (cooperative loading + barrier)"},
                                     {"Scalability", "All sizes", "Limited to small polynomials"}}};
  for (const row* device : of.devices) {
    const both_kernels both = kernels_on(of.study, device->device);
    const auto local = device->hardware.local_memory_bytes;
    const std::array<std::pair<std::string, std::string>, 5> here{
        {{memory_of(*device), local ? bytes(static_cast<double>(*local)) + " a group" : "unknown"},
         {unmeasured, unmeasured},
         {reads_of(both.global), reads_of(both.local)},
         {"no barrier", "one barrier"},
         {"all sizes", longest_of(*device)}}};
    for (std::size_t i = 0; i < lines.size(); ++i) {
      lines[i].global += tag("div", html::text(place_of(*device) + ": " + here[i].first));
      lines[i].local += tag("div", html::text(place_of(*device) + ": " + here[i].second));
    }
  }
  if (of.devices.empty()) return {};
  std::vector<std::vector<html>> rows;
  for (factor_lines& l : lines) rows.push_back({l.name, std::move(l.global), std::move(l.local)});
  return tag("h4", "Optimization trade-offs") +
         tag("div", {{"class", "beside"}},
             table(
                 "Bandwidth here: the coefficients that the kernel’s products read, over its time; caches answer many "
                 "of those reads.",
                 {"factor", "global memory", "local memory"}, rows, content::words));
}

}  // namespace

html architecture_tables(const document_study& s, const std::vector<roofline>& all) {
  if (s.sizes.back().from->document != record::polynomials_document) return {};
  const architectures of(s, all);
  return architectural_table(of) + local_memory_table(of);
}

}  // namespace tilewise::report
