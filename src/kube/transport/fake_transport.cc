#include "kube/transport/fake_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/check.h"
#include "kube/objects/api_status.h"
#include "kube/transport/transport_names.h"

namespace muster::kube {
namespace {

std::string describe(Method method, const std::string& path, const Query& query) {
    std::string text = fmt::format("{} {}", method_name(method), path);
    for (const auto& [key, value] : query) text += fmt::format(" {}={}", key, value);
    return text;
}

bool matches(Query script, Query actual) {
    if (script.size() != actual.size()) return false;
    std::sort(script.begin(), script.end());
    std::sort(actual.begin(), actual.end());
    for (std::size_t i = 0; i < script.size(); ++i) {
        if (script[i].first != actual[i].first) return false;
        if (script[i].second != "*" && script[i].second != actual[i].second) return false;
    }
    return true;
}

void check_well_formed(const Request& request) {
    auto require = [&](bool condition, std::string_view what) {
        if (!condition)
            throw std::logic_error(
                fmt::format("{}: {}", what, describe(request.method, request.path, request.query)));
    };
    const std::string& path = request.path;
    require(path.starts_with("/api/") || path.starts_with("/apis/"), "not an API path");
    require(path.find("//") == std::string::npos && !path.ends_with('/'), "an empty segment");
    require(path.find_first_of("?%#") == std::string::npos, "a path that is not decoded");
    require(!request.user_agent.empty(), "no user agent");
    for (std::size_t i = 0; i < request.query.size(); ++i) {
        require(!request.query[i].second.empty(), "an empty parameter");
        for (std::size_t j = 0; j < i; ++j)
            require(request.query[i].first != request.query[j].first, "a parameter twice");
    }
    const bool patch = request.method == Method::kPatch;
    require(patch == (request.content_type != ContentType::kJson), "the wrong content type");
    if (request.method == Method::kGet) require(request.body == nullptr, "a GET with a body");
    if (request.method == Method::kPost || request.method == Method::kPut || patch)
        require(request.body != nullptr && request.body->is_structured(), "no body");
}

}  // namespace

template <class Item>
class FakeStream<Item>::Reader {
  public:
    explicit Reader(std::shared_ptr<FakeStream> stream) : stream_(std::move(stream)) {
        stream_->open_ = true;
    }
    ~Reader() { stream_->open_ = false; }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    Task<Result<std::optional<Item>>> take() {
        CHECK(!reading_, "two readers of one stream");
        CHECK(!over_, "a stream was read beyond its end");
        struct Reading {
            bool& flag;
            ~Reading() { flag = false; }
        } reading{reading_};
        reading_ = true;
        while (stream_->pending_.empty() && !stream_->faulty_) co_await stream_->changed_.wait();
        if (stream_->pending_.empty()) throw std::runtime_error("a reader's fault");
        Result<std::optional<Item>> next = std::move(stream_->pending_.front());
        stream_->pending_.pop_front();
        over_ = !next.has_value() || !next->has_value();
        co_return next;
    }

  private:
    std::shared_ptr<FakeStream> stream_;
    bool reading_ = false;
    bool over_ = false;
};

class FakeTransport::WatchReader final : public WatchStream {
  public:
    explicit WatchReader(std::shared_ptr<FakeWatch> watch) : reader_(std::move(watch)) {}
    Task<Result<std::optional<WatchEvent>>> next() override { return reader_.take(); }

  private:
    FakeStream<WatchEvent>::Reader reader_;
};

class FakeTransport::TextReader final : public TextStream {
  public:
    explicit TextReader(std::shared_ptr<FakeText> text) : reader_(std::move(text)) {}
    Task<Result<std::optional<std::string>>> read() override { return reader_.take(); }

