#include "cli/internal/describe/daemon_status.h"

#include <gmock/gmock.h>

namespace muster::cli::daemon_status_test {
namespace {

using State = DaemonStatus::State;

DaemonStatus up() {
    DaemonStatus status;
    status.state = State::kUp;
    status.directory = "/home/a/.muster";
    status.process = 7;
    status.address = "https://127.0.0.1:6443";
    status.version = "1.2";
    status.store_bytes = 1'500'000;
    status.log_bytes = 300;
    status.free_bytes = std::uint64_t{5} << 30;
    status.jobs = JobCounts{1, 2, 3};
    return status;
}

TEST(DaemonStatusText, OneThatIsUp) {
    EXPECT_EQ(status_text(up()),
              "muster is up at https://127.0.0.1:6443: process 7, state in /home/a/.muster\n"
              "  version  1.2\n"
              "  jobs     1 unfinished, 2 succeeded, 3 failed\n"
              "  disk     1.4 MiB of objects, 300 B of logs; 5.0 GiB free\n");
    EXPECT_EQ(status_json(up()),
              R"({"state":"up","stateDirectory":"/home/a/.muster","process":7,"version":"1.2",)"
              R"("server":"https://127.0.0.1:6443","metrics":"https://127.0.0.1:6443/metrics",)"
              R"("kubeconfig":"/home/a/.muster/kubeconfig","ready":true,)"
              R"("disk":{"objectBytes":1500000,"logBytes":300,"freeBytes":5368709120},)"
              R"("jobs":{"unfinished":1,"succeeded":2,"failed":3}})"
              "\n");
}

TEST(DaemonStatusText, OthersSayWhatIsKnown) {
    DaemonStatus status;
    status.directory = "/d";
    EXPECT_EQ(status_text(status), "muster is not up in /d; 'muster up' starts it\n");
    EXPECT_EQ(status_json(status), "{\"state\":\"down\",\"stateDirectory\":\"/d\"}\n");
    status.supervisor = 3;
    EXPECT_EQ(status_text(status),
              "muster is not up in /d; its supervisor, process 3, starts it again\n");
    status.state = State::kStarting;
    status.process = 4;
    EXPECT_EQ(status_text(status), "muster is starting: process 4, state in /d\n");
    status = up();
    status.not_ready = "the disk is full";
    EXPECT_THAT(status_json(status),
                testing::HasSubstr(R"("ready":false,"notReady":"the disk is full")"));
}

TEST(DaemonStatusText, Sizes) {
    EXPECT_EQ(size_text(0), "0 B");
    EXPECT_EQ(size_text(1023), "1023 B");
    EXPECT_EQ(size_text(1024), "1.0 KiB");
    EXPECT_EQ(size_text(std::uint64_t{3} << 40), "3.0 TiB");
}

}  // namespace
}  // namespace muster::cli::daemon_status_test
