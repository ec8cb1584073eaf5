// SPDX-License-Identifier: Apache-2.0
// Several processes of mpirun measure together only if each does what the others do.
#pragma once

namespace tilewise::lab {

/// In a process of mpirun, together: the first rank's. In any other the value itself. All that decides what is done
/// next and that ranks may see differently, such as times, goes through here.
double as_first_rank(double mine);

}  // namespace tilewise::lab
