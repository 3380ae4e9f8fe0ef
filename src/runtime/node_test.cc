#include "runtime/node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/async/task_fault.h"
#include "kube/values/document.h"
#include "runtime/internal/node_fixture.h"

namespace muster::runtime::node_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;

TEST_P(NodeTest, APodRunsToItsEnd) {
    start_node();
    create(pod_json("a", shell("echo hello; pwd")));
    kube::Pod pod = wait_phase("a", "Succeeded");
    EXPECT_EQ(pod.spec.node_name, "localhost");
    ASSERT_TRUE(main_status(pod).state.terminated);
    EXPECT_EQ(main_status(pod).state.terminated->exit_code, 0);
    EXPECT_EQ(main_status(pod).state.terminated->reason, "Completed");
    EXPECT_EQ(logs("a"), "hello\n" + (dir / "work").string() + "\n");
}

TEST_P(NodeTest, ExitCodesAndSignals) {
    start_node();
    // Four dollars: "$$" stands for one in a command, as on a cluster.
    struct Case {
        std::string name;
        std::string script;
        int code;
    };
    const Case cases[] = {{"seven", "exit 7", 7},
                          {"killed", "kill -9 $$$$", 137},
                          {"terminated", "kill -15 $$$$", 143},
                          {"segv", "kill -11 $$$$", 139}};
    for (const Case& c : cases) create(pod_json(c.name, shell(c.script)));
    for (const Case& c : cases) {
        kube::Pod pod = wait_phase(c.name, "Failed");
        ASSERT_TRUE(main_status(pod).state.terminated) << c.name;
        EXPECT_EQ(main_status(pod).state.terminated->exit_code, c.code) << c.name;
        EXPECT_EQ(main_status(pod).state.terminated->reason, "Error");
    }
}

TEST_P(NodeTest, AFailingContainerIsRestartedInPlaceAndBacksOff) {
    start_node();
    create(pod_json("again", shell("echo run; test -e marker && exit 3; touch marker; exit 5"),
                    {{"restartPolicy", "OnFailure"}}));
    auto pod = wait_for("again", [](const kube::Pod* p) {
        return p != nullptr && main_status(*p).state.waiting &&
               main_status(*p).state.waiting->reason == "CrashLoopBackOff";
    });
    ASSERT_TRUE(pod);
    EXPECT_EQ(pod->status.phase, "Running");
    EXPECT_EQ(main_status(*pod).restart_count, 1);
    ASSERT_TRUE(main_status(*pod).last_state.terminated);
    EXPECT_EQ(main_status(*pod).last_state.terminated->exit_code, 3);
    EXPECT_THAT(main_status(*pod).state.waiting->message,
                StartsWith("back-off 10s restarting failed container=main pod=again_default("));
    kube::LogOptions previous;
    previous.previous = true;
    EXPECT_EQ(logs("again", previous), "run\n");
}

TEST_P(NodeTest, DeletionWaitsForTheGraceAndThenKills) {
    start_node();
    create(pod_json("gentle", shell("trap 'echo bye; exit 0' TERM; echo up; sleep 1000 & wait")));
    create(pod_json("stubborn", shell("trap '' TERM; echo up; while :; do sleep 1000; done")));
    for (const char* name : {"gentle", "stubborn"}) wait_for_output(name, "up\n");
    remove("gentle");
    remove("stubborn", 10);
    leap(10s);
    std::optional<kube::Pod> last;
    auto gone = [](const kube::Pod* p) { return p == nullptr; };
    auto killed = wait_for("stubborn", [](const kube::Pod* p) {
        return p == nullptr || main_status(*p).state.terminated.has_value();
    });
    ASSERT_TRUE(killed);
    EXPECT_EQ(main_status(*killed).state.terminated->exit_code, 137);
    EXPECT_EQ(killed->status.phase, "Failed");
    wait_for("gentle", gone);
    wait_for("stubborn", gone);
}

