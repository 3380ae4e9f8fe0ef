#include "apiserver/http_front.h"

#include "apiserver/internal/access/authentication.h"
#include "apiserver/internal/access/authorization.h"
#include "apiserver/internal/access/escalation.h"
#include "apiserver/internal/access/impersonation.h"
#include "apiserver/internal/access/issuer_documents.h"
#include "apiserver/internal/access/reviews.h"
#include "apiserver/internal/access/token_authentication.h"
#include "apiserver/internal/json_access.h"
#include "apiserver/internal/protobuf/decode.h"
#include "apiserver/internal/request_options.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/streams/connection.h"
#include "apiserver/internal/verbs.h"
#include "apiserver/internal/wire/documents.h"
#include "apiserver/internal/wire/frames.h"
#include "apiserver/internal/wire/json_body.h"
#include "apiserver/internal/wire/media_type.h"
#include "apiserver/internal/wire/presented.h"
#include "apiserver/internal/wire/url.h"
#include "apiserver/internal/writer.h"
#include "base/log.h"
#include "kube/time.h"
#include "kube/transport_names.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kJson = "application/json";
/// A piece of a watch ends with the line that makes it longer.
constexpr std::size_t kWatchPiece = std::size_t{64} * 1024;

std::string_view header(const net::HttpRequest& request, std::string_view name) {
    return request.headers.find(name).value_or(std::string_view());
}

net::HttpHeaders headers_of(std::string_view content_type) {
    net::HttpHeaders headers;
    headers.add("Content-Type", content_type);
    headers.add("Cache-Control", "no-cache, private");
    return headers;
}

/// A header's value may hold no quotation mark that is not escaped, and no line end.
std::string quoted(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c == '\n' || c == '\r' ? ' ' : c;
    }
    quoted += '"';
    return quoted;
}

void add_warnings(net::HttpHeaders& headers, const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) headers.add("Warning", "299 - " + quoted(warning));
}

/// The Status of a request that was certainly not executed may ask for another try.
void add_retry_after(net::HttpHeaders& headers, const kube::Response& response) {
    const json::object* status = response.body->if_object();
    const json::object* details = status == nullptr ? nullptr : object_at(*status, "details");
    if (details == nullptr) return;
    if (const auto seconds = int_at(*details, "retryAfterSeconds"))
        headers.add("Retry-After", std::to_string(*seconds));
}

}  // namespace

/// What is known of one request, before anything is done about it.
struct Incoming {
    net::HttpExchange& exchange;
    kube::Request request;  ///< its body is read once the user may send it
    User user;
    Form form = Form::kObject;
};

struct HttpFront::Impl {
    Impl(ServerState& state_, AccessOptions access_)
        : state(state_),
          writer(state_),
          verbs(state_, writer),
          access(std::move(access_)),
          documents(state_.registry) {}

    Task<void> serve(net::HttpExchange& exchange);
    Answer<void> serve_path(Incoming& incoming, Refusal no_target);
    Task<Answer<void>> serve_target(Incoming& incoming, Target target);
    Answer<void> read_body(Incoming& incoming, const Target& target) const;
    Task<Answer<void>> serve_watch(Incoming& incoming, Target target);
    Task<Answer<void>> serve_log(Incoming& incoming, Target target);
    void refuse(net::HttpExchange& exchange, const Refusal& refusal, const Target* target) const;
    Answer<void> authorize(const User& user, const Action& action) const {
        return apiserver::authorize(state.cache, user, action);
    }
    Answer<User> acting_user(const net::HttpRequest& request) const;
    Result<TokenOwner> owner_of(std::string_view token,
                                const std::vector<std::string>& audiences) const;
    Answer<void> serve_review(Incoming& incoming, const Target& target) const;
    Admit admission(const User& user, const Target& target, kube::Method method) const;

    ServerState& state;
    Writer writer;
    Verbs verbs;
    AccessOptions access;
    Documents documents;
    FrameCache frames;
};

HttpFront::HttpFront(ApiServer& server, AccessOptions access)
    : impl_(std::make_unique<Impl>(server.state(), std::move(access))) {}

HttpFront::~HttpFront() = default;

Task<void> HttpFront::serve(net::HttpExchange& exchange) { return impl_->serve(exchange); }

