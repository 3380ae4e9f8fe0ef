#include "kube/transport/http_transport.h"

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/lower_case.h"
#include "base/parse_number.h"
#include "kube/objects/api_status.h"
#include "kube/transport/transport_names.h"
#include "kube/values/read_json.h"
#include "net/http/web_socket.h"

namespace muster::kube {

namespace {

// Deeper than any object of the API.
constexpr std::size_t kLeastMemory = 512;
// If a server wants us to stay away for longer, it is asked again all the same.
constexpr std::int64_t kLongestRetryAfter = 3600;
constexpr unsigned kUnauthorized = 401;
// Limit of a line of a watch: far more than a server would store.
constexpr std::size_t kMaxLine = std::size_t{64} * 1024 * 1024;

std::string_view media_type(ContentType type) {
    switch (type) {
        case ContentType::kJson:
            return "application/json";
        case ContentType::kJsonPatch:
            return "application/json-patch+json";
        case ContentType::kMergePatch:
            return "application/merge-patch+json";
        case ContentType::kStrategicMergePatch:
            return "application/strategic-merge-patch+json";
        case ContentType::kApplyPatch:
            return "application/apply-patch+yaml";
    }
    return "application/json";
}

void append_escaped(std::string& text, std::string_view part, std::string_view kept) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    for (const char c : part) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || kept.find(c) != kept.npos;
        if (plain) {
            text += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            text += '%';
            text += kDigits[byte / 16];
            text += kDigits[byte % 16];
        }
    }
}

Result<ObjectPtr> parse_object(std::string_view text) {
    boost::system::error_code failed;
    // Memory of its own, as an object is freed as a whole: freeing a tree of small pieces costs as
    // much again as parsing it.
    json::storage_ptr memory = json::make_shared_resource<json::monotonic_resource>(
        std::max<std::size_t>(text.size() * 2, kLeastMemory));
    json::value value = json::parse(text, failed, std::move(memory), json_limits());
    if (failed)
        return Error(Code::kInternal,
                     fmt::format("the server's answer is not JSON: {}", failed.message()));
    return std::make_shared<const json::value>(std::move(value));
}

/// A body that is not JSON, as the text of an object.
ObjectPtr plain_text(std::string text) {
    return std::make_shared<const json::value>(std::move(text));
}

/// The server's reason to refuse a request, or why that can't be read.
Task<Error> read_refusal(net::HttpBody& body) {
    std::string text;
    for (;;) {
        const Result<std::optional<std::string>> piece = co_await body.read();
        if (!piece) co_return piece.error();
        if (!*piece) break;
        text += **piece;
    }
    const Result<ObjectPtr> object = parse_object(text);
    co_return error_from_status(static_cast<int>(body.head().status),
                                object ? **object : *plain_text(text));
}

Result<WatchEvent> parse_event(std::string_view line) {
    TRY(const ObjectPtr frame, parse_object(line));
    const json::object* fields = frame->if_object();
    const json::value* type = fields == nullptr ? nullptr : fields->if_contains("type");
    const json::value* object = fields == nullptr ? nullptr : fields->if_contains("object");
    const auto kind =
        type != nullptr && type->is_string() ? event_type_of(type->get_string()) : std::nullopt;
    if (!kind || object == nullptr)
        return Error(Code::kInternal, "the server sent a line that is not an event of a watch");
    // The frame's memory is freed with the object.
    return WatchEvent{*kind, ObjectPtr(frame, object)};
}

net::HttpRequest with_headers(const net::HttpRequest& request, const Credentials::Headers& shown) {
    net::HttpRequest made = request;
    for (const auto& [name, value] : *shown.fields) made.headers.add(name, value);
    return made;
}

/// How long a watch may last; the server is to end it before that. max(): without limit.
Duration longest_watch(const Request& request, Duration beyond) {
    const auto seconds = parse_number<std::uint32_t>(request.query_value("timeoutSeconds"));
    if (seconds.value_or(0) == 0) return Duration::max();
    return std::chrono::seconds(*seconds) + beyond;
}

class HttpWatch final : public WatchStream {
  public:
    explicit HttpWatch(std::unique_ptr<net::HttpBody> body) : body_(std::move(body)) {}

    Task<Result<std::optional<WatchEvent>>> next() override {
        for (;;) {
            const std::size_t end = buffer_.find('\n', searched_);
            if (end != buffer_.npos) {
                Result<WatchEvent> event =
                    parse_event(std::string_view(buffer_).substr(begin_, end - begin_));
                begin_ = searched_ = end + 1;
                if (!event) co_return std::move(event.error());
                co_return std::optional<WatchEvent>(*std::move(event));
            }
            buffer_.erase(0, begin_);
            begin_ = 0;
            searched_ = buffer_.size();
            if (buffer_.size() > kMaxLine)
                co_return Error(Code::kTooLarge, "the server sent a line that does not end");
            CO_TRY(std::optional<std::string> piece, co_await body_->read());
            if (!piece) co_return std::optional<WatchEvent>();
            buffer_ += *piece;
        }
    }

  private:
    std::unique_ptr<net::HttpBody> body_;
    std::string buffer_;
    std::size_t begin_ = 0;     ///< of the next line
    std::size_t searched_ = 0;  ///< up to here there is no line end
};

class HttpText final : public TextStream {
  public:
    explicit HttpText(std::unique_ptr<net::HttpBody> body) : body_(std::move(body)) {}

    Task<Result<std::optional<std::string>>> read() override { return body_->read(); }
    bool gather() override { return body_->gather(); }

  private:
    std::unique_ptr<net::HttpBody> body_;
};

}  // namespace

