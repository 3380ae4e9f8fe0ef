#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "apiserver/api_server.h"
#include "base/test_clock.h"
#include "base/test_loop.h"
#include "kube/objects/codec.h"
#include "kube/objects/core_objects.h"
#include "kube/objects/pod.h"
#include "runtime/internal/network/own_network_fixture.h"
#include "runtime/node.h"

namespace muster::runtime {

namespace fs = std::filesystem;

class Logs final : public apiserver::NodeApi {
  public:
    explicit Logs(Node& node) : node_(node) {}
    Task<Result<std::unique_ptr<kube::TextStream>>> logs(std::string ns, std::string pod,
                                                         kube::LogOptions options) override {
        return node_.logs(std::move(ns), std::move(pod), std::move(options));
    }
    Task<Result<std::unique_ptr<kube::CommandSession>>> exec(
        std::string ns, std::string pod, kube::CommandOptions options) override {
        return node_.exec(std::move(ns), std::move(pod), std::move(options));
    }
    Task<Result<std::unique_ptr<net::ByteStream>>> connect(std::string ns, std::string pod,
                                                           std::uint16_t port) override {
        return node_.connect(std::move(ns), std::move(pod), port);
    }
    Task<Result<kube::NodeUsage>> usage() override { return node_.usage(); }

  private:
    Node& node_;
};

/// The real API server, the real node and real processes; waits for states by watching.
class NodeWorld : public RealLoop {
  public:
    void set_up(SandboxMode sandbox) {
        if (sandbox == SandboxMode::kNone) network.emplace();
        std::string pattern = "/tmp/muster-node-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        dir = pattern;
        fs::create_directory(dir / "state");
        fs::create_directory(dir / "work");
        server = std::make_unique<apiserver::ApiServer>(context.get_executor(), node_clock, rng,
                                                        store::make_memory_store());
        client = std::make_unique<kube::Client>(*server);
        options.sandbox = sandbox;
        options.state_dir = dir / "state";
        options.working_dir = dir / "work";
        options.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/root"};
        options.cpus = 4;
    }
    void start_node() {
        auto made = Node::create(context.get_executor(), *server, node_clock, rng, options);
        ASSERT_TRUE(made) << made.error().message();
        node = *std::move(made);
        logs_of_node = std::make_unique<Logs>(*node);
        server->connect_node(*logs_of_node);
        auto started = await(server->start());
        ASSERT_TRUE(started) << started.error().message();
        auto running = await(node->start());
        ASSERT_TRUE(running) << running.error().message();
    }
    void tear_down() {
        if (node) await(node->stop());
        if (server) await(server->stop());
        node.reset();
        server.reset();
        if (!dir.empty()) fs::remove_all(dir);
    }

