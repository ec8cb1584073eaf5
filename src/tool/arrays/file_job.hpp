// SPDX-License-Identifier: Apache-2.0
// What `bench --mode file_to_file` times: one job, by the code of the commands that compute on files.
#pragma once

#include "lab/jobs/job.hpp"

namespace tilewise::cli {

lab::file_outcome run_file_job(const registry::problem& p, const lab::row& by, const lab::job_files& files);

}  // namespace tilewise::cli
