// The parts of the page, in the order in which they appear.
#pragma once

#include "report/page_builder.hpp"

namespace tilewise::report {

html machine_section(const model& m);

html job_section(const panel& p, page_builder& page);
html time_section(const panel& p, page_builder& page);
html ladder_section(const panel& p, page_builder& page);
html speedup_section(const panel& p, page_builder& page);
html scaling_section(const panel& p, page_builder& page);
html transfer_section(const panel& p, page_builder& page);
html bits_section(const panel& p);
html ratio_section(const panel& p);

html seeds_section(const model& m);
html field_section(const model& m, page_builder& page);
html gap_section(const model& m);
html environment_section(const model& m);
html repeat_section(const model& m);
html warning_section(const model& m);

}  // namespace tilewise::report
