// What one pod may do to others and to the machine: limits, identity, files, devices.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "base/async/task_fault.h"
#include "runtime/internal/node_fixture.h"

namespace muster::runtime::node_isolation_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Of a container with that securityContext; more fields by name.
json::object secured(json::object context, json::object more = {}) {
    more["securityContext"] = std::move(context);
    return more;
}

class NodeIsolationTest : public NodeTest {
  protected:
    /// The machine may have no cgroup that we can write; then pods say so.
    bool limits_are_enforced() {
        create(
            pod_json("asks", shell("true", {{"resources", {{"limits", {{"memory", "64Mi"}}}}}})));
        wait_phase("asks", "Succeeded");
        const std::vector<std::string> events = events_of("asks");
        return std::ranges::none_of(
            events, [](const std::string& e) { return e.starts_with("NotEnforced"); });
    }
    /// Waits for an event with that reason about the pod; its message and field.
    std::string event_of(const std::string& pod, const std::string& reason) {
        return await(watch_for_event(*client, pod, reason));
    }
    static Task<std::string> watch_for_event(kube::Client& client, std::string pod,
                                             std::string reason) {
        const auto told = [&](const json::value& object) -> std::string {
            const auto event = kube::decode<kube::Event>(object);
            if (event->involved_object.name != pod || event->reason != reason) return {};
            return fmt::format("{}: {}", event->involved_object.field_path, event->message);
        };
        kube::ListOptions list_options;
        list_options.namespace_ = "default";
        auto listed = co_await client.list(kube::types::kEvents, list_options);
        for (const kube::ObjectPtr& item : listed->items)
            if (std::string text = told(*item); !text.empty()) co_return text;
        kube::WatchOptions watch_options;
        watch_options.namespace_ = "default";
        watch_options.resource_version = listed->resource_version;
        auto stream = co_await client.watch(kube::types::kEvents, watch_options);
        for (;;) {
            auto next = co_await (*stream)->next();
            if (!next || !*next) throw std::logic_error("the watch ended");
            if ((*next)->type == kube::WatchEventType::kBookmark) continue;
            if (std::string text = told(*(*next)->object); !text.empty()) co_return text;
        }
    }
    /// It has no limit of its own, and waits for work/hog and work/go.
    void create_free_pod() {
        create(pod_json("free", shell("grep -m 1 -E ':memory:|^0::' /proc/self/cgroup >group\n"
                                      "echo up\n"
                                      "until test -e hog; do sleep 0.01; done\n"
                                      "python3 -c 'b = bytearray(256 << 20)'\n"
                                      "until test -e go; do sleep 0.01; done")));
        wait_for_output("free", "up\n");
    }
    /// By a limit of the pod's whole group.
    void kill_free_pods_child() {
        std::string line;
        std::getline(std::ifstream(dir / "work/group"), line);
        const bool v1 = !line.starts_with("0::");
        const std::filesystem::path of_pod =
            std::filesystem::path((v1 ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup") +
                                  line.substr(line.rfind(':') + 1))
                .parent_path();
        for (const char* file :
             v1 ? std::array{"memory.limit_in_bytes", "memory.memsw.limit_in_bytes"}
                : std::array{"memory.max", "memory.swap.max"})
            std::ofstream(of_pod / file) << (64 << 20);
        std::ofstream(dir / "work/hog").close();
    }
    const kube::ContainerStateTerminated& end_of(const kube::Pod& pod) {
        static const kube::ContainerStateTerminated kNone;
        return main_status(pod).state.terminated ? *main_status(pod).state.terminated : kNone;
    }
};

TEST_P(NodeIsolationTest, TooMuchMemoryIsToldApartFromAKill) {
    start_node();
    if (!limits_are_enforced()) GTEST_SKIP() << "no cgroup is writable here";
    const json::object limit{{"resources", {{"limits", {{"memory", "32Mi"}}}}}};
    create(pod_json("greedy",
                    shell("exec python3 -c 'b = bytearray(96 << 20); print(len(b))'", limit)));
    create(pod_json("killed", shell("kill -9 $$$$", limit)));
    create(pod_json("modest", shell("python3 -c 'print(1)'", limit)));
    const kube::Pod greedy = wait_phase("greedy", "Failed");
    EXPECT_EQ(end_of(greedy).exit_code, 137);
    EXPECT_EQ(end_of(greedy).reason, "OOMKilled");
    EXPECT_EQ(event_of("greedy", "OOMKilling"),
              "spec.containers{main}: The kernel killed processes of container main, which was out "
              "of memory (its limit is 32Mi)");
    const kube::Pod killed = wait_phase("killed", "Failed");
    EXPECT_EQ(end_of(killed).exit_code, 137);
    EXPECT_EQ(end_of(killed).reason, "Error");
    wait_phase("modest", "Succeeded");
    EXPECT_EQ(logs("modest"), "1\n");
    for (const char* pod : {"killed", "modest"})
        EXPECT_THAT(events_of(pod), Not(Contains(StartsWith("OOMKilling"))));
}

TEST_P(NodeIsolationTest, AKillForMemoryIsToldWhileTheContainerRuns) {
    start_node();
    if (!limits_are_enforced()) GTEST_SKIP() << "no cgroup is writable here";
    create(pod_json("survives", shell("python3 -c 'b = bytearray(96 << 20)'\n"
                                      "until test -e go; do sleep 0.01; done",
                                      {{"resources", {{"limits", {{"memory", "32Mi"}}}}}})));
    // With groups of version 2 the first process is killed, too.
    EXPECT_THAT(event_of("survives", "OOMKilling"), StartsWith("spec.containers{main}: "));
    std::ofstream(dir / "work/go").close();
    const auto ended = wait_for("survives", [](const kube::Pod* p) {
        return p != nullptr && (p->status.phase == "Succeeded" || p->status.phase == "Failed");
    });
    ASSERT_TRUE(ended);
    EXPECT_EQ(end_of(*ended).reason,
              end_of(*ended).exit_code.value_or(0) == 0 ? "Completed" : "OOMKilled");
}

TEST_P(NodeIsolationTest, AKillByTheLimitOfAGroupAboveIsToldToo) {
    start_node();
    if (!limits_are_enforced()) GTEST_SKIP() << "no cgroup is writable here";
    create_free_pod();
    kill_free_pods_child();
    EXPECT_EQ(event_of("free", "OOMKilling"),
              "spec.containers{main}: The kernel killed processes of container main, which was out "
              "of memory");
    std::ofstream(dir / "work/go").close();
}

TEST_P(NodeIsolationTest, AKillForMemoryIsToldAfterAFaultOfWhatWaitsForIt) {
    start_node();
    if (!limits_are_enforced()) GTEST_SKIP() << "no cgroup is writable here";
    {
        const TaskFault fault("out of memory");
        create_free_pod();
        EXPECT_EQ(fault.hits(), 1u);
    }
    leap(std::chrono::seconds(1));
    kill_free_pods_child();
    EXPECT_THAT(event_of("free", "OOMKilling"), StartsWith("spec.containers{main}: "));
    std::ofstream(dir / "work/go").close();
}

TEST_P(NodeIsolationTest, AForkBombEndsWithItsContainerAndTheMachineGoesOn) {
    options.pids_per_pod = 400;
    start_node();
    if (!limits_are_enforced()) GTEST_SKIP() << "no cgroup is writable here";
    // Forked processes keep forking; the main process ends amid all of it, when it can't fork any
    // more. A bomb alone may die out before: a process that can't fork ends.
    create(pod_json("bomb", shell("bomb() { bomb & bomb & wait; }\n(bomb 2>/dev/null &)\n"
                                  "while :; do sleep 1000 & done")));
    const kube::Pod bomb = wait_phase("bomb", "Failed");
    EXPECT_NE(end_of(bomb).exit_code, 0);
    remove("bomb", 0);
    wait_for("bomb", [](const kube::Pod* p) { return p == nullptr; });
    create(pod_json("after", shell("echo fine")));
    wait_phase("after", "Succeeded");
    EXPECT_EQ(logs("after"), "fine\n");
}

TEST_P(NodeIsolationTest, AnotherUserWithNothingButWhatItWasGiven) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
    start_node();
    create(pod_json("user", shell("id -u; id -g; id -G; echo $HOME $USER.; grep -E "
                                  "'CapEff|CapBnd|NoNewPrivs' /proc/self/status",
                                  secured({{"runAsUser", 65534},
                                           {"runAsGroup", 100},
                                           {"allowPrivilegeEscalation", false},
                                           {"capabilities", {{"drop", json::array{"ALL"}}}}}))));
    create(pod_json("root", shell("id -u; grep CapEff /proc/self/status")));
    create(pod_json("refused", shell("true", secured({{"runAsNonRoot", true}}))));
    wait_phase("user", "Succeeded");
    EXPECT_EQ(logs("user"),
              "65534\n100\n100\n/nonexistent .\nCapEff:\t0000000000000000\nCapBnd:\t"
              "0000000000000000\nNoNewPrivs:\t1\n");
    wait_phase("root", "Succeeded");
    EXPECT_EQ(logs("root"), "0\nCapEff:\t00000000a80425fb\n");
    auto refused = wait_for("refused", [](const kube::Pod* p) {
        return p != nullptr && main_status(*p).state.waiting &&
               main_status(*p).state.waiting->reason == "CreateContainerConfigError";
    });
    ASSERT_TRUE(refused);
    EXPECT_THAT(main_status(*refused).state.waiting->message, HasSubstr("runAsNonRoot"));
    EXPECT_THAT(events_of("user"), Not(Contains(StartsWith("NotEnforced"))));
}

