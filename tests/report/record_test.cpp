// SPDX-License-Identifier: Apache-2.0
// Records: committed files are unchanged after reading and writing, keys and words are the schema's, and damaged files
// are refused with a message.
#include "fixture.hpp"
#include "page.hpp"
#include "record/file.hpp"
#include "record/json.hpp"

#include <tilewise/error.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <iterator>
#include <limits>
#include <set>

#include <sys/resource.h>

#include <zlib.h>

namespace tilewise::record {
namespace {

using nlohmann::json;

const std::filesystem::path root = std::filesystem::path(TILEWISE_TEST_FOLDER).parent_path();

TEST(Record, EveryCommittedOneIsWrittenAsItWasRead) {
  std::size_t lines = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "results")) {
    if (entry.path().extension() != ".gz") continue;
    const gzFile in = gzopen(entry.path().c_str(), "rb");
    for (std::string line(1 << 20, '\0'); gzgets(in, line.data(), static_cast<int>(line.size())); ++lines) {
      const json committed = json::parse(line.c_str()), written = to_json(from_json(committed));
      ASSERT_EQ(written, committed) << entry.path() << json::diff(committed, written);
      ASSERT_FALSE(committed.dump().find("samples_ns") != std::string::npos)
          << entry.path() << ": results/README.md says how to leave them out";
    }
    gzclose(in);
  }
  EXPECT_GT(lines, 1000u);
}

/// "timing.kernel.n"; with a question mark if the key may be left out.
using keys = std::set<std::string>;

template <class T>
void add_keys(const std::string& path, const T&, keys& to);
template <class T>
void add_keys(const std::string& path, const std::optional<T>&, keys& to) {
  add_keys(path, T{}, to);
}
template <class T>
void add_keys(const std::string& path, const std::vector<T>&, keys& to) {
  add_keys(path, T{}, to);
}
template <class T>
void add_keys(const std::string& path, const T&, keys& to) {
  if constexpr (part<T>)
    each_field<T>([&]<class V>(const field<T, V>& f) {
      const std::string key = path + "." + std::string(f.key);
      to.insert(key + (is_added<V> ? "?" : ""));
      if constexpr (is_added<V>)
        add_keys(key, typename V::value_type{}, to);
      else
        add_keys(key, V{}, to);
    });
}

const json& schema() {
  static const json read = json::parse(std::ifstream(root / "src/record/record.schema.json"));
  return read;
}

const json& resolved(const json& node) {
  const auto reference = node.find("$ref");
  return reference == node.end() ? node : schema()[json::json_pointer(reference->get<std::string>().substr(1))];
}

void add_keys(const std::string& path, const json& unresolved, keys& to) {
  const json& node = resolved(unresolved);
  for (const json& choice : node.value("oneOf", json::array())) add_keys(path, choice, to);
  if (node.contains("items")) add_keys(path, node["items"], to);
  const json required = node.value("required", json::array());
  const json properties = node.value("properties", json::object());
  for (const auto& [key, value] : properties.items()) {
    const bool may_lack = std::find(required.begin(), required.end(), key) == required.end();
    to.insert(path + "." + key + (may_lack ? "?" : ""));
    add_keys(path + "." + key, value, to);
  }
}

TEST(Record, ItsKeysAreTheSchemas) {
  keys written, allowed;
  add_keys("", result{}, written);
  add_keys("", schema(), allowed);
  for (const std::string& key : written) EXPECT_TRUE(allowed.contains(key)) << key << " is not in the schema";
  for (const std::string& key : allowed) EXPECT_TRUE(written.contains(key)) << key << " is never written";
  EXPECT_GT(written.size(), 100u);
}

template <word W>
void expect_words(const char* pointer) {
  json words = schema()[json::json_pointer(pointer)]["enum"];
  std::erase(words.get_ref<json::array_t&>(), json());
  EXPECT_EQ(words, json(names_of<W>)) << pointer;
}

