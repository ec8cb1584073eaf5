// SPDX-License-Identifier: Apache-2.0
// The cache on disk stays within its limit: what was used longest ago makes room.
#include "base/disk_cache.hpp"
#include "cache_fixture.hpp"

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilewise::tests {
namespace {

namespace fs = std::filesystem;

using CacheLimit = cache_fixture;

std::string names_of(const std::vector<base::cached_item>& items) {
  std::string names;
  for (const base::cached_item& item : items) names += item.name;
  return names;
}

TEST_F(CacheLimit, WhatWasUsedLongestAgoMakesRoom) {
  const std::vector<base::cached_item> all{{"c", 30, 300}, {"a", 30, 100}, {"d", 30, 400}, {"b", 30, 200}};
  EXPECT_EQ(names_of(base::surplus(all, 120, 1000)), "");
  EXPECT_EQ(names_of(base::surplus(all, 119, 1000)), "a");
  EXPECT_EQ(names_of(base::surplus(all, 60, 1000)), "ab");
  EXPECT_EQ(names_of(base::surplus(all, 60, 150)), "a") << "what was used after that stays";
  EXPECT_EQ(names_of(base::surplus(all, 0, 1000)), "abcd");
  EXPECT_EQ(names_of(base::surplus({}, 0, 1000)), "");
}

TEST_F(CacheLimit, ProgramsStayWithinALimit) {
  const base::disk_cache cache;
  const std::vector<unsigned char> large(1 << 20, 7);
  std::vector<std::string> keys;
  for (const char* name : {"oldest", "used", "old", "recent"}) {
    keys.push_back(base::cache_key({name}));
    cache.store(keys.back(), large);
  }
  const auto file = [&](std::size_t i) { return folder_ / (keys[i] + ".bin"); };
  for (std::size_t i : {0, 1, 2}) age(file(i), 4000 - 100 * static_cast<long>(i));
  EXPECT_TRUE(cache.find(keys[1])) << "which is used now";
  std::ofstream(folder_ / "half.1.2.tmp") << "left by a process that was killed";
  age(folder_ / "half.1.2.tmp", 5000);
  std::ofstream(folder_ / "notes") << "not ours";
  age(folder_ / "notes", 9000);
  const int directory = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY);
  const auto left = [&] {
    std::string text;
    for (std::size_t i = 0; i < keys.size(); ++i) text += fs::exists(file(i)) ? "x" : "-";
    return text + (fs::exists(folder_ / "half.1.2.tmp") ? "t" : "");
  };
  base::limit_entries(directory, 64 << 20);
  EXPECT_EQ(left(), "xxxxt");
  base::limit_entries(directory, (7 << 20) / 2);
  EXPECT_EQ(left(), "-xxx");
  base::limit_entries(directory, 0);
  EXPECT_EQ(left(), "-x-x") << "what was used within an hour stays";
  EXPECT_TRUE(fs::exists(folder_ / "notes"));
  close(directory);
}

TEST_F(CacheLimit, StoringKeepsTheLimit) {
  const std::vector<unsigned char> large(base::cache_limit / 4, 7);
  for (int i = 0; i < 5; ++i) {
    const std::string key = base::cache_key({std::to_string(i)});
    base::disk_cache().store(key, large);
    age(folder_ / (key + ".bin"), 10000 - i);
  }
  base::disk_cache().store(base::cache_key({"small"}), std::vector<unsigned char>{1, 2, 3});
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.is_regular_file()) bytes += entry.file_size();
  EXPECT_LE(bytes, base::cache_limit);
  EXPECT_GT(bytes, base::cache_limit / 2);
  EXPECT_TRUE(base::disk_cache().find(base::cache_key({"small"})));
}

TEST_F(CacheLimit, ProcessesThatLimitItAtOnceKeepWhatIsInUse) {
  std::vector<pid_t> children;
  for (unsigned char id = 0; id < 8; ++id) {
    const pid_t child = fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    const base::disk_cache cache;
    const int directory = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY);
    const std::vector<unsigned char> program(20000, id);
    bool ok = true;
    for (int round = 0; round < 50; ++round) {
      const std::string number = std::to_string(round);
      const std::string shared = base::cache_key({number}), key = base::cache_key({number, std::to_string(id)});
      cache.store(key, program);
      cache.store(shared, program);
      age(folder_ / (shared + ".bin"), 10000);
      base::limit_entries(directory, 0);
      ok = ok && cache.find(key) == program;
    }
    _exit(ok ? 0 : 1);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

}  // namespace
}  // namespace tilewise::tests
