// SPDX-License-Identifier: Apache-2.0
// The job that `bench --mode file_to_file` times, with the code of the commands that compute on files.
#pragma once

#include "lab/jobs/job.hpp"

namespace tilewise::cli {

lab::file_outcome run_file_job(const registry::problem& p, const lab::row& by, const lab::job_files& files);

}  // namespace tilewise::cli
