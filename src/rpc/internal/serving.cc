#include "rpc/internal/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/first_of.h"
#include "rpc/internal/failure.h"
#include "rpc/internal/server_connection.h"

namespace muster::rpc {
namespace {

Task<void> keep(std::optional<Result<std::string>>& into, Task<Result<std::string>> work) {
    into = co_await std::move(work);
}

Task<void> expire(Clock& clock, Duration time, bool& expired) {
    co_await clock.sleep_for(time);
    expired = true;
}

Task<void> run_call(Serving& serving, std::shared_ptr<Caller> caller, std::uint64_t id,
                    std::shared_ptr<Cancellation> cancellation, Duration time,
                    Task<Result<std::string>> work) {
    Result<std::string> outcome =
        co_await until_cancelled(serving.clock, std::move(cancellation), time, std::move(work));
    caller->running.erase(id);
    const wire::Frame answer = answer_frame(id, std::move(outcome), serving.limits().longest_frame);
    if (caller->kept.end(id, answer.SerializeAsString()) && caller->connection != nullptr)
        caller->connection->send(answer);
}

}  // namespace

Task<Result<std::string>> until_cancelled(Clock& clock, std::shared_ptr<Cancellation> cancellation,
                                          Duration time, Task<Result<std::string>> work) {
    std::optional<Result<std::string>> outcome;
    bool expired = false;
    Task<void> end = cancellation->wait();
    if (time > Duration::zero()) end = first_of(std::move(end), expire(clock, time, expired));
    co_await first_of(keep(outcome, std::move(work)), std::move(end));
    if (outcome) co_return *std::move(outcome);
    if (!expired) co_return Error(Code::kCancelled, "its caller cancelled it");
    co_return Error(
        Code::kTimeout,
        fmt::format("not done within the {} ms that its caller gives it",
                    std::chrono::duration_cast<std::chrono::milliseconds>(time).count()));
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
    auto cancellation = std::make_shared<Cancellation>(serving.executor);
    caller->running.emplace(call.id(), cancellation);
    serving.calls.spawn("rpc " + call.method(),
                        run_call(serving, caller, call.id(), std::move(cancellation), time_of(call),
                                 handler(std::move(peer), std::move(*call.mutable_body()))));
}

}  // namespace muster::rpc
