// SPDX-License-Identifier: Apache-2.0
// The .npy reader is strict: it refuses hostile files with a message, and allocates nothing for them.
#include "io/npy.hpp"
#include "base/number.hpp"
#include "io/array_output.hpp"
#include "io/npy_header.hpp"
#include "io/replacement_file.hpp"
#include "scratch_folder.hpp"

#include <tilewise/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using namespace tilewise;

/// Each test has its own folder.
struct npy : testing::Test {
  const tests::scratch_folder scratch;
  const fs::path folder = scratch.path();

  std::string file(const std::string& contents) const {
    const std::string path = folder / "x.npy";
    std::ofstream(path, std::ios::binary) << contents;
    return path;
  }
};

/// A file of one version around a dictionary's text, with `elements` bytes after it.
std::string npy_file(const std::string& dictionary, std::size_t elements, int version = 1) {
  std::string text = "\x93NUMPY";
  text += {static_cast<char>(version), '\0'};
  const std::size_t length = dictionary.size();
  text += {static_cast<char>(length & 255), static_cast<char>(length >> 8 & 255)};
  if (version != 1) text += {static_cast<char>(length >> 16 & 255), static_cast<char>(length >> 24 & 255)};
  return text + dictionary + std::string(elements, '\1');
}

std::string dictionary(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

std::string message_of(const std::string& path, errc expected = errc::io) {
  try {
    io::read_npy(path);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), expected) << e.what();
    return e.what();
  }
  return "it was read";
}

struct hostile {
  std::string contents, says;
};

