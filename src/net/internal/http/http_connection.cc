#include "net/internal/http/http_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/cancellation_state.hpp>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/async/cancellation.h"
#include "base/check.h"
#include "base/log.h"
#include "base/lower_case.h"
#include "base/unexpected.h"
#include "net/internal/prefixed_stream.h"

namespace muster::net {

namespace {

/// The read buffer of an idle connection, and that of one with much input.
constexpr std::size_t kSmallBuffer = 4096;
constexpr std::size_t kLargeBuffer = std::size_t{64} * 1024;
/// A large body is sent in pieces, each of which must make progress within the write time.
constexpr std::size_t kPiece = std::size_t{256} * 1024;
/// What a request may take without being counted: a small buffer, and what is made of it.
constexpr std::size_t kSmallInput = 2 * kSmallBuffer;
/// How much a client may still send after an answer that it did not wait for.
constexpr std::size_t kDiscarded = std::size_t{16} * 1024 * 1024;
constexpr Duration kDiscardTime = std::chrono::seconds(2);
constexpr const char* kNoRoom = "too many requests are in memory; try again later";

HttpHeaders headers_of_refusal(unsigned status) {
    HttpHeaders headers{{"Content-Type", "text/plain"}};
    if (status == 429) headers.add("Retry-After", "1");
    return headers;
}

/// To assign an empty value would keep the memory.
template <class Value>
void free_memory(Value& value) {
    std::ignore = std::exchange(value, Value());
}

}  // namespace

const std::string& HttpServing::date() {
    const auto now = std::chrono::floor<std::chrono::seconds>(clock.wall_now());
    if (now != date_of_) {
        date_ = http_date(now);
        date_of_ = now;
    }
    return date_;
}

HttpConnection::HttpConnection(HttpServing& serving, std::unique_ptr<ByteStream> stream,
                               TlsServerContext* tls, bool refused)
    : serving_(serving),
      stream_(std::move(stream)),
      tls_(tls),
      refused_(refused),
      tasks_(serving.executor),
      watched_(serving.executor),
      parser_({.head = serving.limits.head_bytes, .body = serving.limits.body_bytes}),
      input_(serving.input_of_strangers),
      held_(serving.limits.budget) {
    request_.peer_address = stream_->peer_address();
    ++serving_.open;
    if (serving.limits.strangers && !refused_)
        stranger_ = serving_.strangers.insert(serving_.strangers.end(), this);
}

HttpConnection::~HttpConnection() {
    know_client();
    if (!makes_room_) --serving_.open;
}

void HttpConnection::know_client() {
    if (!stranger_) return;
    serving_.strangers.erase(*stranger_);
    stranger_.reset();
    count_input();
}

// ---- what ends it ----

void HttpConnection::arm(Duration time) {
    deadline_ = serving_.clock.now() + time;
    if (serving_.awaits_deadline) serving_.deadline_set.notify_all();
}

void HttpConnection::expire() {
    disarm();
    expired_ = true;
    tasks_.cancel();
}

void HttpConnection::stop() {
    const bool waits = phase_ == Phase::kHandshake ||
                       (phase_ == Phase::kHead && received().empty()) ||
                       phase_ == Phase::kStreaming || phase_ == Phase::kUpgraded;
    if (waits) tasks_.cancel();
}

void HttpConnection::abandon() { tasks_.cancel(); }

void HttpConnection::make_room() {
    know_client();
    if (!std::exchange(makes_room_, true)) --serving_.open;
    tasks_.cancel();
}

Task<void> HttpConnection::run() {
    struct End {  // also after an exception
        ~End() {
            self.disarm();
            if (self.stream_) self.stream_->close();  // ends watch_client(), too
        }
        HttpConnection& self;
    } const end{*this};
    if (makes_room_) co_return;  // it had not begun yet
    try {
        co_await converse();
        co_return;
    } catch (...) {
        if (!is_cancellation(std::current_exception())) throw;
    }
    co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
    co_await last_word();
}

/// After a cancellation: sends the last message that is still possible.
Task<void> HttpConnection::last_word() {
    const Phase phase = std::exchange(phase_, Phase::kLastWord);
    if (!stream_ || client_gone_ || sending_ || makes_room_) co_return;
    if (expired_) {
        expired_ = false;
        if (phase == Phase::kBody || (phase == Phase::kHead && !received().empty())) {
            co_await refuse(408, "the request did not arrive in time");
        } else if (phase == Phase::kHead) {
            co_await close_gently(false);
        }
    } else if (phase == Phase::kStreaming) {
        if (answer_ == Answer::kBegun && chunked_ && !head_only())
            (void)co_await send(asio::buffer(std::string_view("0\r\n\r\n")));
        co_await close_gently(false);
    } else if (phase == Phase::kAnswering || phase == Phase::kBody) {
        co_await refuse(503, "the server stops");
    } else if (phase == Phase::kHead) {
        co_await close_gently(false);
    }
}

// ---- the conversation ----

Task<void> HttpConnection::converse() {
    arm(serving_.limits.head_time);
    if (tls_ != nullptr && !co_await handshake()) co_return;
    phase_ = Phase::kHead;
    while (co_await read_request()) {
        if (refused_) {
            co_await refuse(503, "too many connections");
            co_return;
        }
        if (!co_await answer_request()) co_return;
        become_idle();
    }
}

void HttpConnection::become_idle() {
    phase_ = Phase::kHead;
    head_time_runs_ = false;
    const HttpServerLimits& limits = serving_.limits;
    if (!stranger_) return arm(limits.idle_time);
    arm(limits.idle_time_of_strangers);
    serving_.strangers.splice(serving_.strangers.end(), serving_.strangers, *stranger_);
}

Task<bool> HttpConnection::handshake() {
    auto session = co_await tls_->accept(std::move(stream_));
    if (!session) {
        log::debug("a TLS handshake failed",
                   {{"peer", request_.peer_address}, {"error", session.error().message()}});
        co_return false;
    }
    client_certificate_ = (*session)->peer_certificate();
    if (client_certificate_) know_client();
    stream_ = *std::move(session);
    co_return true;
}

Task<bool> HttpConnection::read_request() {
    parser_.begin(request_);
    request_.client_certificate = client_certificate_;
    // Takes only as much of the body as has arrived: the rest is for read_body().
    while (!parser_.head_done() || (!parser_.done() && !received().empty())) {
        std::size_t taken = 0;
        if (!received().empty()) {
            const auto used = parser_.put(received());
            if (!used) {
                co_await refuse(used.error().status, used.error().reason);
                co_return false;
            }
            taken = *used;
            begin_ += taken;
        } else if (serving_.stopping && phase_ == Phase::kHead) {
            co_await close_gently(false);
            co_return false;
        }
        if (taken > 0) continue;  // the head, empty lines before it, or a piece of the body
        if (parser_.head_done()) break;
        if (!received().empty() && !head_time_runs_) {
            head_time_runs_ = true;
            arm(serving_.limits.head_time);
        }
        if (!co_await read_more()) {
            if (no_room_) co_await refuse(429, kNoRoom);
            co_return false;
        }
    }
    count_input();
    keep_alive_ = parser_.keep_alive();
    co_return parser_.done() || co_await check_expectation();
}

Task<bool> HttpConnection::check_expectation() {
    const auto expected = request_.headers.find("Expect");
    if (!expected || request_.minor_version == 0 || equal_without_case(*expected, "100-continue"))
        co_return true;
    co_await refuse(417, "only 100-continue may be expected");
    co_return false;
}

Task<Result<void>> HttpConnection::read_body() {
    if (parser_.done()) co_return Result<void>();
    CHECK(answer_ == Answer::kNone, "a body is read before the answer");
    const bool asks = request_.headers.contains("Expect") && request_.minor_version > 0;
    phase_ = Phase::kBody;
    arm(serving_.limits.body_time);
    if (asks && received().empty() && request_.body.empty()) {
        CO_TRY_VOID(co_await send(asio::buffer(std::string_view("HTTP/1.1 100 Continue\r\n\r\n"))));
        arm(serving_.limits.body_time);
    }
    for (;;) {
        const auto used = parser_.put(received());
        if (!used) co_return refuse_body(used.error().status, used.error().reason);
        begin_ += *used;
        if (!hold(0)) co_return refuse_body(429, kNoRoom);
        if (parser_.done()) break;
        if (!co_await read_more()) {
            if (no_room_) co_return refuse_body(429, kNoRoom);
            client_gone_ = true;
            co_return Error(Code::kUnavailable, "the client disconnected within a body");
        }
    }
    phase_ = Phase::kAnswering;
    disarm();
    co_return Result<void>();
}

Result<void> HttpConnection::refuse_body(unsigned status, const std::string& reason) {
    phase_ = Phase::kAnswering;
    disarm();
    respond_refusal(status, reason);
    return Error(Code::kBadRequest, reason);
}

void HttpConnection::respond_refusal(unsigned status, const std::string& reason) {
    if (const std::string& json = serving_.limits.body_too_large; status == 413 && !json.empty())
        return respond(status, {{"Content-Type", "application/json"}}, json, nullptr);
    respond(status, headers_of_refusal(status), reason + "\n", nullptr);
}

/// What the request takes with a read buffer of that size. The values that are made from a body are
/// several times as large as its text and live as long.
std::size_t HttpConnection::request_bytes(std::size_t buffer) const {
    constexpr std::size_t kValuesOfBody = 3;
    const std::size_t input = buffer + request_memory();
    return input <= kSmallInput ? 0 : input + kValuesOfBody * request_.body.size();
}

/// The answer to a write is always sent: otherwise the client would repeat it.
bool HttpConnection::hold_answer(std::size_t bytes) {
    if (hold(bytes)) return true;
    if (reads()) return false;
    held_.set(request_bytes(buffer_.size()) + bytes);
    return true;
}

void HttpConnection::count_input() {
    if (!stranger_ && !large_) return;
    const std::size_t bytes = stranger_ ? buffer_.size() + request_memory() : 0;
    std::list<HttpConnection*>& all = serving_.large_strangers;
    if (large_) all.erase(*std::exchange(large_, std::nullopt));
    if (bytes <= kSmallInput) return input_.set(0);
    while (!input_.try_set(bytes) && !all.empty()) all.front()->make_room();
    input_.set(bytes);
    large_ = all.insert(all.end(), this);
}

bool HttpConnection::grow_buffer() {
    if (begin_ == end_) begin_ = end_ = 0;
    const bool idle = end_ == 0 && phase_ == Phase::kHead;
    if (buffer_.empty() || (idle && buffer_.size() > kSmallBuffer)) {
        buffer_ = std::vector<char>(kSmallBuffer);
        count_input();
        return true;
    }
    if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    // The parser uses up everything but an incomplete head and the line of a chunk, both of which
    // it limits.
    const bool large_input = phase_ == Phase::kBody && buffer_.size() < kLargeBuffer;
    const bool fits = end_ < buffer_.size() && !large_input;
    const std::size_t size =
        fits ? buffer_.size() : std::max(buffer_.size() * 2, large_input ? kLargeBuffer : 0);
    // Before it waits with it. What strangers have is counted apart, below.
    const bool room = stranger_ || take(request_bytes(size));
    if (fits || !room) return room;
    buffer_.resize(size);
    count_input();
    return true;
}

Task<bool> HttpConnection::read_more() {
    if (watching_) {
        while (watching_) co_await watched_.wait();
        if (!received().empty()) co_return true;
    }
    if (input_ended_) co_return false;
    no_room_ = !grow_buffer();
    if (no_room_) co_return false;
    const auto size =
        co_await stream_->read_some(asio::buffer(buffer_.data() + end_, buffer_.size() - end_));
    if (!size || *size == 0) {
        input_ended_ = true;
        co_return false;
    }
    end_ += *size;
    co_return true;
}

/// Reads while an answer is streamed. Its input is the beginning of the next request; if a client
/// sends more than fits, it is not read further, and its end is noticed by a write.
Task<void> HttpConnection::watch_client() {
    struct End {  // also after a cancellation
        ~End() {
            self.watching_ = false;
            self.watched_.notify_all();
        }
        HttpConnection& self;
    } const end{*this};
    while (end_ < buffer_.size()) {
        const auto size =
            co_await stream_->read_some(asio::buffer(buffer_.data() + end_, buffer_.size() - end_));
        if (!size || *size == 0) {
            input_ended_ = true;
            break;
        }
        end_ += *size;
        if (phase_ != Phase::kStreaming) break;
    }
    if (input_ended_ && phase_ == Phase::kStreaming) {
        client_gone_ = true;
        tasks_.cancel();
    }
}

// ---- answers ----

Task<bool> HttpConnection::answer_request() {
    phase_ = Phase::kAnswering;
    disarm();
    answer_ = Answer::kNone;
    exempt_ = false;
    HttpExchange exchange(*this);
    std::exception_ptr thrown;
    try {
        co_await serving_.handler(exchange);
    } catch (...) {
        thrown = std::current_exception();
    }
    if (thrown) fail_request(thrown);
    if (client_gone_) co_return false;
    const bool whole = parser_.done();
    if (!whole) keep_alive_ = false;
    switch (answer_) {
        case Answer::kNone:
            log::error("a request got no answer from its handler",
                       {{"method", request_.method}, {"path", request_.path()}});
            respond(500, {{"Content-Type", "text/plain"}}, "no answer was made\n", nullptr);
            break;
        case Answer::kWhole:
        case Answer::kEnded:
            break;
        case Answer::kBegun:
            log::error("an answer was begun and not ended",
                       {{"method", request_.method}, {"path", request_.path()}});
            co_return false;
        case Answer::kUpgraded:
            co_return false;
    }
    if (answer_ == Answer::kWhole && !co_await send_answer()) co_return false;
    let_go();
    if (keep_alive_ && !serving_.stopping) co_return true;
    co_await close_gently(!whole);
    co_return false;
}

/// An idle connection keeps no memory of a large request.
void HttpConnection::let_go() {
    held_.set(0);
    if (request_memory() > kSmallBuffer) {
        free_memory(request_.method);
        free_memory(request_.target);
        free_memory(request_.headers);
        free_memory(request_.body);
    }
    count_input();
}

/// An exception of a handler ends only its request.
void HttpConnection::fail_request(const std::exception_ptr& thrown) {
    if (is_cancellation(thrown)) std::rethrow_exception(thrown);
    const std::string what =
        report_unexpected(fmt::format("{} {}", request_.method, request_.path()), thrown);
    if (may_respond()) respond(500, {{"Content-Type", "text/plain"}}, what + "\n", nullptr);
}

bool HttpConnection::make_head(unsigned status, const HttpHeaders& headers,
                               std::optional<std::size_t> length, bool chunked) {
    if (serving_.stopping || headers.has_token("Connection", "close")) keep_alive_ = false;
    head_.clear();
    auto out = std::back_inserter(head_);
    fmt::format_to(out, "HTTP/1.1 {} {}\r\n", status, reason_phrase(status));
    for (const HttpHeader field : headers) {
        if (!is_valid_header(field.name, field.value)) {
            log::error("a header can't be sent", {{"name", field.name}, {"path", request_.path()}});
            return false;
        }
        // The server sets these; for an upgrade (101) the handler sets Connection.
        if (equal_without_case(field.name, "Content-Length") ||
            equal_without_case(field.name, "Transfer-Encoding") ||
            (status != 101 && equal_without_case(field.name, "Connection")))
            continue;
        head_.append(field.name).append(": ").append(field.value).append("\r\n");
    }
    head_.append("Date: ").append(serving_.date()).append("\r\n");
    if (length) fmt::format_to(out, "Content-Length: {}\r\n", *length);
    if (chunked) head_ += "Transfer-Encoding: chunked\r\n";
    if (status != 101) {
        if (!keep_alive_) head_ += "Connection: close\r\n";
        if (keep_alive_ && request_.minor_version == 0) head_ += "Connection: keep-alive\r\n";
    }
    head_ += "\r\n";
    return true;
}

Task<Result<void>> HttpConnection::send(ConstBuffers bytes) {
    arm(serving_.limits.write_time);
    sending_ = true;  // stays so if this is cancelled: then part of it may have been sent
    Result<void> sent = co_await stream_->write(bytes);
    disarm();
    sending_ = !sent;
    co_return sent;
}

Task<bool> HttpConnection::send_answer() {
    if (body_.size() > kSmallInput && !hold_answer(body_.size()))
        respond(429, headers_of_refusal(429), std::string(kNoRoom) + "\n", nullptr);
    std::string_view body = shared_body_ ? std::string_view(*shared_body_) : body_;
    const bool bodiless = status_ < 200 || status_ == 204 || status_ == 304;
    if (bodiless) body = {};
    const auto length = bodiless ? std::nullopt : std::optional(body.size());
    if (!make_head(status_, headers_, length, false)) {
        body = "the answer has a header that can't be sent\n";
        CHECK(make_head(500, {{"Content-Type", "text/plain"}}, body.size(), false), "our own head");
    }
    if (head_only()) body = {};
    const std::string_view first = body.substr(0, kPiece);
    body.remove_prefix(first.size());
    Result<void> sent = co_await send({asio::buffer(head_), asio::buffer(first)});
    while (sent && !body.empty()) {
        const std::string_view piece = body.substr(0, kPiece);
        body.remove_prefix(piece.size());
        sent = co_await send(asio::buffer(piece));
    }
    headers_.clear();
    free_memory(body_);
    shared_body_.reset();
    if (!sent)
        log::debug("an answer did not arrive",
                   {{"peer", request_.peer_address}, {"error", sent.error().message()}});
    co_return sent.has_value();
}

Task<void> HttpConnection::refuse(unsigned status, std::string reason) {
    log::debug("a connection is ended",
               {{"peer", request_.peer_address}, {"status", status}, {"reason", reason}});
    phase_ = Phase::kLastWord;
    keep_alive_ = false;
    if (!watching_) {  // what has come is not read any more, and others need the room
        free_memory(buffer_);
        begin_ = end_ = 0;
        held_.set(request_bytes(0));
    }
    respond_refusal(status, reason);
    if (co_await send_answer()) co_await close_gently(true);
}

/// Ends the connection so that the client gets everything that was sent. With `discard_input`,
/// reads what the client still sends for a while: closing with unread bytes would reset the
/// connection, and the client could lose the answer that says why.
Task<void> HttpConnection::close_gently(bool discard_input) {
    phase_ = Phase::kLastWord;
    arm(kDiscardTime);
    if (!co_await stream_->shut_down_write() || !discard_input) co_return;
    while (watching_) co_await watched_.wait();
    buffer_.resize(std::max(buffer_.size(), kSmallBuffer));
    for (std::size_t discarded = 0; discarded < kDiscarded && !input_ended_;) {
        const auto size = co_await stream_->read_some(asio::buffer(buffer_));
        if (!size || *size == 0) break;
        discarded += *size;
    }
}

void HttpConnection::respond(unsigned status, HttpHeaders headers, std::string body,
                             std::shared_ptr<const std::string> shared) {
    CHECK(answer_ == Answer::kNone || answer_ == Answer::kWhole || phase_ == Phase::kLastWord,
          "respond() after begin() or upgrade()");
    answer_ = Answer::kWhole;
    status_ = status;
    headers_ = std::move(headers);
    body_ = std::move(body);
    shared_body_ = std::move(shared);
}

Task<Result<void>> HttpConnection::begin(unsigned status, HttpHeaders headers) {
    CHECK(answer_ == Answer::kNone, "begin() after an answer");
    chunked_ = request_.minor_version > 0;
    if (!chunked_ || !parser_.done()) keep_alive_ = false;
    if (!make_head(status, headers, std::nullopt, chunked_))
        co_return Error(Code::kInternal, "a header can't be sent");
    answer_ = Answer::kBegun;
    status_ = status;
    phase_ = Phase::kStreaming;
    if (!watching_ && !input_ended_) {
        std::ignore = grow_buffer();  // without room for more, a write notices the client's end
        watching_ = true;
        tasks_.spawn("watch for a client's end", watch_client(), [this](const std::string&) {
            watching_ = false;
            watched_.notify_all();
            tasks_.cancel();
        });
    }
    co_return co_await send(asio::buffer(head_));
}

Task<Result<void>> HttpConnection::write(std::string_view piece) {
    CHECK(answer_ == Answer::kBegun, "write() without begin()");
    if (piece.empty() || head_only()) co_return Result<void>();
    if (!chunked_) co_return co_await send(asio::buffer(piece));
    std::array<char, 20> line{};
    const auto end = fmt::format_to_n(line.data(), line.size(), "{:x}\r\n", piece.size()).out;
    co_return co_await send({asio::buffer(line.data(), static_cast<std::size_t>(end - line.data())),
                             asio::buffer(piece), asio::buffer(std::string_view("\r\n"))});
}

Task<Result<void>> HttpConnection::end() {
    CHECK(answer_ == Answer::kBegun, "end() without begin()");
    Result<void> sent;
    if (chunked_ && !head_only()) sent = co_await send(asio::buffer(std::string_view("0\r\n\r\n")));
    answer_ = Answer::kEnded;
    phase_ = Phase::kAnswering;
    if (!sent) keep_alive_ = false;
    co_return sent;
}

Task<Result<std::unique_ptr<ByteStream>>> HttpConnection::upgrade(HttpHeaders headers) {
    CHECK(answer_ == Answer::kNone, "upgrade() after an answer");
    // Its rest would be taken for data of the new protocol.
    if (!parser_.done()) co_return Error(Code::kBadRequest, "the body has not been read");
    while (watching_) co_await watched_.wait();
    if (!make_head(101, headers, std::nullopt, false))
        co_return Error(Code::kInternal, "a header can't be sent");
    answer_ = Answer::kUpgraded;
    status_ = 101;
    phase_ = Phase::kUpgraded;
    CO_TRY_VOID(co_await send(asio::buffer(head_)));
    std::string rest(received());
    begin_ = end_ = 0;
    free_memory(buffer_);
    co_return make_prefixed_stream(std::move(rest), std::move(stream_));
}

}  // namespace muster::net
