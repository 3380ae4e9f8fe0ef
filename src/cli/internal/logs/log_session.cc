#include "cli/internal/logs/log_session.h"

#include <fmt/format.h>

#include "base/time/time_limit.h"
#include "cli/internal/run/line_splitter.h"

namespace muster::cli {

namespace {

/// How long a line of a followed log waits for those of silent logs.
constexpr Duration kPatience = std::chrono::milliseconds(100);

Task<Result<std::unique_ptr<kube::TextStream>>> open_kept(runtime::RetainedPod pod, int instance,
                                                          kube::LogOptions request, WallTime now) {
    co_return runtime::open_retained_log(co_await asio::this_coro::executor, pod, instance,
                                         std::move(request), now);
}

}  // namespace

kube::LogOptions request_of(const LogsOptions& options, const std::string& container) {
    kube::LogOptions request;
    request.container = container;
    request.follow = options.follow;
    request.timestamps = true;  // the order depends on them
    request.tail_lines = options.tail;
    if (options.since)
        request.since_seconds = std::max<std::int64_t>(
            1, std::chrono::ceil<std::chrono::seconds>(*options.since).count());
    return request;
}

LogSession::LogSession(TaskGroup& tasks, Clock& clock, const LogsOptions& options, Console& console,
                       bool prefixes)
    : tasks_(tasks),
      clock_(clock),
      options_(options),
      console_(console),
      prefixes_(prefixes),
      merge_(options.follow ? std::optional(kPatience) : std::nullopt),
      came_(tasks.executor()),
      taken_(tasks.executor()) {}

void LogSession::read(kube::Client& client, const LogSource& source, bool previous) {
    kube::LogOptions request = request_of(options_, source.container);
    request.previous = previous;
    read(source.shown, [&client, source, request = std::move(request)] {
        return client.logs(source.namespace_, source.pod, request);
    });
}

void LogSession::read(const LogSource& source, runtime::RetainedPod pod, int instance) {
    read(source.shown,
         [this, instance, pod = std::move(pod), request = request_of(options_, source.container)] {
             return open_kept(pod, instance, request, clock_.wall_now());
         });
}

void LogSession::read(std::string name, Open open) {
    const std::size_t number = merge_.open();
    names_.push_back(std::move(name));
    tasks_.spawn("log of " + names_.back(), follow(number, std::move(open)),
                 [this, number](const std::string& what) {
                     failures_.emplace_back(Code::kInternal,
                                            fmt::format("{}: {}", names_[number], what));
                     merge_.end(number);
                     came_.notify_all();
                 });
}

void LogSession::no_more() {
    no_more_ = true;
    came_.notify_all();
}

Task<void> LogSession::follow(std::size_t number, Open open) {
    LineSplitter splitter(
        [&](std::string_view line, bool) { merge_.add(number, line, clock_.now()); });
    auto stream = co_await open();
    if (stream) ++opened_;
    std::optional<Error> failure;
    if (!stream) failure = stream.error();
    while (stream) {
        while (!merge_.wants(number)) co_await taken_.wait();
        auto piece = co_await (*stream)->read();
        if (!piece) failure = piece.error();
        if (!piece || !*piece) break;
        splitter.add(**piece);
        came_.notify_all();
    }
    splitter.finish();
    if (failure)
        failures_.push_back(
            Error(failure->code(), fmt::format("{}: {}", names_[number], failure->message())));
    merge_.end(number);
    came_.notify_all();
}

Task<bool> LogSession::changed() {
    co_await came_.wait();
    co_return true;
}

void LogSession::show(const std::vector<LogMerge::Line>& lines) {
    std::string block;
    for (const LogMerge::Line& line : lines) {
        if (prefixes_) block += console_.log_prefix(names_[line.source]);
        if (options_.timestamps && !line.stamp.empty()) block += line.stamp + ' ';
        block += line.text;
        block += '\n';
    }
    if (block.empty()) return;
    shown_ = true;
    console_.write_block(block);
}

Task<Result<int>> LogSession::run() {
    while (!console_.broken()) {
        show(merge_.take(clock_.now()));
        taken_.notify_all();
        if (no_more_ && merge_.finished()) break;
        const std::optional<Instant> wake = merge_.wake_at();
        if (wake)
            (void)co_await within(clock_, std::max(Duration(1), *wake - clock_.now()), changed());
        else
            co_await came_.wait();
    }
    co_return failures_.empty() || opened_ > 0 ? 0 : 1;
}

}  // namespace muster::cli
