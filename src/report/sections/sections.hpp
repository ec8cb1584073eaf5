// SPDX-License-Identifier: Apache-2.0
// The sections of the page. page.cpp puts them in order.
#pragma once

#include "report/page_builder.hpp"
#include "report/roofline/roofline.hpp"

namespace tilewise::report {

/// A section with its own heading. It does not appear if it has no content.
struct chapter {
  std::string title;
  html content;
};

/// The anchors of chapters, by title.
using anchors = std::map<std::string, std::string>;

/// The first screen: the machine, the verdict, and a matrix of algorithms and devices. The names in the matrix link to
/// chapters.
html overview(const model& m, const anchors& sections);

/// One line for each machine on which `panels` were measured. Many lines are folded, since machine_section has the same
/// facts.
html machine_lines(const model& m, const std::vector<const panel*>& panels);

// Of one problem:
html doubt_section(const panel& p);
struct time_counts {
  std::size_t times = 0, in_doubt = 0;  // without limits, whose doubt is shown beside each share of them
};
time_counts counts_of(const panel& p);
html job_section(const panel& p, page_builder& page);
html ladder_section(const panel& p, page_builder& page);
html time_section(const panel& p, page_builder& page);
html scaling_section(const panel& p, page_builder& page);
html transfer_section(const panel& p, page_builder& page);
html peer_section(const panel& p);
html bounds_section(const panel& p, const std::vector<roofline>& all, page_builder& page);

/// Amdahl's and Gustafson's laws for the lecture's serial share, and fitted to all records of a machine that differ
/// only in the number of processors.
html scaling_laws(const model& m, const std::string& machine, page_builder& page);
/// One chapter for each document whose experiments were repeated.
std::vector<chapter> seeds_chapters(const model& m, const std::vector<roofline>& roofs, page_builder& page);
/// Whether the records only repeat documents; then these chapters come first.
bool is_of_documents(const model& m);

// Sections about all records; empty if they have nothing for it:
html roofline_section(const std::vector<roofline>& all, page_builder& page);
html field_section(const model& m, page_builder& page);
html machine_section(const model& m);
html repeat_section(const model& m);
/// One line.
html not_measured(const model& m);

}  // namespace tilewise::report
