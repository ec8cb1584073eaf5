// The cache of OpenCL programs on the disk: private, whole or nothing, and never a damaged program.
#include "backend/opencl/opencl_cache.hpp"
#include "opencl_fixture.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilewise::tests {
namespace {

namespace fs = std::filesystem;

/// A private folder that goes away with its scope.
class scratch_folder {
 public:
  scratch_folder() {
    std::string pattern = (fs::temp_directory_path() / "tilewise-opencl-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~scratch_folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Sets a variable of the environment for a scope.
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

TEST_F(OpenclCache, UsesTheUsersCacheFolder) {
  const environment_variable none("TILEWISE_CACHE", ""), base("XDG_CACHE_HOME", scratch_.path().string());
  store();
  EXPECT_TRUE(fs::exists(scratch_.path() / "tilewise" / (key_ + ".bin")));
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
