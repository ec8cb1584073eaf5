// SPDX-License-Identifier: Apache-2.0
// The cache on disk: private, all or nothing, and never a damaged entry.
#include "base/disk_cache.hpp"
#include "cache_fixture.hpp"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilewise::tests {
namespace {

namespace fs = std::filesystem;

class DiskCache : public cache_fixture {
 protected:
  fs::path entry() const { return folder_ / (key_ + ".bin"); }
  void store() const { base::disk_cache().store(key_, payload_); }
  bool finds() const { return base::disk_cache().find(key_) == payload_; }
  bool finds_nothing() const { return !base::disk_cache().find(key_).has_value(); }

  const std::string key_ = base::cache_key({"source", "options"});
  const std::vector<unsigned char> payload_{1, 2, 3, 250, 0, 7};
};

TEST_F(DiskCache, KeepsWhatWasStored) {
  EXPECT_TRUE(finds_nothing());
  store();
  EXPECT_TRUE(finds());
  struct stat facts;
  ASSERT_EQ(stat(folder_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0700u);
  ASSERT_EQ(stat(entry().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0600u);
}

/// Also where the process is ended by a signal for writing more, which is the default.
TEST_F(DiskCache, WhatTheDiskDoesNotTakeLeavesNothing) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  for (const rlim_t within : {0, 10, 63, 64, 67, 69}) {  // of the header's 64 bytes, or of the payload's 6 behind them
    const rlimit taken{within, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &taken);
    store();
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_TRUE(finds_nothing()) << within;
    EXPECT_TRUE(fs::is_empty(folder_)) << within;
  }
  store();
  EXPECT_TRUE(finds());
}

TEST_F(DiskCache, WhatAKilledProcessLeftIsInNobodysWay) {
  ASSERT_TRUE(base::disk_cache().usable());
  std::ofstream(folder_ / (key_ + ".999999999.0.tmp")) << "half of it";
  store();
  EXPECT_TRUE(finds());
}

/// In containers that share a folder all processes may have the number 1.
TEST_F(DiskCache, NorIsOneThatHadTheSameNumber) {
  ASSERT_TRUE(base::disk_cache().usable());
  for (int i = 0; i < 1000; ++i) {
    const std::string left = key_ + "." + std::to_string(getpid()) + "." + std::to_string(i) + ".tmp";
    std::ofstream(folder_ / left) << "half of it";
  }
  store();
  EXPECT_TRUE(finds());
}

TEST_F(DiskCache, KeysDifferWhereFieldsAreCutElsewhere) {
  EXPECT_NE(base::cache_key({"sourceo", "ptions"}), key_);
  EXPECT_NE(base::cache_key({"sourceoptions", ""}), key_);
}

TEST_F(DiskCache, IsOffInAFolderThatIsNotOursAlone) {
  store();
  for (mode_t mode : {0755, 0777, 0701, 0500, 01700}) {
    chmod(folder_.c_str(), mode);
    EXPECT_FALSE(base::disk_cache().usable()) << std::oct << mode;
    struct stat facts;
    stat(folder_.c_str(), &facts);
    EXPECT_EQ(facts.st_mode & 07777, mode) << "it is not repaired either";
  }
  chmod(folder_.c_str(), 0700);
  EXPECT_TRUE(finds());
  fs::create_directory_symlink(folder_, scratch_.path() / "link");
  setenv("TILEWISE_CACHE", (scratch_.path() / "link").c_str(), 1);
  EXPECT_FALSE(base::disk_cache().usable());
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder_.c_str(), 12345, 0), 0);
    setenv("TILEWISE_CACHE", folder_.c_str(), 1);
    EXPECT_FALSE(base::disk_cache().usable());
  }
}

TEST_F(DiskCache, SaysWhyAFolderIsNotUsed) {
  const fs::path link = scratch_.path() / "link", open_one = scratch_.path() / "open";
  fs::create_directory_symlink(folder_, link);
  fs::create_directory(open_one);
  fs::permissions(open_one, fs::perms::all);
  const std::pair<std::string, std::string> reasons[] = {{open_one, "its mode is not 700"},
                                                         {link, "it is not a folder, or is a link to one"},
                                                         {"/dev/null", "it is not a folder"},
                                                         {"/proc/none", "it cannot be created"},
                                                         {"/nonexistent/deep", "it cannot be created"}};
  for (const auto& [folder, why] : reasons) {
    setenv("TILEWISE_CACHE", folder.c_str(), 1);
    EXPECT_NE(base::why_no_cache_folder().find("'" + folder + "' is not used because " + why), std::string::npos)
        << base::why_no_cache_folder();
  }
  setenv("TILEWISE_CACHE", "off", 1);
  EXPECT_EQ(base::why_no_cache_folder(), "");
}

