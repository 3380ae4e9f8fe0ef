#include "rpc/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/async/signal.h"
#include "base/async/stop.h"
#include "base/async/task_group.h"
#include "base/async/then_stop.h"
#include "base/check.h"
#include "base/time/restarting_task.h"
#include "base/time/time_limit.h"
#include "rpc/internal/admission.h"
#include "rpc/internal/client_calls.h"
#include "rpc/internal/failure.h"
#include "rpc/internal/wire.h"

namespace muster::rpc {
namespace {

/// From a server that answered before the welcome: no retry changes it.
bool is_final(const Error& refusal) {
    return refusal.code() != Code::kUnavailable && refusal.code() != Code::kTooManyRequests;
}

/// The bytes do not have the form of a message.
bool is_no_message(const Error& error) {
    return error.code() == Code::kTooLarge || error.code() == Code::kBadRequest;
}

std::int64_t milliseconds(Duration time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

class StreamReader final : public ItemReader {
  public:
    using Forget = std::function<void()>;
    using Grant = std::function<void(std::uint32_t)>;

    StreamReader(std::shared_ptr<OpenStream> stream, std::uint32_t credit, Grant grant,
                 Forget forget)
        : stream_(std::move(stream)),
          credit_(credit),
          grant_(std::move(grant)),
          forget_(std::move(forget)) {}
    ~StreamReader() override { forget_(); }

    Task<Result<std::optional<std::string>>> next() override {
        while (stream_->items.empty() && !stream_->end) co_await stream_->changed.wait();
        if (stream_->items.empty()) {
            if (!*stream_->end) co_return stream_->end->error();
            co_return std::optional<std::string>();
        }
        std::string item = std::move(stream_->items.front());
        stream_->items.pop_front();
        // In halves, so that credit costs little and the server need not wait for it.
        if (++taken_ >= std::max(credit_ / 2, 1u) && !stream_->end) {
            stream_->credit += taken_;
            grant_(std::exchange(taken_, 0));
        }
        co_return std::optional<std::string>(std::move(item));
    }

  private:
    std::shared_ptr<OpenStream> stream_;
    std::uint32_t credit_;
    std::uint32_t taken_ = 0;
    Grant grant_;
    Forget forget_;
};

}  // namespace

struct Client::State {
    State(Connect its_connect, Clock& its_clock, Rng& its_rng, TaskGroup& its_tasks, Options given)
        : connect(std::move(its_connect)),
          clock(its_clock),
          rng(its_rng),
          tasks(its_tasks),
          options(std::move(given)),
          often(std::min(options.limits.hello_time, options.limits.liveness.ping_after)),
          changed(tasks.executor()) {}

    /// A connection, once the server is known.
    struct Session {
        std::shared_ptr<Wire> wire;
        Liveness liveness;
        std::string server;
    };

    /// While an instance exists, something waits for the server, for at most hello_time; then `end`
    /// cancels the wait.
    class Deadline {
      public:
        Deadline(State& state, std::function<void()> end);
        ~Deadline() { state_.waits = nullptr; }
        Deadline(const Deadline&) = delete;
        Deadline& operator=(const Deadline&) = delete;

        Instant when() const { return when_; }
        bool is_over() const { return when_ == Instant::max(); }
        void expire();

      private:
        State& state_;
        std::function<void()> end_;
        Instant when_;
    };

    Task<void> run();
    Task<Error> one_connection();
    Task<Result<std::unique_ptr<net::ByteStream>>> connect_in_time();
    Task<Result<std::optional<Frame>>> first_frame(std::shared_ptr<Wire> wire);
    Task<Error> read_on(std::shared_ptr<Wire> wire);
    Task<void> converse(std::shared_ptr<Wire> wire, TaskGroup& group, std::optional<Session>& here,
                        std::optional<Error>& why);
    Task<void> write(std::shared_ptr<Wire> wire);
    bool is_full() const;
    Task<void> room();
    Task<void> watch_deadlines();
    Instant look(Instant now, Instant planned);
    Instant keep_alive(Session& here, Instant now, Instant planned);
    Task<void> pause(Duration& retry);
    void opened(Session& now);
    void closed(const Error& why);
    Result<void> take(Frame frame);
    Result<void> queue(const Frame& frame);
    void send(const Frame& frame);
    void send(PendingCall& call);
    Task<Result<std::string>> call(std::string method, std::string body, Instant deadline,
                                   Repeat repeat);
    void forget(std::uint64_t id);