TEST_P(NodeIsolationTest, AContainerSeesTheDevicesThatItAskedFor) {
    options.devices = {{"nvidia.com/gpu", {"0", "1", "2"}}};
    options.environment.push_back("CUDA_VISIBLE_DEVICES=0,1,2");
    start_node();
    const char* script = "echo [$CUDA_VISIBLE_DEVICES]; while ! test -e $PWD/go; do :; done";
    auto gpus = [](int count) {
        return json::object{{"resources", {{"limits", {{"nvidia.com/gpu", count}}}}}};
    };
    create(pod_json("two", shell(script, gpus(2))));
    wait_phase("two", "Running");
    create(pod_json("one", shell(script, gpus(1))));
    create(pod_json("none", shell(script)));
    wait_phase("one", "Running");
    create(pod_json("later", shell("echo [$CUDA_VISIBLE_DEVICES]", gpus(3))));
    std::ofstream(dir / "work/go").flush();
    for (const char* name : {"one", "two", "none", "later"}) wait_phase(name, "Succeeded");
    EXPECT_EQ(logs("two"), "[0,1]\n");
    EXPECT_EQ(logs("one"), "[2]\n");
    EXPECT_EQ(logs("none"), "[]\n");
    EXPECT_EQ(logs("later"), "[0,1,2]\n");
}

