#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>

#include "runtime/internal/node_fixture.h"

namespace muster::runtime::node_probes_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

/// Probes and hooks of real processes, in each kind of sandbox.
class NodeProbesTest : public NodeTest {
  protected:
    std::string work(const char* name) const { return (dir / "work" / name).string(); }
    void touch(const char* name) const { std::ofstream(work(name)) << "x"; }
    std::vector<std::string> marks() const {
        std::ifstream file(work("marks"));
        std::vector<std::string> words;
        for (std::string word; file >> word;) words.push_back(word);
        return words;
    }
    static json::value exec(const std::string& script) {
        return {{"exec", {{"command", {"sh", "-c", script}}}}};
    }
    /// One that begins when the container does, and again with each leap of a minute.
    static json::value each_minute(json::value probe, int failures = 1000) {
        probe.as_object()["periodSeconds"] = 60;
        probe.as_object()["timeoutSeconds"] = 100;
        probe.as_object()["failureThreshold"] = failures;
        return probe;
    }
    /// Free on this machine right now, as without namespaces the pod listens there.
    std::uint16_t free_port() {
        asio::ip::tcp::acceptor acceptor(context,
                                         {asio::ip::address_v4::any(), asio::ip::port_type(0)});
        return acceptor.local_endpoint().port();
    }
    std::optional<kube::Pod> wait_ready(const std::string& name, bool ready) {
        return wait_for(name, [ready](const kube::Pod* p) {
            return p != nullptr && main_status(*p).state.running && main_status(*p).ready == ready;
        });
    }
};

TEST_P(NodeProbesTest, AnExecProbeDecidesReadinessAndRunsAsTheContainerDoes) {
    start_node();
    json::object more;
    more["env"] = json::array{{{"name", "FLAG"}, {"value", "ready-now"}}};
    more["readinessProbe"] = each_minute(exec("test -e $FLAG"));
    create(pod_json("p", shell("exec sleep 1000", std::move(more))));
    auto pod = wait_ready("p", false);
    EXPECT_EQ(main_status(*pod).started, true);
    touch("ready-now");
    leap(1min);
    pod = wait_ready("p", true);
    EXPECT_EQ(pod->status.phase, "Running");
    for (const kube::PodCondition& condition : pod->status.conditions)
        EXPECT_EQ(condition.status, "True") << condition.type;
    EXPECT_EQ(main_status(*pod).restart_count, 0);
}

TEST_P(NodeProbesTest, HttpAndTcpProbesReachThePod) {
    start_node();
    const std::uint16_t port = free_port();
    json::object more;
    more["ports"] = json::array{{{"name", "web"}, {"containerPort", std::int64_t{port}}}};
    more["startupProbe"] = each_minute({{"tcpSocket", {{"port", "web"}}}});
    more["readinessProbe"] = each_minute({{"httpGet", {{"port", "web"}, {"path", "/ready-now"}}}});
    create(pod_json(
        "p", shell(fmt::format("exec python3 -u -m http.server {}", port), std::move(more))));
    wait_for_output("p", "Serving HTTP");
    leap(1min);
    auto pod = wait_for(
        "p", [](const kube::Pod* p) { return p != nullptr && main_status(*p).started == true; });
    EXPECT_EQ(main_status(*pod).ready, false);
    touch("ready-now");
    leap(1min);
    wait_ready("p", true);
}

TEST_P(NodeProbesTest, AFailedLivenessProbeRestartsTheContainer) {
    start_node();
    json::object more;
    more["livenessProbe"] =
        each_minute(exec("if test -e sick; then echo unwell; exit 1; fi; touch well"), 1);
    create(pod_json("p",
                    shell("test -e marker && exit 0; touch marker; trap 'rm sick; exit 0' TERM; "
                          "until test -e well; do sleep 0.01; done; touch sick; echo sick; "
                          "while :; do sleep 0.01; done",
                          std::move(more)),
                    {{"restartPolicy", "OnFailure"}}));
    wait_for_output("p", "sick\n");
    leap(1min);
    const kube::Pod pod = wait_phase("p", "Succeeded");
    EXPECT_EQ(main_status(pod).restart_count, 1) << "though it ended with 0 on SIGTERM";
    const std::vector<std::string> events = events_of("p");
    EXPECT_THAT(events,
                Contains("Killing: Container main failed liveness probe, will be restarted"));
    EXPECT_THAT(events, Contains("Unhealthy: Liveness probe failed: unwell (exit code 1)"));
}