std::vector<hostile> hostile_files() {
  const std::string good = npy_file(dictionary("<f4", "(3,)"), 12);
  const auto file_of = [](const std::string& dict, std::size_t elements = 12) { return npy_file(dict, elements); };
  const auto version = [](char major, char minor) {
    std::string text = npy_file(dictionary("<f4", "(3,)"), 12);
    text[6] = major, text[7] = minor;
    return text;
  };
  std::vector<hostile> files{
      {"", "not a NumPy file"},
      {"\x93", "not a NumPy file"},
      {"\x93NUMPX\1\0", "not a NumPy file"},
      {"1,2,3\n", "not a NumPy file"},
      {std::string(100000, '\0'), "not a NumPy file"},
      {"PK\3\4 an npz archive", "not a NumPy file"},
      {good.substr(0, 6), "within its header"},
      {good.substr(0, 8), "within its header"},
      {good.substr(0, 9), "within its header"},
      {good.substr(0, 10), "within its header"},
      {good.substr(0, 40), "within its header"},
      {good.substr(0, good.size() - 13), "within its header"},
      {version(0, 0), "version 0.0"},
      {version(4, 0), "version 4.0"},
      {version(1, 1), "version 1.1"},
      {version('\xff', '\xff'), "version 255.255"},
      {std::string("\x93NUMPY\2\0\xff\xff\xff\xff{", 13), "4294967295 bytes; at most 65536"},
      {std::string("\x93NUMPY\3\0\1\0\1\0{", 13), "65537 bytes; at most 65536"},
      {std::string("\x93NUMPY\2\0\x40\0", 10), "within its header"},
      // Fewer elements than announced.
      {good.substr(0, good.size() - 1), "cut off"},
      {good.substr(0, good.size() - 12), "cut off"},
      {good + "x", "not one array"},
      {good + good, "not one array"},
      {file_of(dictionary("<f8", "(3,)")), "cut off"},
      {file_of(dictionary("<f4", "(1000000000000,)")), "cut off"},
      {file_of(dictionary("<f4", "(0,)")), "not one array"},
      {file_of(dictionary("<f4", "()")), "not one array"},
      // Sizes whose product overflows.
      {file_of(dictionary("<f4", "(4294967296, 4294967296)"), 0), "more than 2^64 bytes"},
      {file_of(dictionary("<f4", "(4611686018427387904,)"), 0), "more than 2^64 bytes"},
      {file_of(dictionary("<f8", "(2305843009213693952,)"), 0), "more than 2^64 bytes"},
      {file_of(dictionary("<f4", "(4611686018427387903,)"), 0), "2^63 bytes or more"},
      {file_of(dictionary("<f4", "(0, 18446744073709551615)"), 0), "more than 2^64 bytes"},
      {file_of(dictionary("<f4", "(18446744073709551616,)"), 0), "larger than 2^64"},
      {file_of(dictionary("<f4", "(99999999999999999999999999999999,)"), 0), "larger than 2^64"},
      {file_of(dictionary("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 3)")), "more than 8 dimensions"},
      // Shapes that are not shapes.
      {file_of(dictionary("<f4", "(-3,)")), "where a dimension should be"},
      {file_of(dictionary("<f4", "(3.0,)")), "lacks a comma"},
      {npy_file(dictionary("<f4", "(3L,)"), 12, 3), "lacks a comma"},
      {file_of(dictionary("<f4", "(3l,)")), "lacks a comma"},
      {file_of(dictionary("<f4", "(0x3,)")), "lacks a comma"},
      {file_of(dictionary("<f4", "(03,)")), "where a dimension should be"},
      {file_of(dictionary("<f4", "(+3,)")), "where a dimension should be"},
      {file_of(dictionary("<f4", "(3)")), "not a tuple"},
      {file_of(dictionary("<f4", "3")), "lacks a '('"},
      {file_of(dictionary("<f4", "[3]")), "lacks a '('"},
      {file_of(dictionary("<f4", "(3,,)")), "where a dimension should be"},
      {file_of(dictionary("<f4", "(,)")), "where a dimension should be"},
      {file_of(dictionary("<f4", "(3 1)")), "lacks a comma"},
      {file_of(dictionary("<f4", "(3,")), "where a dimension should be"},
      {file_of(dictionary("<f4", "(None,)")), "where a dimension should be"},
      {file_of(dictionary("<f4", "(__import__('os').system('id'),)")), "where a dimension should be"},
      // Types that Tilewise does not read.
      {file_of(dictionary("|O", "(3,)")), "Tilewise reads f4, f8, i4, i8, u4 and u8"},
      {file_of(dictionary("<f2", "(6,)")), "type '<f2'; Tilewise reads"},
      {file_of(dictionary("<f16", "(1,)")), "type '<f16'"},
      {file_of(dictionary("<c8", "(1,)")), "type '<c8'"},
      {file_of(dictionary("|b1", "(12,)")), "type '|b1'"},
      {file_of(dictionary("|i1", "(12,)")), "type '|i1'"},
      {file_of(dictionary("<U3", "(1,)")), "type '<U3'"},
      {file_of(dictionary("|S12", "(1,)")), "type '|S12'"},
      {file_of(dictionary("<M8[ns]", "(1,)")), "type '<M8[ns]'"},
      {file_of(dictionary("", "(3,)")), "type ''"},
      {file_of(dictionary("<", "(3,)")), "type '<'"},
      {file_of(dictionary("<f44", "(3,)")), "type '<f44'"},
      {file_of(dictionary("\033[2Jf4", "(3,)")), "type '\\x1b[2Jf4'"},
      {file_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }\n"), "records"},
      {file_of("{'descr': ('<f4', (3,)), 'fortran_order': False, 'shape': (1,), }\n"), "lacks a quoted text"},
      {file_of("{'descr': 4, 'fortran_order': False, 'shape': (3,), }\n"), "lacks a quoted text"},
      // Dictionaries that are not dictionaries.
      {file_of(""), "lacks a '{'"},
      {file_of("{}\n"), "lacks the key 'descr'"},
      {file_of("{'descr': '<f4', 'shape': (3,)}\n"), "lacks the key 'fortran_order'"},
      {file_of("{'descr': '<f4', 'fortran_order': False}\n"), "lacks the key 'shape'"},
      {file_of(dictionary("<f4", "(3,)", "false")), "neither True nor False"},
      {file_of(dictionary("<f4", "(3,)", "0")), "neither True nor False"},
      {file_of(dictionary("<f4", "(3,)", "Falsehood")), "lacks a comma"},
      {file_of("{'descr': '<f4', 'descr': '<f2', 'fortran_order': False, 'shape': (3,)}\n"), "type '<f2'"},
      {file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'x': 1}\n"), "unknown key 'x'"},
      {file_of("{'descr': '<f4' 'fortran_order': False, 'shape': (3,)}\n"), "lacks a comma"},
      {file_of("{'descr' '<f4', 'fortran_order': False, 'shape': (3,)}\n"), "lacks a ':'"},
      {file_of("{'descr: '<f4', 'fortran_order': False, 'shape': (3,)}\n"), "lacks a ':'"},
      {file_of("{'descr': '<f4"), "a quote that does not end"},
      {file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)"), "lacks a comma"},
      {file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} x\n"), "goes on after"},
      {file_of("{,'descr': '<f4', 'fortran_order': False, 'shape': (3,)}\n"), "lacks a quoted text"},
      {file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (3,),,}\n"), "lacks a quoted text"},
      {file_of(std::string(60000, '{')), "lacks a quoted text"},
      {file_of(std::string(1000, '\0')), "lacks a '{'"},
  };
  return files;
}