TEST_F(DiskCache, IsOffWhereOthersMayRenameAnyFolderAboveIt) {
  const fs::path shared = scratch_.path() / "shared", deep = shared / "mine/deep";
  fs::create_directories(deep);
  const environment_variable below("TILEWISE_CACHE", (deep / "cache").string());
  chmod(shared.c_str(), 0777);
  store();
  EXPECT_TRUE(finds_nothing());
  EXPECT_NE(base::why_no_cache_folder().find("a folder above it"), std::string::npos);
  chmod(shared.c_str(), 01777);
  store();
  EXPECT_TRUE(finds());
}

TEST_F(DiskCache, IsOffWhereOthersMayRenameAFolderAboveTheHome) {
  const fs::path shared = scratch_.path() / "shared", home = shared / "mine";
  fs::create_directories(home);
  const environment_variable none("TILEWISE_CACHE", ""), no_base("XDG_CACHE_HOME", ""), here("HOME", home.string());
  chmod(shared.c_str(), 0777);
  store();
  EXPECT_TRUE(finds_nothing());
  EXPECT_NE(base::why_no_cache_folder().find("a folder above it"), std::string::npos);
  chmod(shared.c_str(), 0755);
  store();
  EXPECT_TRUE(fs::exists(home / ".cache/tilewise" / (key_ + ".bin")));
}

TEST_F(DiskCache, IsOffWhereOthersMayRenameWhatALinkLeadsTo) {
  const fs::path shared = scratch_.path() / "shared", deep = shared / "mine/deep";
  fs::create_directories(deep);
  fs::create_directory_symlink(deep, scratch_.path() / "link");
  const environment_variable below("TILEWISE_CACHE", (scratch_.path() / "link/cache").string());
  chmod(shared.c_str(), 0777);
  store();
  EXPECT_TRUE(finds_nothing());
  chmod(shared.c_str(), 0755);
  store();
  EXPECT_TRUE(finds());
}

TEST_F(DiskCache, IsOffWhereOthersMayRenameAsMembersOfAGroup) {
  if (geteuid() != 0) GTEST_SKIP() << "it takes root, who may have any group";
  const fs::path shared = scratch_.path() / "shared";
  fs::create_directories(shared);
  const environment_variable below("TILEWISE_CACHE", (shared / "cache").string());
  chmod(shared.c_str(), 0770);
  store();
  EXPECT_TRUE(finds()) << "the user's own group has the user's number";
  constexpr gid_t of_several = 12345;
  ASSERT_EQ(chown(shared.c_str(), geteuid(), of_several), 0);
  EXPECT_TRUE(finds_nothing());
  const gid_t before = getegid();
  ASSERT_EQ(setegid(of_several), 0);
  EXPECT_TRUE(finds_nothing()) << "and where it is the process's";
  ASSERT_EQ(setegid(before), 0);
}

TEST_F(DiskCache, IsOffWhereOthersMayRenameAsOwners) {
  if (geteuid() != 0) GTEST_SKIP() << "it takes root, who gives folders away";
  const fs::path theirs = scratch_.path() / "theirs";
  fs::create_directories(theirs);
  const environment_variable below("TILEWISE_CACHE", (theirs / "cache").string());
  store();
  EXPECT_TRUE(finds());
  ASSERT_EQ(chown(theirs.c_str(), 12345, 0), 0);
  for (const mode_t mode : {0755, 0555, 01777}) {
    chmod(theirs.c_str(), mode);
    EXPECT_TRUE(finds_nothing()) << std::oct << mode;
    EXPECT_NE(base::why_no_cache_folder().find("a folder above it"), std::string::npos);
  }
}

TEST_F(DiskCache, IsUsedWhereAUserNamespaceDoesNotShowTheOwners) {
  store();
  const std::string me = std::to_string(geteuid());
  if (geteuid() == 0) {  // who owns / as well
    fs::permissions(scratch_.path(), fs::perms{0755});
    ASSERT_EQ(chown(scratch_.path().c_str(), 12345, 0), 0);
    EXPECT_TRUE(finds_nothing());
  }
  const int status = status_of_child([&] {
    if (unshare(CLONE_NEWUSER) != 0 || !(std::ofstream("/proc/self/uid_map") << me << " " << me << " 1" << std::flush))
      return 2;
    return finds() ? 0 : 1;
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) GTEST_SKIP() << "namespaces are not allowed here";
  EXPECT_EQ(status, 0);
}

TEST_F(DiskCache, AFolderThatIsRejectedStaysOpenNowhere) {
  const fs::path shared = scratch_.path() / "shared";
  fs::create_directories(shared);
  const auto stay_open = [](const fs::path& cache) {
    const environment_variable here("TILEWISE_CACHE", cache.string());
    const auto open_files = [] { return std::distance(fs::directory_iterator("/proc/self/fd"), {}); };
    const auto before = open_files();
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(base::disk_cache().usable()) << cache;
    return open_files() - before;
  };
  store();
  chmod(shared.c_str(), 0777);
  EXPECT_EQ(stay_open(shared / "cache"), 0) << "as others may rename it";
  chmod(folder_.c_str(), 0755);
  EXPECT_EQ(stay_open(folder_), 0) << "for its mode";
  chmod(folder_.c_str(), 0700);
  EXPECT_EQ(stay_open(entry()), 0) << "as it is none";
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(folder_.c_str(), 12345, 0), 0);
  EXPECT_EQ(stay_open(folder_), 0) << "for its owner";
}