    static json::value pod_json(const std::string& name, json::value containers,
                                json::object spec = {}) {
        spec["containers"] = std::move(containers);
        if (!spec.contains("restartPolicy")) spec["restartPolicy"] = "Never";
        return json::object{{"apiVersion", "v1"},
                            {"kind", "Pod"},
                            {"metadata", {{"name", name}, {"namespace", "default"}}},
                            {"spec", std::move(spec)}};
    }
    static json::value shell(const std::string& script, json::object more = {}) {
        more["name"] = "main";
        more["image"] = "image";
        more["command"] = json::array{"sh", "-c", script};
        return json::array{std::move(more)};
    }
    void create(json::value object, const kube::ResourceType& type = kube::types::kPods) {
        auto created = await(client->create(type, "default", std::move(object)));
        ASSERT_TRUE(created) << created.error().message();
    }
    kube::Pod get(const std::string& name) {
        auto got = await(client->get(kube::types::kPods, "default", name));
        EXPECT_TRUE(got) << got.error().message();
        if (!got) return {};
        return *kube::decode<kube::Pod>(**got);
    }
    /// Watches until `wanted` accepts the pod (nullopt: deleted) and returns that state.
    template <class P>
    std::optional<kube::Pod> wait_for(const std::string& name, P wanted) {
        return await(watch_for(*client, name, std::move(wanted)));
    }
    template <class P>
    static Task<std::optional<kube::Pod>> watch_for(kube::Client& client, std::string name,
                                                    P wanted) {
        kube::ListOptions list_options;
        list_options.namespace_ = "default";
        auto listed = co_await client.list(kube::types::kPods, list_options);
        bool seen = false;
        for (const kube::ObjectPtr& item : listed->items) {
            auto pod = kube::decode<kube::Pod>(*item);
            if (pod->metadata.name != name) continue;
            seen = true;
            if (wanted(&*pod)) co_return *pod;
        }
        if (!seen && wanted(nullptr)) co_return std::nullopt;
        kube::WatchOptions watch_options;
        watch_options.namespace_ = "default";
        watch_options.resource_version = listed->resource_version;
        auto stream = co_await client.watch(kube::types::kPods, watch_options);
        for (;;) {
            auto event = co_await (*stream)->next();
            if (!event || !*event) throw std::logic_error("the watch ended");
            if ((*event)->type == kube::WatchEventType::kBookmark) continue;
            auto pod = kube::decode<kube::Pod>(*(*event)->object);
            if (pod->metadata.name != name) continue;
            const bool gone = (*event)->type == kube::WatchEventType::kDeleted;
            if (!wanted(gone ? nullptr : &*pod)) continue;
            co_return gone ? std::optional<kube::Pod>() : std::optional(*pod);
        }
    }
    kube::Pod wait_phase(const std::string& name, const std::string& phase) {
        auto pod = wait_for(
            name, [phase](const kube::Pod* p) { return p != nullptr && p->status.phase == phase; });
        EXPECT_TRUE(pod) << name << " did not get " << phase;
        return pod.value_or(kube::Pod{});
    }
    std::string logs(const std::string& pod, kube::LogOptions log_options = {}) {
        if (log_options.container.empty()) log_options.container = "main";
        auto stream = await(client->logs("default", pod, log_options));
        if (!stream) return "error: " + stream.error().message();
        std::string text;
        for (;;) {
            auto piece = await((*stream)->read());
            if (!piece || !*piece) return text;
            text += **piece;
        }
    }
    /// Waits until the pod's container has written this first.
    void wait_for_output(const std::string& pod, const std::string& text) {
        wait_phase(pod, "Running");
        kube::LogOptions first;
        first.follow = true;
        first.limit_bytes = static_cast<std::int64_t>(text.size());
        EXPECT_EQ(logs(pod, first), text);
    }
    std::vector<std::string> events_of(const std::string& pod) {
        kube::ListOptions list_options;
        list_options.namespace_ = "default";
        auto listed = await(client->list(kube::types::kEvents, list_options));
        std::vector<std::string> lines;
        for (const kube::ObjectPtr& item : listed->items) {
            auto event = kube::decode<kube::Event>(*item);
            if (event->involved_object.name == pod)
                lines.push_back(event->reason + ": " + event->message);
        }
        return lines;
    }
    void remove(const std::string& name, std::optional<std::int64_t> grace = {}) {
        kube::DeleteOptions delete_options;
        delete_options.grace_period_seconds = grace;
        auto removed = await(client->remove(kube::types::kPods, "default", name, delete_options));
        EXPECT_TRUE(removed) << removed.error().message();
    }
    /// Moves the time of the node and the API on, past what they wait for since the last event.
    void leap(Duration time) {
        settle();
        node_clock.leap(time);
    }

    std::optional<OwnNetwork> network;  ///< of pods without namespaces
    LeapingClock node_clock{context.get_executor()};
    Rng rng{1};
    fs::path dir;
    NodeOptions options;
    std::unique_ptr<apiserver::ApiServer> server;
    std::unique_ptr<kube::Client> client;
    std::unique_ptr<Node> node;
    std::unique_ptr<Logs> logs_of_node;
};

/// Of a test's parameter, in the test's name.
inline std::string mode_name(const ::testing::TestParamInfo<SandboxMode>& mode) {
    return mode.param == SandboxMode::kNone ? "Shared" : "Namespaces";
}

/// A world for each test, in each kind of sandbox that the test names.
class NodeTest : public ::testing::TestWithParam<SandboxMode>, protected NodeWorld {
  protected:
    void SetUp() override {
        if (namespaces() && ::geteuid() != 0) GTEST_SKIP() << "namespaces are tested as root here";
        set_up(GetParam());
    }
    void TearDown() override { tear_down(); }
    bool namespaces() const { return GetParam() == SandboxMode::kNamespaces; }
};

inline const kube::ContainerStatus& main_status(const kube::Pod& pod) {
    static const kube::ContainerStatus kNone;
    return pod.status.container_statuses.empty() ? kNone : pod.status.container_statuses[0];
}

}  // namespace muster::runtime