TEST_P(NodeTest, WhatCantStartSaysWhatToDo) {
    start_node();
    create(pod_json("missing",
                    json::array{json::object{
                        {"name", "main"}, {"image", "i"}, {"command", {"no-such-program"}}}}));
    kube::Pod pod = wait_phase("missing", "Failed");
    ASSERT_TRUE(main_status(pod).state.terminated);
    EXPECT_EQ(main_status(pod).state.terminated->exit_code, 128);
    EXPECT_EQ(main_status(pod).state.terminated->reason, "StartError");
    EXPECT_THAT(main_status(pod).state.terminated->message,
                AllOf(HasSubstr("no-such-program"), HasSubstr("PATH"), HasSubstr("install it")));

    create(pod_json("nothing", json::array{json::object{{"name", "main"}, {"image", "img:1"}}}));
    auto refused = wait_for("nothing", [](const kube::Pod* p) {
        return p != nullptr && main_status(*p).state.waiting &&
               main_status(*p).state.waiting->reason == "CreateContainerConfigError";
    });
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status.phase, "Pending");
    EXPECT_THAT(main_status(*refused).state.waiting->message,
                AllOf(HasSubstr("no command"), HasSubstr("img:1")));
    EXPECT_THAT(logs("nothing"), HasSubstr("is waiting to start: CreateContainerConfigError"));
}

TEST_P(NodeTest, ArgsWithoutACommandAreTheCommand) {
    start_node();
    create(pod_json("p", json::array{json::object{{"name", "main"},
                                                  {"image", "img:1"},
                                                  {"args", {"sh", "-c", "echo it ran; exit 3"}}}}));
    kube::Pod pod = wait_phase("p", "Failed");
    ASSERT_TRUE(main_status(pod).state.terminated);
    EXPECT_EQ(main_status(pod).state.terminated->exit_code, 3);
    EXPECT_EQ(logs("p"), "it ran\n");
    EXPECT_THAT(events_of("p"),
                Contains(AllOf(StartsWith("ArgsAreTheCommand"), HasSubstr("args of main"))));
}

TEST_P(NodeTest, EnvironmentFromAllItsSources) {
    start_node();
    create(json::object{{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"metadata", {{"name", "cm"}}},
                        {"data", {{"A", "from-cm"}, {"B", "b"}}}},
           kube::types::kConfigMaps);
    create(json::object{{"apiVersion", "v1"},
                        {"kind", "Secret"},
                        {"metadata", {{"name", "sec"}}},
                        {"data", {{"token", "czNjcmV0"}}}},
           kube::types::kSecrets);
    json::object more;
    more["envFrom"] = json::array{{{"configMapRef", {{"name", "cm"}}}}};
    more["env"] = json::array{
        {{"name", "A"}, {"value", "own-$(B)"}},
        {{"name", "T"}, {"valueFrom", {{"secretKeyRef", {{"name", "sec"}, {"key", "token"}}}}}},
        {{"name", "N"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "metadata.name"}}}}}},
        {{"name", "C"},
         {"valueFrom", {{"resourceFieldRef", {{"resource", "limits.cpu"}, {"divisor", "1m"}}}}}}};
    more["resources"] = {{"limits", {{"cpu", "250m"}}}};
    create(pod_json("env", shell("echo $A $B $T $N $C $HOSTNAME", std::move(more))));
    wait_phase("env", "Succeeded");
    EXPECT_EQ(logs("env"), "own-b b s3cret env 250 env\n");
}

TEST_P(NodeTest, AMissingConfigMapIsWaitedFor) {
    start_node();
    json::object more;
    more["envFrom"] = json::array{{{"configMapRef", {{"name", "late"}}}}};
    create(pod_json("waits", shell("echo $K", std::move(more))));
    auto waiting = wait_for("waits", [](const kube::Pod* p) {
        return p != nullptr && main_status(*p).state.waiting &&
               main_status(*p).state.waiting->reason == "CreateContainerConfigError";
    });
    ASSERT_TRUE(waiting);
    EXPECT_EQ(main_status(*waiting).state.waiting->message, "configmap \"late\" not found");
}

