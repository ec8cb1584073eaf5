// SPDX-License-Identifier: Apache-2.0
// The cache of OpenCL programs on disk: private, all or nothing, and never a damaged program.
#include "backend/opencl/opencl_cache.hpp"
#include "backend/opencl/opencl_cache_folder.hpp"
#include "backend/opencl/opencl_cache_limit.hpp"
#include "opencl_fixture.hpp"
#include "scratch_folder.hpp"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilewise::tests {
namespace {

namespace fs = std::filesystem;

/// Sets an environment variable for a scope.
class environment_variable {
 public:
  environment_variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~environment_variable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

class OpenclCache : public testing::Test {
 protected:
  OpenclCache() : folder_(scratch_.path() / "cache"), variable_("TILEWISE_CACHE", folder_.string()) {}
  fs::path entry() const { return folder_ / (key_ + ".bin"); }
  void store() const { opencl::disk_cache().store(key_, payload_); }
  bool finds() const { return opencl::disk_cache().find(key_) == payload_; }
  bool finds_nothing() const { return !opencl::disk_cache().find(key_).has_value(); }

  scratch_folder scratch_;
  fs::path folder_;
  environment_variable variable_;
  const std::string_view fields_[2] = {"source", "options"};
  const std::string key_ = opencl::cache_key(fields_);
  const std::vector<unsigned char> payload_{1, 2, 3, 250, 0, 7};
};

TEST_F(OpenclCache, KeepsWhatWasStored) {
  EXPECT_TRUE(finds_nothing());
  store();
  EXPECT_TRUE(finds());
  struct stat facts;
  ASSERT_EQ(stat(folder_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0700u);
  ASSERT_EQ(stat(entry().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0600u);
}

TEST_F(OpenclCache, KeysDifferWhereFieldsAreCutElsewhere) {
  const std::string_view shifted[] = {"sourceo", "ptions"}, whole[] = {"sourceoptions", ""};
  EXPECT_NE(opencl::cache_key(shifted), key_);
  EXPECT_NE(opencl::cache_key(whole), key_);
}

TEST_F(OpenclCache, IsOffInAFolderThatIsNotOursAlone) {
  store();
  for (mode_t mode : {0755, 0777, 0701, 0500, 01700}) {
    chmod(folder_.c_str(), mode);
    EXPECT_FALSE(opencl::disk_cache().usable()) << std::oct << mode;
    struct stat facts;
    stat(folder_.c_str(), &facts);
    EXPECT_EQ(facts.st_mode & 07777, mode) << "it is not repaired either";
  }
  chmod(folder_.c_str(), 0700);
  EXPECT_TRUE(finds());
  fs::create_directory_symlink(folder_, scratch_.path() / "link");
  setenv("TILEWISE_CACHE", (scratch_.path() / "link").c_str(), 1);
  EXPECT_FALSE(opencl::disk_cache().usable());
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder_.c_str(), 12345, 0), 0);
    setenv("TILEWISE_CACHE", folder_.c_str(), 1);
    EXPECT_FALSE(opencl::disk_cache().usable());
  }
}

TEST_F(OpenclCache, SaysWhyAFolderIsNotUsed) {
  const fs::path link = scratch_.path() / "link", open_one = scratch_.path() / "open";
  fs::create_directory_symlink(folder_, link);
  fs::create_directory(open_one);
  fs::permissions(open_one, fs::perms::all);
  const std::pair<std::string, std::string> reasons[] = {{open_one, "others may use it"},
                                                         {link, "it is not a folder, or is a link to one"},
                                                         {"/dev/null", "it is not a folder"},
                                                         {"/proc/none", "it cannot be created"},
                                                         {"/nonexistent/deep", "it cannot be created"}};
  for (const auto& [folder, why] : reasons) {
    setenv("TILEWISE_CACHE", folder.c_str(), 1);
    EXPECT_NE(opencl::why_no_cache().find("'" + folder + "' is not used because " + why), std::string::npos)
        << opencl::why_no_cache();
  }
  setenv("TILEWISE_CACHE", "off", 1);
  EXPECT_EQ(opencl::why_no_cache(), "");
}

TEST_F(OpenclCache, IsOffWhereThereIsNoPlaceForIt) {
  for (const char* name : {"off", "/proc/none", "/dev/null"}) {
    setenv("TILEWISE_CACHE", name, 1);
    EXPECT_FALSE(opencl::disk_cache().usable()) << name;
    EXPECT_TRUE(finds_nothing());
    store();
  }
  const environment_variable none("TILEWISE_CACHE", ""), no_base("XDG_CACHE_HOME", "relative/path"),
      no_home("HOME", "");
  EXPECT_FALSE(opencl::disk_cache().usable());
}

TEST_F(OpenclCache, UsesTheUsersCacheFolderAndMakesIt) {
  const fs::path caches = scratch_.path() / "caches";
  const environment_variable none("TILEWISE_CACHE", ""), base("XDG_CACHE_HOME", caches.string());
  store();
  EXPECT_TRUE(fs::exists(caches / "tilewise" / (key_ + ".bin")));
}

TEST_F(OpenclCache, NeverReturnsADamagedEntry) {
  store();
  std::ifstream in(entry(), std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  const auto write = [&](const std::string& bytes) {
    std::ofstream(entry(), std::ios::binary | std::ios::trunc) << bytes;
  };
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    write(bad);
    EXPECT_TRUE(finds_nothing()) << "bit " << bit;
  }
  for (std::size_t length = 0; length < good.size(); ++length) {
    write(good.substr(0, length));
    EXPECT_TRUE(finds_nothing()) << "length " << length;
  }
  write(good + "x");
  EXPECT_TRUE(finds_nothing());
  write(good);
  EXPECT_TRUE(finds());
}

TEST_F(OpenclCache, ReadsNoEntryThatOthersCouldHaveWritten) {
  store();
  chmod(entry().c_str(), 0622);
  EXPECT_TRUE(finds_nothing());
  chmod(entry().c_str(), 0600);
  EXPECT_TRUE(finds());
  fs::rename(entry(), scratch_.path() / "elsewhere");
  fs::create_symlink(scratch_.path() / "elsewhere", entry());
  EXPECT_TRUE(finds_nothing());
  fs::remove(entry());
  ASSERT_EQ(mkfifo(entry().c_str(), 0600), 0);
  EXPECT_TRUE(finds_nothing()) << "and does not wait for a writer";
  fs::rename(scratch_.path() / "elsewhere", entry());
  const std::string_view other[] = {"another source"};
  fs::copy_file(entry(), folder_ / (opencl::cache_key(other) + ".bin"));
  EXPECT_FALSE(opencl::disk_cache().find(opencl::cache_key(other)).has_value()) << "an entry of another key";
}

TEST_F(OpenclCache, SixteenProcessesAtOnceSeeWholeEntriesOnly) {
  std::vector<pid_t> children;
  for (unsigned char id = 0; id < 16; ++id) {
    const pid_t child = fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    const opencl::disk_cache cache;
    bool ok = true;
    for (int round = 0; round < 50; ++round) {
      cache.store(key_, std::vector<unsigned char>(20000, id));
      const auto found = cache.find(key_);
      ok = ok && found && found->size() == 20000 && std::set<unsigned char>(found->begin(), found->end()).size() == 1;
    }
    _exit(ok ? 0 : 1);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "temporary files are left";
}

std::string names_of(const std::vector<opencl::cached_item>& items) {
  std::string names;
  for (const opencl::cached_item& item : items) names += item.name;
  return names;
}

TEST_F(OpenclCache, WhatWasUsedLongestAgoMakesRoom) {
  const std::vector<opencl::cached_item> all{{"c", 30, 300}, {"a", 30, 100}, {"d", 30, 400}, {"b", 30, 200}};
  EXPECT_EQ(names_of(opencl::surplus(all, 120, 1000)), "");
  EXPECT_EQ(names_of(opencl::surplus(all, 119, 1000)), "a");
  EXPECT_EQ(names_of(opencl::surplus(all, 60, 1000)), "ab");
  EXPECT_EQ(names_of(opencl::surplus(all, 60, 150)), "a") << "what was used after that stays";
  EXPECT_EQ(names_of(opencl::surplus(all, 0, 1000)), "abcd");
  EXPECT_EQ(names_of(opencl::surplus({}, 0, 1000)), "");
}

/// Sets when a file was last used: that many seconds ago. Another process may have removed it.
void age(const fs::path& file, long seconds) {
  const timespec then{std::time(nullptr) - seconds, 0};
  const timespec both[] = {then, then};
  utimensat(AT_FDCWD, file.c_str(), both, 0);
}

TEST_F(OpenclCache, ProgramsStayWithinALimit) {
  const opencl::disk_cache cache;
  const std::vector<unsigned char> large(1 << 20, 7);
  std::vector<std::string> keys;
  for (const char* name : {"oldest", "used", "old", "recent"}) {
    const std::string_view fields[] = {name};
    keys.push_back(opencl::cache_key(fields));
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
  opencl::limit_programs(directory, 64 << 20);
  EXPECT_EQ(left(), "xxxxt");
  opencl::limit_programs(directory, (7 << 20) / 2);
  EXPECT_EQ(left(), "-xxx");
  opencl::limit_programs(directory, 0);
  EXPECT_EQ(left(), "-x-x") << "what was used within an hour stays";
  EXPECT_TRUE(fs::exists(folder_ / "notes"));
  close(directory);
}

TEST_F(OpenclCache, StoringKeepsTheLimit) {
  const std::vector<unsigned char> large(opencl::cache_limit / 4, 7);
  for (int i = 0; i < 5; ++i) {
    const std::string number = std::to_string(i);
    const std::string_view fields[] = {number};
    opencl::disk_cache().store(opencl::cache_key(fields), large);
    age(folder_ / (opencl::cache_key(fields) + ".bin"), 10000 - i);
  }
  store();
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.is_regular_file()) bytes += entry.file_size();
  EXPECT_LE(bytes, opencl::cache_limit);
  EXPECT_GT(bytes, opencl::cache_limit / 2);
  EXPECT_TRUE(finds());
}

TEST_F(OpenclCache, WhatADriverKeepsStaysWithinALimit) {
  const fs::path pocl = scratch_.path() / "pocl";
  const long day = 24 * 60 * 60;
  const auto keep = [&](const char* name, long last_used) {
    fs::create_directories(pocl / name / "kernel");
    std::ofstream(pocl / name / "kernel" / "object.so") << std::string(1000, 'x');
    std::ofstream(pocl / name / "last_accessed") << "";
    age(pocl / name / "last_accessed", last_used);
    age(pocl / name, 9 * day);
  };
  keep("AA/oldest", 3 * day);
  keep("AA/old", 2 * day);
  keep("BB/used", 60);
  std::ofstream(pocl / "tempfile_left") << "";
  age(pocl / "tempfile_left", 2 * day);
  std::ofstream(pocl / "tempfile_fresh") << "";
  fs::create_directories(pocl / ".old-1-1" / "kernel");
  age(pocl / ".old-1-1", 2 * day);
  opencl::limit_driver_objects(pocl.string(), 3000);
  EXPECT_TRUE(fs::exists(pocl / "AA/oldest"));
  EXPECT_FALSE(fs::exists(pocl / "tempfile_left") || fs::exists(pocl / ".old-1-1"));
  EXPECT_TRUE(fs::exists(pocl / "tempfile_fresh")) << "somebody may be writing it";
  opencl::limit_driver_objects(pocl.string(), 2500);
  EXPECT_FALSE(fs::exists(pocl / "AA/oldest"));
  EXPECT_TRUE(fs::exists(pocl / "AA/old/kernel/object.so"));
  opencl::limit_driver_objects(pocl.string(), 0);
  EXPECT_FALSE(fs::exists(pocl / "AA/old"));
  EXPECT_TRUE(fs::exists(pocl / "BB/used/kernel/object.so")) << "within a day it may be in use";
  EXPECT_EQ(std::distance(fs::directory_iterator(pocl), {}), 3) << "AA, BB and the fresh file";
  opencl::limit_driver_objects((scratch_.path() / "none").string(), 0);
}

TEST_F(OpenclCache, ProcessesThatLimitItAtOnceKeepWhatIsInUse) {
  std::vector<pid_t> children;
  for (unsigned char id = 0; id < 8; ++id) {
    const pid_t child = fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    const opencl::disk_cache cache;
    const int directory = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY);
    const std::vector<unsigned char> program(20000, id);
    bool ok = true;
    for (int round = 0; round < 50; ++round) {
      const std::string number = std::to_string(round), own = number + " of " + std::to_string(id);
      const std::string_view of_all[] = {number}, of_one[] = {own};
      const std::string shared = opencl::cache_key(of_all), key = opencl::cache_key(of_one);
      cache.store(key, program);
      cache.store(shared, program);
      age(folder_ / (shared + ".bin"), 10000);
      opencl::limit_programs(directory, 0);
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

TEST_F(OpenclCache, ProgramsAreBuiltAnewFromDamagedEntries) {
  if (!first_device()) GTEST_SKIP() << "no OpenCL device";
  const std::vector<float> in = wide_floats(5000);
  const float expected = reduce(in);
  EXPECT_EQ(reduce(in, {.device = open("opencl:0")}), expected);
  std::vector<fs::path> entries;
  for (const auto& file : fs::directory_iterator(folder_))
    if (file.path().extension() == ".bin") entries.push_back(file.path());
  ASSERT_EQ(entries.size(), 1u);
  const auto size = fs::file_size(entries[0]);
  std::fstream(entries[0], std::ios::in | std::ios::out | std::ios::binary).seekp(static_cast<long>(size / 2))
      << "damage";
  EXPECT_EQ(reduce(in, {.device = open("opencl:0")}), expected);
  fs::resize_file(entries[0], 100);
  EXPECT_EQ(reduce(in, {.device = open("opencl:0")}), expected);
  EXPECT_GT(fs::file_size(entries[0]), 100u) << "the entry is written again";
}

}  // namespace
}  // namespace tilewise::tests