TEST_F(npy, HostileFilesAreErrorsWithASentence) {
  const std::vector<hostile> files = hostile_files();
  EXPECT_GE(files.size(), 60u);
  for (const hostile& h : files) {
    const std::string path = file(h.contents), message = message_of(path);
    EXPECT_NE(message.find(h.says), std::string::npos) << message << "\nlacks: " << h.says;
    EXPECT_TRUE(message.starts_with(path + ": ")) << message;
    for (const char c : message) EXPECT_GE(static_cast<unsigned char>(c), 32) << message;
  }
}

TEST_F(npy, EveryCutOfAFileIsAnError) {
  const std::string good = npy_file(dictionary("<i8", "(2, 2)"), 32);
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(message_of(file(good.substr(0, length))), "it was read") << length;
}

TEST_F(npy, WhatNumPyWritesIsRead) {
  for (const char* text : {
           "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }                        \n",
           "{'descr':'<f4','fortran_order':False,'shape':(3,)}\n",
           "{\"shape\": (3,), \"descr\": \"<f4\", \"fortran_order\": True}\n",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, 1)}\n",
           "{'descr': '<f4', 'fortran_order': False, 'shape': ( 3 , 1 , ) , }\n",
           "{u'descr': 'single',\r\n u'fortran_order': False,\n'shape':\t(3,1)}",
           "{'shape': (7,), 'descr': '=f4', 'fortran_order': False, 'shape': (3,)}  \r\n",
       })
    for (const int version : {1, 2, 3}) {
      const io::npy_array x = io::read_npy(file(npy_file(text, 12, version)));
      EXPECT_EQ(x.count(), 3u) << text;
      EXPECT_EQ(x.type, dtype::f32);
    }
}

TEST_F(npy, BigEndianAndFortranOrderAreConverted) {
  std::string big = npy_file(dictionary(">u4", "(2, 3)", "True"), 0);
  for (const char value : {'\1', '\2', '\3', '\4', '\5', '\6'})
    big += std::string("\0\0\0", 3) + value;  // columns: 1 2, 3 4, 5 6
  const io::npy_array x = io::read_npy(file(big));
  std::vector<std::uint32_t> values(6);
  std::memcpy(values.data(), x.data.data(), 24);
  EXPECT_EQ(values, (std::vector<std::uint32_t>{1, 3, 5, 2, 4, 6}));
}

