// SPDX-License-Identifier: Apache-2.0
// Includes all public headers of Tilewise.
#pragma once

#include <tilewise/array.hpp>
#include <tilewise/call.hpp>
#include <tilewise/convolve.hpp>
#include <tilewise/device.hpp>
#include <tilewise/diffuse.hpp>
#include <tilewise/error.hpp>
#include <tilewise/float_mode.hpp>
#include <tilewise/groups.hpp>
#include <tilewise/host_range.hpp>
#include <tilewise/interop.hpp>
#include <tilewise/matmul.hpp>
#include <tilewise/matvec.hpp>
#include <tilewise/partial.hpp>
#include <tilewise/polymul.hpp>
#include <tilewise/reduce.hpp>
#include <tilewise/scan.hpp>
#include <tilewise/segment_reduce.hpp>
#include <tilewise/sort.hpp>
#include <tilewise/types.hpp>
#include <tilewise/version.hpp>

/// Data-parallel algorithms with the same bits on every processor; docs/order.md defines these bits.
namespace tilewise {}
