#include "rpc/internal/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/time/time_limit.h"
#include "base/unexpected.h"
#include "rpc/internal/failure.h"
#include "rpc/internal/server_connection.h"

namespace muster::rpc {
namespace {

void end_call(const Serving& serving, Caller& caller, std::uint64_t id,
              Result<std::string> outcome) {
    caller.running.erase(id);
    const wire::Frame answer = answer_frame(id, std::move(outcome), serving.limits().longest_frame);
    if (caller.kept.end(id, answer.SerializeAsString()) && caller.connection != nullptr)
        caller.connection->send(answer);
}

Task<void> run_call(Serving& serving, std::shared_ptr<Caller> caller, std::uint64_t id,
                    std::shared_ptr<Stop> stop, Duration time, Task<Result<std::string>> work) {
    end_call(serving, *caller, id,
             co_await until_stopped(serving.clock, std::move(stop), time, std::move(work)));
}

Error stopped() { return Error(Code::kCancelled, "the caller cancelled it"); }

Task<Result<std::string>> without_deadline(std::shared_ptr<Stop> stop,
                                           Task<Result<std::string>> work) {
    auto outcome = co_await stop->run(std::move(work));
    co_return outcome ? *std::move(outcome) : stopped();
}

Task<Result<std::string>> with_deadline(Clock& clock, std::shared_ptr<Stop> stop, Duration time,
                                        Task<Result<std::string>> work) {
    auto outcome = co_await within(clock, time, stop->run(std::move(work)));
    if (outcome) co_return *outcome ? **std::move(outcome) : stopped();
    co_return Error(
        Code::kTimeout,
        fmt::format("not done within the caller's limit of {} ms",
                    std::chrono::duration_cast<std::chrono::milliseconds>(time).count()));
}

}  // namespace

Task<Result<std::string>> until_stopped(Clock& clock, std::shared_ptr<Stop> stop, Duration time,
                                        Task<Result<std::string>> work) {
    // Two coroutines: an agent's stream has no deadline and should not keep memory for one all its
    // life.
    return time == Duration::zero() ? without_deadline(std::move(stop), std::move(work))
                                    : with_deadline(clock, std::move(stop), time, std::move(work));
}

Duration time_of(const wire::Call& call) {
    constexpr std::uint64_t kDayMs = 86'400'000;
    return std::chrono::milliseconds(std::min(call.timeout_ms(), kDayMs));
}

wire::Frame answer_frame(std::uint64_t id, Result<std::string> outcome, std::size_t longest) {
    wire::Frame frame;
    wire::Answer& answer = *frame.mutable_answer();
    answer.set_id(id);
    if (outcome)
        answer.set_body(*std::move(outcome));
    else
        *answer.mutable_failure() = failure_of(outcome.error());
    if (const std::size_t size = frame.ByteSizeLong(); size > longest)
        *answer.mutable_failure() = failure_of(
            Error(Code::kTooLarge,
                  fmt::format("the answer has {} bytes; at most {} are allowed", size, longest)));
    return frame;
}

void start_call(Serving& serving, const std::shared_ptr<Caller>& caller, PeerPtr peer,
                wire::Call call, const Server::Handler& handler) {
    auto stop = std::make_shared<Stop>();
    caller->running.emplace(call.id(), stop);
    const auto failed = [&serving, caller, id = call.id()](const std::string& what) {
        end_call(serving, *caller, id, Error(Code::kInternal, what));
    };
    std::optional<Task<Result<std::string>>> work;
    if (const auto what = contained("rpc " + call.method(), [&] {
            work.emplace(handler(std::move(peer), std::move(*call.mutable_body())));
        }))
        return failed(*what);
    serving.calls.spawn(
        "rpc " + call.method(),
        run_call(serving, caller, call.id(), std::move(stop), time_of(call), *std::move(work)),
        failed);
}

}  // namespace muster::rpc
