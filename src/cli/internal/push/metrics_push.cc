#include "cli/internal/push/metrics_push.h"

#include <fmt/format.h>

#include "base/visible_text.h"

namespace muster::cli {

namespace {

constexpr Duration kPushTime = std::chrono::seconds(10);
/// The end of a step has to come soon: a pipeline that stops it waits for half a minute.
constexpr Duration kLastPushTime = std::chrono::seconds(3);
/// A state that changes all the time is pushed so often.
constexpr Duration kBetweenPushes = std::chrono::seconds(5);
constexpr std::size_t kShownOfAnswer = 200;

}  // namespace

MetricsPush::MetricsPush(asio::any_io_executor executor, Clock& clock, Console& console,
                         const kube::ServerUrl& gateway, const MetricLabels& group,
                         MetricLabels about)
    : clock_(clock),
      console_(console),
      client_(executor, clock, gateway),
      url_(gateway.text()),
      path_(group_path(group)),
      about_(std::move(about)),
      changed_(executor) {}

void MetricsPush::start(TaskGroup& tasks, RunSession& session) {
    progress_ = {};
    tasks.spawn("measure the job", follow(session));
    tasks.spawn("push metrics", push_changes());
}

void MetricsPush::observe(const RunSession& session) {
    const Instant now = clock_.now();
    const JobMetrics before = progress_.metrics(now);
    const auto& jobs = session.watcher().jobs();
    const JobView* const job = jobs.empty() ? nullptr : &jobs.begin()->second;
    progress_.observe(now, job, job == nullptr ? 0 : session.history().restarts(job->uid));
    const JobMetrics after = progress_.metrics(now);
    if (before.state != after.state || before.restarts != after.restarts) changed_.notify_all();
}

Task<void> MetricsPush::follow(RunSession& session) {
    for (;;) {
        observe(session);
        co_await session.changed().wait();
    }
}

Task<void> MetricsPush::push_changes() {
    JobMetrics pushed;
    for (;;) {
        const JobMetrics now = progress_.metrics(clock_.now());
        if (now.state == pushed.state && now.restarts == pushed.restarts) {
            co_await changed_.wait();
            continue;
        }
        pushed = now;
        co_await push(now, kPushTime);
        co_await clock_.sleep_for(kBetweenPushes);
    }
}

Task<void> MetricsPush::push(JobMetrics metrics, Duration time) {
    net::HttpRequest request;
    request.method = "PUT";
    request.target = path_;
    request.headers = {{"User-Agent", "muster"},
                       {"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}};
    request.body = metrics_text(metrics, about_);
    const Result<net::HttpResponse> answer = co_await client_.send(std::move(request), time);
    if (answer && answer->status / 100 == 2) {
        told_ = false;
        co_return;
    }
    if (std::exchange(told_, true)) co_return;
    const std::string why =
        !answer
            ? answer.error().message()
            : fmt::format("it answers {}: {}", answer->status,
                          visible_line(std::string_view(answer->body).substr(0, kShownOfAnswer)));
    console_.tell({Tone::kBad, fmt::format("metrics can't be pushed to {}, which changes nothing "
                                           "for the job: {}",
                                           url_, why)});
}

Task<void> MetricsPush::finish(int exit_code) {
    JobMetrics last = progress_.metrics(clock_.now());
    last.exit_code = exit_code;
    co_await push(last, kLastPushTime);
    co_await client_.stop();
}

}  // namespace muster::cli