TEST_P(NodeProbesTest, ACommandThatTakesTooLongHasFailedAndIsGone) {
    start_node();
    json::object more;
    more["livenessProbe"] = each_minute(exec("echo $$$$ > pid; exec sleep 1000"), 1);
    create(pod_json("p", shell("trap 'exit 3' TERM; until test -s pid; do sleep 0.01; done; "
                               "echo asked; while :; do sleep 0.01; done",
                               std::move(more))));
    wait_for_output("p", "asked\n");
    leap(100s);
    const kube::Pod pod = wait_phase("p", "Failed");
    EXPECT_EQ(main_status(pod).state.terminated->exit_code, 3);
    EXPECT_THAT(events_of("p"),
                Contains(AllOf(StartsWith("Unhealthy: Liveness probe failed: command"),
                               HasSubstr("timed out after 100s"))));
}

TEST_P(NodeProbesTest, HooksRunBeforeTheNextContainerAndBeforeTheSignal) {
    start_node();
    json::object more;
    more["lifecycle"] = {{"postStart", exec("sleep 0.1; echo post-start >> marks")},
                         {"preStop", exec("echo pre-stop >> marks")}};
    json::value containers = shell(
        "trap 'echo term >> marks; exit 0' TERM; while :; do sleep 0.01; done", std::move(more));
    containers.as_array().push_back(
        {{"name", "second"},
         {"image", "image"},
         {"command", {"sh", "-c", "echo second >> marks; echo second; exec sleep 1000"}}});
    create(pod_json("p", std::move(containers)));
    wait_for("p", [](const kube::Pod* p) {
        return p != nullptr && p->status.container_statuses.size() == 2 &&
               p->status.container_statuses[1].state.running;
    });
    kube::LogOptions first_line;
    first_line.container = "second";
    first_line.follow = true;
    first_line.limit_bytes = 7;
    EXPECT_EQ(logs("p", first_line), "second\n");
    remove("p");
    wait_for("p", [](const kube::Pod* p) { return p == nullptr; });
    EXPECT_THAT(marks(), ElementsAre("post-start", "second", "pre-stop", "term"));
}

TEST_P(NodeProbesTest, AFailedHookSaysWhatItSaid) {
    start_node();
    json::object more;
    more["lifecycle"] = {{"postStart", exec("echo no luck; exit 4")}};
    create(pod_json("p", shell("exec sleep 1000", std::move(more))));
    const kube::Pod pod = wait_phase("p", "Failed");
    EXPECT_EQ(main_status(pod).state.terminated->exit_code, 143);
    EXPECT_THAT(
        events_of("p"),
        Contains("FailedPostStartHook: PostStart hook of container main failed: no luck (exit "
                 "code 4)"));
}

TEST_P(NodeProbesTest, WhatCantBeAskedIsRefusedBeforeThePodStarts) {
    start_node();
    json::object more;
    more["livenessProbe"] = {{"grpc", {{"port", 9000}}}};
    create(pod_json("p", shell("true", std::move(more))));
    auto refused = wait_for("p", [](const kube::Pod* p) {
        return p != nullptr && main_status(*p).state.waiting &&
               main_status(*p).state.waiting->reason == "CreateContainerConfigError";
    });
    EXPECT_THAT(
        main_status(*refused).state.waiting->message,
        AllOf(HasSubstr("container main: livenessProbe.grpc"), HasSubstr("grpc_health_probe")));
}

INSTANTIATE_TEST_SUITE_P(Modes, NodeProbesTest,
                         ::testing::Values(SandboxMode::kNamespaces, SandboxMode::kNone),
                         mode_name);

}  // namespace
}  // namespace muster::runtime::node_probes_test
