// What a client and its judge say to each other survives the way, and what is none is kParse.
#include "harness/measure/judge_protocol/protocol.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/measure/judge_protocol/findings.h"
#include "tests/error_of.h"

namespace kbench::judge {
namespace {

EvaluateRequest full_request() {
  EvaluateRequest request;
  request.question.candidate.path = "set/a \"quoted\"\n\\name.yaml";
  request.question.check = true;
  request.more = true;
  Question& o = request.question;
  o.preset = "v0";
  o.overrides = {{"n", int64_t{-65}}, {"p", 0.1}, {"k", std::vector<int64_t>{1, 2}}};
  o.rule.tolerance = ToleranceRule::kernelbench;
  o.plan = {0.05, 1.5, 17, 2000};
  o.limits = {31, 2.5, 77, int64_t{1} << 40};
  o.rule.validate = true;
  o.rule.other_sizes = OtherSizes::require;
  o.plan.seed = 0xffffffffffffffffu;
  RecordedTimes recorded;
  recorded.file = "times.json";
  recorded.column = "compiled";
  recorded.device = "a device";
  recorded.preset = "v0";
  recorded.ms[{1, 19}] = 0.125;
  recorded.ms[{2, 76}] = 1e-9;
  recorded.variables[{1, 19}] = {{"dim", int64_t{5}}};
  o.recorded = recorded;
  return request;
}

TEST(JudgeProtocol, ARequestSurvivesWithAllItsOptions) {
  const EvaluateRequest sent = full_request();
  const std::string line = to_json(sent);
  EXPECT_EQ(line.find('\n'), line.npos);
  const EvaluateRequest got = request_from_json(line);
  EXPECT_EQ(got.question.candidate.path, sent.question.candidate.path);
  EXPECT_TRUE(got.question.check);
  EXPECT_TRUE(got.more);
  const Question &a = got.question, &b = sent.question;
  EXPECT_EQ(a.preset, b.preset);
  EXPECT_EQ(a.overrides, b.overrides);
  EXPECT_EQ(a.rule.tolerance, b.rule.tolerance);
  EXPECT_EQ(a.plan.precision, b.plan.precision);
  EXPECT_EQ(a.plan.max_seconds, b.plan.max_seconds);
  EXPECT_EQ(a.plan.min_samples, b.plan.min_samples);
  EXPECT_EQ(a.plan.max_samples, b.plan.max_samples);
  EXPECT_EQ(a.limits.compile_seconds, b.limits.compile_seconds);
  EXPECT_EQ(a.limits.device_seconds, b.limits.device_seconds);
  EXPECT_EQ(a.limits.total_seconds, b.limits.total_seconds);
  EXPECT_EQ(a.limits.host_bytes, b.limits.host_bytes);
  EXPECT_EQ(a.rule.validate, b.rule.validate);
  EXPECT_EQ(a.rule.other_sizes, b.rule.other_sizes);
  EXPECT_EQ(a.plan.seed, b.plan.seed);
  ASSERT_TRUE(a.recorded);
  EXPECT_EQ(a.recorded->file, b.recorded->file);
  EXPECT_EQ(a.recorded->column, b.recorded->column);
  EXPECT_EQ(a.recorded->device, b.recorded->device);
  EXPECT_EQ(a.recorded->preset, b.recorded->preset);
  EXPECT_EQ(a.recorded->ms, b.recorded->ms);
  EXPECT_EQ(a.recorded->variables, b.recorded->variables);
}

TEST(JudgeProtocol, WhatIsNotGivenStaysOut) {
  const EvaluateRequest got = request_from_json(to_json(EvaluateRequest{}));
  EXPECT_FALSE(got.question.plan.seed);
  EXPECT_FALSE(got.question.recorded);
  EXPECT_FALSE(got.question.check);
  EXPECT_FALSE(got.more);
  EXPECT_EQ(got.question.preset, Question{}.preset);
  EXPECT_EQ(got.question.rule.tolerance, ToleranceRule::kbench);
}

TEST(JudgeProtocol, AnErrorSurvivesWithItsPlace) {
  const Error sent(ErrorCode::kShape, Location{"a\nfile.yaml", 3, 7}, "said\n\"so\"");
  const std::string line = to_json(sent);
  EXPECT_EQ(line.find('\n'), line.npos);
  const Error got = error_from_json(line);
  EXPECT_EQ(got.code(), sent.code());
  EXPECT_STREQ(got.what(), sent.what());
  EXPECT_EQ(got.location().file, "a\nfile.yaml");
  EXPECT_EQ(got.location().line, 3);
  EXPECT_EQ(got.location().column, 7);
}

TEST(JudgeProtocol, DevicesSurviveInAList) {
  const auto list = snapshots_from_json(to_json(std::vector<vulkan::DeviceSnapshot>(2)));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(to_json(list[1]), to_json(vulkan::DeviceSnapshot{}));
  EXPECT_TRUE(snapshots_from_json(to_json(std::vector<vulkan::DeviceSnapshot>{})).empty());
}

TEST(JudgeProtocol, EveryFieldOfADeviceSurvives) {
  using nlohmann::json;
  const json none = json::parse(to_json(vulkan::DeviceSnapshot{}));
  json all = none;
  for (auto& [name, value] : all.items()) {
    if (value.is_boolean()) value = true;
    if (value.is_number_integer()) value = value.get<int>() + 1;
    if (value.is_number_float()) value = 0.5;
    if (value.is_string()) value = name;
    if (!value.is_array()) continue;
    for (json& item : value) item = item.get<int>() + 1;
  }
  all["queues"] = {{{"index", 1}, {"compute", true}, {"timestamp_bits", 36}}};
  all["extensions"] = {"VK_A", "VK_\"B\"\n"};
  all["max_storage_buffer_range"] = ~uint64_t{0};
  all["texel_formats"] = {100};
  all["storage_texel_formats"] = {37, 109};
  for (const auto& [name, value] : all.items()) EXPECT_NE(value, none.at(name)) << name;
  const vulkan::DeviceSnapshot device = snapshot_from_json(all.dump());
  EXPECT_EQ(to_json(device).find('\n'), std::string::npos);
  EXPECT_EQ(json::parse(to_json(device)), all);
  EXPECT_EQ(all.size(), 61u);
  EXPECT_EQ(device.max_sampled_images_per_stage, 1u);
  EXPECT_TRUE(device.storage_image_write);
  EXPECT_EQ(device.storage_texel_formats.back(), VK_FORMAT_R32G32B32A32_SFLOAT);
}

TEST(JudgeProtocol, BytesThatAreNoTextDoNotStopIt) {
  EvaluateRequest request;
  request.question.candidate.path = "a\xff.yaml";
  EXPECT_EQ(request_from_json(to_json(request)).question.preset, "auto");
  EXPECT_FALSE(to_json(Error(ErrorCode::kIo, "\xfe\xff")).empty());
}

TEST(JudgeProtocol, CandidatesInMemoryArriveByteForByte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (const std::string& tail : {std::string(), std::string("x"), std::string(2, '\0')}) {
    EvaluateRequest sent;
    sent.question.candidate = {
        {{"candidate.yaml", "kbench: 1\n\t\"\\\u00e9"}, {"k.spv", bytes + tail}, {"", ""}},
        "set/name"};
    sent.next_files = {"a.yaml", sent.question.candidate, "\xff.yaml"};
    const std::string line = to_json(sent);
    EXPECT_EQ(line.find('\n'), line.npos);
    const EvaluateRequest got = request_from_json(line);
    EXPECT_EQ(got.question.candidate, sent.question.candidate);
    EXPECT_EQ(got.next_files, sent.next_files);
    EXPECT_TRUE(same_question(got, sent));
    sent.question.candidate.files->at("k.spv") += "y";
    EXPECT_FALSE(same_question(got, sent));
  }
}

TEST(JudgeProtocol, ACandidateIsEitherAPathOrFiles) {
  const std::string line = to_json(EvaluateRequest());
  const auto with = [&](const std::string& candidate) {
    std::string text = line;
    const std::string before = "\"candidate\":\"\"";
    EXPECT_NE(text.find(before), text.npos);
    return text.replace(text.find(before), before.size(), "\"candidate\":" + candidate);
  };
  EXPECT_EQ(request_from_json(with("{\"files\": {}}")).question.candidate.manifest,
            "candidate.yaml");
  for (const char* wrong :
       {"1", "{}", "[]", "{\"files\": []}", "{\"files\": {\"a\": 1}}", "{\"name\": \"a\"}",
        "{\"path\": \"a\", \"files\": {}}", "{\"path\": \"a\", \"manifest\": \"b\"}",
        "{\"files\": {\"a\": {\"base64\": \"AB\"}}}",
        "{\"files\": {\"a\": {\"base64\": \"A?==\"}}}", "{\"files\": {}, \"more\": 1}"}) {
    EXPECT_EQ(code_of([&] { request_from_json(with(wrong)); }), ErrorCode::kParse) << wrong;
  }
}

TEST(JudgeProtocol, LinesThatAreNoneAreParseErrors) {
  // Every prefix of a good line, and what is JSON but not of the form.
  const auto expect_parse_errors = [](const std::string& good, const auto& read) {
    for (size_t size = 0; size < good.size(); size += 1 + size / 16) {
      EXPECT_EQ(code_of([&] { read(good.substr(0, size)); }), ErrorCode::kParse) << size;
    }
    for (const char* line : {"[]", "{}", "null", "1", "\"text\"", "{\"candidate\": 1}",
                             "{\"code\": \"x\"}", "{\"index\": []}"}) {
      EXPECT_EQ(code_of([&] { read(line); }), ErrorCode::kParse) << line;
    }
  };
  expect_parse_errors(to_json(full_request()), [](const auto& l) { request_from_json(l); });
  expect_parse_errors(to_json(Error(ErrorCode::kIo, "x")),
                      [](const auto& l) { error_from_json(l); });
  expect_parse_errors(to_json(vulkan::DeviceSnapshot{}),
                      [](const auto& l) { snapshot_from_json(l); });
}

TEST(JudgeProtocol, AListOfDevicesThatIsNoneIsAParseError) {
  for (const char* line : {"", "[]", "{\"devices\": [1]}", "{\"devices\": [{}]}",
                           "{\"devices\": 7}", "{\"devices\": {\"a\": 1}}", "{}"}) {
    EXPECT_EQ(code_of([&] { snapshots_from_json(line); }), ErrorCode::kParse) << line;
  }
}

std::string replaced(std::string line, const std::string& from, const std::string& to) {
  const size_t at = line.find(from);
  EXPECT_NE(at, std::string::npos) << line;
  return line.replace(at, from.size(), to);
}

template <class F>
void expect_refused(F read) {
  EXPECT_EQ(code_of(read), ErrorCode::kParse);
}

TEST(JudgeProtocol, FieldsOfTheWrongTypeAreParseErrors) {
  const std::string good = to_json(full_request());
  for (const std::string& line :
       {replaced(good, "\"check\":true", "\"check\":\"yes\""),
        replaced(good, "\"overrides\":{", "\"overrides\":[{"),
        replaced(good, "\"n\":-65", "\"n\":\"many\""), replaced(good, "\"n\":-65", "\"n\":{}"),
        replaced(good, "\"preset\":\"v0\"", "\"preset\":0"), replaced(good, "level1/19", "level/x"),
        replaced(good, "\"limits\":{", "\"limitz\":{")}) {
    EXPECT_EQ(code_of([&] { request_from_json(line); }), ErrorCode::kParse) << line;
  }
}

TEST(JudgeProtocol, NumbersThatDoNotFitAreRefused) {
  const std::string device = to_json(vulkan::DeviceSnapshot());
  expect_refused([&] { snapshot_from_json(replaced(device, "index\":0", "index\":4294967296")); });
  expect_refused([&] { snapshot_from_json(replaced(device, "uuid\":[0", "uuid\":[256")); });
  expect_refused([&] { snapshot_from_json(replaced(device, "uuid\":[0", "uuid\":[0,0")); });
  expect_refused([&] { snapshot_from_json(replaced(device, "index\":0", "index\":1e300")); });

  const std::string error = to_json(Error(ErrorCode::kIo, {"a.yaml", 3, 4}, "said so"));
  EXPECT_EQ(error_from_json(error).location().line, 3);
  expect_refused([&] { error_from_json(replaced(error, "\"line\":3", "\"line\":1e300")); });
  expect_refused([&] { error_from_json(replaced(error, "\"line\":3", "\"line\":4294967299")); });
  expect_refused([&] { error_from_json(replaced(error, "\"code\":", "\"code\":99")); });

  EvaluateRequest request;
  request.question.candidate = "relu.yaml";
  request.inspect = {1, 2, ~uint64_t{0}};
  request.profile_runs = 5;
  const std::string line = to_json(request);
  EXPECT_EQ(request_from_json(line).inspect->other_inputs, ~uint64_t{0});
  expect_refused(
      [&] { request_from_json(replaced(line, "\"profile_runs\":5", "\"profile_runs\":0")); });
  EXPECT_EQ(to_json(request_from_json(line)), line);
  expect_refused([&] {
    request_from_json(replaced(line, "\"max_samples\":1000", "\"max_samples\":99999999999"));
  });
  expect_refused(
      [&] { request_from_json(replaced(line, "\"host_bytes\":", "\"host_bytes\":1e")); });
}

TEST(JudgeProtocol, FindingsArriveAsTheyWereSent) {
  Inspection inspection;
  Tensor got(DType::f32, {2, 2});
  for (int i = 0; i < 4; ++i)
    got.data<float>()[static_cast<size_t>(i)] = 0.1f * static_cast<float>(i - 2);
  Tensor index(DType::i64, {});
  index.data<int64_t>()[0] = -3;
  inspection.outputs = {{got, got.clone(), got, got, got}, {index, index, index, index, index}};
  const std::string line = to_json(inspection);
  const Inspection back = inspection_from_json(line);
  ASSERT_EQ(back.outputs.size(), 2u);
  EXPECT_EQ(back.outputs[0].got.shape(), (Shape{2, 2}));
  EXPECT_EQ(back.outputs[0].again.data<float>()[3], 0.1f);
  EXPECT_EQ(back.outputs[1].before.data<int64_t>()[0], -3);
  EXPECT_EQ(to_json(back), line);
  expect_refused([&] { inspection_from_json(replaced(line, "[2,2]", "[2,3]")); });
  expect_refused([&] { inspection_from_json(replaced(line, "[2,2]", "[65536,65536]")); });
  expect_refused([&] { inspection_from_json(replaced(line, "\"f32\"", "\"f33\"")); });
  expect_refused([&] { inspection_from_json(replaced(line, "cdcc", "cdcX")); });

  const StepTimes times{{0.5, 0}, {1e-3}};
  EXPECT_EQ(step_times_from_json(to_json(times)).candidate_ms, times.candidate_ms);
  EXPECT_EQ(step_times_from_json(to_json(times)).baseline_ms, times.baseline_ms);
  expect_refused([&] { step_times_from_json(replaced(to_json(times), "0.001", "\"x\"")); });
}

}  // namespace
}  // namespace kbench::judge
