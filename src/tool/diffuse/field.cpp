// SPDX-License-Identifier: Apache-2.0
#include "tool/diffuse/field.hpp"

#include "base/number.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tilewise::hiperc {

namespace {

/// The distance from a point to the segment x = at, y from `low` to `high`.
double distance(double x, double y, double at, double low, double high) {
  const double beyond = y < low ? low - y : y > high ? y - high : 0;
  return std::sqrt((x - at) * (x - at) + beyond * beyond);
}

}  // namespace

field_view::field_view(const snapshot& shot) : field_(shot.field.data()), type_(shot.type) {
  const diffusion d = shot.parameters.problem(0);
  rows_ = static_cast<std::int64_t>(d.rows), columns_ = static_cast<std::int64_t>(d.columns);
}

double field_view::at(std::int64_t row, std::int64_t column) const {
  const std::int64_t j = std::clamp<std::int64_t>(row, 0, rows_ - 1);
  const std::int64_t i = std::clamp<std::int64_t>(column, 0, columns_ - 1);
  const auto index = static_cast<std::uint64_t>(j * columns_ + i);
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, field_ + index * sizeof value, sizeof value);
    return static_cast<double>(value);
  };
  return type_ == dtype::f32 ? as(float{}) : as(double{});
}

void snapshot::count(std::uint64_t steps) {
  const double time_step = parameters.time_step();
  for (std::uint64_t done = 0; done < steps; ++done) time += time_step;
  step += steps;
}

snapshot start_of(const parameters& p, dtype type) {
  const diffusion d = p.problem(0);
  snapshot start{p, type, 0, 0, std::vector<std::byte>(d.rows * d.columns * size_of(type))};
  const auto set = [&](std::uint64_t index, auto one) {
    std::memcpy(start.field.data() + index * sizeof one, &one, sizeof one);
  };
  for (std::uint64_t j = 0; j < d.rows; ++j) {
    const std::uint64_t index = j * d.columns + (j < d.rows / 2 ? 0 : d.columns - 1);
    type == dtype::f32 ? set(index, 1.0f) : set(index, 1.0);
  }
  return start;
}

std::string hash_of(const snapshot& shot) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::byte byte : shot.field) hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3u;
  return base::hex_digits(hash, 16);
}

double residual_of(const snapshot& shot) {
  if (shot.step == 0) return 0;
  const parameters& p = shot.parameters;
  const auto g = static_cast<double>(p.ghosts()), nx = static_cast<double>(p.nx), ny = static_cast<double>(p.ny);
  const auto half = static_cast<double>(p.ny / 2);
  const double width = std::sqrt(4.0 * p.dc * shot.time), points = (nx - 1 - g) * (ny - 1 - g);
  const field_view field(shot);
  double sum = 0;
  for (std::int64_t j = 0; j < field.rows(); ++j)
    for (std::int64_t i = 0; i < field.columns(); ++i) {
      const double x = p.dx * (static_cast<double>(i) + g), y = p.dy * (static_cast<double>(j) + g);
      const double left = distance(x, y, p.dx * g, p.dy * g, p.dy * half);
      const double right = distance(x, y, p.dx * (nx - 1 - g), p.dy * half, p.dy * (ny - 1 - g));
      const double difference = std::erfc(left / width) + std::erfc(right / width) - field.at(j, i);
      sum += difference * difference / points;
    }
  return sum;
}

io::picture picture_of(const snapshot& shot) {
  const field_view field(shot);
  const std::int64_t around = shot.shown_ghosts();
  const std::int64_t rows = field.rows(), columns = field.columns();
  io::picture image{
      static_cast<std::uint32_t>(columns + 2 * around), static_cast<std::uint32_t>(rows + 2 * around), {}};
  image.pixels.reserve(std::size_t{image.width} * image.height);
  for (std::int64_t j = rows - 1 + around; j >= -around; --j)
    for (std::int64_t i = -around; i < columns + around; ++i) {
      const double c = field.at(j, i);
      image.pixels.push_back(static_cast<std::uint8_t>(c > 0 ? 255 * std::min(c, 1.0) : 0));
    }
  return image;
}

}  // namespace tilewise::hiperc
