#pragma once

#include <fmt/format.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/async/task_group.h"
#include "base/test_loop.h"
#include "runtime/internal/sandbox/sandbox.h"

// The cases of muster_sandbox_bench: real pods, without an API or a job.

namespace muster::runtime::bench {

using Seconds = std::chrono::duration<double>;

/// Prints a figure as a line of JSON for bench/cases.py.
void report(std::string_view what, double value);
[[noreturn]] void die(std::string_view what);
template <class T>
T must(Result<T> result, std::string_view what) {
    if (!result) die(fmt::format("{}: {}", what, result.error().message()));
    if constexpr (!std::is_void_v<T>) return *std::move(result);
}
Seconds timed(const std::function<void()>& what);

struct BenchPod {
    std::unique_ptr<PodSandbox> sandbox;
    std::uint32_t address = 0;
    UniqueFd init;  ///< its pidfd
};

/// A host, and a directory for its pods' files that is removed with it.
class PodWorld : public RealLoop {
  public:
    PodWorld();
    ~PodWorld() override;

    /// To all of them running `argv`, at the same time.
    void start(int count, const std::vector<std::string>& argv);
    /// Sends SIGKILL to all, and waits until nothing of them is left.
    void end();

    PodFabric& fabric() { return *host.fabric; }

    SandboxHost host;
    std::filesystem::path directory;
    UniqueFd log_dir;
    std::vector<BenchPod> pods;

  private:
    Task<void> start_one(BenchPod& pod, std::vector<std::string> argv);
    static Task<void> end_one(BenchPod& pod);
};

// --- the cases, each with a number of pods

void start_one_by_one(int count);
void start_together(int count);
void end_with_processes(int count);
void end_together(int count);
void first_connect(int count);
void init_memory(int count);
void network(int rounds);

}  // namespace muster::runtime::bench