TEST_F(DiskCache, IsOffWhereThereIsNoPlaceForIt) {
  for (const char* name : {"off", "/proc/none", "/dev/null"}) {
    setenv("TILEWISE_CACHE", name, 1);
    EXPECT_FALSE(base::disk_cache().usable()) << name;
    EXPECT_TRUE(finds_nothing());
    store();
  }
  const environment_variable none("TILEWISE_CACHE", ""), no_base("XDG_CACHE_HOME", "relative/path");
  for (const char* name : {"", "relative/home"}) {
    const environment_variable no_home("HOME", name);
    EXPECT_EQ(base::cache_folder(), "") << name;
    EXPECT_FALSE(base::disk_cache().usable()) << name;
  }
}

TEST_F(DiskCache, IsOnOrOffAsUsersSayIt) {
  const fs::path caches = scratch_.path() / "caches", here = scratch_.path() / "here";
  const environment_variable all_caches("XDG_CACHE_HOME", caches.string());
  fs::create_directory(here);
  const fs::path before = fs::current_path();
  fs::current_path(here);
  for (const char* no : {"off", "OFF", "Off", "no", "NO", "No", "0", "false", "FALSE", "False", "none", "NONE"}) {
    setenv("TILEWISE_CACHE", no, 1);
    store();
    EXPECT_EQ(base::cache_folder(), "") << no;
    EXPECT_EQ(base::why_no_cache_folder(), "") << no;
  }
  for (const char* nonsense :
       {"cache", "./cache", "../cache", "~/.cache", "off ", " off", "offf", "-1", "2", "{}", " "}) {
    setenv("TILEWISE_CACHE", nonsense, 1);
    store();
    EXPECT_NE(base::why_no_cache_folder().find("it does not begin with /; give TILEWISE_CACHE a whole path, or off"),
              std::string::npos)
        << nonsense;
  }
  EXPECT_FALSE(fs::exists(caches));
  EXPECT_FALSE(fs::exists(scratch_.path() / "cache"));
  EXPECT_TRUE(fs::is_empty(here));
  for (const char* yes : {"", "on", "ON", "yes", "Yes", "1", "true", "TRUE"}) {
    setenv("TILEWISE_CACHE", yes, 1);
    EXPECT_EQ(base::cache_folder(), caches / "tilewise") << yes;
    store();
    EXPECT_TRUE(finds()) << yes;
  }
  fs::current_path(before);
}

TEST_F(DiskCache, UsesTheUsersCacheFolderAndMakesIt) {
  const fs::path caches = scratch_.path() / "caches";
  const environment_variable none("TILEWISE_CACHE", ""), base("XDG_CACHE_HOME", caches.string());
  store();
  EXPECT_TRUE(fs::exists(caches / "tilewise" / (key_ + ".bin")));
  for (const fs::path& removed : {caches / "tilewise", caches}) {
    fs::remove_all(removed);
    EXPECT_FALSE(base::disk_cache(base::missing_folder::stays).usable());
    EXPECT_FALSE(fs::exists(removed)) << "a look makes nothing";
  }
}

TEST_F(DiskCache, NeverReturnsADamagedEntry) {
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

TEST_F(DiskCache, ReadsNoEntryThatOthersCouldHaveWritten) {
  store();
  chmod(entry().c_str(), 0622);
  EXPECT_TRUE(finds_nothing());
  chmod(entry().c_str(), 0600);
  EXPECT_TRUE(finds());
  if (geteuid() == 0) {  // who gives files away
    ASSERT_EQ(chown(entry().c_str(), 12345, 0), 0);
    EXPECT_TRUE(finds_nothing()) << "an entry of somebody else's";
    ASSERT_EQ(chown(entry().c_str(), 0, 0), 0);
  }
  fs::rename(entry(), scratch_.path() / "elsewhere");
  fs::create_symlink(scratch_.path() / "elsewhere", entry());
  EXPECT_TRUE(finds_nothing());
  fs::remove(entry());
  ASSERT_EQ(mkfifo(entry().c_str(), 0600), 0);
  EXPECT_TRUE(finds_nothing()) << "and does not wait for a writer";
  fs::rename(scratch_.path() / "elsewhere", entry());
  const std::string other = base::cache_key({"another source"});
  fs::copy_file(entry(), folder_ / (other + ".bin"));
  EXPECT_FALSE(base::disk_cache().find(other).has_value()) << "an entry of another key";
}

TEST_F(DiskCache, SixteenProcessesAtOnceSeeWholeEntriesOnly) {
  std::vector<pid_t> children;
  for (unsigned char id = 0; id < 16; ++id) {
    const pid_t child = fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    const base::disk_cache cache;
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

}  // namespace
}  // namespace tilewise::tests
