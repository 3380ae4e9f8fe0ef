// muster_sandbox_bench CASE COUNT: prints a line of JSON for each figure; bench/cases.py knows the
// limits. As an ordinary user the pods are in a user namespace.
#include "runtime/internal/bench/sandbox_bench.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "runtime/cleanup_process.h"

namespace muster::runtime::bench {

namespace fs = std::filesystem;

void report(std::string_view what, double value) {
    const boost::json::object line{{"what", what}, {"value", value}};
    std::puts(boost::json::serialize(line).c_str());
}

void die(std::string_view what) {
    fmt::print(stderr, "{}\n", what);
    std::exit(1);  // NOLINT(concurrency-mt-unsafe)
}

Seconds timed(const std::function<void()>& what) {
    RealClock clock;
    const auto begin = clock.now();
    what();
    return clock.now() - begin;
}

namespace {

double median(std::vector<Seconds> times) {
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
    return times[times.size() / 2].count();
}

const std::vector<std::string> kSleep{"/bin/sleep", "1000"};

/// The kernel's number for the process behind a pidfd.
pid_t process_of(const UniqueFd& pidfd) {
    std::ifstream file(fmt::format("/proc/self/fdinfo/{}", pidfd.get()));
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("Pid:")) return std::atoi(line.c_str() + 4);
    die("a pidfd does not say whose it is");
}

double private_kilobytes(pid_t process) {
    std::ifstream file(fmt::format("/proc/{}/smaps_rollup", process));
    double sum = 0;
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("Private_")) sum += std::atof(line.c_str() + line.find(':') + 1);
    if (sum == 0) die("no memory of an init");
    return sum;
}

}  // namespace

PodWorld::PodWorld() : host(must(SandboxHost::create(true), "a host for pods")) {
    std::string pattern = "/var/tmp/muster-bench-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) die("no directory for the pods' files");
    directory = pattern;
    fs::create_directory(directory / "scratch");
    fs::create_directory(directory / "tmp");
    std::ofstream(directory / "hosts") << "127.0.0.1 localhost\n";
    log_dir.reset(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

PodWorld::~PodWorld() {
    if (!pods.empty()) end();
    fs::remove_all(directory);
}

Task<void> PodWorld::start_one(BenchPod& pod, std::vector<std::string> argv) {
    const auto next = [&pod]() -> Task<pod_init::Report> {
        auto received = must(co_await pod.sandbox->next_report(), "a report");
        if (!received) die("an init has ended");
        co_return *std::move(received);
    };
    SandboxSpec spec{
        .title = "bench", .hostname = "pod", .address = pod.address, .mounts = {}, .socket = {}};
    pod.sandbox = must(PodSandbox::start(context.get_executor(), host, spec), "a sandbox");
    pod_init::Report ready = co_await next();
    if (ready.kind != pod_init::Report::Kind::kReady) die("no sandbox: " + ready.text);
    pod.init = std::move(ready.pidfd);
    if (argv.empty()) co_return;
    pod_init::ContainerStart start;
    start.id = 1;
    start.argv = std::move(argv);
    start.environment = {"PATH=/usr/bin:/bin"};
    start.working_dir = "/";
    start.scratch_dir = (directory / "scratch").string();
    start.log_name = fmt::format("{}.log", pod.address);
    // What every pod has.
    for (const auto& [file, target] : {std::pair{"hosts", "/etc/hosts"},
                                       {"hosts", "/etc/hostname"},
                                       {"hosts", "/etc/resolv.conf"},
                                       {"tmp", "/tmp"}})
        start.mounts.push_back({.source = directory / file, .target = target, .options = {}});
    must(pod.sandbox->start_container(start, log_dir.get(), {}), "a container");
    const pod_init::Report started = co_await next();
    if (started.kind != pod_init::Report::Kind::kStarted) die("no container: " + started.text);
}

Task<void> PodWorld::end_one(BenchPod& pod) {
    while (must(co_await pod.sandbox->next_report(), "a report")) {
    }
}

void PodWorld::start(int count, const std::vector<std::string>& argv) {
    const std::size_t before = pods.size();
    for (int i = 0; i < count; ++i)
        pods.push_back({.sandbox = nullptr,
                        .address = PodFabric::kRange + 2 + static_cast<std::uint32_t>(pods.size()),
                        .init = {}});
    TaskGroup tasks(context.get_executor());
    for (std::size_t i = before; i < pods.size(); ++i)
        tasks.spawn("start", start_one(pods[i], argv));
    await(tasks.join());
}

void PodWorld::end() {
    for (BenchPod& pod : pods) pod.sandbox->kill();
    TaskGroup tasks(context.get_executor());
    for (BenchPod& pod : pods) tasks.spawn("end", end_one(pod));
    await(tasks.join());
    pods.clear();
}

void start_one_by_one(int count) {
    PodWorld world;
    std::vector<Seconds> times;
    for (int i = 0; i < count; ++i) {
        times.push_back(timed([&] { world.start(1, kSleep); }));
        world.end();
    }
    report("seconds", median(times));
}

void start_together(int count) {
    PodWorld world;
    report("seconds", timed([&] { world.start(count, kSleep); }).count());
}

void end_with_processes(int count) {
    PodWorld world;
    const fs::path fifo = world.directory / "tmp" / "up";
    std::vector<Seconds> times;
    for (int i = 0; i < 15; ++i) {
        if (::mkfifo(fifo.c_str(), 0600) < 0) die("no fifo");
        world.start(1, {"/bin/sh", "-c",
                        fmt::format("i=1; while [ $i -lt {} ]; do sleep 1000 & i=$((i+1)); done; "
                                    "echo up > /tmp/up; wait",
                                    count)});
        std::string up;
        std::getline(std::ifstream(fifo), up);
        times.push_back(timed([&] { world.end(); }));
        fs::remove(fifo);
    }
    report("seconds", median(times));
}

void end_together(int count) {
    PodWorld world;
    world.start(count, kSleep);
    report("seconds", timed([&] { world.end(); }).count());
}

void init_memory(int count) {
    PodWorld world;
    world.start(count, kSleep);
    double most = 0;
    for (const BenchPod& pod : world.pods)
        most = std::max(most, private_kilobytes(process_of(pod.init)));
    report("kilobytes", most);
}

}  // namespace muster::runtime::bench

int main(int argc, char** argv) {
    using namespace muster::runtime::bench;
    if (const auto status = muster::runtime::run_as_cleanup_process(argc, argv)) return *status;
    struct Case {
        const char* name;
        void (*run)(int);
    };
    constexpr Case kCases[] = {{"start", start_one_by_one}, {"start-together", start_together},
                               {"end", end_with_processes}, {"end-together", end_together},
                               {"connect", first_connect},  {"memory", init_memory},
                               {"network", network}};
    const int count = argc == 3 ? std::atoi(argv[2]) : 0;
    for (const Case& each : kCases) {
        if (argc != 3 || count <= 0 || std::strcmp(argv[1], each.name) != 0) continue;
        each.run(count);
        return 0;
    }
    die("usage: muster_sandbox_bench start|start-together|end|end-together|connect|memory|network "
        "COUNT");
}