std::string request_target(const Request& request) {
    std::string target;
    append_escaped(target, request.path, "-._~/:");
    char separator = '?';
    for (const auto& [key, value] : request.query) {
        target += separator;
        append_escaped(target, key, "-._~");
        target += '=';
        append_escaped(target, value, "-._~");
        separator = '&';
    }
    return target;
}

std::vector<std::string> parse_warnings(std::string_view field) {
    std::vector<std::string> warnings;
    for (;;) {
        const std::size_t open = field.find('"');
        if (open == field.npos) return warnings;
        std::string text;
        std::size_t at = open + 1;
        for (; at < field.size() && field[at] != '"'; ++at) {
            if (field[at] == '\\' && at + 1 < field.size()) ++at;
            text += field[at];
        }
        warnings.push_back(std::move(text));
        if (at >= field.size()) return warnings;
        field.remove_prefix(at + 1);
    }
}

std::optional<Duration> parse_retry_after(std::string_view field) {
    const auto seconds = parse_number<std::int64_t>(field);
    if (!seconds || *seconds < 0) return std::nullopt;
    return std::chrono::seconds(std::min(*seconds, kLongestRetryAfter));
}

net::HttpRequest HttpTransport::encode(const Request& request) const {
    net::HttpRequest http;
    http.method = method_name(request.method);
    http.target = options_.path_prefix + request_target(request);
    http.send_before = request.send_before;
    http.headers.add("Accept", options_.accept);
    http.headers.add("User-Agent", request.user_agent);
    if (request.body != nullptr) {
        http.headers.add("Content-Type", media_type(request.content_type));
        http.body = json::serialize(*request.body);
    }
    return http;
}

Task<Result<net::HttpResponse>> HttpTransport::send(net::HttpRequest request, Duration time) {
    for (bool again = false;; again = true) {
        CO_TRY(const Credentials::Headers shown, co_await credentials_.headers());
        CO_TRY(net::HttpResponse http, co_await client_.call(with_headers(request, shown), time));
        if (http.status != kUnauthorized || again || !co_await credentials_.refused(shown.version))
            co_return std::move(http);
    }
}

Task<Result<net::HttpResponse>> HttpTransport::ask(std::string path, Duration time) {
    net::HttpRequest request;
    request.target = options_.path_prefix + path;
    co_return co_await send(std::move(request), time);
}

Task<Result<std::unique_ptr<net::WebSocket>>> HttpTransport::connect(
    Request request, std::vector<std::string> protocols) {
    const net::HttpRequest http = encode(request);
    for (bool again = false;; again = true) {
        CO_TRY(const Credentials::Headers shown, co_await credentials_.headers());
        CO_TRY(net::WebSocketAnswer answer,
               co_await net::ask_for_web_socket(client_, with_headers(http, shown), protocols,
                                                options_.time, {}));
        if (answer.socket && answer.socket->protocol().empty())
            co_return Error(Code::kUnsupported,
                            fmt::format("the server speaks none of {}: it is too old",
                                        fmt::join(protocols, ", ")));
        if (answer.socket) co_return std::move(answer.socket);
        if (answer.refusal.status != kUnauthorized || again ||
            !co_await credentials_.refused(shown.version)) {
            const Result<ObjectPtr> object = parse_object(answer.refusal.body);
            co_return error_from_status(
                static_cast<int>(answer.refusal.status),
                object ? **object : *plain_text(std::move(answer.refusal.body)));
        }
    }
}

Task<Result<Response>> HttpTransport::call(Request request) {
    CO_TRY(net::HttpResponse http, co_await send(encode(request), options_.time));
    Response response;
    response.status = static_cast<int>(http.status);
    if (!request.body_unread || http.status >= 300) {
        Result<ObjectPtr> object = parse_object(http.body);
        // A success must be an object; a refusal may come from anything between here and there.
        if (!object && http.status < 300) co_return std::move(object.error());
        response.body = object ? *std::move(object) : plain_text(std::move(http.body));
    }
    for (const net::HttpHeader field : http.headers) {
        if (equal_without_case(field.name, "Warning"))
            std::ranges::move(parse_warnings(field.value), std::back_inserter(response.warnings));
        if (equal_without_case(field.name, "Retry-After"))
            response.retry_after = parse_retry_after(field.value);
    }
    co_return response;
}

Task<Result<std::unique_ptr<net::HttpBody>>> HttpTransport::open(Request request,
                                                                 Duration body_time) {
    const net::HttpRequest http = encode(request);
    for (bool again = false;; again = true) {
        CO_TRY(const Credentials::Headers shown, co_await credentials_.headers());
        CO_TRY(std::unique_ptr<net::HttpBody> body,
               co_await client_.stream(with_headers(http, shown), options_.time, body_time));
        if (body->head().status < 300) co_return std::move(body);
        Error refusal = co_await read_refusal(*body);
        if (body->head().status != kUnauthorized || again ||
            !co_await credentials_.refused(shown.version))
            co_return refusal;
    }
}

Task<Result<std::unique_ptr<WatchStream>>> HttpTransport::watch(Request request) {
    const Duration longest = longest_watch(request, options_.overtime);
    CO_TRY(std::unique_ptr<net::HttpBody> body, co_await open(std::move(request), longest));
    co_return std::make_unique<HttpWatch>(std::move(body));
}

Task<Result<std::unique_ptr<TextStream>>> HttpTransport::stream_text(Request request) {
    CO_TRY(std::unique_ptr<net::HttpBody> body, co_await open(std::move(request), Duration::max()));
    co_return std::make_unique<HttpText>(std::move(body));
}

}  // namespace muster::kube
