#include "runtime/internal/lifecycle/lifecycle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "kube/objects/codec.h"

namespace muster::runtime::lifecycle_test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

kube::Container container_with(std::string_view fields) {
    json::value value = json::parse(fields);
    value.as_object()["name"] = "c";
    value.as_object()["ports"] = json::array{{{"name", "web"}, {"containerPort", 8080}}};
    return *kube::decode<kube::Container>(value);
}

TEST(ReadLifecycle, DefaultsAreAKubelets) {
    auto read = read_lifecycle(container_with(
        R"({"livenessProbe": {"exec": {"command": ["cat", "x"]}},
            "readinessProbe": {"tcpSocket": {"port": "web"}, "initialDelaySeconds": 3,
                               "periodSeconds": 2, "timeoutSeconds": 4, "successThreshold": 5,
                               "failureThreshold": 6},
            "startupProbe": {"httpGet": {"port": 80}, "terminationGracePeriodSeconds": 7}})"));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->liveness->handler, Handler(ExecCheck{{"cat", "x"}}));
    EXPECT_EQ(read->liveness->timing, ProbeTiming{});
    EXPECT_EQ(ProbeTiming{}.period, 10s);
    EXPECT_EQ(ProbeTiming{}.timeout, 1s);
    EXPECT_EQ(ProbeTiming{}.failure_threshold, 3);
    EXPECT_EQ(read->liveness->grace, std::nullopt);
    EXPECT_EQ(read->readiness->handler, Handler(TcpCheck{.host = "", .port = 8080}));
    EXPECT_EQ(read->readiness->timing, (ProbeTiming{.initial_delay = 3s,
                                                    .period = 2s,
                                                    .timeout = 4s,
                                                    .success_threshold = 5,
                                                    .failure_threshold = 6}));
    EXPECT_EQ(read->startup->handler,
              Handler(HttpCheck{.host = "", .port = 80, .path = "/", .headers = {}}));
    EXPECT_EQ(read->startup->grace, 7s);
    EXPECT_EQ(read->stop_signal, SIGTERM);
    EXPECT_FALSE(read->post_start || read->pre_stop);
}

TEST(ReadLifecycle, HooksAndTheStopSignal) {
    auto read = read_lifecycle(container_with(
        R"({"lifecycle": {"postStart": {"httpGet": {"port": "8081", "path": "up?x=1", "host": "10.0.0.9",
                              "scheme": "HTTP", "httpHeaders": [{"name": "A", "value": "b"}]}},
                          "preStop": {"sleep": {"seconds": 3}}, "stopSignal": "SIGUSR1"}})"));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(*read->post_start,
              Handler(HttpCheck{
                  .host = "10.0.0.9", .port = 8081, .path = "/up?x=1", .headers = {{"A", "b"}}}));
    EXPECT_EQ(*read->pre_stop, Handler(SleepCheck{3s}));
    EXPECT_EQ(read->stop_signal, SIGUSR1);
    read = read_lifecycle(container_with(R"({"lifecycle": {"stopSignal": "SIGRTMIN+3"}})"));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->stop_signal, SIGRTMIN + 3);
}

TEST(ReadLifecycle, WhatIsNotDoneIsRefusedByName) {
    struct Case {
        const char* fields;
        const char* what;
        const char* remedy;
    };
    const Case cases[] = {
        {R"({"livenessProbe": {"grpc": {"port": 9}}})", "container c: livenessProbe.grpc",
         "grpc_health_probe"},
        {R"({"readinessProbe": {"httpGet": {"port": 9, "scheme": "HTTPS"}}})",
         "container c: readinessProbe.httpGet has the scheme HTTPS", "use HTTP, a tcpSocket"},
        {R"({"livenessProbe": {"tcpSocket": {"port": "wbe"}}})", "the port \"wbe\"",
         "add it to its ports"},
        {R"({"livenessProbe": {"tcpSocket": {"port": 70000}}})", "70000", "between 1 and 65535"},
        {R"({"livenessProbe": {"tcpSocket": {}}})", "livenessProbe.tcpSocket", "has no port"},
        {R"({"livenessProbe": {"tcpSocket": {"port": 9, "host": "web"}}})", "the host web",
         "leave it out"},
        {R"({"startupProbe": {"exec": {}}})", "startupProbe.exec", "has no command"},
        {R"({"startupProbe": {}})", "startupProbe", "none of exec, httpGet and tcpSocket"},
        {R"({"livenessProbe": {"httpGet": {"port": 9, "path": "/a\r\nX: y"}}})",
         "livenessProbe.httpGet", "control character"},
        {R"({"lifecycle": {"preStop": {"sleep": {}}}})", "lifecycle.preStop.sleep",
         "has no seconds"},
        {R"({"lifecycle": {"stopSignal": "SIGRTMIN+99"}})", "lifecycle.stopSignal SIGRTMIN+99",
         "like SIGTERM"},
        {R"({"lifecycle": {"stopSignal": "TERM"}})", "lifecycle.stopSignal TERM", "like SIGTERM"},
    };
    for (const Case& c : cases) {
        auto read = read_lifecycle(container_with(c.fields));
        ASSERT_FALSE(read) << c.fields;
        EXPECT_THAT(read.error().message(), AllOf(HasSubstr(c.what), HasSubstr(c.remedy)));
    }
}

}  // namespace
}  // namespace muster::runtime::lifecycle_test
