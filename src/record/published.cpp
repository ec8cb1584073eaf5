// SPDX-License-Identifier: Apache-2.0
#include "record/published.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace tilewise::record {

namespace {

constexpr std::string_view xe = "Intel Iris Xe (96 execution units) and its host";
constexpr std::string_view threads_host = "the host of its exercise on threads, not named";
constexpr std::string_view mpi_host = "the host of its exercise on MPI, not named";
constexpr std::string_view naive = "naive CPU, sequential", karatsuba = "Karatsuba CPU, sequential",
                           global = "naive GPU, global memory", hybrid = "Karatsuba GPU, depth 3";

// The document includes launches and transfers in the GPU's times.
constexpr std::array<published_row, 5> small{
    {{"Naive CPU (Sequential)", "4.0084", "1.0×", naive, xe},
     {"Karatsuba CPU (Sequential)", "1.6467", "2.4×", karatsuba, xe},
     {"Naive GPU - Global Memory", "3.5325", "1.1×", global, xe, true},
     {"Naive GPU - Local Memory", "1.3714", "2.9×", "naive GPU, local memory", xe, true},
     {"Karatsuba GPU (depth 3)", "33.7710", "0.12×", hybrid, xe, true}}};
constexpr std::array<published_row, 5> large{
    {{"Naive CPU (Sequential)", "1085.05", "1.0×", naive, xe},
     {"Karatsuba CPU (Sequential)", "95.1364", "11.4×", karatsuba, xe},
     {"Naive GPU - Global Memory", "134.68", "8.1×", global, xe, true},
     {"Naive GPU - Local Memory*", "141.91", "7.6×", "naive GPU, local memory (fell back to global)", xe, true},
     {"Karatsuba GPU (depth 3)", "108.61", "10.0×", hybrid, xe, true}}};
constexpr std::array<published_row, 8> across_labs{
    {{"Naive CPU Sequential (lab 5)", "~18,248.7", "1.0×", naive, threads_host},
     {"Naive CPU Parallel (Threads) (lab 5)", "~2,581.95", "7.1×", "naive CPU, threads", threads_host},
     {"Karatsuba CPU Sequential (lab 5)", "~1,375.18", "13.3×", karatsuba, threads_host},
     {"Karatsuba CPU Parallel (Threads) (lab 5)", "~304.392", "59.9×", "Karatsuba CPU, threads", threads_host},
     {"Naive MPI (1 process) (lab 7)", "21,391.8", "0.85×", "naive, MPI, 1 process", mpi_host},
     {"Karatsuba MPI (1 process) (lab 7)", "1,426.31", "12.8×", "Karatsuba, MPI, 1 process", mpi_host},
     {"Naive GPU - Global Memory (lab bonus)", "134.68", "135.5×", global, xe, true},
     {"Karatsuba GPU (depth 3) (lab bonus)", "108.61", "168.0×", hybrid, xe, true}}};

// The document gives no unit. Its final table has only this row.
constexpr std::string_view sweep = "work-efficient scan",
                           fastest = "the fastest of its devices, not named; local size 64";
constexpr std::array<published_row, 2> scans{
    {{"0, local work size 64", "4.40164", "", sweep, fastest, false, "group_size=64"},
     {"0, local work size 64", "68.5949", "", sweep, fastest, true, "group_size=64"}}};

/// A column of the two tables of HiPerC: the seconds of a grid, and the speedups over OpenMP.
constexpr std::array<published_row, 6> grid(const std::array<std::string_view, 6>& seconds,
                                            const std::array<std::string_view, 6>& speedups) {
  constexpr std::array<std::array<std::string_view, 2>, 6> programs{
      {{"CPU: Serial", "CPU: Serial, of all steps the share of 100"},
       {"GPU: OpenAcc", "GPU: OpenAcc, of all steps the share of 100"},
       {"CPU: TBB", "CPU: TBB, of all steps the share of 100"},
       {"CPU: OpenMP", "CPU: OpenMP, of all steps the share of 100"},
       {"GPU: OpenCL", "GPU: OpenCL, of all steps the share of 100"},
       {"GPU: CUDA", "GPU: CUDA, of all steps the share of 100"}}};
  std::array<published_row, 6> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = {programs[i][0], seconds[i], speedups[i], programs[i][1], "hardware not named"};
  return rows;
}
constexpr auto grid_256 = grid({"18", "12", "7", "4", "3", "2"}, {"0.2", "0.3", "0.6", "1.0", "1.3", "2.0"});
constexpr auto grid_512 = grid({"244", "118", "39", "23", "7", "7"}, {"0.1", "0.2", "0.6", "1.0", "3.3", "3.3"});
constexpr auto grid_768 = grid({"1243", "537", "153", "106", "30", "25"}, {"0.1", "0.2", "0.7", "1.0", "3.5", "4.2"});
constexpr auto grid_1024 = grid({"4600", "1573", "436", "297", "74", "67"}, {"0.1", "0.2", "0.7", "1.0", "4.0", "4.4"});

constexpr std::string_view fell_back =
    "* Local memory kernel fell back to global memory due to 64KB hardware limit (524KB required)";

// HiPerC counts the ghosts around a grid, and the records do not.
constexpr std::array<published_table, 8> tables{
    {{polynomials_document, "Results — Degree 4,096 (Small Polynomial)", {4096, 4096}, "degree 4,096", "ms", small},
     {polynomials_document,
      "Results — Degree 65,536 (Large Polynomial)",
      {65536, 65536},
      "degree 65,536",
      "ms",
      large,
      fell_back},
     {polynomials_document,
      "Cross-Lab Performance Summary (Degree 65,536)",
      {65536, 65536},
      "degree 65,536",
      "ms",
      across_labs},
     {prefix_sum_document, "The final results", {67108865}, "67,108,865", "ms", scans},
     {diffusion_document, "Runtime for Each Grid Size", {254, 254, 100}, "256² grid", "s", grid_256},
     {diffusion_document, "Runtime for Each Grid Size", {510, 510, 100}, "512² grid", "s", grid_512},
     {diffusion_document, "Runtime for Each Grid Size", {766, 766, 100}, "768² grid", "s", grid_768},
     {diffusion_document, "Runtime for Each Grid Size", {1022, 1022, 100}, "1024² grid", "s", grid_1024}}};

}  // namespace

