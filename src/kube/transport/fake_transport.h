#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/signal.h"
#include "kube/transport/transport.h"

namespace muster::kube {

using Query = std::vector<std::pair<std::string, std::string>>;

/// The server's end of a stream that a FakeTransport opened. Items wait until they are read. The
/// client's end aborts the test on two readers at once and on a read beyond the end.
template <class Item>
class FakeStream {
  public:
    explicit FakeStream(const asio::any_io_executor& executor) : changed_(executor) {}

    /// A clean end, after the items.
    void end() { push(std::optional<Item>()); }
    /// The connection breaks, after the items.
    void fail(Error error) { push(std::move(error)); }
    /// The reader throws, after the items: an internal fault of it.
    void fault() {
        faulty_ = true;
        changed_.notify_all();
    }
    /// True while the client holds an open stream.
    bool open() const { return open_; }

  protected:
    void push(Result<std::optional<Item>> next) {
        pending_.push_back(std::move(next));
        changed_.notify_all();
    }

  private:
    friend class FakeTransport;
    class Reader;

    std::deque<Result<std::optional<Item>>> pending_;
    Signal changed_;
    bool faulty_ = false;
    bool open_ = false;
};

class FakeWatch final : public FakeStream<WatchEvent> {
  public:
    using FakeStream::FakeStream;
    void send(WatchEventType type, json::value object) {
        push(std::optional(
            WatchEvent{type, std::make_shared<const json::value>(std::move(object))}));
    }
};

class FakeText final : public FakeStream<std::string> {
  public:
    using FakeStream::FakeStream;
    void send(std::string piece) { push(std::optional(std::move(piece))); }
};

/// A script of requests and their answers. Stricter than a server: requests must come in the order
/// of the script, with exactly its paths and query parameters, well-formed in every respect that a
/// real server is lenient about; and the script itself must be one that a transport could play. A
/// deviation throws std::logic_error with the reason; whatever becomes of that, the script was not
/// played. For tests only.
class FakeTransport final : public Transport {
  public:
    explicit FakeTransport(asio::any_io_executor executor) : executor_(std::move(executor)) {}

    /// A query value "*" in the script stands for any value.
    void expect(Method method, std::string path, Query query, Result<Response> answer);
    /// Never answered.
    void expect_hanging(Method method, std::string path, Query query);
    std::shared_ptr<FakeWatch> expect_watch(std::string path, Query query);
    void expect_refused_watch(std::string path, Query query, Error error);
    std::shared_ptr<FakeText> expect_text(std::string path, Query query);
    void expect_refused_text(std::string path, Query query, Error error);

    /// True when the whole script was played, and nothing else.
    bool finished() const { return script_.empty() && !deviated_; }
    /// What was called so far.
    const std::vector<Request>& requests() const { return requests_; }

    Task<Result<Response>> call(Request request) override;
    Task<Result<std::unique_ptr<WatchStream>>> watch(Request request) override;
    Task<Result<std::unique_ptr<TextStream>>> stream_text(Request request) override;

  private:
    class WatchReader;
    class TextReader;
    enum class Verb { kCall, kWatch, kText };
    struct Step {
        Verb verb;
        Method method;
        std::string path;
        Query query;
        std::optional<Result<Response>> answer = {};  ///< of a call; absent: hangs
        std::shared_ptr<FakeWatch> watch = {};
        std::shared_ptr<FakeText> text = {};
        std::optional<Error> refusal = {};  ///< of a watch or a text
    };

    Step& expect_stream(Verb verb, std::string path, Query query);
    Step take(const Request& request, Verb verb);
    Step next_step(const Request& request, Verb verb);

    asio::any_io_executor executor_;
    std::deque<Step> script_;
    bool deviated_ = false;
    std::vector<Request> requests_;
};

/// A Response with that body.
Response json_response(json::value body, int status = 200);
/// The answer of a server that refuses: a Status with code, reason and message.
Response status_response(const Error& error);

}  // namespace muster::kube