void HttpFront::Impl::refuse(net::HttpExchange& exchange, const Refusal& refusal,
                             const Target* target) const {
    const bool plain = refusal.plain_text;
    const kube::Response response =
        to_response(refusal, target == nullptr ? nullptr : &target->type(),
                    target == nullptr ? std::string_view() : target->name);
    net::HttpHeaders headers = headers_of(plain ? "text/plain; charset=utf-8" : kJson);
    add_retry_after(headers, response);
    std::string text;
    if (plain)
        text = refusal.error.message();
    else
        append_json(text, *response.body);
    exchange.respond(static_cast<unsigned>(response.status), std::move(headers), std::move(text));
}

/// Of any token but the admin's own: that one is for everybody whom it is shown to.
Result<TokenOwner> HttpFront::Impl::owner_of(std::string_view token,
                                             const std::vector<std::string>& audiences) const {
    if (state.options.signing_key == nullptr)
        return Error(Code::kUnauthorized, "the server has no accounts with tokens");
    return authenticate_account(state.cache, *state.options.signing_key, token, audiences,
                                state.clock.wall_now());
}

Answer<void> HttpFront::Impl::serve_review(Incoming& incoming, const Target& target) const {
    kube::Request& request = incoming.request;
    if (request.method != kube::Method::kPost || !target.is_collection())
        return method_not_allowed();
    if (target.type().namespaced && target.namespace_.empty()) return method_not_allowed();
    TRY(const WriteQuery query, parse_write_query(request, "CreateOptions"));
    TRY(const DecodedObject asked,
        decode_object(*target.def, request.body, query.field_validation));
    const ReviewContext context{
        state.cache, incoming.user,
        [this](const std::string& token,
               const std::vector<std::string>& audiences) -> Result<TokenOwner> {
            if (std::optional<User> admin = admin_of(access, token))
                return TokenOwner{*std::move(admin), audiences};
            return owner_of(token, audiences);
        }};
    TRY(json::object answer, answer_review(context, target, asked));
    ensure_object(answer, "metadata")["creationTimestamp"] =
        kube::format_time(state.clock.wall_now());
    net::HttpHeaders headers = headers_of(kJson);
    add_warnings(headers, asked.warnings);
    std::string text;
    append_json(text, answer);
    incoming.exchange.respond(201, std::move(headers), std::move(text));
    return {};
}

/// Who is to be asked for rights: who sent the request, or as whom they want to act, if they may.
Answer<User> HttpFront::Impl::acting_user(const net::HttpRequest& request) const {
    const TokenCheck check_token = [this](std::string_view token) -> Result<User> {
        Result<TokenOwner> owner = owner_of(token, {});
        if (owner) return std::move(owner->user);
        log::debug("A bearer token was refused", {{"why", owner.error().message()}});
        return owner.error();
    };
    Result<User> user = authenticate(access, header(request, "Authorization"),
                                     request.client_certificate, check_token);
    if (!user) return Refusal{user.error(), kube::StatusDetails{}, false, {}};
    TRY(std::optional<Impersonation> wanted, read_impersonation(request.headers));
    if (!wanted) return *std::move(user);
    for (const Action& action : wanted->needed) TRY_VOID(authorize(*user, action));
    return std::move(wanted->user);
}

Task<void> HttpFront::Impl::serve(net::HttpExchange& exchange) {
    const net::HttpRequest& request = exchange.request();
    Answer<Url> url = parse_url(request.target);
    if (!url) co_return refuse(exchange, url.error(), nullptr);
    Answer<User> user = acting_user(request);
    if (!user) co_return refuse(exchange, user.error(), nullptr);
    const std::optional<kube::Method> method = kube::method_of(request.method);
    if (!method) co_return refuse(exchange, method_not_allowed(), nullptr);
    const bool discovery = url->path == "/api" || url->path == "/apis";
    const std::optional<Form> form = choose_form(header(request, "Accept"), discovery);
    if (!form) {
        exchange.respond(406, headers_of("text/plain; charset=utf-8"),
                         "406: Not Acceptable\n\nAvailable representations: application/json");
        co_return;
    }
    Incoming incoming{exchange, {}, *std::move(user), *form};
    incoming.request.method = *method;
    incoming.request.path = std::move(url->path);
    incoming.request.query = std::move(url->query);
    if (take_watch_prefix(incoming.request.path))
        incoming.request.query.emplace_back("watch", "true");
    Answer<Target> target = route(state.registry, incoming.request.path);
    if (target) {
        const Target named = *target;
        Answer<void> served = co_await serve_target(incoming, *std::move(target));
        if (!served) refuse(exchange, served.error(), &named);
        co_return;
    }
    const Answer<void> served = serve_path(incoming, std::move(target.error()));
    if (!served) refuse(exchange, served.error(), nullptr);
}