double published_table::ns(const published_row& of) const {
  std::string digits(of.time);
  std::erase_if(digits, [](char c) { return c == '~' || c == ','; });
  double time = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), time);
  return time * (unit == "s" ? 1e9 : 1e6);
}

std::span<const published_table> published_tables() { return tables; }

namespace {

/// A row and its table; null if no table has the time.
std::pair<const published_table*, const published_row*> found(std::string_view document, std::string_view shape,
                                                              const published_time& time) {
  for (const published_table& t : tables)
    for (const published_row& r : t.rows)
      if (t.document == document && r.system == time.system && r.machine == time.machine &&
          r.with_transfers == time.with_transfers && registry::to_string(t.shape) == shape)
        return {&t, &r};
  return {};
}

}  // namespace

const published_row* find_published(std::string_view document, std::string_view shape, const published_time& time) {
  return found(document, shape, time).second;
}

std::string published_digits(std::string_view document, std::string_view shape, const published_time& time) {
  const auto [in, known] = found(document, shape, time);
  return known == nullptr ? "" : std::string(known->time) + " " + std::string(in->unit);
}

std::string_view allowed_error(std::string_view document, std::string_view algorithm) {
  return document == blocks_document && algorithm == "matmul" ? "1e-3" : "";
}

bool has_tuning(std::string_view tuning, std::string_view part) {
  const auto spaced = [](std::string_view words) { return " " + std::string(words) + " "; };
  return part.empty() || spaced(tuning).find(spaced(part)) != std::string::npos;
}

bool stands_beside(std::string_view document, std::string_view shape, std::string_view tuning,
                   const published_time& time) {
  const published_row* known = find_published(document, shape, time);
  return known == nullptr || has_tuning(tuning, known->tuning);
}

}  // namespace tilewise::record