TEST(Record, ItsWordsAreTheSchemas) {
  expect_words<status>("/properties/status");
  expect_words<ceiling>("/properties/derived/oneOf/1/properties/ceiling");
  expect_words<registry::claim>("/properties/case/properties/order");
  EXPECT_EQ(schema()["properties"]["schema"]["const"], schema_name);
}

TEST(Record, NumbersThatAreNotFiniteBecomeNull) {
  result r;
  clock& kernel = r.timing.emplace().kernel.emplace();
  kernel.max_ns = std::numeric_limits<double>::infinity();
  kernel.samples_ns = std::vector{1, std::nan("")};
  const json written = to_json(r);
  EXPECT_TRUE(written["timing"]["kernel"]["max_ns"].is_null());
  EXPECT_EQ(written["timing"]["kernel"]["samples_ns"].dump(), "[1.0,null]");
  EXPECT_EQ(to_json(from_json(written)), written);
}

TEST(Record, PhasesThatAJobLacksHaveNoKey) {
  result r;
  r.timing.emplace().phases.emplace().read = 5e6;
  r.timing->phases->kernel = 0;
  const json written = to_json(r);
  EXPECT_EQ(written["timing"]["phases"].dump(), R"({"kernel":0.0,"read":5000000.0})");
  EXPECT_EQ(to_json(from_json(written)), written);
  EXPECT_FALSE(to_json(timing{}).contains("phases")) << "older records are written as they were read";
}

TEST(Record, WhatIsOfAnotherTypeCountsAsAbsent) {
  json object = to_json(result{});
  object["reason"] = 5;
  object["case"]["seed"] = -1;
  object["case"]["settings"] = {{"op", "sum"}, {"kind", 3}};
  object["timing"] = "fast";
  object["noise"] = {{"min_effect", "none"}};
  object["course"] = json::array();
  const result r = from_json(object);
  EXPECT_FALSE(r.reason);
  EXPECT_EQ(r.what.seed, 0u);
  EXPECT_EQ(r.what.settings, (std::map<text, text>{{"op", "sum"}}));
  EXPECT_FALSE(r.timing);
  EXPECT_FALSE(r.noise->min_effect);
  EXPECT_FALSE(r.course);
}

TEST(Record, SettingsStandInTheCatalogsOrder) {
  measured_case c;
  c.algorithm = "scan";
  c.settings = {{"init", "none"}, {"another", "x"}, {"kind", "inclusive"}, {"op", "sum"}};
  const std::vector<std::pair<text, text>> expected{
      {"op", "sum"}, {"kind", "inclusive"}, {"init", "none"}, {"another", "x"}};
  EXPECT_EQ(ordered_settings(c), expected);
}

results records_of(const std::filesystem::path& file, std::vector<std::string>* warnings = nullptr) {
  results all;
  read_records(
      file, [&](const result& r) { all.push_back(r); }, warnings);
  return all;
}

const std::string good_line = report::made_up_records().front().dump() + "\n";

std::string why_not(const std::string& text) {
  const report::scratch where;
  try {
    records_of(where.file(text));
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::io);
    return e.what();
  }
  return "";
}

TEST(RecordFile, ReadsWhatItWrote) {
  const report::scratch where;
  const results records = report::typed(report::made_up_records());
  record_file file(where.folder / "written.jsonl");
  for (const result& r : records) file.write(r);
  const auto as_json = [](const results& some) { return to_json(std::vector<result>(some.begin(), some.end())); };
  EXPECT_EQ(as_json(records_of(where.folder / "written.jsonl")), as_json(records));
}

