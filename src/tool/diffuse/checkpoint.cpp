// SPDX-License-Identifier: Apache-2.0
// Checkpoints of `tilewise diffuse`: the field as .npy, and checkpoint.json, which says what it belongs to.
#include "base/printable.hpp"
#include "io/file_identity.hpp"
#include "io/npy.hpp"
#include "io/replacement_file.hpp"
#include "tool/diffuse/folder.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

namespace tilewise::hiperc {

namespace {

using nlohmann::json;

constexpr const char* schema = "tilewise.diffuse/3";
constexpr const char* started_anew = "; remove the checkpoint, and start without --resume";

/// What the field depends on. ns and nc may change: a run may go on for longer.
json identity_of(const parameters& p, dtype type) {
  return {{"nx", p.nx}, {"ny", p.ny}, {"dx", p.dx},     {"dy", p.dy},
          {"dc", p.dc}, {"co", p.co}, {"mask", p.mask}, {"dtype", name_of(type)}};
}

/// JSON has no infinities or NaNs, which the residual of an unstable run may become: they are written as words.
json json_of(double value) {
  return std::isfinite(value) ? json(value) : json(base::to_string(base::scalar_value::of(value)));
}

double number_of(const json& value) {
  if (value.is_string()) try {
      return base::parse_number(value.get<std::string>(), dtype::f64).as<double>();
    } catch (const error&) {
      // Not one of these words; get() says so.
    }
  return value.get<double>();
}

/// For a message. Arrays and objects are not written out: they may nest deeper than the stack reaches.
std::string text_of(const json& value) {
  return value.is_structured() ? "something else" : base::printable(value.dump());
}

/// A reference exists only to a whole number; get() would convert -1 and 7.9.
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

/// The field that a checkpoint goes on from.
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
  io::replacement_file out((folder_ / checkpoint_name).string());
  const std::string text = checkpoint.dump(1) + "\n";
  out.write(std::as_bytes(std::span(text)));
  out.commit();
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
    text.open(path);  // a pipe would be waited for
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
