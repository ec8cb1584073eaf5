// SPDX-License-Identifier: Apache-2.0
// tilewise convolve: convolves an image with a mask. Both are array files, and so is the result.
#include "registry/catalog.hpp"
#include "tool/arrays/data_command.hpp"
#include "tool/arrays/file.hpp"

#include <tilewise/convolve.hpp>

namespace tilewise::cli {

namespace {

struct convolve_request {
  common_options common;
  std::string image, mask, output, border = "valid";
};

/// Advice for an array of three dimensions. A short first or last dimension is taken for channels; otherwise the slices
/// are separate images.
std::string advice_for(const std::vector<std::uint64_t>& shape, bool is_mask) {
  if (shape.size() < 2) return "NumPy's x.reshape(1, -1) makes it one row";
  if (is_mask || shape.size() != 3) return "convolve its two-dimensional parts one by one";
  const slice_axis along = shape[2] <= shape[0] ? slice_axis::last : slice_axis::first;
  return slice_by_slice(shape, along, "tilewise convolve x0.npy MASK.npy -o y0.npy");
}

void require_pixels(const array_file& file, bool is_mask) {
  require_dimensions(file, 2, "convolve takes a two-dimensional image and mask; " + advice_for(file.shape(), is_mask));
  if (!is_float(file.type()))
    throw error(errc::invalid_argument, file.sentence() + " of " + std::string(name_of(file.type())) +
                                            "; convolve takes f4 and f8: convert with NumPy's astype(\"f8\")");
}

exit_code convolve_files(const convolve_request& request) {
  const auto [image, mask] = open_arrays(request.image, request.mask);
  require_pixels(image, false);
  require_pixels(mask, true);
  require_one_type(image, mask);
  registry::problem p{.what = &registry::find_algorithm("convolve"),
                      .type = image.type(),
                      .shape = {image.shape()[0], image.shape()[1], mask.shape()[0], mask.shape()[1]}};
  registry::choose_setting(p, "border", request.border);
  data_run run = plan_run(p, request.common);
  const image_size result = convolved_size({p.shape[0], p.shape[1]}, {p.shape[2], p.shape[3]},
                                           request.border == "zero" ? border::zero : border::valid);
  const std::uint64_t shape[] = {result.rows, result.columns};
  return run_to_file(p, std::array{image.input.get(), mask.input.get()}, request.common, std::move(run), request.output,
                     shape);
}

}  // namespace

void add_convolve(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("convolve", "an image convolved with a mask (cross-correlation)");
  auto request = std::make_shared<convolve_request>();
  add_input_array(*command, "X.npy", request->image, "the image: f4 f8");
  add_input_array(*command, "MASK.npy", request->mask, "the mask, both sides odd, of the same type");
  add_array_option(*command, "-o,--output", request->output, "where it goes; required; may be an input", "Y.npy")
      ->required();
  command->add_option("--border", request->border, "valid: no output at the edges; zero: 0 around image")
      ->option_text("valid|zero");
  add_device_options(*command, request->common);
  add_variant_options(*command, request->common);
  add_output_options(*command, request->common);
  command->footer(
      "y[i,j] is the sum of mask[r,s] * x[i+r-h,j+s-w], with the mask centred on i, j;\n"
      "the mask is not flipped. The sum goes row by row of the mask, rounding each\n"
      "product and sum; the file is the same to the last byte on every device.\n"
      "\"-\" is standard input or output. It takes the memory of image and result.\n"
      "\n"
      "Examples:\n"
      "  tilewise convolve x.npy mask.npy -o y.npy\n"
      "  tilewise convolve x.npy mask.npy -o y.npy --border zero --device opencl:0");
  command->callback([&call, request] { call.run = [request] { return convolve_files(*request); }; });
}

}  // namespace tilewise::cli