TEST_P(NodeTest, WhatNeverFitsSaysWhy) {
    start_node();
    json::object more;
    more["resources"] = {{"requests", {{"cpu", "5"}}}};
    create(pod_json("large", shell("true", std::move(more))));
    auto pod = wait_for(
        "large", [](const kube::Pod* p) { return p != nullptr && !p->status.conditions.empty(); });
    ASSERT_TRUE(pod);
    EXPECT_EQ(pod->status.conditions[0].reason, "Unschedulable");
    EXPECT_THAT(pod->status.conditions[0].message,
                AllOf(HasSubstr("Insufficient cpu"), HasSubstr("asks for 5"), HasSubstr("has 4")));
}

TEST_P(NodeTest, ACordonedNodeTakesPodsWhenItIsUncordoned) {
    start_node();
    const auto set_unschedulable = [&](json::value value) {
        auto done = await(client->patch(kube::types::kNodes, "", "localhost",
                                        kube::ContentType::kMergePatch,
                                        json::object{{"spec", {{"unschedulable", value}}}}));
        ASSERT_TRUE(done) << done.error().message();
    };
    set_unschedulable(true);
    // The node learns of it by a watch, so pods that are made at once may still get through.
    std::optional<kube::Pod> waits;
    for (int i = 0; !waits || !waits->spec.node_name.empty(); ++i) {
        ASSERT_LT(i, 20) << "it is not cordoned";
        const std::string name = fmt::format("p{}", i);
        create(pod_json(name, shell("true")));
        waits = wait_for(
            name, [](const kube::Pod* p) { return p != nullptr && !p->status.conditions.empty(); });
    }
    EXPECT_THAT(waits->status.conditions[0].message, HasSubstr("cordoned"));
    set_unschedulable(nullptr);
    wait_phase(waits->metadata.name, "Succeeded");
}

TEST_P(NodeTest, APodWaitsForItsSchedulingGates) {
    start_node();
    create(pod_json("gated", shell("true"),
                    {{"schedulingGates", json::array{json::object{{"name", "x.io/a"}}}}}));
    create(pod_json("later", shell("true")));
    wait_phase("later", "Succeeded");
    EXPECT_EQ(get("gated").spec.node_name, "");
    auto opened =
        await(client->patch(kube::types::kPods, "default", "gated", kube::ContentType::kMergePatch,
                            json::object{{"spec", {{"schedulingGates", nullptr}}}}));
    ASSERT_TRUE(opened) << opened.error().message();
    const kube::Pod done = wait_phase("gated", "Succeeded");
    const json::value* addresses = done.status.rest.if_contains("podIPs");
    ASSERT_NE(addresses, nullptr);
    EXPECT_EQ(addresses->at(0).at("ip"), json::value(done.status.pod_ip));
}

TEST_P(NodeTest, StoppingKillsWhatRunsAndLeavesNoFiles) {
    start_node();
    create(pod_json("a", shell("trap '' TERM; (setsid sleep 1000 &); exec sleep 1000")));
    create(pod_json("b", shell("trap '' TERM; exec sleep 1000")));
    wait_phase("a", "Running");
    wait_phase("b", "Running");
    remove("b", 0);  // on its way out while the node stops
    await(node->stop());
    node.reset();
    EXPECT_TRUE(fs::is_empty(dir / "state/pods"));
}

TEST_P(NodeTest, TheOutputOfAContainerThatClosedItDoesNotHoldItsEnd) {
    start_node();
    create(pod_json("closed", shell("echo first; exec >/dev/null 2>&1; exit 4")));
    EXPECT_EQ(main_status(wait_phase("closed", "Failed")).state.terminated->exit_code, 4);
    EXPECT_EQ(logs("closed"), "first\n");
    create(pod_json("daemon", shell("(setsid sleep 1000 &); echo main; exit 5")));
    EXPECT_EQ(main_status(wait_phase("daemon", "Failed")).state.terminated->exit_code, 5);
    EXPECT_EQ(logs("daemon"), "main\n");
}

