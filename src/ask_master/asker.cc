#include "ask_master/asker.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/async/first_of.h"
#include "base/time/time_limit.h"
#include "job_protocol/kv_protocol.h"
#include "job_protocol/ps_cluster_protocol.h"

namespace muster::ask_master {
namespace {

using namespace job_protocol;

constexpr std::size_t kMostOpen = 1'000;
constexpr std::size_t kMostPoints = 10'000;
constexpr std::size_t kMostTasks = 1'000;
constexpr Duration kPause = std::chrono::milliseconds(100);
constexpr Duration kLongestPause = std::chrono::seconds(2);
/// A master that was killed is back after a second or two.
constexpr Duration kSayTrouble = std::chrono::seconds(5);

}  // namespace

Asker::Asker(Clock& clock, Rng& rng, TaskGroup& tasks, Membership membership,
             rpc::Client::Connect connect, Tell tell)
    : clock_(clock),
      tasks_(tasks),
      membership_(std::move(membership)),
      tell_(std::move(tell)),
      client_(std::move(connect), clock, rng, tasks,
              {.token = membership_.token, .name = rng.uuid(), .about = membership_.about}),
      attended_(tasks.executor()) {
    membership_.attendance.started =
        std::chrono::duration_cast<std::chrono::milliseconds>(clock.wall_now().time_since_epoch())
            .count();
}

void Asker::start() {
    client_.start();
    tasks_.spawn("attend", attend());
    tasks_.spawn("watch the master", watch());
}

Task<Error> Asker::refused() {
    while (!client_.ended()) co_await client_.changed();
    co_return *client_.ended();
}

// ---- attendance

Task<void> Asker::attend() {
    Duration pause = kPause;
    while (!client_.ended()) {
        const std::uint64_t connection = client_.connection();
        const Result<void> ended = co_await one_attendance();
        if (client_.ended()) co_return;
        if (!ended && ended.error().code() != Code::kUnavailable)
            tell_.trouble(ended.error().message());
        // A connection that broke is followed by another, for which the client has its own pauses.
        pause = client_.connection() == connection ? std::min(2 * pause, kLongestPause) : kPause;
        co_await clock_.sleep_for(pause);
    }
}

Task<Result<void>> Asker::one_attendance() {
    while (!client_.connected() && !client_.ended()) co_await client_.changed();
    if (client_.ended()) co_return *client_.ended();
    CO_TRY(auto clusters, co_await rpc::open(client_, kAttend, to_wire(membership_.attendance)));
    for (;;) {
        CO_TRY(const auto item, co_await clusters->next());
        if (!item) co_return Result<void>();
        const PsCluster cluster = from_wire(*item);
        const bool another = epoch_ && *epoch_ != cluster.epoch;
        epoch_ = cluster.epoch;
        if (cluster.version > version_) {
            version_ = cluster.version;
            membership_.attendance.kept = cluster.kept;
        }
        attended_.notify_all();
        if (another) tasks_.spawn("join again", join_again());
        tell_.line(cluster_line(cluster));
    }
}

/// The next master knows of no point.
Task<void> Asker::join_again() {
    const std::set<std::string> points = joined_;
    const std::optional<std::uint64_t> epoch = epoch_;
    for (const std::string& point : points) {
        if (epoch_ != epoch) co_return;
        static_cast<void>(co_await send({.epoch = *epoch, .generation = meeting_of(*epoch)},
                                        JoinSyncPoint{.name = point}, clock_.now() + kSayTrouble));
    }
}

Task<void> Asker::watch() {
    for (;;) {
        while (client_.connected() && !client_.ended()) co_await client_.changed();
        const Instant say = clock_.now() + kSayTrouble;
        while (!client_.connected() && !client_.ended() && clock_.now() < say)
            co_await first_of(client_.changed(), clock_.sleep_until(say));
        if (client_.ended()) co_return;
        if (client_.connected()) continue;
        tell_.trouble(client_.trouble() ? client_.trouble()->message()
                                        : std::string("the job's master does not answer"));
    }
}

// ---- questions

void Asker::take(std::string line) {
    auto question = read_question(line);
    if (!question) return tell_.line(refusal_line(line, question.error()));
    if (open_ >= kMostOpen)
        return tell_.line(refusal_line(
            line, Error(Code::kTooManyRequests, fmt::format("{} questions wait already, the most "
                                                            "that may",
                                                            open_))));
    ++open_;
    tasks_.spawn("answer", answer(*std::move(question)));
}

Task<void> Asker::answer(Question question) {
    struct Close {
        std::size_t& open;
        ~Close() { --open; }
    } const close{open_};
    const Instant until = clock_.now() + question.time;
    if (const auto* const told = std::get_if<VersionRequest>(&question.what)) {
        const auto answered = co_await version(*told, until);
        tell_.line(answer_line(question, answered));
        co_return;
    }
    Question::Key what = std::get<Question::Key>(question.what);
    const bool meeting = is_meeting(what);
    const auto answered =
        meeting ? co_await meet(std::move(what), until) : co_await ask_keys(std::move(what), until);
    tell_.line(answer_line(question, answered));
}

Error Asker::late() const {
    if (client_.ended()) return *client_.ended();
    if (!client_.connected() && client_.trouble())
        return {Code::kTimeout, "there was no answer in time: " + client_.trouble()->message()};
    return {Code::kTimeout, "there was no answer in time"};
}

/// Waits until this program attends at a master, other than the known one.
Task<Result<std::uint64_t>> Asker::epoch_other_than(std::optional<std::uint64_t> known,
                                                    Instant until) {
    while (!epoch_ || epoch_ == known) {
        if (clock_.now() >= until || client_.ended()) co_return late();
        co_await first_of(attended_.wait(), clock_.sleep_until(until));
    }
    co_return *epoch_;
}

Task<Result<KvAnswer>> Asker::send(KvSpace space, Question::Key what, Instant until) {
    KvRequest request{.space = space, .what = std::move(what)};
    const Duration time = std::max<Duration>(until - clock_.now(), Duration(1));
    CO_TRY(const auto answer,
           co_await rpc::call(client_, kPsKeys, to_wire(std::move(request)), time));
    co_return from_wire(answer);
}

Task<Result<KvAnswer>> Asker::meet(Question::Key what, Instant until) {
    if (!membership_.attendance.place)
        co_return Error(Code::kForbidden,
                        fmt::format("only chief and workers meet, and this is a pod of type {}",
                                    membership_.attendance.type));
    if (const auto* const join = std::get_if<JoinSyncPoint>(&what))
        if (joined_.size() < kMostPoints) joined_.insert(join->name);
    Duration pause = kPause;
    for (;;) {
        CO_TRY(const std::uint64_t epoch, co_await epoch_other_than({}, until));
        auto answered =
            co_await send({.epoch = epoch, .generation = meeting_of(epoch)}, what, until);
        if (answered || clock_.now() >= until) co_return answered;
        // Of another master; or it has not heard yet that this program attends.
        const Code code = answered.error().code();
        if (code == Code::kGone) {
            CO_TRY_VOID(co_await epoch_other_than(epoch, until));
        } else if (code == Code::kForbidden) {
            co_await clock_.sleep_for(std::min<Duration>(pause, until - clock_.now()));
            pause = std::min(2 * pause, kLongestPause);
        } else {
            co_return answered;
        }
    }
}

Task<Result<KvAnswer>> Asker::ask_keys(Question::Key what, Instant until) {
    if (!keys_) {
        CO_TRY(const std::uint64_t epoch, co_await epoch_other_than({}, until));
        keys_ = epoch;
    }
    const std::uint64_t asked = *keys_;
    auto answered = co_await send({.epoch = asked}, std::move(what), until);
    if (!answered && answered.error().code() == Code::kGone && keys_ == asked) keys_.reset();
    co_return answered;
}

Task<Result<VersionAnswer>> Asker::version(VersionRequest request, Instant until) {
    CO_TRY_VOID(co_await epoch_other_than({}, until));
    if (request.set) note(request);
    const Duration time = std::max<Duration>(until - clock_.now(), Duration(1));
    CO_TRY(const auto answer, co_await rpc::call(client_, kVersion, to_wire(request), time));
    co_return from_wire(answer);
}

void Asker::note(const VersionRequest& told) {
    if (told.kind == VersionKind::kGlobal) return;
    auto& versions = membership_.attendance.versions;
    auto found = std::ranges::find_if(versions, [&](const TaskVersions& one) {
        return one.type == told.type && one.rank == told.rank;
    });
    if (found == versions.end()) {
        if (versions.size() >= kMostTasks) return;
        versions.push_back({.type = told.type, .rank = told.rank});
        found = std::prev(versions.end());
    }
    (told.kind == VersionKind::kLocal ? found->local : found->restored) = told.set;
}

}  // namespace muster::ask_master