Answer<void> HttpFront::Impl::serve_path(Incoming& incoming, Refusal no_target) {
    const std::string& path = incoming.request.path;
    TRY_VOID(authorize(incoming.user, action_on_path(path, incoming.request.method)));
    if (path == "/healthz" || path == "/livez" || path == "/readyz") {
        const std::optional<Error> failure = state.store->failure();
        const bool fails = failure && path != "/livez";
        incoming.exchange.respond(
            fails ? 500 : 200, headers_of("text/plain; charset=utf-8"),
            fails ? "the store keeps nothing new: " + failure->message() : "ok");
        return {};
    }
    if (const auto text = issuer_document(state.options.signing_key.get(), path)) {
        if (incoming.request.method != kube::Method::kGet) return method_not_allowed();
        net::HttpHeaders headers;
        headers.add("Content-Type", text->content_type);
        headers.add("Cache-Control", "public, max-age=3600");
        incoming.exchange.respond(200, std::move(headers), text->text);
        return {};
    }
    const std::optional<Document> document = documents.find(path, incoming.form == Form::kDiscovery,
                                                            incoming.request.query_value("hash"));
    if (!document) return no_target;
    if (incoming.request.method != kube::Method::kGet) return method_not_allowed();
    net::HttpHeaders headers;
    headers.add("Content-Type", document->content_type);
    headers.add("Vary", "Accept");
    headers.add("Cache-Control", document->forever ? "public, immutable" : "no-cache, private");
    if (!document->etag.empty()) headers.add("ETag", document->etag);
    const bool known = !document->etag.empty() &&
                       header(incoming.exchange.request(), "If-None-Match") == document->etag;
    if (known)
        incoming.exchange.respond(304, std::move(headers), std::string());
    else
        incoming.exchange.respond(200, std::move(headers), document->text);
    return {};
}

Answer<void> HttpFront::Impl::read_body(Incoming& incoming, const Target& target) const {
    const net::HttpRequest& http = incoming.exchange.request();
    kube::Request& request = incoming.request;
    request.items_apart = true;
    request.user_agent = header(http, "User-Agent");
    if (request.method == kube::Method::kGet || http.body.empty()) {
        // A patch without a body says at least what it would have been.
        if (request.method == kube::Method::kPatch) {
            TRY(const BodyType type, body_type(header(http, "Content-Type"), request.method));
            request.content_type = type.content;
        }
        return {};
    }
    TRY(const BodyType type, body_type(header(http, "Content-Type"), request.method));
    request.content_type = type.content;
    if (type.format == BodyFormat::kProtobuf) {
        if (target.def->custom && request.method != kube::Method::kDelete)
            return unsupported_media_type(
                "the body of the request was in an unknown format - accepted media types include: "
                "application/json, application/yaml");
        TRY(json::object object, decode_protobuf(http.body));
        request.body = std::make_shared<const json::value>(std::move(object));
        return {};
    }
    TRY(JsonBody body, parse_json_body(http.body));
    request.body = std::move(body.value);
    request.duplicate_fields = std::move(body.duplicate_fields);
    return {};
}

/// What a user who is not the admin is asked for beyond the verb of the request.
Admit HttpFront::Impl::admission(const User& user, const Target& target,
                                 kube::Method method) const {
    if (user.in_group(kMasters)) return nullptr;
    Action creation = action_on(target, kube::Method::kPost, false);
    return [this, user, type = target.type(), creation, method](
               const json::object* before, const json::object& after) -> Answer<void> {
        // A PUT or an apply makes what is not there.
        if (before == nullptr && method != kube::Method::kPost) TRY_VOID(authorize(user, creation));
        return check_escalation(state.cache, user, type, before, after);
    };
}

