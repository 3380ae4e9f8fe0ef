#include "runtime/retained_logs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/test_loop.h"
#include "runtime/internal/files/retained_record.h"

namespace muster::runtime::retained_logs_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

RetainedPod pod_of(std::string uid, int written, std::uint64_t bytes) {
    RetainedPod pod;
    pod.uid = std::move(uid);
    pod.written = WallTime(std::chrono::seconds(written));
    pod.bytes = bytes;
    return pod;
}

struct OverCase {
    const char* what;
    std::set<std::string> alive;
    RetentionLimits limits;
    int now;
    std::vector<std::string> over;
};

TEST(LogsOverLimits, WhatIsTooOldAndTheOldestBeyondTheSize) {
    using std::chrono::seconds;
    const std::vector<RetainedPod> kept = {pod_of("a", 10, 100), pod_of("b", 30, 100),
                                           pod_of("c", 20, 100)};
    const OverCase cases[] = {
        {"all fits", {}, {.age = seconds(90), .bytes = 300}, 100, {}},
        {"one byte too many takes the oldest", {}, {.age = seconds(90), .bytes = 299}, 100, {"a"}},
        {"none fits", {}, {.age = seconds(90), .bytes = 99}, 100, {"b", "c", "a"}},
        {"age alone", {}, {.age = seconds(79), .bytes = 300}, 100, {"c", "a"}},
        {"of who is there all stays", {"a"}, {.age = seconds(1), .bytes = 0}, 100, {"b", "c"}},
        {"and counts", {"a"}, {.age = seconds(90), .bytes = 200}, 100, {"c"}},
    };
    for (const OverCase& c : cases) {
        SCOPED_TRACE(c.what);
        std::vector<std::string> over;
        for (const RetainedPod& pod :
             logs_over_limits(kept, c.alive, c.limits, WallTime(seconds(c.now))))
            over.push_back(pod.uid);
        EXPECT_EQ(over, c.over);
    }
}

class RetainedLogsTest : public ::testing::Test, protected RealLoop {
  protected:
    void SetUp() override {
        std::string pattern = "/var/tmp/muster-kept-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        dir = pattern;
        pod.metadata.namespace_ = "default";
        pod.metadata.name = "p";
        pod.metadata.uid = "u1";
        pod.metadata.labels = {{"app", "x"}};
        kube::Container container;
        container.name = "main";
        pod.spec.containers = {container};
        ASSERT_TRUE(retain_logs_of(dir / "logs", pod));
    }
    void TearDown() override { fs::remove_all(dir); }
    void write_log(const std::string& name, const std::string& line) {
        const fs::path directory = log_directory_of(dir / "logs", pod) / "main";
        fs::create_directories(directory);
        std::ofstream(directory / name)
            << "2026-01-02T03:04:05.000000006Z stdout F " << line << '\n';
    }
    std::string read(int instance) {
        options.container = "main";
        auto stream =
            open_retained_log(context.get_executor(), list_retained_logs(dir / "logs").at(0),
                              instance, options, WallTime());
        if (!stream) return "error: " + stream.error().message();
        std::string text;
        for (;;) {
            auto piece = await((*stream)->read());
            EXPECT_TRUE(piece);
            if (!piece || !*piece) return text;
            text += **piece;
        }
    }

    fs::path dir;
    kube::Pod pod;
    kube::LogOptions options;
};

TEST_F(RetainedLogsTest, TheRecordTellsOfThePod) {
    const std::vector<RetainedPod> kept = list_retained_logs(dir / "logs");
    ASSERT_THAT(kept, SizeIs(1));
    EXPECT_EQ(kept[0].namespace_, "default");
    EXPECT_EQ(kept[0].name, "p");
    EXPECT_EQ(kept[0].uid, "u1");
    EXPECT_EQ(kept[0].labels.at("app"), "x");
    EXPECT_THAT(kept[0].containers, ElementsAre("main"));
    EXPECT_THAT(list_retained_logs(dir / "logs", "other"), IsEmpty());
    EXPECT_THAT(list_retained_logs(dir / "nowhere"), IsEmpty());
    EXPECT_EQ(fs::status(dir / "logs").permissions(), fs::perms::owner_all);
}

TEST_F(RetainedLogsTest, WhatIsNoRecordIsLeftOut) {
    fs::create_directories(dir / "logs/default/q_u2");
    std::ofstream(dir / "logs/default/q_u2/pod.json") << "{\"name\": ";
    fs::create_directories(dir / "logs/default/r_u3");
    EXPECT_THAT(list_retained_logs(dir / "logs"), SizeIs(1));
}

TEST_F(RetainedLogsTest, EachInstanceHasALogOfItsOwn) {
    EXPECT_EQ(read(0), "error: no log of container main of pod p was kept");
    write_log("10.log", "tenth");
    write_log("10.log.1", "beginning of the tenth");
    write_log("0.log", "first");
    write_log("9.log", "ninth");
    EXPECT_THAT(retained_instances(list_retained_logs(dir / "logs").at(0), "main"),
                ElementsAre(0, 9, 10));
    EXPECT_EQ(read(10), "beginning of the tenth\ntenth\n");
    options.tail_lines = 1;
    options.timestamps = true;
    EXPECT_EQ(read(10), "2026-01-02T03:04:05.000000006Z tenth\n");
    options = {};
    options.previous = true;
    EXPECT_EQ(read(9), "ninth\n") << "the instance says which";
    EXPECT_EQ(read(8), "error: no log of container main of pod p was kept");
}

TEST_F(RetainedLogsTest, AReaderThatFollowsEnds) {
    write_log("0.log", "first");
    options.follow = true;
    EXPECT_EQ(read(0), "first\n");
}

}  // namespace
}  // namespace muster::runtime::retained_logs_test
