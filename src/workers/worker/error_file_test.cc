#include "workers/worker/error_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/test_growth.h"
#include "workers/worker/memory_kills.h"
#include "workers/worker/worker_set_state.h"

namespace muster::workers::error_file_test {
namespace {

using ::testing::HasSubstr;

constexpr WallTime at(std::int64_t milliseconds) {
    return WallTime{std::chrono::milliseconds(milliseconds)};
}

std::string long_message(std::size_t size) {
    return R"({"message": {"message": ")" + std::string(size, 'x') + std::string(size, ' ') +
           R"(", "extraInfo": {"py_callstack": ")" + std::string(size, 'y') + "\"}}}";
}
std::string wide_message(std::size_t size) {
    return R"({"message": {"a":1)" +
           repeated(size, [](std::size_t i) { return ",\"k" + std::to_string(i) + "\":[]"; }) +
           "}}";
}
std::string cut_off(std::size_t size) { return R"({"message": ")" + std::string(size, '\\'); }

class ErrorFileGrowth : public ::testing::TestWithParam<GrowthCase> {};

TEST_P(ErrorFileGrowth, IsLinear) { EXPECT_LE(growth_of(GetParam()), kLinearGrowth); }

INSTANTIATE_TEST_SUITE_P(
    Contents, ErrorFileGrowth,
    ::testing::Values(
        GrowthCase{"long_message", long_message,
                   [](std::string_view content) { parse_error_file(content, std::nullopt); },
                   50'000},
        GrowthCase{"wide_message", wide_message,
                   [](std::string_view content) { parse_error_file(content, std::nullopt); },
                   2'000},
        GrowthCase{"cut_off", cut_off,
                   [](std::string_view content) { parse_error_file(content, std::nullopt); },
                   50'000}),
    ::testing::PrintToStringParamName());

TEST(ErrorFile, IsReadInEveryFormAndState) {
    const struct {
        const char* what;
        std::string content;
        const char* message;
        const char* traceback;
        WallTime when;  ///< written at 1700000000.5
    } cases[] = {
        {"as @record writes it",
         R"({"message": {"message": "KeyError: 'a'", "extraInfo": {"py_callstack": "Traceback", "timestamp": "1700000000"}}})",
         "KeyError: 'a'", "Traceback", at(1'700'000'000'500)},
        {"written long after",
         R"({"message": {"message": "E", "extraInfo": {"timestamp": "1600000000"}}})", "E", "",
         at(1'600'000'000'000)},
        {"a number for the time",
         R"({"message": {"message": "E", "extraInfo": {"timestamp": 1600000000}}})", "E", "",
         at(1'600'000'000'000)},
        {"with the agent's code",
         R"({"message": {"message": "E", "errorCode": 3, "extraInfo": {"py_callstack": "T"}}})",
         "E", "T", at(1'700'000'000'500)},
        {"a plain string", R"({"message": "gone wrong", "timestamp": "1600000000"})", "gone wrong",
         "", at(1'600'000'000'000)},
        {"a message of another kind", R"({"message": [1]})", "[1]", "", at(1'700'000'000'500)},
        {"no times", R"({"message": "E"})", "E", "", at(1'700'000'000'500)},
        {"a time that is none", R"({"message": "E", "timestamp": "soon"})", "E", "",
         at(1'700'000'000'500)},
        {"an empty message", R"({"message": ""})", "(its error file has an empty message)", "",
         at(1'700'000'000'500)},
        {"nothing", "", "(its error file is empty", "", at(1'700'000'000'500)},
        {"cut off", R"({"message": {"mess)", "(its error file was cut off", "",
         at(1'700'000'000'500)},
        {"garbage", "Segmentation fault\n", "(its error file is not JSON", "",
         at(1'700'000'000'500)},
        {"other JSON", "[]", "(its error file has no \"message\": []", "", at(1'700'000'000'500)},
        {"binary", std::string("\0\xff\xfe", 3), "(its error file is not JSON", "",
         at(1'700'000'000'500)},
    };
    for (const auto& c : cases) {
        const ErrorFile file = parse_error_file(c.content, at(1'700'000'000'500));
        EXPECT_THAT(file.message, ::testing::StartsWith(c.message)) << c.what;
        EXPECT_EQ(file.traceback, c.traceback) << c.what;
        EXPECT_EQ(file.when, c.when) << c.what;
    }
}

TEST(ErrorFile, ALongMessageIsCut) {
    const ErrorFile file =
        parse_error_file(R"({"message": ")" + std::string(100'000, 'x') + "\"}", std::nullopt);
    EXPECT_EQ(file.message, std::string(4096, 'x') + "... (4096 of 100000 bytes)");
    EXPECT_EQ(file.when, std::nullopt);
    std::string letters = "x";
    for (int i = 0; i < 5000; ++i) letters += "\u00e9";
    EXPECT_THAT(parse_error_file(R"({"message": ")" + letters + "\"}", std::nullopt).message,
                ::testing::EndsWith("\u00e9... (4095 of 10001 bytes)"))
        << "no letter is cut in two";
}

TEST(ErrorFile, ALargeOneIsRead) {
    std::string name = ::testing::TempDir() + "muster-error-XXXXXX";
    ::close(::mkstemp(name.data()));
    const std::string content = R"({"message": {"message": "E", "extraInfo": {"py_callstack": ")" +
                                std::string(std::size_t{3} << 20, 'x') + "\"}}}";
    std::ofstream(name) << content;
    const auto file = read_error_file(name);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->message, "E");
    EXPECT_EQ(file->content, content);
    std::filesystem::resize_file(name, std::uintmax_t{17} << 20);
    EXPECT_EQ(read_error_file(name)->message,
              "(its error file is too large to be read: 17825792 bytes)");
    ::unlink(name.c_str());
}

TEST(ErrorFile, MayBeMissing) { EXPECT_FALSE(read_error_file("/no/such/file")); }

TEST(MemoryKills, AreTakenOneByOne) {
    std::string name = ::testing::TempDir() + "muster-memory-XXXXXX";
    ::close(::mkstemp(name.data()));
    const auto count = [&](int kills) {
        std::ofstream(name) << "low 0\noom 9\noom_kill " << kills << "\n";
    };
    count(3);
    MemoryKills kills({"/no/such/file", name});
    EXPECT_FALSE(kills.take_one());
    count(5);
    EXPECT_TRUE(kills.take_one());
    EXPECT_TRUE(kills.take_one());
    EXPECT_FALSE(kills.take_one());
    count(6);
    kills.begin();
    EXPECT_FALSE(kills.take_one());
    ::unlink(name.c_str());
    EXPECT_FALSE(MemoryKills({}).take_one());
}

TEST(WorkerSetState, ComesAsItWent) {
    const WorkerSetState record{
        .world = {.generation = {.epoch = 18'000'000'000'000'000'000ULL, .number = 7},
                  .members = {{.slot = 2,
                               .incarnation = "a\"b",
                               .address = "::1",
                               .local_size = 4,
                               .first_rank = 8,
                               .group_rank = 1,
                               .store_port = 4711}},
                  .restarts = 3,
                  .nodes = 2,
                  .ranks = 12,
                  .own_rank = 1},
        .workers = {{.local_rank = 1,
                     .rank = 9,
                     .socket = "s",
                     .progress = "/p",
                     .error_file = "/e",
                     .group = "/g"}}};
    EXPECT_EQ(*parse_worker_set_state(write_worker_set_state(record)), record);
    EXPECT_FALSE(parse_worker_set_state(write_worker_set_state({}))) << "a world without members";
    for (const char* text : {"", "{}", "[]", R"({"epoch": "x"})"})
        EXPECT_FALSE(parse_worker_set_state(text)) << text;
}

}  // namespace
}  // namespace muster::workers::error_file_test
