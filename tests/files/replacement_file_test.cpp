// SPDX-License-Identifier: Apache-2.0
// The file that rank 0 creates and other ranks write into. If somebody replaces it meanwhile, the replacement is not
// written to.
#include "io/replacement_file.hpp"
#include "scratch_folder.hpp"

#include <tilewise/error.hpp>

#include <sys/stat.h>

#include <gtest/gtest.h>

namespace tilewise::tests {
namespace {

namespace fs = std::filesystem;

TEST(ReplacementFile, OfAnotherRankIsTakenWhereItIsAFileWithOneName) {
  const scratch_folder scratch;
  const fs::path& folder = scratch.path();
  scratch.write("precious", "kept");
  scratch.write("rank0", "");
  const std::string target = folder / "y.npy";
  EXPECT_NO_THROW(io::replacement_file(target, folder / "rank0"));
  fs::create_hard_link(folder / "precious", folder / "second_name");
  scratch.write("of_one_name", "kept");
  fs::create_symlink(folder / "of_one_name", folder / "link");
  fs::create_directory(folder / "folder");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);  // opens for reading and writing, and has one name
  for (const char* planted : {"second_name", "link", "folder", "pipe", "nothing"}) try {
      const io::replacement_file taken(target, folder / planted);
      ADD_FAILURE() << planted << " was taken";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::io) << planted;
    }
}

}  // namespace
}  // namespace tilewise::tests
