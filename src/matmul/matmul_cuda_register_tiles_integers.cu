// The kernels of matmul/cuda:register_tiles for integers.
#include "matmul/matmul_cuda_register_tiles.cuh"

namespace tilewise::impl::matmul {

template void run_register_tiles<std::uint32_t>(const registry::problem&, const registry::bindings&, unsigned,
                                                backend::cuda::queue&);
template void run_register_tiles<std::uint64_t>(const registry::problem&, const registry::bindings&, unsigned,
                                                backend::cuda::queue&);

}  // namespace tilewise::impl::matmul
