// SPDX-License-Identifier: Apache-2.0
#include "tool/diffuse/folder.hpp"

#include "base/printable.hpp"
#include "io/file_identity.hpp"
#include "io/npy.hpp"
#include "io/png.hpp"
#include "io/replacement_file.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>

namespace tilewise::hiperc {

namespace {

constexpr std::string_view of_a_step = "diffusion.";

/// Prints into a buffer that is large enough for most lines. A longer one is printed again; the largest double has 309
/// digits before its point.
std::string format(const char* pattern, auto... values) {
  std::string text(100, '\0');
  const auto print = [&] {
    return static_cast<std::size_t>(std::snprintf(text.data(), text.size() + 1, pattern, values...));
  };
  const std::size_t size = print();
  const bool fits = size <= text.size();
  text.resize(size);
  if (!fits) print();
  return text;
}

void write_text(const std::string& path, const std::string& text) {
  io::replacement_file out(path);
  out.write(std::as_bytes(std::span(text)));
  out.commit();
}

}  // namespace

output_folder::output_folder(const std::string& path) : folder_(path) {
  std::error_code failure;
  std::filesystem::create_directories(folder_, failure);
  if (failure) throw error(errc::io, base::printable(path) + ": cannot be created as a folder: " + failure.message());
}

bool output_folder::is_name_of_output(const std::string& name) {
  const bool is_of_a_step = name.starts_with(of_a_step) && name.find_first_of("0123456789") == of_a_step.size();
  return is_of_a_step || name == runlog_name || name == checkpoint_name;
}

std::set<std::string> output_folder::files() const {
  std::set<std::string> found;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(folder_, failure), end; !failure && at != end; at.increment(failure)) {
    if (!is_name_of_output(at->path().filename())) continue;
    found.insert(at->path().string());
    if (at->is_symlink(failure))
      if (const std::string to = io::name_within_folder(io::destination(at->path())); is_name_of_output(to))
        found.insert((folder_ / to).string());
  }
  return found;
}

std::string output_folder::file(const snapshot& shot, const std::string& ending) const {
  const std::string name = format("%07llu%s", static_cast<unsigned long long>(shot.step), ending.c_str());
  return (folder_ / (std::string(of_a_step) + name)).string();
}

void output_folder::write_pictures(const snapshot& shot) const {
  const io::picture image = picture_of(shot);
  static const io::palette colours = io::perceptual_palette();
  io::write_png(file(shot, ".png"), image);
  io::write_png(file(shot, ".colour.png"), image, &colours);
}

void output_folder::write_table(const snapshot& shot) const {
  const parameters& p = shot.parameters;
  const field_view field(shot);
  const std::int64_t around = shot.shown_ghosts();
  io::replacement_file out(file(shot, ".csv"));
  std::string text = "x,y,c\n";
  for (std::int64_t j = -around; j < field.rows() + around; ++j) {
    for (std::int64_t i = -around; i < field.columns() + around; ++i)
      text += format("%f,%f,%f\n", p.dx * static_cast<double>(i + around), p.dy * static_cast<double>(j + around),
                     field.at(j, i));
    out.write(std::as_bytes(std::span(text)));
    text.clear();
  }
  out.commit();
}

void output_folder::write_runlog(std::span<const runlog_row> rows) const {
  std::string text = "iter,sim_time,wrss,conv_time,step_time,IO_time,soln_time,run_time\n";
  for (const runlog_row& row : rows)
    text += format("%llu,%f,%f,%f,%f,%f,%f,%f\n", static_cast<unsigned long long>(row.step), row.time, row.residual,
                   row.steps_s, 0.0, row.files_s, row.residuals_s, row.all_s);
  write_text((folder_ / runlog_name).string(), text);
}