  private:
    FakeStream<std::string>::Reader reader_;
};

void FakeTransport::expect(Method method, std::string path, Query query, Result<Response> answer) {
    if (!answer) {
        const Code code = answer.error().code();
        CHECK(code == Code::kUnavailable || code == Code::kTimeout || code == Code::kCancelled,
              "what the API answers is a Response: see status_response()");
    }
    script_.push_back({.verb = Verb::kCall,
                       .method = method,
                       .path = std::move(path),
                       .query = std::move(query),
                       .answer = std::move(answer)});
}

void FakeTransport::expect_hanging(Method method, std::string path, Query query) {
    script_.push_back({.verb = Verb::kCall,
                       .method = method,
                       .path = std::move(path),
                       .query = std::move(query)});
}

FakeTransport::Step& FakeTransport::expect_stream(Verb verb, std::string path, Query query) {
    return script_.emplace_back(Step{
        .verb = verb, .method = Method::kGet, .path = std::move(path), .query = std::move(query)});
}

std::shared_ptr<FakeWatch> FakeTransport::expect_watch(std::string path, Query query) {
    auto watch = std::make_shared<FakeWatch>(executor_);
    expect_stream(Verb::kWatch, std::move(path), std::move(query)).watch = watch;
    return watch;
}

void FakeTransport::expect_refused_watch(std::string path, Query query, Error error) {
    expect_stream(Verb::kWatch, std::move(path), std::move(query)).refusal = std::move(error);
}

std::shared_ptr<FakeText> FakeTransport::expect_text(std::string path, Query query) {
    auto text = std::make_shared<FakeText>(executor_);
    expect_stream(Verb::kText, std::move(path), std::move(query)).text = text;
    return text;
}

void FakeTransport::expect_refused_text(std::string path, Query query, Error error) {
    expect_stream(Verb::kText, std::move(path), std::move(query)).refusal = std::move(error);
}

FakeTransport::Step FakeTransport::take(const Request& request, Verb verb) {
    try {
        return next_step(request, verb);
    } catch (...) {
        deviated_ = true;  // a task that begins again after a fault would hide it
        throw;
    }
}

FakeTransport::Step FakeTransport::next_step(const Request& request, Verb verb) {
    check_well_formed(request);
    const std::string actual = describe(request.method, request.path, request.query);
    if (script_.empty()) throw std::logic_error("beyond the script: " + actual);
    Step step = std::move(script_.front());
    script_.pop_front();
    if (step.method != request.method || step.path != request.path ||
        !matches(step.query, request.query) || step.verb != verb)
        throw std::logic_error(fmt::format("expected {}, got {}",
                                           describe(step.method, step.path, step.query), actual));
    requests_.push_back(request);
    return step;
}

Task<Result<Response>> FakeTransport::call(Request request) {
    Step step = take(request, Verb::kCall);
    // An answer never arrives within the call itself.
    co_await asio::post(executor_, asio::use_awaitable);
    if (step.answer) {
        if (*step.answer && !(*step.answer)->items.empty() && !request.items_apart)
            throw std::logic_error("items apart for a caller that did not ask for them: " +
                                   request.path);
        if (*step.answer && request.body_unread && (*step.answer)->status < 300)
            (*step.answer)->body.reset();
        co_return std::move(*step.answer);
    }
    Signal never(executor_);
    for (;;) co_await never.wait();
}

Task<Result<std::unique_ptr<WatchStream>>> FakeTransport::watch(Request request) {
    Step step = take(request, Verb::kWatch);
    co_await asio::post(executor_, asio::use_awaitable);
    if (step.refusal) co_return std::move(*step.refusal);
    co_return std::make_unique<WatchReader>(step.watch);
}

Task<Result<std::unique_ptr<TextStream>>> FakeTransport::stream_text(Request request) {
    Step step = take(request, Verb::kText);
    co_await asio::post(executor_, asio::use_awaitable);
    if (step.refusal) co_return std::move(*step.refusal);
    co_return std::make_unique<TextReader>(step.text);
}

Response json_response(json::value body, int status) {
    Response response;
    response.status = status;
    response.body = std::make_shared<const json::value>(std::move(body));
    return response;
}

Response status_response(const Error& error) {
    return json_response(status_from_error(error), http_status(error.code()));
}

}  // namespace muster::kube