TEST_P(NodeIsolationTest, WhatIsNotHonouredIsNamed) {
    start_node();
    create(pod_json(
        "asks", shell("true", secured({{"seccompProfile", {{"type", "RuntimeDefault"}}}})),
        {{"hostPID", true},
         {"nodeSelector", {{"gpu", "a100"}}},
         {"runtimeClassName", "gvisor"},
         {"readinessGates", json::array{json::object{{"conditionType", "example.com/ready"}}}},
         {"affinity", {{"podAffinity", json::object()}}},
         {"volumes", json::array{{{"name", "v"}, {"emptyDir", {{"sizeLimit", "1Mi"}}}}}}}));
    wait_phase("asks", "Succeeded");
    EXPECT_THAT(events_of("asks"),
                Contains(AllOf(StartsWith("NotEnforced"), HasSubstr("spec.hostPID"),
                               HasSubstr("spec.nodeSelector"), HasSubstr("spec.affinity"),
                               HasSubstr("spec.runtimeClassName"), HasSubstr("spec.readinessGates"),
                               HasSubstr("spec.volumes[0].emptyDir.sizeLimit"),
                               HasSubstr("spec.containers[0].securityContext.seccompProfile"))));
    create(pod_json(
        "shares",
        shell("true", secured({{"seccompProfile",
                                {{"type", "Localhost"}, {"localhostProfile", "p.json"}}}})),
        {{"shareProcessNamespace", true}}));
    wait_phase("shares", "Succeeded");
    EXPECT_THAT(events_of("shares"), Contains(AllOf(StartsWith("NotEnforced"),
                                                    Not(HasSubstr("shareProcessNamespace")))));
}

INSTANTIATE_TEST_SUITE_P(Modes, NodeIsolationTest,
                         ::testing::Values(SandboxMode::kNone, SandboxMode::kNamespaces),
                         [](const auto& mode) {
                             return mode.param == SandboxMode::kNone ? "Shared" : "Namespaces";
                         });

class NamespacedIsolationTest : public NodeIsolationTest {};