namespace {

// Checkpoints: the field as .npy, and checkpoint.json, which says what it belongs to.

using nlohmann::json;

constexpr const char* schema = "tilewise.diffuse/3";
constexpr const char* started_anew = "; remove the checkpoint, and start without --resume";

/// The parameters that the field depends on. ns and nc may change, since a run may be continued for longer.
json identity_of(const parameters& p, dtype type) {
  return {{"nx", p.nx}, {"ny", p.ny}, {"dx", p.dx},     {"dy", p.dy},
          {"dc", p.dc}, {"co", p.co}, {"mask", p.mask}, {"dtype", name_of(type)}};
}

/// JSON has no infinities or NaNs, which the residual of an unstable run may become, so they are written as words.
json json_of(double value) {
  return std::isfinite(value) ? json(value) : json(base::to_string(base::scalar_value::of(value)));
}

double number_of(const json& value) {
  if (value.is_string()) try {
      return base::parse_number(value.get<std::string>(), dtype::f64).as<double>();
    } catch (const error&) {
      // Not one of these words: get() throws.
    }
  return value.get<double>();
}

/// A value as text for a message. Arrays and objects are not shown, since they may nest deeper than the stack allows.
std::string text_of(const json& value) {
  return value.is_structured() ? "something else" : base::printable(value.dump());
}

/// Accepts only an unsigned whole number, by asking for a reference; get() would convert -1 and 7.9.
std::uint64_t step_of(const json& value) { return value.get_ref<const json::number_unsigned_t&>(); }

json row_json(const runlog_row& r) {
  return {r.step, json_of(r.time), json_of(r.residual), r.steps_s, r.files_s, r.residuals_s, r.all_s};
}

runlog_row row_of(const json& r) {
  return {step_of(r.at(0)),      number_of(r.at(1)),    number_of(r.at(2)),   r.at(3).get<double>(),
          r.at(4).get<double>(), r.at(5).get<double>(), r.at(6).get<double>()};
}

void require_same(const std::string& path, const json& then, const json& now) {
  for (const auto& [name, value] : now.items())
    if (then.at(name) != value)
      throw error(errc::invalid_argument, path + " is of a run with " + name + " = " + text_of(then.at(name)) +
                                              ", not " + text_of(value) +
                                              "; continue with its parameters, or choose another folder");
}

/// Reads the field with which a checkpoint continues.
io::npy_array field_in(const std::string& file, const std::string& checkpoint) {
  try {
    return io::read_npy(file);
  } catch (const error& e) {
    if (e.code() != errc::io) throw;
    throw error(errc::io, std::string(e.what()) + ", and " + checkpoint + " goes on from it" + started_anew);
  }
}

}  // namespace

void output_folder::write_checkpoint(const snapshot& shot, std::span<const runlog_row> rows) const {
  const diffusion d = shot.parameters.problem(0);
  const std::array<std::uint64_t, 2> shape{d.rows, d.columns};
  const std::filesystem::path field = file(shot, ".npy");
  io::write_npy(field.string(), shot.type, shape, shot.field);
  json checkpoint{{"schema", schema},
                  {"parameters", identity_of(shot.parameters, shot.type)},
                  {"step", shot.step},
                  {"time", json_of(shot.time)},
                  {"field", field.filename().string()},
                  {"hash", hash_of(shot)},
                  {"runlog", json::array()}};
  for (const runlog_row& row : rows) checkpoint["runlog"].push_back(row_json(row));
  write_text((folder_ / checkpoint_name).string(), checkpoint.dump(1) + "\n");
}

void output_folder::require_no_progress() const {
  const std::filesystem::path named = folder_ / checkpoint_name, path = io::destination(named);
  if (std::error_code unknown; !std::filesystem::is_regular_file(path, unknown)) return;
  const json checkpoint = json::parse(std::ifstream(path), nullptr, false);
  const json step = checkpoint.is_object() ? checkpoint.value("step", json()) : json();
  if (step.is_number() && step == 0) return;
  const std::string shown = base::printable(named.string());
  if (!step.is_number())
    throw error(
        errc::invalid_argument,
        shown + " is no checkpoint that can be read, and would be written over; choose another folder, or remove it");
  throw error(errc::invalid_argument,
              shown + " is of step " + step.dump() +
                  "; --resume continues from it; otherwise choose another folder, or remove it");
}

snapshot output_folder::read_checkpoint(const parameters& p, dtype type, std::vector<runlog_row>& rows) const {
  const std::filesystem::path path = folder_ / checkpoint_name;
  const std::string shown = base::printable(path.string());
  std::ifstream text;
  if (std::error_code unknown; std::filesystem::is_regular_file(path, unknown))
    text.open(path);  // opening a pipe would wait
  if (!text.is_open()) throw error(errc::io, shown + ": cannot be read; start without --resume");
  try {
    const json checkpoint = json::parse(text);
    if (const std::string written = checkpoint.at("schema").get<std::string>(); written != schema)
      throw error(errc::io, shown + " is of another version, " + base::printable(written) + " instead of " + schema +
                                "; continue with the Tilewise that wrote it, or remove it and start without --resume");
    require_same(shown, checkpoint.at("parameters"), identity_of(p, type));
    const std::string name = checkpoint.at("field").get<std::string>();
    snapshot shot{p, type, step_of(checkpoint.at("step")), number_of(checkpoint.at("time")), {}};
    const std::filesystem::path field = file(shot, ".npy");
    if (name != field.filename())
      throw error(errc::io, shown + " is of step " + std::to_string(shot.step) + ", but its field is " +
                                base::printable(name) + started_anew);
    const io::npy_array array = field_in(field.string(), shown);
    shot.field.assign(array.data.begin(), array.data.end());
    const diffusion d = p.problem(0);
    const bool fits = array.type == type && array.shape == std::vector<std::uint64_t>{d.rows, d.columns};
    if (!fits || hash_of(shot) != checkpoint.at("hash").get<std::string>())
      throw error(errc::io, base::printable(name) + " is not the field that " + shown + " describes" + started_anew);
    for (const json& row : checkpoint.at("runlog")) rows.push_back(row_of(row));
    return shot;
  } catch (const json::exception&) {
    throw error(errc::io, shown + ": is not a checkpoint of tilewise diffuse" + started_anew);
  }
}

}  // namespace tilewise::hiperc