    Connect connect;
    Clock& clock;
    Rng& rng;
    TaskGroup& tasks;
    Options options;
    Duration often;  ///< no deadline is set closer than this
    ClientCalls calls;
    Session* session = nullptr;
    Deadline* waits = nullptr;  ///< for the server, before there is a session
    std::uint64_t hellos = 0;
    std::uint64_t connections = 0;  ///< the successful ones
    std::optional<Error> trouble = Error(Code::kUnavailable, "not connected yet");
    std::optional<Error> ended;
    Signal changed;  ///< of the three above, and of room for calls
};

// ---- connections

Task<void> Client::State::run() {
    Duration retry = options.limits.first_retry;
    while (!ended) {
        const std::uint64_t before = connections;
        const Error why = co_await one_connection();
        trouble = why;
        if (ended) break;
        changed.notify_all();
        if (connections != before) retry = options.limits.first_retry;
        co_await pause(retry);
    }
    calls.end(*ended);
    changed.notify_all();
}

/// Clients that lost their server at the same time should not come back at the same time.
Task<void> Client::State::pause(Duration& retry) {
    const auto spread = static_cast<double>(retry.count()) * (0.5 + rng.unit() / 2);
    retry = std::min(retry * 2, options.limits.most_retry);
    return clock.sleep_for(Duration(static_cast<Duration::rep>(spread)));
}

/// Returns why the connection ended, or failed.
Task<Error> Client::State::one_connection() {
    auto stream = co_await connect_in_time();
    if (!stream) co_return stream.error();
    auto wire = std::make_shared<Wire>(*std::move(stream), tasks.executor(),
                                       Wire::Limits{.longest_frame = options.limits.longest_frame,
                                                    .queued = options.limits.queued},
                                       options.limits.longest_frame);
    if (connections == 0) {
        trouble.emplace(Code::kUnavailable, "the server does not answer");
        changed.notify_all();
    }
    // The order matters: the group's tasks refer to what is declared before it.
    std::optional<Session> here;
    std::optional<Error> why;
    struct Close {
        State& state;
        ~Close() { state.session = nullptr; }
    } const close_it{*this};
    TaskGroup group(tasks.executor());
    co_await then_stop(converse(std::move(wire), group, here, why), group);
    co_return *std::move(why);
}

Task<Result<std::unique_ptr<net::ByteStream>>> Client::State::connect_in_time() {
    Stop stop;
    const Deadline deadline(*this, [&stop] { stop.ask(); });
    auto stream = co_await stop.run(connect());
    if (stream) co_return *std::move(stream);
    co_return Error(Code::kUnavailable, fmt::format("no connection within {} ms",
                                                    milliseconds(options.limits.hello_time)));
}

Task<Result<std::optional<Frame>>> Client::State::first_frame(std::shared_ptr<Wire> wire) {
    const Deadline deadline(*this, [wire] { wire->close(); });
    auto first = co_await wire->read();
    if (!first && deadline.is_over())
        co_return Error(Code::kUnavailable, fmt::format("the server said nothing within {} ms",
                                                        milliseconds(options.limits.hello_time)));
    co_return first;
}

Task<void> Client::State::converse(std::shared_ptr<Wire> wire, TaskGroup& group,
                                   std::optional<Session>& here, std::optional<Error>& why) {
    group.spawn("rpc writer", write(wire), [wire](const std::string&) { wire->close(); });
    CHECK(wire->queue(hello_frame({.token = options.token,
                                   .client = options.name,
                                   .about = options.about,
                                   .connection = ++hellos},
                                  kVersion)),
          "a wire begins open");
    const auto first = co_await first_frame(wire);
    if (!first) {
        why = first.error();
        if (is_no_message(*why)) why->prefix("the other side does not speak this protocol");
    } else if (!*first) {
        why.emplace(Code::kUnavailable, "the server closed the connection during the handshake");
    } else if (auto welcome = admitted(**first, kVersion); !welcome) {
        why = welcome.error();
        if (is_final(*why)) ended = why;
    } else {
        here.emplace(Session{.wire = wire,
                             .liveness = Liveness(options.limits.liveness, true, clock.now()),
                             .server = welcome->server});
        wire->write_at_most(welcome->longest_frame);
        opened(*here);
        why = co_await read_on(wire);
        closed(*why);
    }
    wire->close();
}

Task<Error> Client::State::read_on(std::shared_ptr<Wire> wire) {
    for (;;) {
        auto frame = co_await wire->read();
        if (!frame) {
            if (frame.error().code() == Code::kCancelled && trouble) co_return *trouble;
            co_return frame.error();
        }
        if (!*frame) co_return Error(Code::kUnavailable, "the server ended the connection");
        session->liveness.heard(clock.now());
        if ((*frame)->has_farewell()) {
            const Error why = error_of((*frame)->farewell().failure());
            // Another client has our name: the two would replace each other endlessly.
            if (why.code() == Code::kConflict) ended = why;
            co_return why;
        }
        if (auto taken = take(**std::move(frame)); !taken) co_return taken.error();
    }
}

Task<void> Client::State::write(std::shared_ptr<Wire> wire) {
    const Result<void> written = co_await wire->write_queued();
    if (written) co_return;
    if (!trouble) trouble = written.error();
    wire->close();
}

Client::State::Deadline::Deadline(State& state, std::function<void()> end)
    : state_(state),
      end_(std::move(end)),
      when_(state.clock.now() + state.options.limits.hello_time) {
    state_.waits = this;
}

void Client::State::Deadline::expire() {
    when_ = Instant::max();
    const std::function<void()> end = std::move(end_);  // the waiting task may end at once
    end();
}

/// One task for the client's whole life: a race against a timer for each wait would cost more than
/// what it guards.
Task<void> Client::State::watch_deadlines() {
    Instant planned = clock.now();
    while (!ended) {
        planned = look(clock.now(), planned);
        co_await clock.sleep_until(planned);
    }
}

/// Returns when to look again.
Instant Client::State::look(Instant now, Instant planned) {
    if (session != nullptr) return keep_alive(*session, now, planned);
    if (waits != nullptr && now >= waits->when()) waits->expire();
    return waits == nullptr ? now + often : std::min(waits->when(), now + often);
}

/// Ends the connection if the server is silent for too long.
Instant Client::State::keep_alive(Session& here, Instant now, Instant planned) {
    for (;;) {
        const Liveness::Step step = here.liveness.next(now, planned);
        if (step.act == Liveness::Act::kWait) return step.until;
        if (step.act == Liveness::Act::kPing) {
            Frame ping;
            ping.mutable_ping();
            send(ping);
            continue;
        }
        // Input that has arrived but was not read yet is not silence.
        if (!here.wire->has_input()) break;
        here.liveness.heard(now);
    }
    trouble.emplace(Code::kUnavailable, fmt::format("the server was silent for {} ms",
                                                    milliseconds(here.liveness.silence(now))));
    here.wire->close();
    return now + often;
}

bool Client::State::is_full() const {
    return session != nullptr && session->wire->queued() >= options.limits.queued;
}

/// Returns when the current connection has room for more.
Task<void> Client::State::room() {
    if (!is_full()) co_return;
    // The session may end while this waits.
    const std::shared_ptr<Wire> wire = session->wire;
    co_await wire->room();
}

void Client::State::opened(Session& now) {
    session = &now;
    ++connections;
    trouble.reset();
    for (const auto& call : calls.to_send(now.server)) send(*call);
    changed.notify_all();
}

void Client::State::closed(const Error& why) {
    session = nullptr;
    trouble = why;
    calls.lost(Error(Code::kUnavailable, why.message()));
    changed.notify_all();
}

Result<void> Client::State::take(Frame frame) {
    switch (frame.kind_case()) {
        case Frame::kPong:
            return {};
        case Frame::kAnswer:
            return calls.answered(std::move(*frame.mutable_answer()));
        case Frame::kItem:
            return calls.came(std::move(*frame.mutable_item()));
        default:
            return Error(Code::kBadRequest, "a message that only clients send");
    }
}

Result<void> Client::State::queue(const Frame& frame) {
    session->liveness.said(clock.now());
    return session->wire->queue(frame);
}

/// An error means that the connection has ended, which its reader knows.
void Client::State::send(const Frame& frame) {
    if (auto queued = queue(frame); !queued) return;
}

void Client::State::send(PendingCall& call) {
    const Result<void> sent = queue(frame_of(call, session->server, clock.now()));
    // The reader of the connection sees all other errors, and the next connection gets the call.
    if (!sent && sent.error().code() == Code::kTooLarge) fail(call, sent.error());
}

// ---- calls

void Client::State::forget(std::uint64_t id) {
    const bool unfinished = calls.remove(id);
    changed.notify_all();
    if (!unfinished || session == nullptr) return;
    Frame cancel;
    cancel.mutable_cancel()->set_id(id);
    send(cancel);
}

Task<Result<std::string>> Client::State::call(std::string method, std::string body,
                                              Instant deadline, Repeat repeat) {
    for (;;) {
        if (ended) co_return *ended;
        // Other calls may have come while this one waited.
        if (calls.calls() >= options.limits.calls)
            co_await changed.wait();
        else if (is_full())
            co_await room();
        else
            break;
    }
    wire::Call made;
    made.set_id(calls.next_id());
    made.set_method(std::move(method));
    made.set_body(std::move(body));
    for (const std::uint64_t id : calls.take_arrived()) made.add_arrived(id);
    auto pending =
        std::make_shared<PendingCall>(tasks.executor(), std::move(made), deadline, repeat);
    calls.add(pending);
    // Even if the wait is cancelled.
    struct Forget {
        State& state;
        std::uint64_t id;
        ~Forget() { state.forget(id); }
    } const forget_it{*this, pending->call.id()};
    if (session != nullptr) send(*pending);
    while (!pending->outcome) co_await pending->changed.wait();
    co_return *std::move(pending->outcome);
}

Client::Client(Connect connect, Clock& clock, Rng& rng, TaskGroup& tasks, Options options)
    : state_(std::make_unique<State>(std::move(connect), clock, rng, tasks, std::move(options))) {}

Client::~Client() = default;

void Client::start() {
    State* const state = state_.get();
    // The connection in which it failed has ended; whoever waits for one of its streams is told.
    spawn_restarting(
        state->tasks, state->clock, "rpc client", [state] { return state->run(); },
        [state](const std::string& what) { state->closed(Error(Code::kUnavailable, what)); });
    spawn_restarting(state->tasks, state->clock, "rpc deadlines",
                     [state] { return state->watch_deadlines(); });
}

Task<Result<std::string>> Client::call(std::string method, std::string body, Duration time,
                                       Repeat repeat) {
    std::string about = method;
    auto outcome = co_await within(
        state_->clock, time,
        state_->call(std::move(method), std::move(body), state_->clock.now() + time, repeat));
    if (outcome) co_return *std::move(outcome);
    std::string why = fmt::format("{}: no answer within {} ms", about, milliseconds(time));
    if (state_->trouble) why += ": " + state_->trouble->message();
    co_return Error(Code::kTimeout, std::move(why));
}

Task<Result<std::unique_ptr<ItemReader>>> Client::open(std::string method, std::string body) {
    State& state = *state_;
    while (state.session == nullptr && !state.ended) co_await state.changed.wait();
    if (state.ended) co_return *state.ended;
    const std::uint32_t credit = state.options.limits.credit;
    const std::uint64_t id = state.calls.next_id();
    Frame frame;
    wire::Call& call = *frame.mutable_call();
    call.set_id(id);
    call.set_method(std::move(method));
    call.set_body(std::move(body));
    call.set_streams(true);
    call.set_credit(credit);
    auto stream = std::make_shared<OpenStream>(state.tasks.executor(), credit);
    state.calls.add(id, stream);
    auto grant = [&state, id](std::uint32_t items) {
        if (state.session == nullptr) return;
        Frame more;
        more.mutable_credit()->set_id(id);
        more.mutable_credit()->set_items(items);
        state.send(more);
    };
    std::unique_ptr<ItemReader> reader = std::make_unique<StreamReader>(
        std::move(stream), credit, std::move(grant), [&state, id] { state.forget(id); });
    CO_TRY_VOID(state.queue(frame));
    co_return reader;
}

Task<Result<void>> Client::tell(std::string method, std::string body) {
    State& state = *state_;
    if (state.ended) co_return *state.ended;
    co_await state.room();
    if (state.session == nullptr) co_return *state.trouble;
    Frame frame;
    frame.mutable_note()->set_method(std::move(method));
    frame.mutable_note()->set_body(std::move(body));
    co_return state.queue(frame);
}

bool Client::connected() const { return state_->session != nullptr; }
std::uint64_t Client::connection() const { return state_->connections; }
Task<void> Client::changed() { return state_->changed.wait(); }
const std::optional<Error>& Client::ended() const { return state_->ended; }
const std::optional<Error>& Client::trouble() const { return state_->trouble; }

}  // namespace muster::rpc
