// SPDX-License-Identifier: Apache-2.0
#include "base/disk_cache.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tilewise::base {

std::vector<cached_item> surplus(std::vector<cached_item> all, std::uint64_t limit, std::time_t recent) {
  std::sort(all.begin(), all.end(), [](const cached_item& a, const cached_item& b) { return a.used > b.used; });
  std::uint64_t kept = 0;
  auto first_old = all.begin();
  for (; first_old != all.end(); ++first_old)
    if ((kept += first_old->bytes) > limit && first_old->used <= recent) break;
  all.erase(all.begin(), first_old);
  std::reverse(all.begin(), all.end());
  return all;
}

void limit_entries(int directory, std::uint64_t limit) {
  constexpr std::time_t hour = 60 * 60;
  const int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* listed = again < 0 ? nullptr : fdopendir(again);
  if (listed == nullptr) return;
  std::vector<cached_item> all;
  while (const dirent* entry = readdir(listed)) {
    const std::string_view name = entry->d_name;
    struct stat facts {};
    if (!name.ends_with(".bin") && !name.ends_with(".tmp")) continue;
    if (fstatat(directory, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0)
      all.push_back({std::string(name), static_cast<std::uint64_t>(facts.st_size), facts.st_mtim.tv_sec});
  }
  closedir(listed);
  for (const cached_item& old : surplus(std::move(all), limit, std::time(nullptr) - hour))
    unlinkat(directory, old.name.c_str(), 0);  // processes that have it open can still read it
}

namespace {

constexpr std::uint64_t max_entry = std::uint64_t{1} << 28;  // our programs have about 100 KB

struct entry_header {
  char magic[8];
  char key[32];
  XXH128_canonical_t checksum;
  std::uint64_t bytes;
};
constexpr char entry_magic[8] = {'T', 'W', 'C', 'L', 'B', 'I', 'N', '1'};

class file {
 public:
  explicit file(int descriptor) : descriptor_(descriptor) {}
  ~file() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  file(const file&) = delete;
  int get() const { return descriptor_; }

  bool read_all(void* to, std::size_t bytes) const {
    for (char* at = static_cast<char*>(to); bytes != 0;) {
      const ssize_t got = read(descriptor_, at, bytes);
      if (got <= 0) return false;
      at += got;
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }

  bool write_all(const void* from, std::size_t bytes) const {
    for (const char* at = static_cast<const char*>(from); bytes != 0;) {
      const ssize_t put = write(descriptor_, at, bytes);
      if (put <= 0) return false;
      at += put;
      bytes -= static_cast<std::size_t>(put);
    }
    return true;
  }

 private:
  int descriptor_;
};

XXH128_canonical_t checksum_of(std::span<const unsigned char> bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return canonical;
}

bool is_ours(const struct stat& facts) {
  return S_ISREG(facts.st_mode) && facts.st_uid == geteuid() && (facts.st_mode & 022) == 0;
}

/// Whether the limit on file sizes allows this. Writing more raises a signal that ends the process.
bool may_be_written(std::uint64_t bytes) {
  rlimit largest{};
  return getrlimit(RLIMIT_FSIZE, &largest) != 0 || bytes <= largest.rlim_cur;
}

/// Creates the temporary file for an entry; sets its name. The loop skips names that exist: a killed process may have
/// left such a file and may have had the same number, since in containers that share a folder all may have number 1.
int create_beside(int directory, const std::string& key, std::string& name) {
  static std::atomic<unsigned> stored{0};
  int descriptor = -1;
  do {
    name = key + "." + std::to_string(getpid()) + "." + std::to_string(stored++) + ".tmp";
    descriptor = openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  } while (descriptor < 0 && errno == EEXIST);
  return descriptor;
}

}  // namespace

std::string cache_key(std::initializer_list<std::string_view> fields) {
  std::string joined;
  for (std::string_view field : fields) {
    const std::uint64_t length = field.size();
    joined.append(reinterpret_cast<const char*>(&length), sizeof length).append(field);
  }
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(joined.data(), joined.size()));
  std::string key;
  for (unsigned char byte : canonical.digest) {
    key += "0123456789abcdef"[byte >> 4];
    key += "0123456789abcdef"[byte & 15];
  }
  return key;
}

disk_cache::disk_cache(missing_folder if_missing) : directory_(open_cache_folder(if_missing)) {}

disk_cache::~disk_cache() {
  if (directory_ >= 0) close(directory_);
}

std::optional<std::vector<unsigned char>> disk_cache::find(const std::string& key) const {
  if (!usable()) return {};
  const file entry(openat(directory_, (key + ".bin").c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat facts;
  entry_header header;
  if (entry.get() < 0 || fstat(entry.get(), &facts) != 0 || !is_ours(facts)) return {};
  if (!entry.read_all(&header, sizeof header)) return {};
  if (std::memcmp(header.magic, entry_magic, sizeof entry_magic) != 0 || key != std::string_view(header.key, 32))
    return {};
  if (header.bytes > max_entry || static_cast<std::uint64_t>(facts.st_size) != sizeof header + header.bytes) return {};
  std::vector<unsigned char> bytes(header.bytes);
  if (!entry.read_all(bytes.data(), bytes.size())) return {};
  const XXH128_canonical_t checksum = checksum_of(bytes);
  if (std::memcmp(&checksum, &header.checksum, sizeof checksum) != 0) return {};
  futimens(entry.get(), nullptr);  // records the time of last use
  return bytes;
}

bool disk_cache::has_entry(const std::string& key) const {
  return usable() && faccessat(directory_, (key + ".bin").c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void disk_cache::store(const std::string& key, std::span<const unsigned char> bytes) const {
  entry_header header{};
  if (!usable() || bytes.size() > max_entry || !may_be_written(sizeof header + bytes.size())) return;
  std::memcpy(header.magic, entry_magic, sizeof entry_magic);
  std::memcpy(header.key, key.data(), sizeof header.key);
  header.checksum = checksum_of(bytes);
  header.bytes = bytes.size();
  std::string temporary;
  const int descriptor = create_beside(directory_, key, temporary);
  if (descriptor < 0) return;
  const file entry(descriptor);
  if (!entry.write_all(&header, sizeof header) || !entry.write_all(bytes.data(), bytes.size()) ||
      renameat(directory_, temporary.c_str(), directory_, (key + ".bin").c_str()) != 0)
    unlinkat(directory_, temporary.c_str(), 0);
  limit_entries(directory_);
}

}  // namespace tilewise::base
