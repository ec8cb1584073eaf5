#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/report.hpp"

#include <algorithm>

namespace tilewise::report {

namespace {

using nlohmann::json;

/// Text inside a table's cell: nothing of it is markup.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      safe += ' ';
      continue;
    }
    if (std::string_view("\\`*_{}[]<>#|!~&").find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

std::string against_peer(const board& b, const row& ours) {
  const series* peer = b.fastest(role::peer, ours.n);
  if (!peer) return "–";
  const row& theirs = *peer->at(ours.n);
  const ratio* q = ratio_to(ours, theirs.variant);
  const std::string value = q ? ratio_text(q->value) : factor(theirs.kernel->median / ours.kernel->median);
  return value + " × " + escaped(peer->label);
}

std::string line(const panel& p, const board& b, const series& s, const row& r) {
  const std::string bits = r.own_order ? "own order" : "`" + escaped(r.digest.substr(0, 8)) + "` =";
  const std::string hardware = b.title.empty() ? b.name : b.title;
  const std::string problem = p.algorithm + " " + p.dtype + (p.settings.empty() ? "" : ", " + p.settings);
  return "| " + escaped(problem) + " | " + count(r.n) + " | " + escaped(hardware) + " | " + escaped(s.label) + " | " +
         duration(r.kernel->median) + " | " + (r.bytes_per_s ? rate(*r.bytes_per_s) : "–") + " | " +
         (r.fraction ? significant(*r.fraction, 2) : "–") + " | " + against_peer(b, r) + " | " + bits + " |\n";
}

}  // namespace

std::string markdown(const std::vector<json>& records) {
  const model m = make_model(records);
  std::string text = "<!-- results:begin -->\n" + escaped(bits_finding(m)) + "\n\n" +
                     "| problem | n | processor | variant | time | bytes/time | of copy | speed against peer | bits |\n"
                     "|---|--:|---|---|--:|--:|--:|---|---|\n";
  for (const panel* p : main_panels(m))
    for (const board& b : p->boards) {
      for (const std::uint64_t n : b.sizes())
        if (const series* best = b.fastest(role::tilewise, n)) text += line(*p, b, *best, *best->at(n));
    }
  for (const std::string& finding : change_findings(m)) text += "\n" + escaped(finding);
  text +=
      "\n\nThe fastest variant of each processor at each size; median kernel time, data resident. Ratios are speed "
      "ratios of interleaved runs, with their 95 % intervals. Machine: ";
  for (const std::string& machine : m.machines)
    text += (&machine == &m.machines.front() ? "" : ", ") + escaped(machine);
  return text + ".\n<!-- results:end -->\n";
}

}  // namespace tilewise::report
