#include "agent/node_check/node_check.h"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "base/log.h"
#include "base/time/restarting_task.h"
#include "base/time/time_limit.h"
#include "net/accept_each.h"

namespace muster::agent {
namespace {

/// The limit for an accepted probe, from its first byte to its last.
constexpr Duration kAnswerTime = std::chrono::seconds(30);
/// More probes at a time are rejected.
constexpr std::size_t kMostAnswers = 64;

std::string nothing_for(Duration time) {
    return fmt::format("nothing was heard for {:.1f} s",
                       std::chrono::duration<double>(time).count());
}

}  // namespace

NodeCheck::NodeCheck(asio::any_io_executor executor, Clock& clock, Parts parts)
    : executor_(std::move(executor)),
      clock_(clock),
      parts_(std::move(parts)),
      changed_(executor_),
      tasks_(executor_) {}

NodeCheck::~NodeCheck() = default;

// ---- probes of other nodes

void NodeCheck::serve(std::unique_ptr<net::Listener> listener) {
    listener_ = std::move(listener);
    const auto take = [this](std::unique_ptr<net::ByteStream> stream) {
        if (tasks_.size() > kMostAnswers) return;
        tasks_.spawn("answer a probe", answer(std::move(stream)));
    };
    spawn_restarting(tasks_, clock_, "accept probes", [this, take] {
        return net::accept_each(*listener_, clock_, "probes of the node check", take);
    });
}

Task<void> NodeCheck::answer(std::unique_ptr<net::ByteStream> stream) {
    const auto outcome = co_await within(clock_, kAnswerTime, converse(*stream));
    if (!outcome || !*outcome)
        log::debug("a probe of the node check was abandoned",
                   {{"from", stream->peer_address()},
                    {"error", outcome ? outcome->error().message() : nothing_for(kAnswerTime)}});
}

Task<Result<void>> NodeCheck::converse(net::ByteStream& stream) {
    co_return co_await answer_probe(
        stream, [this](std::string secret) { return admits(std::move(secret)); });
}

Task<bool> NodeCheck::admits(std::string secret) {
    while (!has_measured_ || secret != secret_) co_await changed_.wait();
    co_return true;
}

void NodeCheck::end_answers() {
    if (listener_) listener_->close();
}

Task<void> NodeCheck::stop() { return tasks_.stop(); }

// ---- its own measurements

Task<job_protocol::CheckResult> NodeCheck::run(job_protocol::Check check) {
    const Instant until = clock_.now() + check.limit;
    job_protocol::CheckResult result{.epoch = check.epoch, .round = check.round};
    secret_ = check.secret;
    if (check.compute) {
        has_measured_ = false;
        const auto figures = co_await within(clock_, check.limit, parts_.compute());
        if (!figures)
            result.trouble =
                "its processor and memory could not be measured: " + nothing_for(check.limit);
        else if (!*figures)
            result.trouble = figures->error().message();
        else
            std::tie(result.flops, result.memory_bytes) =
                std::pair((*figures)->flops, (*figures)->memory_bytes);
    }
    has_measured_ = true;
    changed_.notify_all();
    auto left = static_cast<Duration::rep>(check.dials.size());
    for (const job_protocol::CheckPeer& peer : check.dials)
        result.links.push_back(co_await look_at(peer, check, (until - clock_.now()) / left--));
    co_return result;
}

Task<job_protocol::LinkFigures> NodeCheck::look_at(const job_protocol::CheckPeer& peer,
                                                   const job_protocol::Check& check,
                                                   Duration limit) {
    auto measured = co_await within(clock_, limit, measure(peer, check));
    job_protocol::LinkFigures figures;
    if (measured && *measured)
        figures = **std::move(measured);
    else
        figures.trouble = measured ? measured->error().message() : nothing_for(limit);
    figures.peer = peer.incarnation;
    co_return figures;
}

Task<Result<job_protocol::LinkFigures>> NodeCheck::measure(const job_protocol::CheckPeer& peer,
                                                           const job_protocol::Check& check) {
    CO_TRY(const std::unique_ptr<net::ByteStream> stream,
           co_await parts_.connect(peer.address, static_cast<std::uint16_t>(peer.port)));
    co_return co_await measure_link(*stream, clock_, check.secret,
                                    check.thorough ? parts_.thorough : parts_.quick);
}

}  // namespace muster::agent
