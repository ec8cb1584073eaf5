// SPDX-License-Identifier: Apache-2.0
// The field of a document's run: its pictures, and its residual against the analytical solution. It is shown once for
// each machine, since all variants that keep the order have the same field; this section checks that.
#include "io/base64.hpp"
#include "io/png.hpp"
#include "report/format.hpp"
#include "report/sections/sections.hpp"

#include <algorithm>
#include <map>

namespace tilewise::report {

namespace {

using nlohmann::json;

/// Runs on one machine whose hashes can be compared. The longest is shown; of equally long ones, the latest.
struct field_runs {
  std::string machine;
  std::vector<const row*> by;
  const row* shown;
};

const std::vector<record::moment>& moments_of(const row& r) { return r.course->moments; }

/// Records from before the hash function was named used another one, which gives equal fields other hashes.
std::string hash_function_of(const row& r) { return r.course->hash_function.value_or(std::nullopt).value_or(""); }

std::vector<field_runs> runs_of(const model& m) {
  std::map<std::string_view, std::size_t> known;
  std::vector<field_runs> all;
  for (const row& r : m.rows) {
    if (r.wrong() || !r.course || moments_of(r).empty() || r.course->is_log()) continue;
    const auto [at, is_new] = known.emplace(r.machine, all.size());
    if (is_new) all.push_back({r.machine, {}, &r});
    field_runs& of_machine = all[at->second];
    of_machine.by.push_back(&r);
    if (moments_of(r).size() >= moments_of(*of_machine.shown).size()) of_machine.shown = &r;
  }
  for (field_runs& f : all)
    std::erase_if(f.by, [&](const row* r) { return hash_function_of(*r) != hash_function_of(*f.shown); });
  return all;
}

html image(const std::string& base64, const std::string& words) {
  return empty_tag("img", {{"src", "data:image/png;base64," + base64}, {"alt", words}});
}

std::string text_of(std::optional<double> value) { return value ? significant(*value, 3) : "–"; }
html code_of(const std::string& hash) { return hash.empty() ? html("–") : tag("code", html::text(hash)); }

html picture_of(const record::moment& m, std::size_t room) {
  const std::string name = "step " + count(*m.step);
  const html shown = m.picture_png.empty()         ? paragraph("no picture")
                     : m.picture_png.size() > room ? paragraph("no room for its picture")
                                                   : image(m.picture_png, "The field at " + name);
  return tag("figure",
             shown + tag("figcaption",
                         tag("strong", html::text(name)) + tag("div", html::text("time " + text_of(m.simulated_time))) +
                             tag("div", html::text("residual " + text_of(m.residual))) + tag("div", code_of(m.hash))));
}

/// A legend of the colours.
html palette() {
  io::picture ramp{256, 1, {}};
  for (unsigned value = 0; value < 256; ++value) ramp.pixels.push_back(static_cast<std::uint8_t>(value));
  const io::palette colours = io::perceptual_palette();
  return tag("div", {{"class", "palette note"}},
             tag("span", "0") + image(io::base64(io::encode_png(ramp, &colours)), "from dark blue to light yellow") +
                 tag("span", "1"));
}

html numbers(const std::vector<record::moment>& moments) {
  std::vector<std::vector<html>> rows;
  for (const record::moment& m : moments)
    rows.push_back({html::text(count(*m.step)), html::text(text_of(m.simulated_time)), html::text(text_of(m.residual)),
                    code_of(m.hash),
                    !m.published_hash           ? html()
                    : m.differs_from_document() ? tag("strong", {{"class", "wrong"}}, "NOT as the original")
                                                : html("as the original")});
  return table("The moments that were kept.", {"step", "simulated time", "residual", "hash", ""}, rows);
}

html residual_figure(const std::vector<record::moment>& moments, page_builder& page) {
  json points = json::array();
  for (const record::moment& m : moments)  // on logarithmic axes the start, whose residual is 0, cannot be drawn
    if (*m.step > 0 && m.residual && *m.residual > 0)
      points.push_back(chart_point(static_cast<double>(*m.step), {*m.residual, {}, {}}, true));
  const json lines = json::array({chart_line("residual", role::tilewise, 0, std::move(points))});
  if (!has_enough_points(lines)) return folded("The numbers", numbers(moments));
  const json chart{{"kind", "lines"},  {"x", "steps"},     {"y", "residual"},
                   {"unit", "number"}, {"counts", "step"}, {"lines", lines}};
  const record::moment& last = moments.back();
  return page.figure(chart, "Residual against time.",
                     "The weighted squared distance from the analytical solution is " + text_of(last.residual) +
                         " after " + count(*last.step) + " steps.",
                     numbers(moments));
}

std::string runner_of(const row& r) { return r.variant + " on " + r.device; }

/// Whether all runs have the same hash at each step, wherever they stopped.
bool agree(const field_runs& f) {
  std::map<std::uint64_t, std::string> known;
  for (const row* r : f.by)
    for (const record::moment& m : moments_of(*r))
      if (known.emplace(*m.step, m.hash).first->second != m.hash) return false;
  return true;
}

html bits_of(const field_runs& f, const std::vector<record::moment>& moments) {
  constexpr std::size_t most_runs = 20;  // a sentence cannot hold more
  std::string runs;
  for (std::size_t i = 0; i < std::min(f.by.size(), most_runs); ++i)
    runs += (i == 0 ? "" : ", ") + clipped(runner_of(*f.by[i]), page_limits::name);
  if (f.by.size() > most_runs) runs += " and " + count(f.by.size() - most_runs) + " more";
  html told = agree(f) ? paragraph("Every variant whose bits were verified gives the same field" +
                                   (f.by.size() > 1 ? "; at every step shown, these agree: " + runs : "") + ".")
                       : tag("p", {{"class", "wrong"}}, html::text("The bits are NOT equal: " + runs + "."));
  for (const record::moment& m : moments) {
    if (!m.published_hash) continue;
    const std::string original = "of the document’s own serial program.";
    const std::string sentence = "After " + count(*m.step) + " steps the hash is " + m.hash;
    told += m.differs_from_document()
                ? tag("p", {{"class", "wrong"}}, html::text(sentence + ", NOT " + *m.published_hash + " " + original))
                : paragraph(sentence + ", that " + original);
  }
  return told;
}

html told(const field_runs& f, page_builder& page) {
  constexpr std::size_t most_moments = 100;  // a document has a dozen
  const row& shown = *f.shown;
  std::vector<record::moment> moments = moments_of(shown);
  const std::size_t unsaid = moments.size() - std::min(moments.size(), most_moments);
  moments.resize(moments.size() - unsaid);
  html pictures, words;
  for (const record::moment& m : moments)
    pictures += picture_of(m, page_limits::section - std::min(pictures.size(), page_limits::section));
  pictures += left_out(unsaid, "moments");
  words += paragraph("Computed by " + runner_of(shown) + " of " + f.machine + ", the fastest variant of that device.");
  words += bits_of(f, moments);
  if (const auto& why = shown.course->stopped)
    words += paragraph("It ends with step " + count(*moments.back().step) + ": " + *why + ".");
  return tag("div", {{"class", "field"}}, pictures) + palette() +
         tag("div", {{"class", "figures"}}, residual_figure(moments, page) + tag("div", words));
}

}  // namespace

html field_section(const model& m, page_builder& page) {
  const std::vector<field_runs> all = runs_of(m);
  if (all.empty()) return {};
  html fields;
  std::size_t shown = 0;
  for (; shown < all.size() && fields.size() < page_limits::section; ++shown) fields += told(all[shown], page);
  fields += left_out(all.size() - shown, "machines");
  return paragraph(
             "The diffusion benchmark from its start; the tables time a hundred of its steps. Two strips, at the lower "
             "left and the upper right, are held at 1 and spread into the field, which is 0 at first.") +
         fields;
}

}  // namespace tilewise::report
