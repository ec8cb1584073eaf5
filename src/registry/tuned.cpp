// SPDX-License-Identifier: Apache-2.0
#include "registry/tuned.hpp"

#include "backend/backend.hpp"
#include "base/disk_cache.hpp"
#include "base/lasting.hpp"
#include "base/printable.hpp"
#include "registry/catalog.hpp"

#include <tilewise/error.hpp>
#include <tilewise/version.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

namespace tilewise::registry {

namespace {

const std::vector<tuned>& applied_tunings() {
  static const std::vector<tuned>& all = base::lasting([] {
    std::vector<tuned> applied = read_tunings().all;
    std::erase_if(applied, [](const tuned& t) { return !t.is_applied || t.is_default(); });
    return applied;
  });
  return all;
}

}  // namespace

bool tuned::holds_for(const registry::variant& v, const registry::problem& p) const {
  return by == &v && problem.type == p.type && problem.setting == p.setting &&
         size_class(problem.shape) == size_class(p.shape);
}

extents size_class(const extents& shape) {
  extents sizes = shape;
  for (unsigned i = 0; i < shape.rank; ++i) sizes.size[i] = static_cast<std::uint64_t>(std::bit_width(shape[i])) / 2;
  return sizes;
}

std::string key_of_device(const device_info& info) {
  return base::without_controls(info.backend + ": " + backend::identity_of(info), "");
}

const tuned* find_tuned(std::span<const tuned> among, const variant& v, const problem& p, const device_info& on) {
  const auto found = std::find_if(among.begin(), among.end(), [&](const tuned& t) {
    return t.holds_for(v, p) && t.device == key_of_device(on);  // the cheaper question first
  });
  return found == among.end() ? nullptr : &*found;
}

starting_tuning tuning_to_start_with(const variant& v, const problem& p, const backend::device& on) {
  const tuned* applied = nullptr;
  if (!v.tuning.empty() && !applied_tunings().empty()) applied = find_tuned(applied_tunings(), v, p, on.info());
  if (applied == nullptr || !v.unsupported(p, on, applied->best).empty()) return {default_tuning(v.tuning)};
  return {applied->best, applied};
}

namespace {

constexpr std::string_view heading = "tilewise tunings 1, of ";
constexpr std::string_view this_version = TILEWISE_VERSION;

struct bad_form {};

/// The parts of the text between separators, including an empty last one.
std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(separator); end != text.npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

template <class T>
T number_from(std::string_view text) {
  T value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) throw bad_form();
  return value;
}

double positive_from(std::string_view text) {
  const auto value = number_from<double>(text);
  if (!std::isfinite(value) || value <= 0) throw bad_form();
  return value;
}

std::string text_of(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

extents shape_from(std::string_view text) {
  extents shape;
  for (const std::string_view size : parts_of(text, 'x')) {
    if (shape.rank == shape.size.size()) throw bad_form();
    shape.size[shape.rank++] = number_from<std::uint64_t>(size);
  }
  return shape;
}

dtype type_from(std::string_view text) {
  for (const dtype type : all_dtypes)
    if (name_of(type) == text) return type;
  throw bad_form();
}

std::string settings_of(const problem& p) {
  std::string text;
  for (const auto& [name, word] : named_settings(p))
    text += (text.empty() ? "" : " ") + std::string(name) + "=" + std::string(word);
  return text;
}

void set_from(problem& p, std::string_view text) {
  if (text.empty()) return;
  for (const std::string_view setting : parts_of(text, ' ')) {
    const std::size_t middle = setting.find('=');
    if (middle == setting.npos) throw bad_form();
    choose_setting(p, setting.substr(0, middle), setting.substr(middle + 1));
  }
}

std::string line_of(const tuned& t) {
  std::string line = t.device;
  for (const std::string& column :
       {t.by->id(), std::string(name_of(t.problem.type)), to_string(t.problem.shape), settings_of(t.problem),
        changes_of(t.best, t.by->tuning), std::string(t.is_applied ? "applied" : "kept"), t.time_utc,
        text_of(t.default_ns), text_of(t.gain), text_of(t.gain_lo), text_of(t.gain_hi)})
    line += "\t" + column;
  return line + "\n";
}

/// Throws `bad_form`, or tilewise::error for a variant or tuning that this build does not have.
tuned tuned_from(std::string_view line) {
  const std::vector<std::string_view> column = parts_of(line, '\t');
  if (column.size() != 12 || (column[6] != "applied" && column[6] != "kept")) throw bad_form();
  tuned t{.device = std::string(column[0]),
          .by = nullptr,
          .problem = {.what = nullptr, .type = type_from(column[2]), .shape = shape_from(column[3])},
          .best = {},
          .is_applied = column[6] == "applied",
          .time_utc = std::string(column[7]),
          .default_ns = positive_from(column[8]),
          .gain = positive_from(column[9]),
          .gain_lo = positive_from(column[10]),
          .gain_hi = positive_from(column[11])};
  t.by = &find_variant(column[1]);
  t.problem.what = &find_algorithm(t.by->algorithm);
  set_from(t.problem, column[4]);
  t.best = parse_tuning(column[5], t.by->tuning);
  return t;
}

/// The version is in the entry's text, not in its key, so that a message can name another version's entry.
std::string key_of_entry() { return base::cache_key({"tunings"}); }

}  // namespace

std::string to_text(std::span<const tuned> all) {
  std::string text = std::string(heading) + std::string(this_version) + "\n";
  for (const tuned& t : all) text += line_of(t);
  return text;
}

kept_tunings tunings_from(std::string_view text) {
  std::vector<std::string_view> lines = parts_of(text, '\n');
  if (!lines.front().starts_with(heading) || !lines.back().empty()) return {{}, "they do not have this version's form"};
  if (lines.front().substr(heading.size()) != this_version) return {{}, "they were measured by another version"};
  kept_tunings kept;
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) try {
      kept.all.push_back(tuned_from(lines[i]));
    } catch (const error&) {
      // The line names a backend or a variant that this build lacks: skip it.
    } catch (const bad_form&) {
      return {{}, "they do not have this version's form"};
    }
  return kept;
}

kept_tunings read_tunings() {
  const base::disk_cache cache(base::missing_folder::stays);
  const auto kept = cache.find(key_of_entry());
  if (!kept) return {{}, cache.has_entry(key_of_entry()) ? "they are damaged, or another user may write to them" : ""};
  return tunings_from({reinterpret_cast<const char*>(kept->data()), kept->size()});
}

bool write_tunings(std::span<const tuned> all) {
  const std::string text = to_text(all);
  const base::disk_cache cache;
  cache.store(key_of_entry(), {reinterpret_cast<const unsigned char*>(text.data()), text.size()});
  const auto kept = cache.find(key_of_entry());
  return kept && std::equal(kept->begin(), kept->end(), text.begin(), text.end(),
                            [](unsigned char a, char b) { return a == static_cast<unsigned char>(b); });
}

bool can_keep_tunings() { return base::disk_cache().usable(); }

}  // namespace tilewise::registry
