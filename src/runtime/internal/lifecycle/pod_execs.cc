#include "runtime/internal/lifecycle/pod_execs.h"

#include <signal.h>
#include <sys/wait.h>

#include <optional>

#include "base/log.h"
#include "runtime/internal/streams/process_streams.h"

namespace muster::runtime {

/// A command that was sent; destroying it before its end kills it.
class PodExecs::Command {
  public:
    Command(PodExecs& owner, PodSandbox& sandbox, pod_init::ExecStart start)
        : start_(std::move(start)), owner_(&owner), sandbox_(&sandbox) {
        start_.id = ++owner.last_id_;
        owner.running_.emplace(start_.id, this);
    }
    virtual ~Command() {
        if (sandbox_ != nullptr) (void)sandbox_->cancel(start_).has_value();
        if (owner_ != nullptr) owner_->running_.erase(start_.id);
    }
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;

    Result<void> send(std::span<const int> streams) {
        return sent(sandbox_->exec(start_, streams));
    }
    Result<void> attach(std::span<const int> streams) {
        return sent(sandbox_->attach(start_, streams));
    }
    /// Fails only if the sandbox ends, which ends this too.
    void end_input() {
        if (sandbox_ != nullptr) (void)sandbox_->end_input(start_).has_value();
    }
    void finish(int wait_status, std::string text) {
        if (std::exchange(sandbox_, nullptr) != nullptr) ended(wait_status, std::move(text));
    }
    void leave_owner() { owner_ = nullptr; }
    virtual void take_terminal(UniqueFd) {}

  protected:
    virtual void ended(int wait_status, std::string text) = 0;

    pod_init::ExecStart start_;

  private:
    Result<void> sent(Result<void> result) {
        if (!result) sandbox_ = nullptr;
        return result;
    }

    PodExecs* owner_;
    PodSandbox* sandbox_;  ///< null: it has ended, or was never sent
};

class PodExecs::Check final : public Command {
  public:
    Check(PodExecs& owner, PodSandbox& sandbox, pod_init::ExecStart start)
        : Command(owner, sandbox, std::move(start)), changed(owner.executor_) {}

    Signal changed;
    std::optional<CheckResult> result;

  protected:
    void ended(int wait_status, std::string text) override {
        result = result_of_command(wait_status, std::move(text));
        changed.notify_all();
    }
};

class PodExecs::Session final : public kube::CommandSession, public Command {
  public:
    Session(PodExecs& owner, PodSandbox& sandbox, pod_init::ExecStart start)
        : Command(owner, sandbox, std::move(start)), streams_(owner.executor_) {}

    Result<void> attach_to_program(kube::CommandOptions options) {
        attached_ = true;
        options.input = false;  // it is not ours to create
        TRY(const auto theirs, streams_.open_pipes(options));
        streams_.await_input();
        const std::array<int, 3> fds{theirs[0].get(), theirs[1].get(), theirs[2].get()};
        return attach(fds);
    }
    Result<void> begin(const kube::CommandOptions& options) {
        if (options.terminal) return send({});
        TRY(const auto theirs, streams_.open_pipes(options));
        const std::array<int, 3> fds{theirs[0].get(), theirs[1].get(), theirs[2].get()};
        return send(fds);
    }

    Task<Result<std::optional<kube::OutputPiece>>> read() override { return streams_.read(); }
    Result<int> end() const override {
        return end_ ? *end_ : Result<int>(Error(Code::kInternal, "the command runs"));
    }
    Task<void> write(std::string bytes) override { return streams_.write(std::move(bytes)); }
    Task<void> close_input() override {
        co_await streams_.close_input();
        if (attached_) end_input();
    }
    void resize(kube::TerminalSize size) override { streams_.resize(size); }

    void take_terminal(UniqueFd terminal) override {
        auto used = attached_ ? streams_.use_input(std::move(terminal))
                              : streams_.use_terminal(std::move(terminal));
        if (!used) finish(W_EXITCODE(1, 0), used.error().message());
    }

  protected:
    void ended(int wait_status, std::string text) override {
        // The pod's status says how a container ended.
        const bool container_ended = attached_ && WIFSIGNALED(wait_status);
        end_ = container_ended ? 0 : end_of_command(wait_status, std::move(text));
        streams_.finish();
    }

  private:
    bool attached_ = false;
    ProcessStreams streams_;
    std::optional<Result<int>> end_;
};

PodExecs::~PodExecs() {
    sandbox_gone();
    for (auto& [id, command] : running_) command->leave_owner();
}

Task<CheckResult> PodExecs::run(PodSandbox& sandbox, std::uint32_t container,
                                std::vector<std::string> argv) {
    pod_init::ExecStart start;
    start.container = container;
    start.argv = std::move(argv);
    Check check(*this, sandbox, std::move(start));
    if (auto sent = check.send({}); !sent)
        co_return CheckResult{.success = false, .output = sent.error().message()};
    while (!check.result) co_await check.changed.wait();
    co_return *std::move(check.result);
}

Result<std::unique_ptr<kube::CommandSession>> PodExecs::open(PodSandbox& sandbox,
                                                             std::uint32_t container,
                                                             const kube::CommandOptions& options) {
    pod_init::ExecStart start;
    start.container = container;
    start.argv = options.command;
    start.terminal = options.terminal;
    auto session = std::make_unique<Session>(*this, sandbox, std::move(start));
    TRY_VOID(session->begin(options));
    return session;
}

Result<std::unique_ptr<kube::CommandSession>> PodExecs::attach(
    PodSandbox& sandbox, std::uint32_t container, const kube::CommandOptions& options) {
    pod_init::ExecStart start;
    start.container = container;
    start.terminal = options.input;
    auto session = std::make_unique<Session>(*this, sandbox, std::move(start));
    TRY_VOID(session->attach_to_program(options));
    return session;
}

void PodExecs::take(pod_init::Report report) {
    const auto found = running_.find(report.id);
    if (found == running_.end()) return;
    if (report.kind == pod_init::Report::Kind::kTerminal)
        found->second->take_terminal(std::move(report.terminal));
    else
        found->second->finish(report.value, std::move(report.text));
}

void PodExecs::sandbox_gone() {
    for (auto& [id, command] : running_) command->finish(SIGKILL, "the pod has ended");
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

Result<int> end_of_command(int wait_status, std::string failure) {
    if (WIFSIGNALED(wait_status)) return 128 + WTERMSIG(wait_status);
    if (!failure.empty()) return Error(Code::kInternal, std::move(failure));
    return WEXITSTATUS(wait_status);
}

}  // namespace muster::runtime
