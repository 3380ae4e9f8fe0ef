#include "rpc/internal/client_calls.h"

#include <algorithm>
#include <vector>

#include "rpc/internal/failure.h"

namespace muster::rpc {
namespace {

void finish(PendingCall& call, Result<std::string> outcome) {
    if (call.outcome) return;
    call.outcome = std::move(outcome);
    call.changed.notify_all();
}

void finish(OpenStream& stream, Result<void> end) {
    if (stream.end) return;
    stream.end = std::move(end);
    stream.changed.notify_all();
}

Result<std::string> outcome_of(wire::Answer& answer) {
    if (answer.has_failure()) return error_of(answer.failure());
    return std::move(*answer.mutable_body());
}

}  // namespace

void fail(PendingCall& call, const Error& why) { finish(call, why); }

void ClientCalls::add(std::shared_ptr<PendingCall> call) {
    const std::uint64_t id = call->call.id();
    calls_.emplace(id, std::move(call));
}

void ClientCalls::add(std::uint64_t id, std::shared_ptr<OpenStream> stream) {
    streams_.emplace(id, std::move(stream));
}

bool ClientCalls::remove(std::uint64_t id) {
    bool unfinished = false;
    if (const auto it = calls_.find(id); it != calls_.end()) {
        const PendingCall& call = *it->second;
        unfinished = !call.outcome && !call.sent_to.empty();
        if (!call.sent_to.empty()) arrived_.push_back(id);
        if (!call.outcome)
            arrived_.insert(arrived_.end(), call.call.arrived().begin(), call.call.arrived().end());
        calls_.erase(it);
    }
    if (const auto it = streams_.find(id); it != streams_.end()) {
        unfinished = !it->second->end;
        streams_.erase(it);
    }
    return unfinished;
}

wire::Frame frame_of(PendingCall& call, const std::string& server, Instant now) {
    call.sent_to = server;
    wire::Frame frame;
    wire::Call& out = *frame.mutable_call();
    out = call.call;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(call.deadline - now).count();
    out.set_timeout_ms(static_cast<std::uint64_t>(std::max<std::int64_t>(left, 1)));
    return frame;
}

std::vector<std::shared_ptr<PendingCall>> ClientCalls::to_send(const std::string& server) {
    std::vector<std::shared_ptr<PendingCall>> out;
    for (const auto& [id, call] : calls_) {
        if (call->outcome) continue;
        const bool elsewhere = !call->sent_to.empty() && call->sent_to != server;
        if (elsewhere && call->repeat == Repeat::kNever)
            finish(*call, Error(Code::kTimeout,
                                "the connection to the server broke; whether the call was carried "
                                "out is not known"));
        else
            out.push_back(call);
    }
    return out;
}

Result<void> ClientCalls::answered(wire::Answer answer) {
    if (answer.id() == 0 || answer.id() > last_id_)
        return Error(Code::kBadRequest, "an answer without a request");
    // If the call is missing, nothing waits for it any more.
    if (const auto it = calls_.find(answer.id()); it != calls_.end())
        finish(*it->second, outcome_of(answer));
    if (const auto it = streams_.find(answer.id()); it != streams_.end()) {
        if (answer.has_failure())
            finish(*it->second, error_of(answer.failure()));
        else
            finish(*it->second, {});
    }
    return {};
}

Result<void> ClientCalls::came(wire::Item item) {
    const auto it = streams_.find(item.id());
    if (it == streams_.end()) {
        if (item.id() > 0 && item.id() <= last_id_) return {};
        return Error(Code::kBadRequest, "an item of a stream that was not opened");
    }
    OpenStream& stream = *it->second;
    if (stream.credit == 0 || stream.end)
        return Error(Code::kBadRequest, "more items than were asked for");
    --stream.credit;
    stream.items.push_back(std::move(*item.mutable_body()));
    stream.changed.notify_all();
    return {};
}

void ClientCalls::lost(const Error& why) {
    for (const auto& [id, stream] : streams_) finish(*stream, why);
    streams_.clear();
}

void ClientCalls::end(const Error& why) {
    lost(why);
    for (const auto& [id, call] : calls_) finish(*call, why);
}

}  // namespace muster::rpc