TEST_F(npy, EmptyAndSingleValuesHaveTheirShape) {
  const io::npy_array none = io::read_npy(file(npy_file(dictionary("<f8", "(0, 7)", "True"), 0)));
  EXPECT_EQ(none.count(), 0u);
  EXPECT_EQ(none.shape, (std::vector<std::uint64_t>{0, 7}));
  const io::npy_array one = io::read_npy(file(npy_file(dictionary("<f8", "()"), 8)));
  EXPECT_EQ(one.count(), 1u);
  EXPECT_TRUE(one.shape.empty());
}

TEST_F(npy, WhatIsNoRegularFileIsRefusedWithoutWaiting) {
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(message_of(pipe).find("not a regular file"), std::string::npos);
  EXPECT_NE(message_of(folder).find("not a regular file"), std::string::npos);
  EXPECT_NE(message_of("/dev/zero").find("not a regular file"), std::string::npos);
  EXPECT_NE(message_of(folder / "missing.npy").find("No such file"), std::string::npos);
  EXPECT_NE(message_of("").find("No such file"), std::string::npos);
}

TEST_F(npy, MoreThanTheHostHoldsIsOutOfMemoryBeforeAllocation) {
  const std::string head = npy_file(dictionary("<f8", "(1099511627776,)"), 0);
  const std::string path = file(head);
  if (truncate(path.c_str(), static_cast<off_t>(head.size() + (std::uint64_t{8} << 40))) != 0)
    GTEST_SKIP() << "this file system has no holes of 8 TiB";
  const std::string message = message_of(path, errc::out_of_memory);
  EXPECT_NE(message.find("needs 8796093022208 bytes"), std::string::npos) << message;
  EXPECT_NE(message.find("the host has "), std::string::npos) << message;
}

TEST_F(npy, WrittenFilesReadBack) {
  const std::vector<float> values{1.5f, -0.0f, std::nanf("7"), 1e-40f, INFINITY, 3};
  const std::string path = folder / "y.npy";
  const std::vector<std::uint64_t> shape{2, 3};
  io::write_npy(path, dtype::f32, shape, std::as_bytes(std::span(values)));
  const io::npy_array y = io::read_npy(path);
  EXPECT_EQ(y.shape, shape);
  EXPECT_EQ(std::memcmp(y.data.data(), values.data(), 24), 0);
  EXPECT_EQ(io::format_npy_header(dtype::f32, shape).size() % 64, 0u);
}

/// The files of a folder, hidden ones too.
std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST_F(npy, AFullDiskLeavesTheExistingFileAndNothingElse) {
  const std::string path = file("what was there");
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::vector<std::byte> data(1 << 20);
  const std::vector<std::uint64_t> shape{data.size() / 8};
  EXPECT_THROW(io::write_npy(path, dtype::f64, shape, data), error);
  setrlimit(RLIMIT_FSIZE, &before);
  std::ifstream kept(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), "what was there");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST_F(npy, OutputsThatAreNoFilesAreRefused) {
  const std::vector<std::uint64_t> shape{0};
  for (const std::string& path : {std::string("/dev/full"), folder.string(), (folder / "no" / "y.npy").string()})
    EXPECT_THROW(io::write_npy(path, dtype::f64, shape, {}), error) << path;
  EXPECT_EQ(files_in(folder), 0u);
}

TEST_F(npy, ALinkStaysALinkAndPermissionsStay) {
  const std::string target = file("old"), link = folder / "link.npy";
  fs::create_symlink(target, link);
  fs::permissions(target, fs::perms(0640));
  const std::vector<std::uint64_t> shape{0};
  io::write_npy(link, dtype::f64, shape, {});
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(io::read_npy(target).count(), 0u);
  EXPECT_EQ(fs::status(target).permissions(), fs::perms(0640));
}