TEST_P(NamespacedIsolationTest, CpuIsLimitedByAQuota) {
    start_node();
    if (!limits_are_enforced()) GTEST_SKIP() << "no cgroup is writable here";
    // The counter says that it was held back; a clock would only say that the machine was busy.
    create(pod_json(
        "slow",
        shell("tree=$(awk -F: '$2 == \"cpu\" || $2 ~ /^cpu,/ || $1 == 0 {print $2, $3; "
              "exit}' /proc/self/cgroup | sort -r | head -1)\n"
              "set -- $tree\n"
              "if [ $# = 2 ]; then file=/sys/fs/cgroup/$1$2/cpu.stat\n"
              "else file=/sys/fs/cgroup$1/cpu.stat; fi\n"
              "until [ $(awk '$1 == \"nr_throttled\" {print $2}' $file) -ge 3 ]; do :; done\n"
              "echo held back",
              {{"resources", {{"limits", {{"cpu", "100m"}}}}}})));
    wait_phase("slow", "Succeeded");
    EXPECT_EQ(logs("slow"), "held back\n");
}

TEST_P(NamespacedIsolationTest, AReadOnlyRootLeavesVolumesAndTmp) {
    start_node();
    fs::create_directory(dir / "host");
    json::object more = secured({{"readOnlyRootFilesystem", true}});
    more["volumeMounts"] = json::array{{{"name", "v"}, {"mountPath", "/muster-v"}},
                                       {{"name", "h"}, {"mountPath", "/muster-h"}}};
    json::object spec;
    spec["volumes"] =
        json::array{{{"name", "v"}, {"emptyDir", json::object{}}},
                    {{"name", "h"}, {"hostPath", {{"path", (dir / "host").string()}}}}};
    create(
        pod_json("frozen",
                 shell("exec 2>/dev/null; for d in /var/tmp /etc $PWD / /run; do touch $d/muster-x "
                       "&& echo $d; done; echo x >>/etc/hosts && echo hosts\n"
                       "for d in /tmp /dev/shm /muster-v /muster-h; do touch $d/x || echo $d; "
                       "done; echo y >/dev/null && echo done",
                       std::move(more)),
                 std::move(spec)));
    wait_phase("frozen", "Succeeded");
    EXPECT_EQ(logs("frozen"), "done\n");
    EXPECT_TRUE(fs::exists(dir / "host/x"));
}

TEST_P(NamespacedIsolationTest, APodsDnsConfigIsInItsResolvConf) {
    start_node();
    const char* script = "cat /etc/resolv.conf";
    json::object alone;
    alone["dnsPolicy"] = "None";
    alone["dnsConfig"] = {{"nameservers", json::array{"192.0.2.53"}},
                          {"searches", json::array{"jobs.example"}},
                          {"options", json::array{json::object{{"name", "ndots"}, {"value", "3"}},
                                                  json::object{{"name", "rotate"}}}}};
    json::object more;
    more["dnsConfig"] = {{"searches", json::array{"jobs.example"}}};
    create(pod_json("alone", shell(script), std::move(alone)));
    create(pod_json("more", shell(script), std::move(more)));
    create(pod_json("usual", shell(script)));
    for (const char* name : {"alone", "more", "usual"}) wait_phase(name, "Succeeded");
    EXPECT_EQ(logs("alone"),
              "nameserver 192.0.2.53\nsearch jobs.example\noptions ndots:3 rotate\n");
    EXPECT_THAT(logs("more"), HasSubstr("jobs.example\n"));
    EXPECT_THAT(logs("usual"), Not(HasSubstr("jobs.example")));
}

TEST_P(NamespacedIsolationTest, SharedMemoryIsHalfOfTheMachinesUnlessItsSizeIsGiven) {
    start_node();
    const char* script = "df -B1 --output=size /dev/shm | tail -n 1 | tr -d ' '";
    json::object more;
    more["volumeMounts"] = json::array{{{"name", "v"}, {"mountPath", "/dev/shm"}}};
    json::object spec;
    spec["volumes"] =
        json::array{{{"name", "v"}, {"emptyDir", {{"medium", "Memory"}, {"sizeLimit", "2Mi"}}}}};
    create(pod_json("given", shell(script, std::move(more)), std::move(spec)));
    create(pod_json("usual", shell(script)));
    wait_phase("given", "Succeeded");
    wait_phase("usual", "Succeeded");
    EXPECT_EQ(logs("given"), "2097152\n");
    const auto half = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE) / 2;
    EXPECT_NEAR(std::stod(logs("usual")), static_cast<double>(half), 1 << 20);
}

