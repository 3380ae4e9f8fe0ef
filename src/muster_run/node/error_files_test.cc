#include "muster_run/node/error_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <boost/json.hpp>
#include <fstream>
#include <sstream>

namespace muster::run::error_files_test {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr const char* kRecorded =
    R"({"message": {"message": "ValueError: no", "extraInfo": {"py_callstack": "T", "timestamp": "1700000000"}}})";

class ErrorFilesTest : public ::testing::Test {
  protected:
    ~ErrorFilesTest() override { fs::remove_all(root); }

    static std::string content(const fs::path& path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }
    static workers::Failure failure(int rank, int second, const std::string& content = {}) {
        workers::Failure made{.end = {.rank = rank, .exit_code = 3}, .content = content};
        made.end.when = WallTime{std::chrono::seconds(1'700'000'000 + second)};
        if (!content.empty()) made.end.error = "ValueError: no";
        return made;
    }

    fs::path root = [] {
        std::string name = ::testing::TempDir() + "muster-errors-XXXXXX";
        return fs::path(::mkdtemp(name.data()));
    }();
};

TEST_F(ErrorFilesTest, ThoseOfTheJobsDirectoryAreKept) {
    std::vector<workers::Failure> failures{failure(2, 0, kRecorded), failure(3, 1, "{}"),
                                           failure(4, 2)};
    failures[0].end.error_file = root / "job" / "error-0.json";
    failures[1].end.error_file = root / "logs" / "error.json";
    keep_error_files(failures, {.job_dir = root / "job", .temporary = root, .run_id = "a/b"});
    const fs::path kept = failures[0].end.error_file;
    EXPECT_EQ(kept.filename(), "error-2.json");
    EXPECT_EQ(kept.parent_path().parent_path(), root);
    EXPECT_TRUE(kept.parent_path().filename().string().starts_with("muster_a_b_")) << kept;
    EXPECT_EQ(content(kept), kRecorded);
    EXPECT_EQ(failures[1].end.error_file, root / "logs" / "error.json");
    EXPECT_EQ(failures[2].end.error_file, "");
}

TEST_F(ErrorFilesTest, OneThatCantBeKeptIsNotNamed) {
    std::vector<workers::Failure> failures{failure(0, 0, kRecorded)};
    failures[0].end.error_file = root / "job" / "error-0.json";
    keep_error_files(failures,
                     {.job_dir = root / "job", .temporary = root / "missing", .run_id = "a"});
    EXPECT_EQ(failures[0].end.error_file, "");
}

TEST_F(ErrorFilesTest, TheFirstCauseIsPassedOnAsRecordDoesIt) {
    const json::object told =
        json::parse(first_cause_content({failure(0, 0), failure(1, 1, kRecorded)})).as_object();
    const json::object& message = told.at("message").as_object();
    EXPECT_EQ(message.at("message"), "ValueError: no");
    EXPECT_EQ(message.at("errorCode"), 3);
    EXPECT_EQ(message.at("extraInfo").at("py_callstack"), "T");
    EXPECT_EQ(first_cause_content({}), "");
}

TEST_F(ErrorFilesTest, ACauseWithoutAFileIsPassedOnToo) {
    workers::Failure killed = failure(1, 0);
    killed.end.exit_code.reset();
    killed.end.signal = SIGKILL;
    killed.content = "not JSON";
    const json::object message =
        json::parse(first_cause_content({killed})).at("message").as_object();
    EXPECT_EQ(message.at("message"), "rank 1 ended with SIGKILL (exit code 137)");
    EXPECT_EQ(message.at("errorCode"), -SIGKILL);
    EXPECT_EQ(message.at("extraInfo").at("timestamp"), "1700000000");
}

TEST_F(ErrorFilesTest, AFileThatIsThereIsReplacedInPlace) {
    const fs::path file = root / "termination-log";
    std::ofstream(file) << std::string(10'000, 'x');
    fs::create_hard_link(file, root / "same");
    report_first_cause({failure(1, 1, kRecorded)}, file);
    EXPECT_EQ(json::parse(content(root / "same")).at("message").at("errorCode"), 3);
    report_first_cause({}, file);
    EXPECT_NE(content(file), "");
}

}  // namespace
}  // namespace muster::run::error_files_test