TEST_F(npy, WhatIsUnfinishedIsRemovedHoweverMany) {
  const auto files = [&] { return std::distance(fs::directory_iterator(folder), {}); };
  io::replacement_file first(folder / "a.npy");
  {
    io::replacement_file second(folder / "b.npy");
    EXPECT_THROW(io::replacement_file(folder / "none" / "c.npy"), error);
    EXPECT_EQ(files(), 2);
    io::remove_unfinished();
    EXPECT_EQ(files(), 0);
  }
  for (int again = 0; again < 9; ++again) {  // each one, even a failed one, must leave no file behind
    EXPECT_THROW(io::replacement_file(folder / "none" / "c.npy"), error) << again;
    io::replacement_file(folder / "d.npy").commit();
  }
  EXPECT_EQ(files(), 1);
}

/// More threads than a file admits at once. If files are in memory, some threads write through a map.
void write_from_many_threads(const fs::path& path) {
  std::vector<std::uint64_t> values(1 << 20);
  std::iota(values.begin(), values.end(), std::uint64_t{7});
  const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
  const std::vector<std::uint64_t> shape{values.size()};
  io::array_output file(path, dtype::f64, shape);
  constexpr std::size_t slice = 100'000;  // no multiple of a page
  std::atomic<std::size_t> next{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        for (std::size_t at; (at = next.fetch_add(slice)) < bytes.size();)
          file.write(at, bytes.subspan(at, std::min(slice, bytes.size() - at)));
      });
  }
  file.commit();
  const io::npy_array read = io::read_npy(path);
  ASSERT_EQ(read.data.size(), bytes.size());
  EXPECT_EQ(std::memcmp(read.data.data(), bytes.data(), bytes.size()), 0);
}

TEST_F(npy, ManyThreadsWriteOneFile) {
  for (int again = 0; again < 3; ++again) write_from_many_threads(folder / "many.npy");
  if (!fs::is_directory("/dev/shm")) return;
  const fs::path in_memory = "/dev/shm/tilewise-npy-" + std::to_string(getpid());
  for (int again = 0; again < 10; ++again) write_from_many_threads(in_memory);
  fs::remove(in_memory);
}

TEST(number, TextsReadBackAndOthersAreRefused) {
  const auto text = [](std::string_view in, dtype type) { return base::to_string(base::parse_number(in, type)); };
  EXPECT_EQ(text("0.1", dtype::f32), "0.1");
  EXPECT_EQ(text("-0", dtype::f64), "-0");
  EXPECT_EQ(text("inf", dtype::f32), "inf");
  EXPECT_EQ(text("-inf", dtype::f64), "-inf");
  EXPECT_EQ(text("nan", dtype::f64), "nan");
  EXPECT_EQ(text("1e-45", dtype::f32), "1e-45");
  EXPECT_EQ(text("18446744073709551615", dtype::u64), "18446744073709551615");
  EXPECT_EQ(text("-9223372036854775808", dtype::i64), "-9223372036854775808");
  EXPECT_EQ(base::to_hex(base::parse_number("-2", dtype::i32)), "0xfffffffe");
  EXPECT_EQ(base::to_hex(base::parse_number("1", dtype::f64)), "0x3ff0000000000000");
  for (const auto& [in, type] : std::vector<std::pair<std::string, dtype>>{{"", dtype::f32},
                                                                           {"x", dtype::f32},
                                                                           {"1,5", dtype::f64},
                                                                           {" 1", dtype::i32},
                                                                           {"1 ", dtype::i32},
                                                                           {"1.0", dtype::i32},
                                                                           {"1e3", dtype::u64},
                                                                           {"-1", dtype::u32},
                                                                           {"0x10", dtype::i64},
                                                                           {"nan", dtype::i32},
                                                                           {"4294967296", dtype::u32},
                                                                           {"2147483648", dtype::i32},
                                                                           {"1e39", dtype::f32},
                                                                           {"1e999", dtype::f64},
                                                                           {"18446744073709551616", dtype::u64},
                                                                           {"1f", dtype::f32}})
    EXPECT_THROW(base::parse_number(in, type), error) << in;
}

}  // namespace