TEST_P(NamespacedIsolationTest, TheKernelsFilesAreOutOfReachUnlessPrivileged) {
    start_node();
    const char* script =
        "exec 2>/dev/null; cat /proc/sys/net/core/somaxconn; "
        "(echo 77 >/proc/sys/net/core/somaxconn) && echo written; test -s /proc/kcore && echo "
        "kcore; "
        "touch /sys/kernel/muster-x; grep -E '^sysfs /sys' /proc/mounts | cut -c 1-30 | grep -o "
        "' ro,'; true";
    json::object spec;
    spec["securityContext"] = {
        {"sysctls", json::array{{{"name", "net.core.somaxconn"}, {"value", "321"}}}}};
    create(pod_json("plain", shell(script), std::move(spec)));
    create(pod_json("privileged", shell("(echo 77 >/proc/sys/net/core/somaxconn) && cat "
                                        "/proc/sys/net/core/somaxconn",
                                        secured({{"privileged", true}}))));
    create(pod_json("forbidden", shell("true"),
                    {{"securityContext",
                      {{"sysctls", json::array{{{"name", "vm.swappiness"}, {"value", "1"}}}}}}}));
    wait_phase("plain", "Succeeded");
    EXPECT_THAT(logs("plain"), StartsWith("321\n"));
    EXPECT_THAT(logs("plain"), AllOf(Not(HasSubstr("written")), Not(HasSubstr("kcore"))));
    wait_phase("privileged", "Succeeded");
    EXPECT_EQ(logs("privileged"), "77\n");
    auto forbidden = wait_for("forbidden", [](const kube::Pod* p) {
        return p != nullptr && main_status(*p).state.waiting &&
               main_status(*p).state.waiting->reason == "CreateContainerConfigError";
    });
    ASSERT_TRUE(forbidden);
    EXPECT_THAT(main_status(*forbidden).state.waiting->message, HasSubstr("vm.swappiness"));
}

TEST_P(NamespacedIsolationTest, HowManyProcessesAPodMayHaveIsKnownToItsKernel) {
    options.pids_per_pod = 500;
    start_node();
    create(pod_json("few", shell("cat /proc/sys/kernel/pid_max; cat /proc/sys/kernel/osrelease")));
    wait_phase("few", "Succeeded");
    const std::string text = logs("few");
    const bool per_namespace = text.substr(text.find('\n') + 1) >= "6.14";
    if (!per_namespace) GTEST_SKIP() << "this kernel has one limit for all";
    EXPECT_THAT(text, StartsWith("500\n"));
}

TEST_P(NamespacedIsolationTest, PrivateFilesAreThePodsOwnAndAreKeptWhereAsked) {
    options.files = FileMode::kPrivate;
    options.files_dir = dir / "kept";
    start_node();
    std::ofstream(dir / "work/input") << "machine\n";
    create(
        pod_json("own", shell("cat input; echo pod >input; cat input; echo result >result; "
                              "touch /etc/muster-private && echo etc; getent hosts own | wc -l")));
    wait_phase("own", "Succeeded");
    EXPECT_EQ(logs("own"), "machine\npod\netc\n1\n");
    create(pod_json("other", shell("cat input; ls /etc/muster-private 2>/dev/null")));
    wait_phase("other", "Failed");
    EXPECT_EQ(logs("other"), "machine\n");
    EXPECT_FALSE(fs::exists(dir / "work/result"));
    EXPECT_FALSE(fs::exists("/etc/muster-private"));
    bool found = false;
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(
             dir / "kept/default_own", fs::directory_options::skip_permission_denied))
        found |= file.path().filename() == "result";
    EXPECT_TRUE(found);
}

TEST_P(NamespacedIsolationTest, AWorkingDirectoryOfThePodsOwn) {
    options.files = FileMode::kWorkingDir;
    start_node();
    std::ofstream(dir / "work/input") << "machine\n";
    create(pod_json(
        "own", shell("cat input; echo x >log && ls; touch " + (dir / "state-of-others").string())));
    wait_phase("own", "Succeeded");
    EXPECT_EQ(logs("own"), "machine\ninput\nlog\n");
    EXPECT_FALSE(fs::exists(dir / "work/log"));
}

INSTANTIATE_TEST_SUITE_P(Root, NamespacedIsolationTest,
                         ::testing::Values(SandboxMode::kNamespaces));

}  // namespace
}  // namespace muster::runtime::node_isolation_test