INSTANTIATE_TEST_SUITE_P(Modes, NodeTest,
                         ::testing::Values(SandboxMode::kNamespaces, SandboxMode::kNone),
                         mode_name);

class SharedNodeTest : public NodeTest {
  protected:
    static json::value pod_of_job(const std::string& name, const std::string& job,
                                  json::object container, const std::string& script) {
        container["ports"] = json::array{{{"containerPort", 23456}}};
        json::value pod = pod_json(name, shell(script, std::move(container)));
        pod.at("metadata").as_object()["ownerReferences"] =
            json::array{{{"apiVersion", "kubeflow.org/v1"},
                         {"kind", "PyTorchJob"},
                         {"name", job},
                         {"uid", "uid-" + job},
                         {"controller", true}}};
        return pod;
    }
};

TEST_P(SharedNodeTest, AJobNeverMeetsAnotherOnItsPort) {
    start_node();
    json::object environment;
    environment["env"] = json::array{{{"name", "MASTER_ADDR"}, {"value", "one-master-0"}}};
    // The worker comes first, as it may: the master's address is known all the same.
    create(pod_of_job("one-worker-0", "one", environment, "echo $MASTER_ADDR; exec sleep 1000"));
    wait_phase("one-worker-0", "Running");
    create(pod_of_job("one-master-0", "one", environment, "exec sleep 1000"));
    const std::string address = wait_phase("one-master-0", "Running").status.pod_ip;
    EXPECT_THAT(address, StartsWith("127.77."));
    kube::LogOptions first_line;
    first_line.follow = true;
    first_line.limit_bytes = static_cast<std::int64_t>(address.size());
    EXPECT_EQ(logs("one-worker-0", first_line), address);

    create(pod_of_job("two-master-0", "two", {}, "true"));
    auto waiting = wait_for("two-master-0", [](const kube::Pod* p) {
        return p != nullptr && !p->status.conditions.empty();
    });
    ASSERT_TRUE(waiting);
    EXPECT_EQ(waiting->spec.node_name, "");
    EXPECT_THAT(waiting->status.conditions[0].message,
                HasSubstr("port 23456 is used by PyTorchJob one"));
    remove("one-master-0", 0);
    remove("one-worker-0", 0);
    wait_phase("two-master-0", "Succeeded");
}

/// Hands everything on, and remembers what pods were in lists.
class ListedPods final : public kube::Transport {
  public:
    explicit ListedPods(kube::Transport& below) : below_(below) {}

    Task<Result<kube::Response>> call(kube::Request request) override {
        const bool lists =
            request.path == kube::types::kPods.path("") && request.method == kube::Method::kGet;
        CO_TRY(kube::Response response, co_await below_.call(std::move(request)));
        if (lists)
            for (const kube::ObjectPtr& pod : response.items)
                names.emplace_back(pod->at("metadata").at("name").as_string());
        co_return response;
    }
    Task<Result<std::unique_ptr<kube::WatchStream>>> watch(kube::Request request) override {
        return below_.watch(std::move(request));
    }
    Task<Result<std::unique_ptr<kube::TextStream>>> stream_text(kube::Request request) override {
        return below_.stream_text(std::move(request));
    }

    std::vector<std::string> names;

  private:
    kube::Transport& below_;
};

