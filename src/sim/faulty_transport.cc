#include "sim/faulty_transport.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"
#include "kube/objects/api_status.h"

namespace muster::sim {

bool TransportFaults::any() const {
    return unavailable > 0 || timeout_before > 0 || timeout_after > 0 || conflict > 0 ||
           too_many > 0 || stale_list > 0 || gone_list > 0 || gone_watch > 0 || broken_watch > 0 ||
           repeated_event > 0 || slow_request > 0 || slow_event > 0;
}

TransportFaults nothing_gets_through(Duration latency) {
    return {.unavailable = 1, .broken_watch = 1, .latency = latency};
}

/// Shared with the watches, which may outlive the transport by a moment.
struct FaultyTransport::State {
    State(asio::any_io_executor executor, Clock& the_clock, std::uint64_t seed,
          TransportFaults the_faults, TransportHooks the_hooks)
        : clock(the_clock),
          rng(seed),
          faults(the_faults),
          hooks(std::move(the_hooks)),
          forever(executor) {}

    bool chance(double probability) { return probability > 0 && rng.chance(probability); }

    Task<void> delay(double probability, const char* what, std::string path) {
        if (!chance(probability)) co_return;
        const auto span =
            std::max<Duration::rep>(1, (faults.delay.most - faults.delay.least).count());
        const Duration pause =
            faults.delay.least +
            Duration(static_cast<Duration::rep>(rng.below(static_cast<std::uint64_t>(span))));
        if (hooks.note)
            hooks.note(fmt::format("{} for {} ms: {}", what,
                                   std::chrono::floor<std::chrono::milliseconds>(pause).count(),
                                   path));
        co_await clock.sleep_for(pause);
    }

    /// Where callers of a dead transport wait.
    Task<void> hang() {
        for (;;) co_await forever.wait();
    }

    void note(std::string_view what, const kube::Request& request) const {
        if (hooks.note) hooks.note(fmt::format("{}: {}", what, request.path));
    }

    void saw(std::string_view revision) {
        newest = std::max(newest, parse_number<std::uint64_t>(revision).value_or(0));
    }

    void saw_answer(const kube::Response& response) {
        if (response.body == nullptr || !response.body->is_object()) return;
        const json::value* metadata = response.body->get_object().if_contains("metadata");
        const json::value* revision =
            metadata == nullptr ? nullptr : metadata->get_object().if_contains("resourceVersion");
        if (revision != nullptr) saw(revision->as_string());
    }

    /// The past one from which a list is answered; nothing: it gets what is.
    std::optional<std::uint64_t> revision_of_stale_list(const kube::Request& request) {
        const std::string_view asked = request.query_value("resourceVersion");
        const std::uint64_t floor =
            std::max<std::uint64_t>(parse_number<std::uint64_t>(asked).value_or(0), 1);
        if (asked.empty() || newest <= floor || !chance(faults.stale_list)) return std::nullopt;
        // The server itself still knows the states of the recent past.
        const std::uint64_t back = std::min<std::uint64_t>(newest - floor, 200);
        return newest - rng.below(back + 1);
    }

    Task<void> carry_answer(std::string path) {
        co_await delay(faults.slow_request, "an answer is on its way", std::move(path));
        if (is_cut) co_await hang();
    }

    Clock& clock;
    Rng rng;
    TransportFaults faults;
    TransportHooks hooks;
    Signal forever;
    bool is_cut = false;
    std::uint64_t writes = 0;
    std::uint64_t newest = 0;  ///< revision that was seen
};

namespace {

constexpr const char* kShortPage = "5";

/// Of an Event or a Lease.
bool is_sign_of_life(const kube::Request& request) {
    return request.path.find("/events") != std::string::npos ||
           request.path.find("/leases") != std::string::npos;
}

kube::Response refusal(const Error& error) {
    kube::Response response;
    response.status = kube::http_status(error.code());
    response.body = std::make_shared<const json::value>(kube::status_from_error(error));
    return response;
}

Error expired() {
    return Error(Code::kGone, "The resourceVersion for the provided request is too old.");
}

void set_query(kube::Request& request, std::string_view key, std::string value) {
    for (auto& [name, old] : request.query) {
        if (name != key) continue;
        old = std::move(value);
        return;
    }
    request.query.emplace_back(key, std::move(value));
}

}  // namespace

class FaultyTransport::Watch final : public kube::WatchStream {
  public:
    Watch(std::unique_ptr<kube::WatchStream> real, std::shared_ptr<State> state, std::string path)
        : real_(std::move(real)), state_(std::move(state)), path_(std::move(path)) {}

