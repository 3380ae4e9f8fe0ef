#include "base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster {
namespace {

class LogTest : public ::testing::Test {
  protected:
    void SetUp() override {
        log::set_sink([this](log::Level, std::string_view line) { lines.emplace_back(line); });
        log::set_level(log::Level::kInfo);
    }
    void TearDown() override {
        log::set_sink({});
        log::set_level(log::Level::kWarning);
    }
    std::vector<std::string> lines;
};

TEST_F(LogTest, FieldsFollowTheMessageAndAreQuotedWhenTheyMustBe) {
    log::info("pod started",
              {{"pod", "a-0"}, {"took_ms", 12}, {"why", "first \"try\"\nagain"}, {"empty", ""}});
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0], R"(pod started pod=a-0 took_ms=12 why="first \"try\"\nagain" empty="")");
}

TEST_F(LogTest, LinesBelowTheLevelAreNotWritten) {
    log::debug("quiet");
    log::warning("loud");
    EXPECT_EQ(lines, std::vector<std::string>{"loud"});
    log::set_level(log::Level::kOff);
    log::error("off");
    EXPECT_EQ(lines.size(), 1u);
}

}  // namespace
}  // namespace muster
