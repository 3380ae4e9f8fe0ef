#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "net/http/byte_budget.h"
#include "net/http/http_server.h"
#include "net/internal/http/http_parser.h"

namespace muster::net {

class HttpConnection;

/// What the connections of a server share.
struct HttpServing {
    HttpServing(const asio::any_io_executor& loop, Clock& time, HttpServerLimits given,
                HttpServer::Handler called)
        : executor(loop),
          clock(time),
          limits(given),
          handler(std::move(called)),
          input_of_strangers(std::make_shared<ByteBudget>(limits.input_of_strangers)),
          deadline_set(executor) {}

    /// The Date field of an answer; refreshed once a second.
    const std::string& date();

    asio::any_io_executor executor;
    Clock& clock;
    const HttpServerLimits limits;
    const HttpServer::Handler handler;
    bool stopping = false;
    std::size_t open = 0;  ///< connections, except those that make room
    /// Connections of unknown clients; the one that has been silent for longest comes first.
    std::list<HttpConnection*> strangers;
    const std::shared_ptr<ByteBudget> input_of_strangers;
    /// Strangers with a part of that; the one whose part has not grown for longest comes first.
    std::list<HttpConnection*> large_strangers;
    /// True while the timer waits for a deadline to be set, since there was none.
    bool awaits_deadline = false;
    Signal deadline_set;

  private:
    std::string date_;
    std::chrono::sys_seconds date_of_{std::chrono::seconds(-1)};
};

/// One client's connection: reads a request, runs the handler, sends the answer, and starts again.
///
///     handshake ─▶ head ─▶ body ─▶ answering ─┬─────────────────────┐
///                   ▲                         ├─▶ streaming ────────┤
///                   │                         └─▶ upgraded ─▶ end   │
///                   └──────────── keep-alive ◀──────────────────────┘
///
/// One coroutine does all that; during streaming a second one reads, to notice the client's end.
/// Both run in `tasks`. Cancelling them ends the connection from outside: the first one then sends
/// a last message (408, 503, the end of a stream) if one is possible.
class HttpConnection {
  public:
    /// `refused`: there are too many connections, and its request is answered 503.
    HttpConnection(HttpServing& serving, std::unique_ptr<ByteStream> stream, TlsServerContext* tls,
                   bool refused);

    ~HttpConnection();
    HttpConnection(const HttpConnection&) = delete;
    HttpConnection& operator=(const HttpConnection&) = delete;

    /// Runs in `tasks`; the connection is over when they have ended.
    Task<void> run();
    TaskGroup& tasks() { return tasks_; }

    /// When to call expire(); Instant::max() for never.
    Instant deadline() const { return deadline_; }
    void expire();
    /// The server stops: ends waiting and streaming, but lets an answer finish.
    void stop();
    /// The server does not wait any longer.
    void abandon();
    /// Ends immediately, without an answer: another connection needs the place.
    void make_room();

    // What HttpExchange offers.
    HttpRequest& request() { return request_; }
    void know_client();
    void exempt_from_budget() { exempt_ = true; }
    bool hold_request() { return hold(0); }
    bool hold_answer(std::size_t bytes);
    bool has_more_body() const { return !parser_.done(); }
    Task<Result<void>> read_body();
    void respond(unsigned status, HttpHeaders headers, std::string body,
                 std::shared_ptr<const std::string> shared);
    Task<Result<void>> begin(unsigned status, HttpHeaders headers);
    Task<Result<void>> write(std::string_view piece);
    Task<Result<void>> end();
    Task<Result<std::unique_ptr<ByteStream>>> upgrade(HttpHeaders headers);
    bool may_respond() const { return answer_ == Answer::kNone || answer_ == Answer::kWhole; }
    bool answered() const { return answer_ != Answer::kNone; }
    unsigned status() const { return status_; }

