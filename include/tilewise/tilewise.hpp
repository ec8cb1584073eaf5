// All of Tilewise.
#pragma once

#include <tilewise/array.hpp>
#include <tilewise/device.hpp>
#include <tilewise/error.hpp>
#include <tilewise/interop.hpp>
#include <tilewise/reduce.hpp>
#include <tilewise/scan.hpp>
#include <tilewise/types.hpp>
#include <tilewise/version.hpp>
