// SPDX-License-Identifier: Apache-2.0
#include "tool/tune/figures_record.hpp"

#include "backend/backend.hpp"
#include "base/disk_cache.hpp"
#include "tool/kept_json.hpp"

#include <tilewise/version.hpp>

#include <nlohmann/json.hpp>

#include <cmath>

namespace tilewise::cli {

namespace {

using lab::device_figures;
using lab::growth;
using lab::machine_figures;
using nlohmann::json;

template <class Figures, class Visit>
void each_number(Figures& f, const Visit& visit) {
  visit("start_ns", f.start_ns);
  visit("latency_ns", f.latency_ns);
  visit("upload_bytes_per_s", f.upload_bytes_per_s);
  visit("download_bytes_per_s", f.download_bytes_per_s);
  visit("pieces_from_bytes", f.pieces_from_bytes);
}

struct bad_figure {};

double number_at(const json& of, const char* key, double least) {
  const double value = of.at(key);
  if (!std::isfinite(value) || value < least) throw bad_figure();
  return value;
}

constexpr double positive = 1e-9;

json to_json(const device_figures& f) {
  json told{{"name", f.name}, {"identity", f.identity}, {"computing", json::object()}};
  each_number(f, [&](const char* key, double value) { told[key] = value; });
  for (const auto& [name, g] : f.computing) told["computing"][name] = {g.operations, g.ns, g.power};
  return told;
}

device_figures device_from(const json& told) {
  device_figures f;
  f.name = told.at("name");
  f.identity = told.at("identity");
  each_number(f, [&](const char* key, double& value) { value = number_at(told, key, 0); });
  for (const auto& [name, g] : told.at("computing").items()) {
    const growth read{.operations = g.at(0), .ns = g.at(1), .power = g.at(2)};
    if (!(read.operations >= positive && read.ns >= positive && read.power >= 0 && read.power <= 1)) throw bad_figure();
    f.computing.emplace(name, read);
  }
  return f;
}

machine_figures figures_from(const json& told) {
  machine_figures all{.read_bytes_per_s = number_at(told, "read_bytes_per_s", positive),
                      .cpu = device_from(told.at("cpu")),
                      .device = {}};
  if (told.at("device").is_null()) return all;
  all.device = device_from(told.at("device"));
  if (all.device->upload_bytes_per_s < positive || all.device->download_bytes_per_s < positive) throw bad_figure();
  return all;
}

std::string key_of(const device_info& cpu) {
  return base::cache_key({"figures", TILEWISE_VERSION, backend::identity_of(cpu)});
}

}  // namespace

kept_figures find_figures(const device_info& cpu) {
  const kept_json kept = find_kept(key_of(cpu));
  if (!kept.text) return {{}, kept.is_damaged ? "they are damaged, or another user may write to them" : ""};
  try {
    return {figures_from(json::parse(*kept.text)), ""};
  } catch (const json::exception&) {
    return {{}, "they do not have this version's form"};
  } catch (const bad_figure&) {
    return {{}, "a figure among them is not possible"};
  }
}

bool keep_figures(const machine_figures& figures, const device_info& cpu) {
  keep(key_of(cpu), {{"read_bytes_per_s", figures.read_bytes_per_s},
                     {"cpu", to_json(figures.cpu)},
                     {"device", figures.device ? to_json(*figures.device) : json()}});
  return find_figures(cpu).figures == figures;
}

}  // namespace tilewise::cli
