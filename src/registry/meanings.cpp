// SPDX-License-Identifier: Apache-2.0
#include "registry/meanings.hpp"

#include "base/nearest.hpp"
#include "base/variable.hpp"

#include <algorithm>
#include <array>

namespace tilewise::registry {

namespace {

/// Names that other libraries use, separated by spaces, and the corresponding names here; empty if there is none.
struct meaning {
  std::string_view words, command, algorithm, op;
};

constexpr std::array<meaning, 31> known{{
    {"sum add total plus fold", "reduce", "reduce", "sum"},
    {"accumulate", "reduce or scan", "reduce or scan", ""},
    {"prod", "reduce --op product", "reduce", "product"},
    {"product multiply mul", "reduce --op product, matmul or polymul", "reduce, matmul or polymul", "product"},
    {"max maximum amax largest", "reduce --op max", "reduce", "max"},
    {"min minimum amin smallest", "reduce --op min", "reduce", "min"},
    {"cumsum cumulative prefix prefix_sum prefixsum partial_sum running inclusive_scan", "scan", "scan", ""},
    {"exclusive_scan exscan", "scan --exclusive", "scan", ""},
    {"cumprod", "scan --op product", "scan", ""},
    {"cummax", "scan --op max", "scan", ""},
    {"cummin", "scan --op min", "scan", ""},
    {"argsort", "sort --indices I.npy", "sort", ""},
    {"sort_by_key sort_pairs", "sort --values V.npy --values-out W.npy", "sort", ""},
    {"radixsort mergesort quicksort stable_sort", "sort", "sort", ""},
    {"gemm sgemm dgemm mm bmm", "matmul", "matmul", ""},
    {"gemv sgemv dgemv mv", "matvec", "matvec", ""},
    {"conv conv2d convolution convolve2d correlate correlation filter blur smooth stencil", "convolve", "convolve", ""},
    {"conv1d poly polynomial", "polymul", "polymul", ""},
    {"heat diffusion laplace", "diffuse", "diffuse", ""},
    {"reduce_axis rows columns", "reduce --axis N", "reduce_axis", ""},
    {"scan_axis", "scan --axis N", "scan_axis", ""},
    {"sort_axis", "sort --axis N", "sort_axis", ""},
    {"reduceat segment_reduce segmented segment segments csr", "reduce --segments OFFSETS.npy", "segment_reduce", ""},
    {"segment_scan segmented_scan", "scan --segments OFFSETS.npy", "segment_scan", ""},
    {"segment_sort segmented_sort", "sort --segments OFFSETS.npy", "segment_sort", ""},
    {"reduce_by_key runs rle groupby group_by aggregate", "reduce --by KEYS.npy", "runs", ""},
    {"benchmark measure time perf", "bench", "", ""},
    {"test check selftest", "verify", "", ""},
    {"gpu gpus cpu info hardware", "devices", "", ""},
    {"diff", "compare", "", ""},
    {"version", "--version", "", ""},
}};

/// Names of features that do not exist here, and the nearest way to get the same.
struct detour {
  std::string_view words, way;
};

constexpr std::array<detour, 10> detours{{
    {"mean average avg",
     "divide the sum, which reduce gives, by the number of elements, or for running means scan's y[i] by i + 1"},
    {"histogram hist bincount",
     "the nearest is sort: after `tilewise sort X.npy -o Y.npy`, NumPy's np.diff(np.searchsorted(y, edges)) counts the "
     "elements from each edge to the next"},
    {"unique", "the nearest is sort: `tilewise sort X.npy -o Y.npy` puts equal elements side by side"},
    {"top topk top_k nlargest",
     "the nearest is sort: `tilewise sort X.npy -o Y.npy --descending` puts the largest first, behind any NaNs"},
    {"median quantile percentile", "the nearest is sort: `tilewise sort X.npy -o Y.npy` puts the median in the middle"},
    {"argmax",
     "the nearest is sort: `tilewise sort X.npy -o Y.npy --descending --indices I.npy` puts the index of the largest "
     "first"},
    {"argmin",
     "the nearest is sort: `tilewise sort X.npy -o Y.npy --indices I.npy` puts the index of the smallest first"},
    {"dot inner inner_product vdot",
     "the nearest is matvec, whose matrix is the first vector as one row: np.save('A.npy', a.reshape(1, -1)), then "
     "`tilewise matvec A.npy X.npy -o Y.npy`; Python has tw.dot, C++ tw::dot"},
    {"var variance std stddev norm", "the nearest is the sum of squares: tw.dot(x, x) in Python, tw::dot(x, x) in C++"},
    {"fft ifft rfft ntt",
     "the nearest is polymul, which multiplies polynomials: `tilewise polymul A.npy B.npy -o Y.npy` is NumPy's "
     "convolve(a, "
     "b)"},
}};

/// The same for options of some commands.
struct option_detour {
  std::string_view commands, words, way;
};

constexpr std::array<option_detour, 7> option_detours{{
    {"sort", "-r --reverse --reversed --desc --decreasing", "did you mean --descending?"},
    {"sort", "--order", "ascending is what it does without an option; the other order is --descending"},
    {"sort", "--by --keys --argsort", "--values moves other elements with the keys, --indices saves where keys were"},
    {"scan", "-x --excl --prescan", "did you mean --exclusive?"},
    {"scan", "--kind", "inclusive is what it does without an option; the other kind is --exclusive"},
    {"matmul", "-t -T --transpose --trans --transa --transb --ta --tb",
     "transpose the file first: np.save(\"bT.npy\", np.ascontiguousarray(np.load(\"b.npy\").T))"},
    {"reduce scan sort", "--axes --dim --column --columns --row --rows",
     "did you mean --axis? In a matrix, --axis 0 takes each column, --axis 1 each row"},
}};

std::string_view shown(const meaning& m, missing what) {
  return what == missing::command ? m.command : what == missing::algorithm ? m.algorithm : m.op;
}

}  // namespace

std::string suggestion(missing what, std::string_view wanted, std::span<const std::string> names) {
  for (const meaning& m : known)
    if (base::has_word(m.words, wanted) && !shown(m, what).empty())
      return " did you mean " + std::string(shown(m, what)) + "?";
  for (const detour& d : detours)
    if (base::has_word(d.words, wanted)) return " " + std::string(d.way);
  return base::nearest(wanted, names);
}

std::string option_suggestion(std::string_view command, std::string_view wanted) {
  for (const auto& [of, words, way] : option_detours)
    if (base::has_word(of, command) && base::has_word(words, wanted)) return " " + std::string(way);
  return "";
}

}  // namespace tilewise::registry
