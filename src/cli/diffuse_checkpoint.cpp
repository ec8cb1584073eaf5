// Checkpoints of `tilewise diffuse`: the field as .npy, and checkpoint.json, which says what it belongs to.
#include "cli/diffuse_output.hpp"
#include "io/npy.hpp"
#include "io/printable.hpp"
#include "io/replacement_file.hpp"

#include <nlohmann/json.hpp>

#include <fstream>

namespace tilewise::cli {

using lab::diffuse_parameters;
using lab::diffuse_state;

namespace {

using nlohmann::json;

constexpr const char* checkpoint_name = "checkpoint.json";

/// What the field depends on. ns and nc may change: a run may go on for longer.
json identity_of(const diffuse_parameters& p, dtype type) {
  return {{"nx", p.nx}, {"ny", p.ny}, {"dx", p.dx},     {"dy", p.dy},
          {"dc", p.dc}, {"co", p.co}, {"mask", p.mask}, {"dtype", name_of(type)}};
}

json row_json(const runlog_row& r) {
  return {r.step, r.time, r.residual, r.steps_s, r.files_s, r.residuals_s, r.all_s};
}

runlog_row row_of(const json& r) {
  return {r.at(0).get<std::uint64_t>(), r.at(1).get<double>(), r.at(2).get<double>(), r.at(3).get<double>(),
          r.at(4).get<double>(),        r.at(5).get<double>(), r.at(6).get<double>()};
}

void require_same(const std::string& path, const json& then, const json& now) {
  for (const auto& [name, value] : now.items())
    if (then.at(name) != value)
      throw error(errc::invalid_argument, path + " is of a run with " + name + " = " + then.at(name).dump() + ", not " +
                                              value.dump() + "; go on with its parameters, or start without --resume");
}

}  // namespace

void diffuse_folder::write_checkpoint(const diffuse_state& state, std::span<const runlog_row> rows) const {
  const diffusion d = state.parameters.problem(0);
  const std::array<std::uint64_t, 2> shape{d.rows, d.columns};
  const std::string field = file(state, ".npy");
  io::write_npy(field, state.type, shape, state.field);
  json checkpoint{{"schema", "tilewise.diffuse/1"},
                  {"parameters", identity_of(state.parameters, state.type)},
                  {"step", state.step},
                  {"field", std::filesystem::path(field).filename().string()},
                  {"hash", hash_of(state)},
                  {"runlog", json::array()}};
  for (const runlog_row& row : rows) checkpoint["runlog"].push_back(row_json(row));
  io::replacement_file out((folder_ / checkpoint_name).string());
  const std::string text = checkpoint.dump(1) + "\n";
  out.write(std::as_bytes(std::span(text)));
  out.commit();
}

diffuse_state diffuse_folder::read_checkpoint(const diffuse_parameters& parameters, dtype type,
                                              std::vector<runlog_row>& rows) const {
  const std::filesystem::path path = folder_ / checkpoint_name;
  const std::string shown = io::printable(path.string());
  std::ifstream file(path);
  if (!file) throw error(errc::io, shown + ": cannot be read; start without --resume");
  try {
    const json checkpoint = json::parse(file);
    require_same(shown, checkpoint.at("parameters"), identity_of(parameters, type));
    const std::string name = checkpoint.at("field").get<std::string>();
    io::npy_array array = io::read_npy((folder_ / std::filesystem::path(name).filename()).string());
    diffuse_state state{parameters, type, checkpoint.at("step").get<std::uint64_t>(), std::move(array.data)};
    const diffusion d = parameters.problem(0);
    const bool fits = array.type == type && array.shape == std::vector<std::uint64_t>{d.rows, d.columns};
    if (!fits || hash_of(state) != checkpoint.at("hash").get<std::string>())
      throw error(errc::io,
                  io::printable(name) + " is not the field that " + shown + " tells of; start without --resume");
    for (const json& row : checkpoint.at("runlog")) rows.push_back(row_of(row));
    return state;
  } catch (const json::exception&) {
    throw error(errc::io, shown + ": is no checkpoint of tilewise diffuse; start without --resume");
  }
}

}  // namespace tilewise::cli
