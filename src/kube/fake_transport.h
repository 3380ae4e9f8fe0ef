#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/signal.h"
#include "kube/transport.h"

namespace muster::kube {

using Query = std::vector<std::pair<std::string, std::string>>;

/// The server's end of a watch that a FakeTransport opened. Events wait until they are read.
class FakeWatch {
  public:
    explicit FakeWatch(const asio::any_io_executor& executor) : changed_(executor) {}

    void send(WatchEventType type, json::value object);
    /// A clean end, after what was sent.
    void end();
    /// The connection breaks, after what was sent.
    void fail(Error error);
    /// True while a stream that the client holds is open.
    bool open() const { return open_; }

  private:
    friend class FakeTransport;
    class Stream;

    std::deque<Result<std::optional<WatchEvent>>> pending_;
    Signal changed_;
    bool open_ = false;
};

/// A script of requests and their answers. Stricter than a server: requests must come in the order
/// of the script, with exactly its paths and query parameters, well-formed in every respect that a
/// real server is lenient about. What deviates throws std::logic_error, which ends the test with
/// the reason. For tests only.
class FakeTransport final : public Transport {
  public:
    explicit FakeTransport(asio::any_io_executor executor) : executor_(std::move(executor)) {}

    /// A query value "*" in the script stands for any value.
    void expect(Method method, std::string path, Query query, Result<Response> answer);
    /// Never answered.
    void expect_hanging(Method method, std::string path, Query query);
    std::shared_ptr<FakeWatch> expect_watch(std::string path, Query query);
    void expect_refused_watch(std::string path, Query query, Error error);

    /// True when the whole script was played.
    bool finished() const { return script_.empty(); }
    /// What was called so far.
    const std::vector<Request>& requests() const { return requests_; }

    Task<Result<Response>> call(Request request) override;
    Task<Result<std::unique_ptr<WatchStream>>> watch(Request request) override;
    Task<Result<std::unique_ptr<TextStream>>> stream_text(Request request) override;

  private:
    struct Step {
        Method method;
        std::string path;
        Query query;
        std::optional<Result<Response>> answer;  ///< absent: hangs, or a watch
        std::shared_ptr<FakeWatch> watch;
        std::optional<Error> refusal;
        bool is_watch = false;
    };

    Step take(const Request& request, bool is_watch);

    asio::any_io_executor executor_;
    std::deque<Step> script_;
    std::vector<Request> requests_;
};

/// A Response with that body.
Response json_response(json::value body, int status = 200);
/// The failure that a server answers with: a Status with code, reason and message.
Response status_response(const Error& error);

}  // namespace muster::kube