std::string contents_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string compressed(const std::string& text) {
  const report::scratch where;
  const std::filesystem::path file = where.folder / "some.gz";
  const gzFile out = gzopen(file.c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  return contents_of(file);
}

TEST(RecordFile, ReadsCompressedOnesAndRefusesThemCutOffOrChanged) {
  const std::string whole = compressed(good_line + good_line);
  const report::scratch where;
  EXPECT_EQ(records_of(where.file(whole)).size(), 2u);
  for (std::size_t bytes = 3; bytes < whole.size(); bytes += 7) EXPECT_NE(why_not(whole.substr(0, bytes)), "") << bytes;
  EXPECT_NE(why_not(whole + good_line).find("more than one compressed file"), std::string::npos);
  std::string changed = whole;
  changed[whole.size() / 2] ^= 0x10;
  EXPECT_NE(why_not(changed).find("damaged or cut off"), std::string::npos);
}

TEST(RecordFile, NothingIsAppendedToACompressedOne) {
  const std::string before = compressed(good_line);
  const report::scratch where;
  const std::filesystem::path file = where.file(before);
  EXPECT_THROW(record_file{file}, error);
  EXPECT_TRUE(contents_of(file) == before);
  EXPECT_THROW(record_file{where.folder / "new.jsonl.gz"}, error);
  EXPECT_FALSE(std::filesystem::exists(where.folder / "new.jsonl.gz"));
}

TEST(RecordFile, ALineLeftUnfinishedDoesNotSwallowTheNext) {
  const report::scratch where;
  const std::string half = "{\"schema\":\"tilew";
  const std::filesystem::path file = where.file(half);
  const auto with_id = [](const char* id) {
    result r;
    r.id = id;
    return r;
  };
  for (const char* id : {"a", "b"}) record_file(file).write(with_id(id));
  record_file kept(file);
  for (const char* id : {"c", "d"}) {
    std::ofstream(file, std::ios::app) << half;  // by another process, between two writes
    kept.write(with_id(id));
  }
  std::ifstream lines(file);
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);)
    all.push_back(line == half ? half : json::parse(line)["id"].get<std::string>());
  EXPECT_EQ(all, (std::vector<std::string>{half, "a", "b", half, "c", half, "d"}));
}

/// A disk without room beyond this many bytes of a file.
class full_disk {
 public:
  explicit full_disk(std::size_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  full_disk(const full_disk&) = delete;
  ~full_disk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

TEST(RecordFile, OfAFullDiskOnlyTheRecordThatItCutIsTakenBack) {
  const report::scratch where;
  const result r = report::typed(report::made_up_records()).front();
  for (const int written : {0, 1, 2, 7}) {
    const std::filesystem::path file = where.folder / (std::to_string(written) + ".jsonl");
    const auto another_appends = [&] { std::ofstream(file, std::ios::app) << good_line; };
    another_appends();
    record_file ours(file);
    another_appends();
    for (int i = 0; i < written; ++i) {
      ours.write(r);
      another_appends();
    }
    const std::string before = contents_of(file);
    {
      const full_disk after(before.size() + 100);
      EXPECT_THROW(ours.write(r), error);
    }
    EXPECT_EQ(contents_of(file), before) << written;
    ours.write(r);
    EXPECT_EQ(records_of(file).size(), static_cast<std::size_t>(2 * written + 3));
  }
}

TEST(RecordFile, ALastLineCutOffIsLeftOutAndTold) {
  const report::scratch where;
  std::vector<std::string> warnings;
  const auto records = records_of(where.file(good_line + good_line + good_line.substr(0, 100)), &warnings);
  EXPECT_EQ(records.size(), 2u);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("line 3"), std::string::npos) << warnings[0];
}

TEST(RecordFile, ALastLineWithoutItsEndIsReadAsAWhole) {
  const report::scratch where;
  std::vector<std::string> warnings;
  EXPECT_EQ(records_of(where.file(good_line + good_line.substr(0, good_line.size() - 1)), &warnings).size(), 2u);
  EXPECT_TRUE(warnings.empty()) << warnings[0];
}

TEST(RecordFile, BrokenLinesAreLeftOutAndTold) {
  const report::scratch where;
  for (const std::string& broken :
       {std::string("{broken"), std::string(" "), std::string("{\"a\":\"\xff\"}"), std::string("{\"a\":1e999}"),
        std::string("\0\0", 2), good_line.substr(0, 100) + good_line.substr(0, good_line.size() - 1)}) {
    std::vector<std::string> warnings;
    EXPECT_EQ(records_of(where.file(good_line + broken + "\n" + good_line), &warnings).size(), 2u) << broken;
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("records.jsonl: line 2 "), std::string::npos) << warnings[0];
  }
}