Task<Answer<void>> HttpFront::Impl::serve_target(Incoming& incoming, Target target) {
    kube::Request& request = incoming.request;
    const bool get = request.method == kube::Method::kGet;
    const bool watch = get && target.is_collection() && query_flag(request, "watch");
    CO_TRY_VOID(authorize(incoming.user, action_on(target, request.method, watch,
                                                   request.query_value("fieldSelector"))));
    if (is_connection(target.subresource)) {
        // It does something to the pod, whatever method asks for the upgrade.
        CO_TRY_VOID(authorize(incoming.user, action_on(target, kube::Method::kPost, false)));
        co_return co_await connect_to_pod(incoming.exchange, state, std::move(target),
                                          std::move(request));
    }
    CO_TRY_VOID(read_body(incoming, target));
    if (!target.def->stored) co_return serve_review(incoming, target);
    if (target.subresource == "log" && get)
        co_return co_await serve_log(incoming, std::move(target));
    if (watch) co_return co_await serve_watch(incoming, std::move(target));

    const auto row_object = row_object_of(request.query_value("includeObject"));
    if (!row_object)
        co_return bad_request(fmt::format("unknown includeObject \"{}\": None, Metadata or Object",
                                          request.query_value("includeObject")));
    const DefPtr def = target.def;
    Requester requester;
    if (!get) {
        requester.admit = admission(incoming.user, target, request.method);
        requester.user = std::move(incoming.user);
    }
    CO_TRY(const kube::Response response,
           co_await verbs.call(std::move(target), std::move(request), std::move(requester)));
    net::HttpHeaders headers = headers_of(kJson);
    add_warnings(headers, response.warnings);
    incoming.exchange.respond(
        static_cast<unsigned>(response.status), std::move(headers),
        present(*def, response, incoming.form, *row_object, state.clock.wall_now()));
    co_return Answer<void>();
}

Task<Answer<void>> HttpFront::Impl::serve_watch(Incoming& incoming, Target target) {
    kube::Request& request = incoming.request;
    const auto row_object = row_object_of(request.query_value("includeObject"));
    if (!row_object) co_return bad_request("includeObject must be None, Metadata or Object");
    const DefPtr def = target.def;
    CO_TRY(const std::unique_ptr<Watcher> watcher,
           co_await verbs.watch(std::move(target), std::move(request)));
    EventPresenter presenter(def, incoming.form, *row_object);
    // At once, so that a client knows that it watches before anything has happened.
    if (!co_await incoming.exchange.begin(200, headers_of(kJson))) co_return Answer<void>();
    const auto line_of = [&](const kube::WatchEvent& event) {
        return incoming.form == Form::kObject ? frames.frame(event)
                                              : std::make_shared<const std::string>(
                                                    presenter.line(event, state.clock.wall_now()));
    };
    for (;;) {
        Result<std::optional<kube::WatchEvent>> event = co_await watcher->next();
        if (!event) co_return Answer<void>();  // cut off, which no client takes for the end
        if (!*event) break;
        // All that waits goes out in one piece: most of what a line costs is sending it.
        std::string lines(*line_of(**event));
        while (lines.size() < kWatchPiece) {
            const std::optional<kube::WatchEvent> more = watcher->try_next();
            if (!more) break;
            lines += *line_of(*more);
        }
        if (!co_await incoming.exchange.write(lines)) co_return Answer<void>();
    }
    std::ignore = co_await incoming.exchange.end();
    co_return Answer<void>();
}

Task<Answer<void>> HttpFront::Impl::serve_log(Incoming& incoming, Target target) {
    CO_TRY(const std::unique_ptr<kube::TextStream> stream,
           co_await verbs.log(std::move(target), std::move(incoming.request)));
    if (!co_await incoming.exchange.begin(200, headers_of("text/plain"))) co_return Answer<void>();
    for (;;) {
        Result<std::optional<std::string>> piece = co_await stream->read();
        if (!piece) co_return Answer<void>();  // cut off, which no client takes for the end
        if (!*piece) break;
        if (!co_await incoming.exchange.write(**piece)) co_return Answer<void>();
    }
    std::ignore = co_await incoming.exchange.end();
    co_return Answer<void>();
}

}  // namespace muster::apiserver
