#include "rpc/internal/server_connection.h"

#include <fmt/format.h>

#include "base/async/cancellation.h"
#include "base/async/then_stop.h"
#include "base/log.h"
#include "base/unexpected.h"
#include "net/tcp.h"
#include "rpc/internal/admission.h"

namespace muster::rpc {
namespace {

/// How long the other side may take to read a farewell.
constexpr Duration kFarewellTime = std::chrono::seconds(1);
/// What torch's TCPStore is answered to the ping with which it begins: the number that it sent is
/// expected, the id of its process.
constexpr std::string_view kWrongPong = "\xff\xff\xff\xff";
/// From how many hosts that is logged, once each.
constexpr std::size_t kToldHosts = 100;
/// Multiple of the queue limit at which a client is disconnected: it does not read its answers.
constexpr std::size_t kUnread = 4;

}  // namespace

struct ServerConnection::Stream final : ItemWriter {
    Stream(ServerConnection& its_connection, std::uint64_t its_id, std::uint64_t given)
        : connection(its_connection),
          id(its_id),
          stop(std::make_shared<Stop>()),
          credit_changed(connection.serving_.executor),
          credit(given) {}

    Task<Result<void>> write(std::string item) override {
        while (credit == 0) co_await credit_changed.wait();
        --credit;
        co_await connection.wire_->room();
        Frame frame;
        frame.mutable_item()->set_id(id);
        frame.mutable_item()->set_body(std::move(item));
        co_return connection.wire_->queue(frame);
    }

