#include "runtime/internal/life/pod_execs.h"

#include <sys/wait.h>

#include <optional>

namespace muster::runtime {

struct PodExecs::Running {
    Running(PodExecs& execs, PodSandbox& in, ExecStart what)
        : owner(execs), sandbox(&in), start(std::move(what)), changed(execs.executor_) {
        owner.running_.emplace(start.id, this);
    }
    ~Running() {
        owner.running_.erase(start.id);
        // Nobody waits for it any more.
        if (!result && sandbox != nullptr) (void)sandbox->cancel(start).has_value();
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    void end(CheckResult how) {
        result = std::move(how);
        changed.notify_all();
    }

    PodExecs& owner;
    PodSandbox* sandbox;
    ExecStart start;
    Signal changed;
    std::optional<CheckResult> result;
};

Task<CheckResult> PodExecs::run(PodSandbox& sandbox, std::uint32_t container,
                                std::vector<std::string> argv) {
    ExecStart start;
    start.id = ++last_id_;
    start.container = container;
    start.argv = std::move(argv);
    Running running(*this, sandbox, std::move(start));
    if (auto sent = sandbox.exec(running.start); !sent) {
        running.sandbox = nullptr;
        co_return CheckResult{.success = false, .output = sent.error().message()};
    }
    while (!running.result) co_await running.changed.wait();
    co_return *std::move(running.result);
}

void PodExecs::ended(const Report& report) {
    const auto found = running_.find(report.id);
    if (found != running_.end()) found->second->end(result_of_command(report.value, report.text));
}

void PodExecs::sandbox_gone() {
    for (auto& [id, running] : running_) {
        running->sandbox = nullptr;
        running->end({.success = false, .output = "the pod has ended"});
    }
}

CheckResult result_of_command(int wait_status, std::string output) {
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0)
        return {.success = true, .output = {}};
    while (output.ends_with('\n')) output.pop_back();
    const std::string how = WIFSIGNALED(wait_status)
                                ? fmt::format("killed by signal {}", WTERMSIG(wait_status))
                                : fmt::format("exit code {}", WEXITSTATUS(wait_status));
    return {.success = false, .output = output.empty() ? how : fmt::format("{} ({})", output, how)};
}

}  // namespace muster::runtime
