// The kernels of matmul/cuda:register_tiles for floats.
#include "matmul/matmul_cuda_register_tiles.cuh"

namespace tilewise::impl::matmul {

template void run_register_tiles<float>(const registry::problem&, const registry::bindings&, unsigned,
                                        backend::cuda::queue&);
template void run_register_tiles<double>(const registry::problem&, const registry::bindings&, unsigned,
                                         backend::cuda::queue&);

}  // namespace tilewise::impl::matmul