    Task<Result<std::optional<kube::WatchEvent>>> next() override {
        if (state_->is_cut) co_await state_->hang();
        if (failure_) co_return *failure_;
        if (repeat_) {
            std::optional<kube::WatchEvent> again = std::exchange(repeat_, std::nullopt);
            co_return again;
        }
        if (!held_) {
            Result<std::optional<kube::WatchEvent>> came = co_await real_->next();
            if (state_->is_cut) co_await state_->hang();
            if (!came || !*came) co_return came;
            if (state_->chance(state_->faults.broken_watch)) {
                note("a watch breaks");
                failure_ = Error(Code::kUnavailable, "the connection of the watch broke");
                real_.reset();
                co_return *failure_;
            }
            if (state_->chance(state_->faults.gone_watch)) {
                note("a watch expires");
                failure_ = Error(Code::kUnavailable, "the watch has ended");
                real_.reset();
                co_return std::optional(kube::WatchEvent{
                    kube::WatchEventType::kError,
                    std::make_shared<const json::value>(kube::status_from_error(expired()))});
            }
            held_ = std::move(*came);
        }
        // A caller that is cancelled here finds the event at its next call.
        co_await state_->delay(state_->faults.slow_event, "an event lags", path_);
        if (state_->is_cut) co_await state_->hang();
        std::optional<kube::WatchEvent> event = std::exchange(held_, std::nullopt);
        if (event->object != nullptr && event->type != kube::WatchEventType::kError)
            state_->saw(event->object->at("metadata").at("resourceVersion").as_string());
        if (state_->chance(state_->faults.repeated_event)) {
            note("an event comes twice");
            repeat_ = event;
        }
        co_return event;
    }

  private:
    void note(std::string_view what) const {
        if (state_->hooks.note) state_->hooks.note(fmt::format("{}: {}", what, path_));
    }

