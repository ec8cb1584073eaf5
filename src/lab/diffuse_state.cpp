#include "lab/diffuse_state.hpp"

#include "io/number.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tilewise::lab {

namespace {

/// From a point to the segment x = at, y from `low` to `high`.
double distance(double x, double y, double at, double low, double high) {
  const double beyond = y < low ? low - y : y > high ? y - high : 0;
  return std::sqrt((x - at) * (x - at) + beyond * beyond);
}

}  // namespace

double diffuse_parameters::time_step() const {
  const double shorter = std::min(dx, dy);
  return co * shorter * shorter / (4.0 * dc);
}

diffusion diffuse_parameters::problem(std::uint64_t steps) const {
  const std::uint64_t all = 2 * ghosts();
  if (nx <= all || ny <= all)
    throw error(errc::invalid_argument,
                "a grid of " + std::to_string(nx) + "x" + std::to_string(ny) + " points is nothing but ghosts; mask " +
                    std::to_string(mask) + " takes " + std::to_string(ghosts()) +
                    " on each side, so that nx and ny must be at least " + std::to_string(all + 1));
  return {.rows = ny - all,
          .columns = nx - all,
          .steps = steps,
          .mask = mask,
          .dx = dx,
          .dy = dy,
          .rate = time_step() * dc};
}

double diffuse_parameters::largest_stable_co() const { return largest_stable_rate(problem(1)) / problem(1).rate * co; }

field_view::field_view(const diffuse_state& state) : field_(state.field.data()), type_(state.type) {
  const diffusion d = state.parameters.problem(0);
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

void diffuse_state::count(std::uint64_t steps) {
  const double time_step = parameters.time_step();
  for (std::uint64_t done = 0; done < steps; ++done) time += time_step;
  step += steps;
}

diffuse_state start_of(const diffuse_parameters& parameters, dtype type) {
  const diffusion d = parameters.problem(0);
  diffuse_state state{parameters, type, 0, 0, std::vector<std::byte>(d.rows * d.columns * size_of(type))};
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
  const double width = std::sqrt(4.0 * p.dc * state.time), points = (nx - 1 - g) * (ny - 1 - g);
  const field_view field(state);
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

io::picture picture_of(const diffuse_state& state) {
  const field_view field(state);
  const std::int64_t around = state.shown_ghosts();
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

}  // namespace tilewise::lab
