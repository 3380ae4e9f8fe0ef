#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "base/time/real_clock.h"
#include "kube/values/document.h"
#include "store/sqlite_store.h"

namespace muster::store {
namespace {

/// A pod as clients write them, padded to `bytes` bytes of JSON.
json::value pod(int index, std::size_t bytes) {
    json::array variables;
    json::value made = {
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata",
         {{"name", fmt::format("job-{}-worker-{}", index / 100, index)},
          {"namespace", "default"},
          {"uid", fmt::format("11111111-2222-3333-4444-{:012}", index)},
          {"creationTimestamp", "2026-01-01T00:00:00Z"},
          {"labels", {{"training.kubeflow.org/job-name", "job"}}}}},
        {"spec",
         {{"restartPolicy", "Never"},
          {"containers", json::array{{{"name", "pytorch"},
                                      {"image", "docker.io/example/training:1.0"},
                                      {"command", json::array{"python3", "train.py"}}}}}}}};
    json::object& container = made.at("spec").at("containers").as_array()[0].as_object();
    const std::size_t so_far = json::serialize(made).size() + sizeof(R"(,"env":[])");
    for (std::size_t size = so_far; size + 60 < bytes;) {
        json::value variable = {{"name", fmt::format("VARIABLE_{}", variables.size())},
                                {"value", "a value of an ordinary length"}};
        size += json::serialize(variable).size() + 1;
        variables.push_back(std::move(variable));
    }
    container["env"] = std::move(variables);
    return made;
}

double resident_mb() {
    std::ifstream file("/proc/self/statm");
    double total = 0;
    double resident = 0;
    file >> total >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto in_seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return in_seconds(usage.ru_utime) + in_seconds(usage.ru_stime);
}

double seconds_since(const Clock& clock, Instant begin) {
    return std::chrono::duration<double>(clock.now() - begin).count();
}

void check(const Result<void>& result) {
    if (result) return;
    std::fprintf(stderr, "%s\n", result.error().message().c_str());
    std::exit(1);
}

class Bench {
  public:
    explicit Bench(std::string path) : path_(std::move(path)) {}

    /// `count` creates of `bytes` bytes, by producers that each wait for their previous one.
    void create(const char* what, int producers, int count, std::size_t bytes) {
        open();
        std::vector<kube::ObjectPtr> objects;
        const std::string prefix = fmt::format("{}-", made_ += count);
        for (int i = 0; i < std::min(count, 1000); ++i)
            objects.push_back(kube::Document(pod(i, bytes)).share());
        std::vector<double> waits;
        waits.reserve(static_cast<std::size_t>(count));
        int next = 0;
        TaskGroup tasks(context_.get_executor());
        const auto produce = [&](auto& self) -> Task<void> {
            while (next < count) {
                const int index = next++;
                const kube::ObjectPtr& object =
                    objects[static_cast<std::size_t>(index) % objects.size()];
                const Instant begin = self.clock_.now();
                auto made = co_await self.store_->create(
                    {"pods", "default", prefix + std::to_string(index)},
                    [object](Revision) { return object; });
                if (!made) {
                    std::fprintf(stderr, "%s\n", made.error().message().c_str());
                    std::exit(1);
                }
                waits.push_back(seconds_since(self.clock_, begin));
            }
        };
        const double cpu = cpu_seconds();
        const Instant begin = clock_.now();
        for (int i = 0; i < producers; ++i) tasks.spawn("producer", produce(*this));
        context_.restart();
        context_.run();
        const double seconds = seconds_since(clock_, begin);
        std::ranges::sort(waits);
        std::printf(
            "%-28s %3d producers: %8.0f a second, p50 %6.2f ms, p99 %6.2f ms, "
            "%5.1f us of CPU each\n",
            what, producers, count / seconds, waits[waits.size() / 2] * 1e3,
            waits[waits.size() * 99 / 100] * 1e3, (cpu_seconds() - cpu) * 1e6 / count);
        std::fflush(stdout);
        close();
    }

    void open_all(const char* what) {
        const double before = resident_mb();
        const double cpu = cpu_seconds();
        const Instant begin = clock_.now();
        open();
        std::printf("%-28s %.2f s, %.2f s of CPU, %.0f MB resident\n", what,
                    seconds_since(clock_, begin), cpu_seconds() - cpu, resident_mb() - before);
        std::fflush(stdout);
        close();
    }

  private:
    void open() {
        auto opened = open_sqlite_store(path_, {}, context_.get_executor());
        if (!opened) check(opened.error());
        store_ = *std::move(opened);
    }
    void close() {
        asio::co_spawn(context_, store_->stop(), [](std::exception_ptr) {});
        context_.restart();
        context_.run();
        store_.reset();
        malloc_trim(0);
    }

    std::string path_;
    asio::io_context context_;
    RealClock clock_;
    std::unique_ptr<Store> store_;
    int made_ = 0;
};

}  // namespace
}  // namespace muster::store

/// store_bench FOLDER [COUNT]: writes to new files there, which stay. Creates COUNT objects of 1.5
/// KB; ten times as many of 4.4 KB make the file that is opened.
int main(int argc, char** argv) {
    using namespace muster::store;
    if (argc < 2) {
        std::fprintf(stderr, "usage: store_bench FOLDER [COUNT]\n");
        return 2;
    }
    const std::string folder = argv[1];
    const int count = argc > 2 ? std::atoi(argv[2]) : 10'000;
    Bench writes(folder + "/writes.db");
    writes.create("create 1.5 KB, durable", 1, count / 4, 1500);
    writes.create("create 1.5 KB, durable", 32, count * 4, 1500);
    writes.create("create 1.5 KB, durable", 256, count * 4, 1500);
    Bench large(folder + "/large.db");
    large.create("create 4.4 KB, durable", 256, count * 10, 4400);
    large.open_all("open");
    large.open_all("open again");
}
