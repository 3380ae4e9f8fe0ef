#include "kube/fake_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/check.h"
#include "kube/api_status.h"

namespace muster::kube {
namespace {

std::string_view name_of(Method method) {
    switch (method) {
        case Method::kGet:
            return "GET";
        case Method::kPost:
            return "POST";
        case Method::kPut:
            return "PUT";
        case Method::kPatch:
            return "PATCH";
        case Method::kDelete:
            return "DELETE";
    }
    return "?";
}

std::string describe(Method method, const std::string& path, const Query& query) {
    std::string text = fmt::format("{} {}", name_of(method), path);
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

class FakeWatch::Stream final : public WatchStream {
  public:
    explicit Stream(std::shared_ptr<FakeWatch> watch) : watch_(std::move(watch)) {
        watch_->open_ = true;
    }
    ~Stream() override { watch_->open_ = false; }

    Task<Result<std::optional<WatchEvent>>> next() override {
        CHECK(!reading_, "two readers of one watch");
        CHECK(!over_, "a watch was read beyond its end");
        struct Reading {
            bool& flag;
            ~Reading() { flag = false; }
        } reading{reading_};
        reading_ = true;
        while (watch_->pending_.empty()) co_await watch_->changed_.wait();
        Result<std::optional<WatchEvent>> next = std::move(watch_->pending_.front());
        watch_->pending_.pop_front();
        over_ = !next.has_value() || !next->has_value();
        co_return next;
    }

  private:
    std::shared_ptr<FakeWatch> watch_;
    bool reading_ = false;
    bool over_ = false;
};

void FakeWatch::send(WatchEventType type, json::value object) {
    pending_.emplace_back(WatchEvent{type, std::make_shared<const json::value>(std::move(object))});
    changed_.notify_all();
}

void FakeWatch::end() {
    pending_.emplace_back(std::optional<WatchEvent>());
    changed_.notify_all();
}

void FakeWatch::fail(Error error) {
    pending_.emplace_back(std::move(error));
    changed_.notify_all();
}

void FakeTransport::expect(Method method, std::string path, Query query, Result<Response> answer) {
    script_.push_back({method, std::move(path), std::move(query), std::move(answer), {}, {}});
}

void FakeTransport::expect_hanging(Method method, std::string path, Query query) {
    script_.push_back({method, std::move(path), std::move(query), {}, {}, {}});
}

std::shared_ptr<FakeWatch> FakeTransport::expect_watch(std::string path, Query query) {
    auto watch = std::make_shared<FakeWatch>(executor_);
    script_.push_back({Method::kGet, std::move(path), std::move(query), {}, watch, {}, true});
    return watch;
}

void FakeTransport::expect_refused_watch(std::string path, Query query, Error error) {
    script_.push_back(
        {Method::kGet, std::move(path), std::move(query), {}, {}, std::move(error), true});
}

FakeTransport::Step FakeTransport::take(const Request& request, bool is_watch) {
    check_well_formed(request);
    const std::string actual = describe(request.method, request.path, request.query);
    if (script_.empty()) throw std::logic_error("beyond the script: " + actual);
    Step step = std::move(script_.front());
    script_.pop_front();
    if (step.method != request.method || step.path != request.path ||
        !matches(step.query, request.query) || step.is_watch != is_watch)
        throw std::logic_error(fmt::format("expected {}, got {}",
                                           describe(step.method, step.path, step.query), actual));
    requests_.push_back(request);
    return step;
}

Task<Result<Response>> FakeTransport::call(Request request) {
    Step step = take(request, false);
    // An answer never arrives within the call itself.
    co_await asio::post(executor_, asio::use_awaitable);
    if (step.answer) co_return std::move(*step.answer);
    Signal never(executor_);
    for (;;) co_await never.wait();
}

Task<Result<std::unique_ptr<WatchStream>>> FakeTransport::watch(Request request) {
    Step step = take(request, true);
    co_await asio::post(executor_, asio::use_awaitable);
    if (step.refusal) co_return std::move(*step.refusal);
    std::unique_ptr<WatchStream> stream = std::make_unique<FakeWatch::Stream>(step.watch);
    co_return stream;
}

Task<Result<std::unique_ptr<TextStream>>> FakeTransport::stream_text(Request request) {
    Step step = take(request, false);
    co_await asio::post(executor_, asio::use_awaitable);
    CHECK(step.answer && !*step.answer, "the script can only refuse a text");
    co_return std::move(step.answer->error());
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