    std::unique_ptr<kube::WatchStream> real_;
    std::shared_ptr<State> state_;
    std::string path_;
    std::optional<Error> failure_;
    std::optional<kube::WatchEvent> held_;
    std::optional<kube::WatchEvent> repeat_;
};

FaultyTransport::FaultyTransport(asio::any_io_executor executor, kube::Transport& real,
                                 Clock& clock, std::uint64_t seed, TransportFaults faults,
                                 TransportHooks hooks)
    : real_(real),
      state_(std::make_shared<State>(std::move(executor), clock, seed, faults, std::move(hooks))) {}

FaultyTransport::~FaultyTransport() = default;

void FaultyTransport::set_faults(const TransportFaults& faults) { state_->faults = faults; }

void FaultyTransport::cut() { state_->is_cut = true; }

std::uint64_t FaultyTransport::writes() const { return state_->writes; }

Task<Result<kube::Response>> FaultyTransport::pass(kube::Request request) {
    if (state_->hooks.writing) state_->hooks.writing(true);
    auto response = co_await real_.call(std::move(request));
    if (state_->hooks.writing) state_->hooks.writing(false);
    co_return response;
}

Task<Result<kube::Response>> FaultyTransport::read(kube::Request request) {
    State& state = *state_;
    if (!request.query_value("continue").empty() && state.chance(state.faults.gone_list)) {
        state.note("a list expires", request);
        co_return refusal(expired());
    }
    // There is something to expire only where there is a next page: a server may give shorter
    // ones than it is asked for.
    if (state.faults.gone_list > 0 && !request.query_value("limit").empty())
        set_query(request, "limit", kShortPage);
    if (const auto revision = state.revision_of_stale_list(request)) {
        kube::Request older = request;
        set_query(older, "resourceVersion", fmt::to_string(*revision));
        set_query(older, "resourceVersionMatch", "Exact");
        auto response = co_await pass(std::move(older));
        if (response && response->status == 200) {
            state.note(fmt::format("a list as of revision {}", *revision), request);
            co_return response;
        }
    }
    const std::string path = request.path;
    auto response = co_await pass(std::move(request));
    co_await state.carry_answer(path);
    if (response) state.saw_answer(*response);
    co_return response;
}

Task<Result<kube::Response>> FaultyTransport::write(kube::Request request) {
    State& state = *state_;
    if (state.chance(state.faults.timeout_before)) {
        state.note("a write times out without effect", request);
        co_return Error(Code::kTimeout, "the request timed out");
    }
    const bool update =
        request.method == kube::Method::kPut || request.method == kube::Method::kPatch;
    if (update && !is_sign_of_life(request) && state.chance(state.faults.conflict)) {
        state.note("a conflict", request);
        co_return refusal(Error(Code::kConflict,
                                "the object has been modified; please apply your changes to "
                                "the latest version and try again"));
    }
    if (state.hooks.crash && state.hooks.crash(request, true)) co_await state.hang();
    kube::Request done;
    done.method = request.method;
    done.path = request.path;
    auto response = co_await pass(std::move(request));
    if (state.hooks.crash && state.hooks.crash(done, false)) co_await state.hang();
    if (state.chance(state.faults.timeout_after)) {
        state.note("a write times out with effect", done);
        co_return Error(Code::kTimeout, "the answer was lost");
    }
    co_await state.carry_answer(done.path);
    co_return response;
}

Task<Result<kube::Response>> FaultyTransport::call(kube::Request request) {
    State& state = *state_;
    if (state.is_cut) co_await state.hang();
    const bool writes = request.method != kube::Method::kGet;
    if (writes && !is_sign_of_life(request)) ++state.writes;
    if (state.faults.latency > Duration::zero())
        co_await state.clock.sleep_for(state.faults.latency);
    co_await state.delay(state.faults.slow_request, "a request is on its way", request.path);
    if (state.is_cut) co_await state.hang();
    if (state.chance(state.faults.unavailable)) {
        state.note("a request is lost", request);
        co_return Error(Code::kUnavailable, "the request was lost");
    }
    if (state.chance(state.faults.too_many)) {
        state.note("too many requests", request);
        co_return refusal(Error(Code::kTooManyRequests, "too many requests, please try again later")
                              .with_retry_after(std::chrono::seconds(1)));
    }
    co_return co_await (writes ? write(std::move(request)) : read(std::move(request)));
}

Task<Result<std::unique_ptr<kube::WatchStream>>> FaultyTransport::watch(kube::Request request) {
    State& state = *state_;
    if (state.is_cut) co_await state.hang();
    co_await state.delay(state.faults.slow_request, "a watch is on its way", request.path);
    if (state.is_cut) co_await state.hang();
    if (state.chance(state.faults.unavailable)) {
        state.note("a watch is lost", request);
        co_return Error(Code::kUnavailable, "the request was lost");
    }
    if (state.chance(state.faults.gone_watch)) {
        state.note("a watch is refused with 410", request);
        co_return expired();
    }
    std::string path = request.path;
    auto stream = co_await real_.watch(std::move(request));
    if (!stream) co_return std::move(stream.error());
    std::unique_ptr<kube::WatchStream> wrapped =
        std::make_unique<Watch>(std::move(*stream), state_, std::move(path));
    co_return wrapped;
}

Task<Result<std::unique_ptr<kube::TextStream>>> FaultyTransport::stream_text(
    kube::Request request) {
    return real_.stream_text(std::move(request));
}

}  // namespace muster::sim