    ServerConnection& connection;
    std::uint64_t id;
    std::shared_ptr<Stop> stop;
    Signal credit_changed;
    std::uint64_t credit;  ///< items for which the client has room
};

ServerConnection::ServerConnection(Serving& serving, std::unique_ptr<net::ByteStream> stream,
                                   net::TlsServerContext* tls)
    : serving_(serving),
      stream_(std::move(stream)),
      tls_(tls),
      ends_(serving.clock.now() + serving.limits().hello_time) {}

Task<void> ServerConnection::run(const std::optional<Error>& refusal) {
    TaskGroup tasks(serving_.executor);
    std::exception_ptr thrown;
    try {
        co_await then_stop(talk(refusal, tasks), tasks);
    } catch (...) {
        thrown = std::current_exception();
    }
    if (!thrown) co_return;
    if (!is_cancellation(thrown))
        why_ = Error(Code::kInternal, report_unexpected("rpc connection", thrown));
    if (wire_) wire_->close();
    part(why_.value_or(Error(Code::kCancelled, "the connection was given up")));
}

/// State needed only until the client is admitted must not cost an idle connection anything.
Task<void> ServerConnection::talk(const std::optional<Error>& refusal, TaskGroup& tasks) {
    std::optional<Error> end = co_await meet(refusal, tasks);
    if (!end) end = co_await read_on(tasks);
    if (wire_) wire_->close();
    part(why_ ? *why_ : *end);
}

/// Returns nullopt when the client is admitted or asked to leave; otherwise why it ended.
Task<std::optional<Error>> ServerConnection::meet(const std::optional<Error>& refusal,
                                                  TaskGroup& tasks) {
    const std::string address = stream_->peer_address();
    const std::string reached = net::local_host(*stream_);
    if (tls_ != nullptr) {
        auto secured = co_await securing_.run(tls_->accept(std::move(stream_)));
        if (!secured) co_return Error(Code::kTimeout, "the client did not begin with TLS");
        if (!*secured) co_return secured->error();
        stream_ = **std::move(secured);
        ends_ = serving_.clock.now() + serving_.limits().hello_time;
    }
    wire_.emplace(std::move(stream_), serving_.executor,
                  Wire::Limits{.longest_frame = serving_.limits().longest_frame,
                               .queued = serving_.limits().queued},
                  kLongestHello);
    tasks.spawn("rpc writer", write(), [this](const std::string& what) {
        if (!why_) why_.emplace(Code::kInternal, what);
        wire_->close();
    });
    auto first = co_await wire_->read();
    if (!first && first.error().code() == Code::kUnsupported) {
        turn_torch_away(std::move(first).error(), address);
        co_return std::nullopt;
    }
    if (!first) {
        leave(first.error());
        co_return std::nullopt;
    }
    if (!*first) co_return Error(Code::kCancelled, "the connection ended during the handshake");
    if (auto in = let_in(**first, refusal)) {
        peer_ = std::make_shared<const Peer>(
            Peer{.client = in->client, .about = in->about, .address = address, .reached = reached});
        enter(in->connection);
    } else {
        log::warning("a connection was refused",
                     {{"from", address}, {"error", in.error().message()}});
        leave(std::move(in).error());
    }
    co_return std::nullopt;
}

/// It takes the end of a connection for a network that may come back, and tries again for minutes;
/// a wrong answer ends it at once.
void ServerConnection::turn_torch_away(Error why, const std::string& address) {
    const std::string host = address.substr(0, address.rfind(':'));
    if (serving_.told_of.size() < kToldHosts && serving_.told_of.insert(host).second)
        log::warning(
            "connections are refused: torch's own torchrun calls where agents of muster-run meet; "
            "it was started there in place of muster-run, or by a worker of this job",
            {{"from", address}});
    why_ = std::move(why);
    ends_ = serving_.clock.now() + kFarewellTime;
    wire_->end_with_bytes(kWrongPong);
}

Result<Introduction> ServerConnection::let_in(const Frame& first,
                                              const std::optional<Error>& refusal) const {
    TRY(Introduction in, admit(first, serving_.options.token, kVersion));
    if (refusal) return *refusal;
    if (auto late = outdated(in)) return *std::move(late);
    return in;
}

/// Messages on a connection that the client has given up may arrive after those on the next one:
/// the old connection must not replace the new one.
std::optional<Error> ServerConnection::outdated(const Introduction& in) const {
    const auto known = serving_.callers.find(in.client);
    if (in.connection == 0 || known == serving_.callers.end() ||
        in.connection >= known->second->newest)
        return std::nullopt;
    return Error(Code::kConflict, "this client has connected again since");
}

void ServerConnection::enter(std::uint64_t number) {
    std::shared_ptr<Caller>& caller = serving_.callers[peer_->client];
    if (!caller) caller = std::make_shared<Caller>(peer_->client, serving_.limits().calls);
    caller_ = caller;
    caller->newest = number;
    if (ServerConnection* before = std::exchange(caller->connection, this))
        before->leave(Error(Code::kConflict, "this client has connected again"));
    ++serving_.admitted;
    liveness_.emplace(serving_.limits().liveness, false, serving_.clock.now());
    wire_->trust();
    send(welcome_frame(
        {.server = serving_.options.name, .longest_frame = serving_.limits().longest_frame},
        kVersion));
}

void ServerConnection::part(const Error& why) {
    if (!peer_ || std::exchange(parted_, true)) return;
    --serving_.admitted;
    if (caller_->connection != this) return;
    caller_->connection = nullptr;
    caller_->left = serving_.clock.now();
    if (serving_.gone) contained("rpc client gone", [&] { serving_.gone(peer_, why); });
}

/// Reads until the end. After our farewell everything that comes is ignored.
Task<Error> ServerConnection::read_on(TaskGroup& tasks) {
    while (!why_) {
        auto frame = co_await wire_->read();
        if (why_) break;
        if (!frame) {
            if (frame.error().code() == Code::kUnavailable) co_return frame.error();
            leave(frame.error());
            break;
        }
        if (!*frame) co_return Error(Code::kCancelled, "the client left");
        liveness_->heard(serving_.clock.now());
        if (auto taken = take(**std::move(frame), tasks); !taken) leave(taken.error());
    }
    co_await wire_->discard();
    co_return *why_;
}

Task<void> ServerConnection::write() {
    const Result<void> written = co_await wire_->write_queued();
    if (written) co_return;
    if (!why_) why_ = written.error();
    wire_->close();
}

void ServerConnection::send(const Frame& frame) {
    // On an error the connection has ended, which its reader knows.
    if (!wire_->queue(frame)) return;
    if (wire_->queued() > kUnread * serving_.limits().queued && !why_) {
        why_ = Error(Code::kTooManyRequests,
                     fmt::format("the client keeps calling but leaves {} bytes of answers unread",
                                 wire_->queued()));
        wire_->close();
    }
}

void ServerConnection::leave(Error why) {
    if (why_) return;
    why_ = std::move(why);
    ends_ = serving_.clock.now() + kFarewellTime;
    if (wire_)
        wire_->end_with(farewell_frame(*why_));
    else
        securing_.ask();
}

Instant ServerConnection::deadline(Instant now, Instant planned) {
    if (why_ || !liveness_) return ends_;
    return liveness_->next(now, planned).until;
}

void ServerConnection::expire() {
    const Instant now = serving_.clock.now();
    if (liveness_ && !why_) {
        // Input that has arrived but was not read yet is not silence.
        if (wire_->has_input()) return liveness_->heard(now);
        why_ =
            Error(Code::kTimeout, fmt::format("nothing was heard for {} ms",
                                              std::chrono::duration_cast<std::chrono::milliseconds>(
                                                  liveness_->silence(now))
                                                  .count()));
    }
    if (!why_) why_ = Error(Code::kTimeout, "the client did not introduce itself");
    if (wire_)
        wire_->close();
    else
        securing_.ask();
}

Result<void> ServerConnection::take(Frame frame, TaskGroup& tasks) {
    switch (frame.kind_case()) {
        case Frame::kPing: {
            Frame pong;
            pong.mutable_pong();
            send(pong);
            return {};
        }
        case Frame::kCall:
            take_call(std::move(*frame.mutable_call()), tasks);
            return {};
        case Frame::kNote:
            take_note(std::move(*frame.mutable_note()));
            return {};
        case Frame::kCancel:
            cancel(frame.cancel().id());
            return {};
        case Frame::kCredit:
            if (const auto it = streams_.find(frame.credit().id()); it != streams_.end()) {
                it->second->credit += frame.credit().items();
                it->second->credit_changed.notify_all();
            }
            return {};
        default:
            return Error(Code::kBadRequest, "a message that only servers send");
    }
}

/// A handler that is asked to end may do so within the call, which removes it.
void ServerConnection::cancel(std::uint64_t id) {
    if (const auto it = streams_.find(id); it != streams_.end()) {
        const std::shared_ptr<Stop> stop = it->second->stop;
        stop->ask();
    }
    if (const auto it = caller_->running.find(id); it != caller_->running.end()) {
        const std::shared_ptr<Stop> stop = it->second;
        stop->ask();
    }
}

void ServerConnection::take_call(wire::Call call, TaskGroup& tasks) {
    const auto refuse = [&](Code code, std::string message) {
        send(answer_frame(call.id(), Error(code, std::move(message)),
                          serving_.limits().longest_frame));
    };
    const auto unknown = [&] {
        refuse(Code::kUnsupported, fmt::format("this server has no {}", call.method()));
    };
    const auto too_many = [&] {
        refuse(Code::kTooManyRequests, fmt::format("this client already has {} calls in progress",
                                                   serving_.limits().calls));
    };
    for (const std::uint64_t id : call.arrived()) caller_->kept.forget(id);
    if (call.streams()) {
        const auto handler = serving_.stream_handlers.find(call.method());
        if (handler == serving_.stream_handlers.end()) return unknown();
        if (streams_.size() >= serving_.limits().calls) return too_many();
        if (streams_.contains(call.id())) return;
        return start_stream(std::move(call), handler->second, tasks);
    }
    const auto handler = serving_.call_handlers.find(call.method());
    if (handler == serving_.call_handlers.end()) return unknown();
    switch (caller_->kept.begin(call.id())) {
        case KeptAnswers::Seen::kNew:
            return start_call(serving_, caller_, peer_, std::move(call), handler->second);
        case KeptAnswers::Seen::kAnswered: {
            Frame again;
            again.ParseFromString(caller_->kept.answer(call.id()));
            return send(again);
        }
        case KeptAnswers::Seen::kTooMany:
            return too_many();
        case KeptAnswers::Seen::kRunning:
            return;
    }
}

void ServerConnection::take_note(wire::Note note) {
    const auto handler = serving_.note_handlers.find(note.method());
    if (handler == serving_.note_handlers.end()) {
        log::warning("a note that nothing here handles was dropped",
                     {{"from", peer_->about}, {"method", note.method()}});
        return;
    }
    contained("rpc note", [&] { handler->second(peer_, std::move(*note.mutable_body())); });
}

void ServerConnection::start_stream(wire::Call call, const Server::StreamHandler& handler,
                                    TaskGroup& tasks) {
    auto stream = std::make_shared<Stream>(*this, call.id(), call.credit());
    streams_.emplace(call.id(), stream);
    std::optional<Task<Result<std::string>>> work;
    if (auto what = contained("rpc " + call.method(), [&] {
            work.emplace(handler(peer_, std::move(*call.mutable_body()), *stream));
        }))
        return end_stream(*stream, Error(Code::kInternal, *std::move(what)));
    tasks.spawn("rpc " + call.method(), run_stream(stream, *std::move(work), time_of(call)),
                [this, stream](const std::string& what) {
                    end_stream(*stream, Error(Code::kInternal, what));
                });
}

Task<void> ServerConnection::run_stream(std::shared_ptr<Stream> stream,
                                        Task<Result<std::string>> work, Duration time) {
    end_stream(*stream,
               co_await until_stopped(serving_.clock, stream->stop, time, std::move(work)));
}

void ServerConnection::end_stream(const Stream& stream, Result<std::string> outcome) {
    send(answer_frame(stream.id, std::move(outcome), serving_.limits().longest_frame));
    streams_.erase(stream.id);
}

}  // namespace muster::rpc
