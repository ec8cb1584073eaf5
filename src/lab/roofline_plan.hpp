// What to measure to see what bounds each algorithm on a device: what `auto` would run there, and the limits.
#pragma once

#include "lab/group.hpp"

namespace tilewise::lab {

/// A group for each algorithm that the device computes, at the largest size and with the type of a first look.
std::vector<group> make_roofline_plan(const std::shared_ptr<backend::device>& on);

}  // namespace tilewise::lab
