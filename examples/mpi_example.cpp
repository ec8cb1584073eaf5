// SPDX-License-Identifier: Apache-2.0
#include <tilewise/tilewise.hpp>

#include <iostream>

#include <mpi.h>

namespace tw = tilewise;

// mpirun -n 4 ./mpi_example: each process has its part of an array that is nowhere complete.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  tw::device all = tw::open("mpi");  // "mpi:cuda" computes on each rank's GPU
  const tw::group_ranks ranks = tw::ranks_of(all);

  std::vector<double> part(1000 * (ranks.first_here + 1));  // parts of different lengths
  const std::size_t before = 1000 * (ranks.first_here * (ranks.first_here + 1) / 2);
  for (std::size_t i = 0; i < part.size(); ++i) part[i] = 1 / static_cast<double>(before + i + 1);

  std::vector<std::span<const double>> here{part};
  const tw::array<double> x = tw::upload_parts<double>(all, here);
  const double sum = tw::reduce(x);  // the same bits on any number of ranks of these elements

  std::vector<double> whole(x.size());
  x.download(whole);  // in every process
  const bool same = sum == tw::reduce(whole);
  if (ranks.first_here == 0)
    std::cout << ranks.count << " ranks have" << (same ? "" : " not") << " the bits of one: " << sum << "\n";
  MPI_Finalize();
  return same ? 0 : 1;
}
