#include "cli/diffuse_output.hpp"

#include "io/npy.hpp"
#include "io/number.hpp"
#include "io/png.hpp"
#include "io/printable.hpp"
#include "io/replacement_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace tilewise::cli {

namespace {

std::string format(const char* pattern, auto... values) {
  std::array<char, 512> text;
  return {text.data(), static_cast<std::size_t>(std::snprintf(text.data(), text.size(), pattern, values...))};
}

void write_text(const std::string& path, const std::string& text) {
  io::replacement_file out(path);
  out.write(std::as_bytes(std::span(text)));
  out.commit();
}

/// The original's pictures and tables leave out one ring of its points, so that with two rings of ghosts one is in.
std::int64_t shown_ghosts(const diffuse_state& state) {
  return static_cast<std::int64_t>(state.parameters.ghosts()) - 1;
}

/// From a point to the segment x = at, y from `low` to `high`.
double distance(double x, double y, double at, double low, double high) {
  const double beyond = y < low ? low - y : y > high ? y - high : 0;
  return std::sqrt((x - at) * (x - at) + beyond * beyond);
}

}  // namespace

double diffuse_state::at(std::int64_t row, std::int64_t column) const {
  const diffusion d = parameters.problem(step);
  const std::int64_t j = std::clamp<std::int64_t>(row, 0, static_cast<std::int64_t>(d.rows) - 1);
  const std::int64_t i = std::clamp<std::int64_t>(column, 0, static_cast<std::int64_t>(d.columns) - 1);
  const auto index = static_cast<std::uint64_t>(j) * d.columns + static_cast<std::uint64_t>(i);
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, field.data() + index * sizeof value, sizeof value);
    return static_cast<double>(value);
  };
  return type == dtype::f32 ? as(float{}) : as(double{});
}

double diffuse_state::elapsed() const {
  double time = 0;
  for (std::uint64_t done = 0; done < step; ++done) time += parameters.time_step();
  return time;
}

diffuse_state start_of(const diffuse_parameters& parameters, dtype type) {
  const diffusion d = parameters.problem(0);
  diffuse_state state{parameters, type, 0, std::vector<std::byte>(d.rows * d.columns * size_of(type))};
  const auto set = [&](std::uint64_t index, auto one) {
    std::memcpy(state.field.data() + index * sizeof one, &one, sizeof one);
  };
  for (std::uint64_t j = 0; j < d.rows; ++j) {
    const std::uint64_t index = j * d.columns + (j < d.rows / 2 ? 0 : d.columns - 1);
    type == dtype::f32 ? set(index, 1.0f) : set(index, 1.0);
  }
  return state;
}

std::string hash_of(const diffuse_state& state) {
  std::uint64_t hash = 1469598103934665603u;
  for (const std::byte byte : state.field) hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3u;
  return io::hex_digits(hash, 16);
}

double residual_of(const diffuse_state& state) {
  if (state.step == 0) return 0;
  const diffuse_parameters& p = state.parameters;
  const auto g = static_cast<double>(p.ghosts()), nx = static_cast<double>(p.nx), ny = static_cast<double>(p.ny);
  const auto half = static_cast<double>(p.ny / 2);
  const double width = std::sqrt(4.0 * p.dc * state.elapsed()), points = (nx - 1 - g) * (ny - 1 - g);
  const diffusion d = p.problem(0);
  double sum = 0;
  for (std::uint64_t j = 0; j < d.rows; ++j)
    for (std::uint64_t i = 0; i < d.columns; ++i) {
      const double x = p.dx * (static_cast<double>(i) + g), y = p.dy * (static_cast<double>(j) + g);
      const double left = distance(x, y, p.dx * g, p.dy * g, p.dy * half);
      const double right = distance(x, y, p.dx * (nx - 1 - g), p.dy * half, p.dy * (ny - 1 - g));
      const double difference = std::erfc(left / width) + std::erfc(right / width) -
                                state.at(static_cast<std::int64_t>(j), static_cast<std::int64_t>(i));
      sum += difference * difference / points;
    }
  return sum;
}

diffuse_folder::diffuse_folder(const std::string& path) : folder_(path) {
  std::error_code failure;
  std::filesystem::create_directories(folder_, failure);
  if (failure) throw error(errc::io, io::printable(path) + ": cannot be made a folder: " + failure.message());
}

std::string diffuse_folder::file(const diffuse_state& state, const std::string& ending) const {
  return (folder_ / format("diffusion.%07llu%s", static_cast<unsigned long long>(state.step), ending.c_str())).string();
}

void diffuse_folder::write_pictures(const diffuse_state& state) const {
  const diffusion d = state.parameters.problem(0);
  const std::int64_t around = shown_ghosts(state);
  const auto rows = static_cast<std::int64_t>(d.rows), columns = static_cast<std::int64_t>(d.columns);
  io::picture image{
      static_cast<std::uint32_t>(columns + 2 * around), static_cast<std::uint32_t>(rows + 2 * around), {}};
  for (std::int64_t j = rows - 1 + around; j >= -around; --j)
    for (std::int64_t i = -around; i < columns + around; ++i) {
      const double c = state.at(j, i);
      image.pixels.push_back(static_cast<std::uint8_t>(c > 0 ? 255 * std::min(c, 1.0) : 0));
    }
  static const io::palette colours = io::perceptual_palette();
  io::write_png(file(state, ".png"), image);
  io::write_png(file(state, ".colour.png"), image, &colours);
}

void diffuse_folder::write_table(const diffuse_state& state) const {
  const diffuse_parameters& p = state.parameters;
  const diffusion d = p.problem(0);
  const std::int64_t around = shown_ghosts(state);
  const auto rows = static_cast<std::int64_t>(d.rows), columns = static_cast<std::int64_t>(d.columns);
  io::replacement_file out(file(state, ".csv"));
  std::string text = "x,y,c\n";
  for (std::int64_t j = -around; j < rows + around; ++j) {
    for (std::int64_t i = -around; i < columns + around; ++i)
      text += format("%f,%f,%f\n", p.dx * static_cast<double>(i + around), p.dy * static_cast<double>(j + around),
                     state.at(j, i));
    out.write(std::as_bytes(std::span(text)));
    text.clear();
  }
  out.commit();
}

void diffuse_folder::write_runlog(std::span<const runlog_row> rows) const {
  std::string text = "iter,sim_time,wrss,conv_time,step_time,IO_time,soln_time,run_time\n";
  for (const runlog_row& row : rows)
    text += format("%llu,%f,%f,%f,%f,%f,%f,%f\n", static_cast<unsigned long long>(row.step), row.time, row.residual,
                   row.steps_s, 0.0, row.files_s, row.residuals_s, row.all_s);
  write_text((folder_ / "runlog.csv").string(), text);
}

}  // namespace tilewise::cli