TEST_P(SharedNodeTest, AtItsStartItReadsTheNodesPodsAndThoseOfNone) {
    ASSERT_TRUE(await(server->start()));
    create(pod_json("foreign", shell("true"), {{"nodeName", "elsewhere"}}));
    create(pod_json("own", shell("true"), {{"nodeName", options.name}}));
    create(pod_json("free", shell("true")));
    ListedPods transport(*server);
    auto made = Node::create(context.get_executor(), transport, clock, rng, options);
    ASSERT_TRUE(made) << made.error().message();
    node = *std::move(made);
    ASSERT_TRUE(await(node->start()));
    wait_phase("own", "Succeeded");
    wait_phase("free", "Succeeded");
    EXPECT_EQ(get("free").spec.node_name, options.name);
    EXPECT_THAT(transport.names, ElementsAre("own", "free"));
    // Nor is it run when it changes under our eyes.
    ASSERT_TRUE(await(client->patch(kube::types::kPods, "default", "foreign",
                                    kube::ContentType::kMergePatch,
                                    {{"metadata", {{"labels", {{"touched", "yes"}}}}}})));
    create(pod_json("later", shell("true"), {{"nodeName", options.name}}));
    wait_phase("later", "Succeeded");
    EXPECT_EQ(get("foreign").status.phase, "Pending");
    // Its tasks refer to the transport.
    await(node->stop());
    node.reset();
}

TEST_P(SharedNodeTest, WhatNeedsAMountIsRefused) {
    start_node();
    json::object more;
    more["volumeMounts"] = json::array{{{"name", "v"}, {"mountPath", "/data"}}};
    json::object spec;
    spec["volumes"] = json::array{{{"name", "v"}, {"emptyDir", json::object{}}}};
    create(pod_json("mounts", shell("true", std::move(more)), std::move(spec)));
    auto refused = wait_for("mounts", [](const kube::Pod* p) {
        return p != nullptr && main_status(*p).state.waiting &&
               main_status(*p).state.waiting->reason == "CreateContainerConfigError";
    });
    ASSERT_TRUE(refused);
    EXPECT_THAT(main_status(*refused).state.waiting->message,
                AllOf(HasSubstr("/data"), HasSubstr("as root")));
}

INSTANTIATE_TEST_SUITE_P(Shared, SharedNodeTest, ::testing::Values(SandboxMode::kNone));

json::object config_map(const char* name, const char* value) {
    return {{"apiVersion", "v1"},
            {"kind", "ConfigMap"},
            {"metadata", {{"name", name}}},
            {"data", {{"k", value}}}};
}

class NamespacedNodeTest : public NodeTest {
  protected:
    /// A pod "p" that runs the script, with the ConfigMaps "d" and "go" in /muster-test.
    void start_with_maps(const std::string& script) {
        start_node();
        create(config_map("d", "one"), kube::types::kConfigMaps);
        create(config_map("go", "not yet"), kube::types::kConfigMaps);
        json::object more;
        more["volumeMounts"] = json::array{{{"name", "d"}, {"mountPath", "/muster-test/d"}},
                                           {{"name", "go"}, {"mountPath", "/muster-test/go"}}};
        json::object spec;
        spec["volumes"] = json::array{{{"name", "d"}, {"configMap", {{"name", "d"}}}},
                                      {{"name", "go"}, {"configMap", {{"name", "go"}}}}};
        create(pod_json("p", shell(script, std::move(more)), std::move(spec)));
        wait_phase("p", "Running");
    }
};

TEST_P(NamespacedNodeTest, NamesResolveInEveryFormAndStayCurrent) {
    start_node();
    create(pod_json("first", shell("until getent hosts second; do :; done; getent hosts first; "
                                   "python3 -c 'import socket;print(socket.getfqdn())'")));
    kube::LogOptions follow;
    wait_phase("first", "Running");
    create(
        json::object{
            {"apiVersion", "v1"},
            {"kind", "Service"},
            {"metadata", {{"name", "second"}}},
            {"spec",
             {{"clusterIP", "None"}, {"selector", {{"x", "y"}}}, {"ports", {{{"port", 1}}}}}}},
        kube::types::kServices);
    wait_phase("first", "Succeeded");
    EXPECT_THAT(logs("first"),
                AllOf(HasSubstr("second second.default second.default.svc "
                                "second.default.svc.cluster.local\n"),
                      HasSubstr("first first.default first.default.svc "
                                "first.default.svc.cluster.local\nfirst.default\n")));
}