TEST(RecordFile, EmptyLinesArePassedOver) {
  const report::scratch where;
  std::vector<std::string> warnings;
  EXPECT_EQ(records_of(where.file("\n" + good_line + "\n\n" + good_line + "\n"), &warnings).size(), 2u);
  EXPECT_TRUE(warnings.empty()) << warnings[0];
}

TEST(RecordFile, NumbersBeyond64BitsAreReadAsJsonHasThem) {
  const report::scratch where;
  json record = report::made_up_records().front();
  record["case"]["operations"] = 1e25;
  std::string line = record.dump() + "\n";
  line.replace(line.find("1e+25"), 5, "10000000000000000000000000");
  EXPECT_EQ(records_of(where.file(line)).front().what.operations, 1e25);
}

TEST(RecordFile, EndlessLinesAreRefused) {
  const report::scratch where;
  const std::filesystem::path file = where.file(good_line);
  std::filesystem::resize_file(file, std::uint64_t{1} << 40);  // zeros without a line break
  EXPECT_THROW(records_of(file), error);
}

TEST(RecordFile, OtherDamageNamesTheFile) {
  EXPECT_NE(why_not("").find("holds no record"), std::string::npos);
  EXPECT_NE(why_not(good_line.substr(0, 50)).find("holds no record"), std::string::npos);
  EXPECT_THROW(records_of("/nonexistent/records.jsonl"), error);
  EXPECT_THROW(records_of("/"), error);
}

TEST(RecordFile, DepthSchemaAndTypesAreChecked) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']') + "\n";
  EXPECT_NE(why_not(good_line + deep + good_line).find("nests deeper"), std::string::npos);
  EXPECT_NE(why_not(good_line + deep).find("nests deeper"), std::string::npos);
  const auto nested = [](std::size_t levels) {  // the record itself is one of them
    return good_line.substr(0, good_line.size() - 2) + ",\"more\":" + std::string(levels - 1, '[') +
           std::string(levels - 1, ']') + "}\n";
  };
  EXPECT_EQ(why_not(nested(64)), "");
  EXPECT_NE(why_not(nested(65)).find("nests deeper than 64 levels"), std::string::npos);
  const auto behind_a_long_number = [&](std::size_t levels) {  // where the fast parser gives up
    return nested(levels).insert(1, "\"long\":10000000000000000000000000,");
  };
  EXPECT_EQ(why_not(behind_a_long_number(64)), "");
  EXPECT_NE(why_not(behind_a_long_number(65)).find("nests deeper than 64 levels"), std::string::npos);
  const auto changed = [](const char* pointer, const json& value) {
    json record = report::made_up_records().front();
    record[json::json_pointer(pointer)] = value;
    return why_not(record.dump() + "\n");
  };
  EXPECT_NE(changed("/schema", "tilewise.result/2").find("tilewise.result/2"), std::string::npos);
  EXPECT_NE(changed("/status", "good").find("'good'"), std::string::npos);
  EXPECT_NE(changed("/case", 5).find("'case'"), std::string::npos);
  EXPECT_NE(changed("/case/n", -1).find("'case.n'"), std::string::npos);
  EXPECT_NE(changed("/case/variant", nullptr).find("'case.variant'"), std::string::npos);
  EXPECT_NE(changed("/device/name", json::array()).find("'device.name'"), std::string::npos);
}

}  // namespace
}  // namespace tilewise::record
