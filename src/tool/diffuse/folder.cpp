// SPDX-License-Identifier: Apache-2.0
#include "tool/diffuse/folder.hpp"

#include "base/printable.hpp"
#include "io/file_identity.hpp"
#include "io/png.hpp"
#include "io/replacement_file.hpp"

#include <cstdio>

namespace tilewise::hiperc {

namespace {

constexpr std::string_view of_a_step = "diffusion.";

/// Most lines fit at once; one with a number near the largest double, which has 309 digits before its point, is printed
/// again.
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

}  // namespace tilewise::hiperc