TEST_P(NamespacedNodeTest, VolumesAppearWhereTheManifestSays) {
    start_node();
    create(json::object{{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"metadata", {{"name", "cm"}}},
                        {"data", {{"a.txt", "A\n"}, {"b.txt", "B\n"}}}},
           kube::types::kConfigMaps);
    fs::create_directory(dir / "host");
    std::ofstream(dir / "host/file") << "host\n";
    json::object more;
    more["volumeMounts"] =
        json::array{{{"name", "cm"}, {"mountPath", "/muster-test/cm"}},
                    {{"name", "host"}, {"mountPath", "/muster-test/host"}},
                    {{"name", "shm"}, {"mountPath", "/muster-test/shm"}},
                    {{"name", "scratch"}, {"mountPath", "/muster-test/scratch"}}};
    json::object spec;
    spec["volumes"] =
        json::array{{{"name", "cm"},
                     {"configMap",
                      {{"name", "cm"},
                       {"items", {{{"key", "a.txt"}, {"path", "deep/c.txt"}, {"mode", 256}}}}}}},
                    {{"name", "host"},
                     {"hostPath", {{"path", (dir / "host").string()}, {"type", "Directory"}}}},
                    {{"name", "shm"}, {"emptyDir", {{"medium", "Memory"}, {"sizeLimit", "1Mi"}}}},
                    {{"name", "scratch"}, {"emptyDir", json::object{}}}};
    create(pod_json("vol",
                    shell("exec 2>/dev/null; cd /muster-test; cat cm/deep/c.txt host/file; stat "
                          "-Lc %a cm/deep/c.txt; "
                          "stat -f -c %T shm; head -c 2000000 /dev/zero >shm/x || echo full; "
                          "touch scratch/y host/z; echo no > cm/w || echo ro; ls /tmp",
                          std::move(more)),
                    std::move(spec)));
    wait_phase("vol", "Succeeded");
    const std::string text = logs("vol");
    EXPECT_THAT(text, StartsWith("A\nhost\n400\ntmpfs\n"));
    EXPECT_THAT(text, HasSubstr("full\n"));
    EXPECT_THAT(text, HasSubstr("ro\n"));
    // The working directory lies below /tmp and is all that a pod sees of it.
    EXPECT_THAT(text, ::testing::EndsWith(dir.filename().string() + "\n"));
    EXPECT_TRUE(fs::exists(dir / "host/z"));
    EXPECT_FALSE(fs::exists("/muster-test"));
}

TEST_P(NamespacedNodeTest, MountedDataFollowsItsObjects) {
    start_node();
    const auto object = [](const char* kind, const char* value) {
        return json::object{
            {"apiVersion", "v1"},
            {"kind", kind},
            {"metadata", {{"name", "d"}}},
            {kind == std::string_view("Secret") ? "stringData" : "data", {{"k", value}}}};
    };
    create(object("ConfigMap", "one"), kube::types::kConfigMaps);
    create(object("Secret", "one"), kube::types::kSecrets);
    json::object more;
    more["volumeMounts"] = json::array{{{"name", "cm"}, {"mountPath", "/muster-test/cm"}},
                                       {{"name", "all"}, {"mountPath", "/muster-test/all"}}};
    json::object spec;
    spec["volumes"] = json::array{
        {{"name", "cm"}, {"configMap", {{"name", "d"}}}},
        {{"name", "all"}, {"projected", {{"sources", {{{"secret", {{"name", "d"}}}}}}}}}};
    create(pod_json("p",
                    shell("cd /muster-test; cat cm/k all/k; echo; while :; do "
                          "if grep -q two cm/k && grep -q two all/k; then ls cm; exit; fi; "
                          "sleep 0.01; done",
                          std::move(more)),
                    std::move(spec)));
    wait_phase("p", "Running");
    const auto update = [&](const kube::ResourceType& type, json::object to) {
        ASSERT_TRUE(await(client->update(type, "default", "d", std::move(to))));
    };
    update(kube::types::kSecrets, object("Secret", "two"));
    json::object map = object("ConfigMap", "two");
    map["data"].as_object()["more"] = "x";
    update(kube::types::kConfigMaps, std::move(map));
    wait_phase("p", "Succeeded");
    EXPECT_THAT(logs("p"), ::testing::EndsWith("k\nmore\n"));
}