  private:
    enum class Phase { kHandshake, kHead, kBody, kAnswering, kStreaming, kUpgraded, kLastWord };
    enum class Answer { kNone, kWhole, kBegun, kEnded, kUpgraded };

    Task<void> converse();
    Task<bool> handshake();
    /// False when the connection is over.
    Task<bool> read_request();
    /// False when the connection is over.
    Task<bool> answer_request();
    Task<void> last_word();
    void fail_request(const std::exception_ptr& thrown);
    /// Waits for more bytes after the present ones; false at the end or if the connection broke.
    Task<bool> read_more();
    Task<void> watch_client();
    /// False if the budget has no room for more input of a known client.
    bool grow_buffer();
    std::size_t request_memory() const {
        return request_.method.capacity() + request_.target.capacity() + request_.headers.memory() +
               request_.body.capacity();
    }
    /// Takes the part of a stranger in `input_of_strangers`; a large one of others makes room.
    void count_input();
    void become_idle();
    /// False if the request is refused.
    Task<bool> check_expectation();
    /// Answers a request whose body is not read to its end; the connection ends after it.
    Result<void> refuse_body(unsigned status, const std::string& reason);
    void respond_refusal(unsigned status, const std::string& reason);
    std::size_t request_bytes(std::size_t buffer) const;
    bool take(std::size_t bytes) {
        if (!exempt_) return held_.try_set(bytes);
        held_.set(bytes);
        return true;
    }
    /// Takes the bytes of the request and the answer from the budget.
    bool hold(std::size_t answer_bytes) {
        return take(request_bytes(buffer_.size()) + answer_bytes);
    }
    bool reads() const { return request_.method == "GET" || head_only(); }
    void let_go();

    /// An answer of the server itself: a text, and then the end of the connection.
    Task<void> refuse(unsigned status, std::string reason);
    Task<bool> send_answer();
    Task<Result<void>> send(ConstBuffers bytes);
    /// Writes the head of an answer to `head_`. False if one of the handler's headers can't be
    /// sent.
    bool make_head(unsigned status, const HttpHeaders& headers, std::optional<std::size_t> length,
                   bool chunked);
    Task<void> close_gently(bool discard_input);

    void arm(Duration time);
    void disarm() { deadline_ = Instant::max(); }
    std::string_view received() const { return {buffer_.data() + begin_, end_ - begin_}; }
    bool head_only() const { return request_.method == "HEAD"; }

    HttpServing& serving_;
    std::unique_ptr<ByteStream> stream_;
    TlsServerContext* tls_;
    bool refused_;
    TaskGroup tasks_;
    Phase phase_ = Phase::kHandshake;
    Instant deadline_ = Instant::max();
    bool head_time_runs_ = true;  // of a later request it begins with its first byte
    bool expired_ = false;
    bool client_gone_ = false;
    bool sending_ = false;  // a write is in progress or was cut off

    std::vector<char> buffer_;  // received bytes are in [begin_, end_)
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    bool input_ended_ = false;
    bool watching_ = false;  // watch_client() reads, and nothing else may
    Signal watched_;

    HttpRequestParser parser_;
    HttpRequest request_;
    std::optional<PeerCertificate> client_certificate_;
    bool keep_alive_ = false;
    std::optional<std::list<HttpConnection*>::iterator> stranger_;  ///< its place in `strangers`
    ByteBudget::Share input_;  ///< this connection's part of what strangers have
    std::optional<std::list<HttpConnection*>::iterator> large_;  ///< its place in `large_strangers`
    bool makes_room_ = false;
    bool no_room_ = false;    // for more input; why read_more() ended
    bool exempt_ = false;     // as the last request that was served, until the next one is
    ByteBudget::Share held_;  ///< this connection's part of the budget

    Answer answer_ = Answer::kNone;
    unsigned status_ = 0;
    HttpHeaders headers_;
    std::string body_;
    std::shared_ptr<const std::string> shared_body_;
    bool chunked_ = false;
    std::string head_;
};

}  // namespace muster::net