TEST_P(NamespacedNodeTest, MountedFieldsFollowThePod) {
    start_node();
    json::object more;
    more["volumeMounts"] = json::array{{{"name", "me"}, {"mountPath", "/muster-test"}}};
    json::object spec;
    const json::array items{{{"path", "labels"}, {"fieldRef", {{"fieldPath", "metadata.labels"}}}}};
    spec["volumes"] = json::array{{{"name", "me"}, {"downwardAPI", {{"items", items}}}}};
    create(pod_json(
        "p", shell("until grep -q now /muster-test/labels; do sleep 0.01; done", std::move(more)),
        std::move(spec)));
    wait_phase("p", "Running");
    auto pod = await(client->get(kube::types::kPods, "default", "p"));
    ASSERT_TRUE(pod);
    json::value labelled = kube::copy_of(**pod);
    labelled.at("metadata").as_object()["labels"] = {{"when", "now"}};
    ASSERT_TRUE(await(client->update(kube::types::kPods, "default", "p", std::move(labelled))));
    wait_phase("p", "Succeeded");
}

TEST_P(NamespacedNodeTest, MountedDataThatIsGoneStays) {
    start_with_maps("cd /muster-test; until grep -q now go/k; do sleep 0.01; done; cat d/k");
    ASSERT_TRUE(await(client->remove(kube::types::kConfigMaps, "default", "d")));
    ASSERT_TRUE(
        await(client->update(kube::types::kConfigMaps, "default", "go", config_map("go", "now"))));
    wait_phase("p", "Succeeded");
    EXPECT_EQ(logs("p"), "one");
    EXPECT_THAT(events_of("p"),
                Contains(AllOf(StartsWith("FailedMount"), HasSubstr("configmap \"d\" not found"),
                               HasSubstr("keep what they have"))));
}

TEST_P(NamespacedNodeTest, MountedDataThatCouldNotBeWrittenIsWrittenLater) {
    start_with_maps("cd /muster-test; until grep -q now go/k; do sleep 0.01; done");
    {
        const TaskFault fault("mounted data");
        ASSERT_TRUE(await(
            client->update(kube::types::kConfigMaps, "default", "go", config_map("go", "now"))));
        run_until([&] { return fault.hits() > 0; });
    }
    leap(1s);
    wait_phase("p", "Succeeded");
    EXPECT_THAT(events_of("p"),
                Contains(AllOf(StartsWith("FailedMount"), HasSubstr("an internal error"))));
}

TEST_P(NamespacedNodeTest, MountedDataMayGoAlongWithItsPod) {
    start_with_maps(
        "trap '' TERM; echo up; cd /muster-test; until grep -q now go/k; do sleep 0.01; done");
    kube::LogOptions follow;
    follow.follow = true;
    follow.limit_bytes = 3;
    EXPECT_EQ(logs("p", follow), "up\n");
    remove("p", 30);
    ASSERT_TRUE(await(client->remove(kube::types::kConfigMaps, "default", "d")));
    ASSERT_TRUE(
        await(client->update(kube::types::kConfigMaps, "default", "go", config_map("go", "now"))));
    EXPECT_FALSE(wait_for("p", [](const kube::Pod* p) { return p == nullptr; }));
    EXPECT_THAT(events_of("p"), Not(Contains(StartsWith("FailedMount"))));
}

INSTANTIATE_TEST_SUITE_P(Root, NamespacedNodeTest, ::testing::Values(SandboxMode::kNamespaces));

}  // namespace
}  // namespace muster::runtime::node_test
