#include "apiserver_http/http_front.h"

#include <boost/json/parse.hpp>

#include "apiserver/authentication/authentication.h"
#include "apiserver/authentication/token_authentication.h"
#include "apiserver/authorization/authorization.h"
#include "apiserver/authorization/escalation.h"
#include "apiserver/authorization/reviews.h"
#include "apiserver/request_handler.h"
#include "apiserver/requests/json_body.h"
#include "apiserver/requests/request_options.h"
#include "apiserver_http/internal/discovery/issuer_documents.h"
#include "apiserver_http/internal/json_access.h"
#include "apiserver_http/internal/protobuf/decode.h"
#include "apiserver_http/internal/requests/request_accounts.h"
#include "apiserver_http/internal/requests/state_metrics.h"
#include "apiserver_http/internal/streams/connection.h"
#include "apiserver_http/internal/wire/answer_headers.h"
#include "apiserver_http/internal/wire/documents.h"
#include "apiserver_http/internal/wire/impersonation.h"
#include "apiserver_http/internal/wire/media_type.h"
#include "apiserver_http/internal/wire/presented.h"
#include "apiserver_http/internal/wire/url.h"
#include "apiserver_http/internal/wire/yaml_body.h"
#include "apiserver_http/metric_family.h"
#include "base/log.h"
#include "kube/transport/transport_names.h"
#include "kube/values/time.h"
#include "store/json_text.h"

namespace muster::apiserver_http {

namespace {

/// A piece of a watch ends with the line that makes it longer.
constexpr std::size_t kWatchPiece = std::size_t{64} * 1024;

std::string_view header(const net::HttpRequest& request, std::string_view name) {
    return request.headers.find(name).value_or(std::string_view());
}

}  // namespace

/// What is known of one request, before anything is done about it.
struct Incoming {
    net::HttpExchange& exchange;
    RequestAccounts::Entry& entry;
    kube::Request request = {};  ///< its body is read once the user may send it
    AcceptedForm accepted = {};
    std::optional<apiserver::Target> named =
        {};  ///< what the URL names, once the request may be refused for it

    RequestRecord& record() { return entry.record; }
    const apiserver::User& user() const { return entry.record.served_user(); }
};

struct HttpFront::Impl {
    Impl(apiserver::RequestHandler& handler_, apiserver::AccessOptions access_,
         FrontOptions options)
        : handler(handler_),
          access(std::move(access_)),
          documents(handler_.registry()),
          yaml(options.yaml),
          accounts(handler_.clock(), handler_.rng(), options.limits, options.audit),
          metrics(std::move(options.metrics)) {
        metrics.push_back(std::make_shared<CollectedNow>([this] { return current_metrics(); }));
    }

    Task<void> serve(net::HttpExchange& exchange);
    Task<apiserver::StatusResult<void>> answer(Incoming& incoming);
    void answer_overload(net::HttpExchange& exchange) const;
    std::vector<prometheus::MetricFamily> current_metrics() const;
    apiserver::StatusResult<void> serve_path(Incoming& incoming, apiserver::StatusError no_target);
    Task<apiserver::StatusResult<void>> serve_target(Incoming& incoming, apiserver::Target target);
    apiserver::StatusResult<void> read_body(Incoming& incoming,
                                            const apiserver::Target& target) const;
    Task<apiserver::StatusResult<void>> serve_watch(Incoming& incoming, apiserver::Target target);
    Task<apiserver::StatusResult<void>> serve_log(Incoming& incoming, apiserver::Target target);
    void refuse(Incoming& incoming, const apiserver::StatusError& status_error) const;
    /// In YAML, if that was asked for.
    void respond(Incoming& incoming, int status, net::HttpHeaders headers, std::string json) const;
    static void respond_not_acceptable(Incoming& incoming);
    apiserver::StatusResult<void> authorize(const apiserver::User& user,
                                            const apiserver::Action& action) const {
        return apiserver::authorize(handler.cache(), user, action);
    }
    /// Of the request's own action.
    apiserver::StatusResult<void> authorize(RequestRecord& record) const;
    apiserver::StatusResult<void> identify(const net::HttpRequest& request,
                                           RequestRecord& record) const;
    Result<apiserver::User> sender_of(const net::HttpRequest& request) const;
    Result<apiserver::TokenOwner> owner_of(std::string_view token,
                                           const std::vector<std::string>& audiences) const;
    apiserver::StatusResult<void> serve_review(Incoming& incoming,
                                               const apiserver::Target& target) const;
    apiserver::Admit admission(const apiserver::User& user, const apiserver::Target& target,
                               kube::Method method) const;

    apiserver::RequestHandler& handler;
    apiserver::AccessOptions access;
    Documents documents;
    YamlText yaml;
    std::uint64_t own_lines = 0;  ///< of watches in other forms, made for one watcher each
    RequestAccounts accounts;
    std::vector<std::shared_ptr<prometheus::Collectable>> metrics;
};

HttpFront::HttpFront(apiserver::ApiServer& server, apiserver::AccessOptions access,
                     FrontOptions options)
    : impl_(std::make_unique<Impl>(server.handler(), std::move(access), std::move(options))) {}

HttpFront::~HttpFront() = default;

Task<void> HttpFront::serve(net::HttpExchange& exchange) { return impl_->serve(exchange); }

void HttpFront::Impl::respond(Incoming& incoming, int status, net::HttpHeaders headers,
                              std::string json) const {
    if (incoming.accepted.yaml) {
        headers.set("Content-Type", kYamlType);
        json = yaml.write(json::parse(json));
    }
    incoming.exchange.respond(static_cast<unsigned>(status), std::move(headers), std::move(json));
}

void HttpFront::Impl::respond_not_acceptable(Incoming& incoming) {
    incoming.exchange.respond(
        406, headers_of(kTextType),
        "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml");
}

void HttpFront::Impl::refuse(Incoming& incoming, const apiserver::StatusError& status_error) const {
    const bool plain = status_error.plain_text;
    const std::optional<apiserver::Target>& named = incoming.named;
    const kube::Response response = apiserver::to_response(
        status_error, named ? &named->type() : nullptr, named ? named->name : "");
    net::HttpHeaders headers = headers_of(plain ? kTextType : kJsonType);
    add_retry_after(headers, response);
    incoming.record().response_object = response.body;
    if (plain) {
        incoming.exchange.respond(static_cast<unsigned>(response.status), std::move(headers),
                                  status_error.error.message());
        return;
    }
    std::string text;
    store::append_json(text, *response.body);
    respond(incoming, response.status, std::move(headers), std::move(text));
}

/// Of any token but the admin's own: that one is for everybody whom it is shown to.
Result<apiserver::TokenOwner> HttpFront::Impl::owner_of(
    std::string_view token, const std::vector<std::string>& audiences) const {
    if (handler.signing_key() == nullptr)
        return Error(Code::kUnauthorized, "the server has no accounts with tokens");
    return apiserver::authenticate_account(handler.cache(), *handler.signing_key(), token,
                                           audiences, handler.clock().wall_now());
}

apiserver::StatusResult<void> HttpFront::Impl::serve_review(Incoming& incoming,
                                                            const apiserver::Target& target) const {
    kube::Request& request = incoming.request;
    if (request.method != kube::Method::kPost || !target.is_collection())
        return apiserver::method_not_allowed();
    if (target.type().namespaced && target.namespace_.empty())
        return apiserver::method_not_allowed();
    TRY(const apiserver::WriteQuery query, apiserver::parse_write_query(request, "CreateOptions"));
    TRY(const apiserver::DecodedObject asked,
        apiserver::decode_object(*target.def, request.body, query.field_validation));
    const apiserver::ReviewContext context{
        handler.cache(), incoming.user(),
        [this](const std::string& token,
               const std::vector<std::string>& audiences) -> Result<apiserver::TokenOwner> {
            if (std::optional<apiserver::User> admin = apiserver::admin_of(access, token))
                return apiserver::TokenOwner{*std::move(admin), audiences};
            return owner_of(token, audiences);
        }};
    TRY(json::object answer, apiserver::answer_review(context, target, asked));
    ensure_object(answer, "metadata")["creationTimestamp"] =
        kube::format_time(handler.clock().wall_now());
    net::HttpHeaders headers = headers_of(kJsonType);
    add_warnings(headers, asked.warnings);
    std::string text;
    store::append_json(text, answer);
    respond(incoming, 201, std::move(headers), std::move(text));
    return {};
}

Result<apiserver::User> HttpFront::Impl::sender_of(const net::HttpRequest& request) const {
    const apiserver::TokenCheck check_token =
        [this](std::string_view token) -> Result<apiserver::User> {
        Result<apiserver::TokenOwner> owner = owner_of(token, {});
        if (owner) return std::move(owner->user);
        log::debug("A bearer token was refused", {{"why", owner.error().message()}});
        return owner.error();
    };
    return apiserver::authenticate(access, header(request, "Authorization"),
                                   request.client_certificate, check_token);
}

/// Who sent the request, and as whom they want to act, if they may.
apiserver::StatusResult<void> HttpFront::Impl::identify(const net::HttpRequest& request,
                                                        RequestRecord& record) const {
    Result<apiserver::User> user = sender_of(request);
    record.authenticated = user.has_value();
    if (!user) return apiserver::StatusError{user.error(), kube::StatusDetails{}, false, {}};
    record.user = *std::move(user);
    TRY(std::optional<Impersonation> wanted, read_impersonation(request.headers));
    if (!wanted) return {};
    for (const apiserver::Action& action : wanted->needed) TRY_VOID(authorize(record.user, action));
    record.acting_as = std::move(wanted->user);
    return {};
}

apiserver::StatusResult<void> HttpFront::Impl::authorize(RequestRecord& record) const {
    record.decision = apiserver::decide(handler.cache(), record.served_user(), record.action);
    if (record.decision->allowed) return {};
    return apiserver::forbidden_for(record.served_user(), record.action, *record.decision);
}

Task<void> HttpFront::Impl::serve(net::HttpExchange& exchange) {
    RequestAccounts::Entry entry(accounts, exchange);
    Incoming incoming{exchange, entry};
    const apiserver::StatusResult<void> served = co_await answer(incoming);
    if (!served) refuse(incoming, served.error());
}

Task<apiserver::StatusResult<void>> HttpFront::Impl::answer(Incoming& incoming) {
    const net::HttpRequest& http = incoming.exchange.request();
    RequestRecord& record = incoming.record();
    CO_TRY(Url url, parse_url(http.target));
    const std::optional<kube::Method> method = kube::method_of(http.method);
    kube::Request& request = incoming.request;
    request.method = method.value_or(kube::Method::kGet);
    const Answers answers = url.path == "/api" || url.path == "/apis" ? Answers::kDiscovery
                            : url.path == kOpenApiV2Path              ? Answers::kOpenApiV2
                                                                      : Answers::kObjects;
    request.path = std::move(url.path);
    request.query = std::move(url.query);
    if (take_watch_prefix(request.path)) request.query.emplace_back("watch", "true");
    apiserver::StatusResult<apiserver::Target> target =
        apiserver::route(handler.registry(), request.path);
    if (target)
        describe_request(record, *target, request);
    else
        record.action = apiserver::action_on_path(request.path, request.method);

    CO_TRY_VOID(identify(http, record));
    if (!method) co_return apiserver::method_not_allowed();
    const std::optional<AcceptedForm> accepted = choose_form(header(http, "Accept"), answers);
    const bool watch = record.action.verb == "watch";
    if (!accepted || (accepted->yaml && (yaml.write == nullptr || watch))) {
        respond_not_acceptable(incoming);
        co_return apiserver::StatusResult<void>();
    }
    incoming.accepted = *accepted;
    if (!incoming.entry.admit()) {
        answer_overload(incoming.exchange);
        co_return apiserver::StatusResult<void>();
    }
    if (!target) co_return serve_path(incoming, std::move(target.error()));
    incoming.named = *target;
    co_return co_await serve_target(incoming, *std::move(target));
}

void HttpFront::Impl::answer_overload(net::HttpExchange& exchange) const {
    net::HttpHeaders headers = headers_of(kTextType);
    headers.add("Retry-After", "1");
    exchange.respond(429, std::move(headers), "Too many requests, please try again later.\n");
}

std::vector<prometheus::MetricFamily> HttpFront::Impl::current_metrics() const {
    std::vector<prometheus::MetricFamily> all = state_metrics(handler);
    all.push_back(accounts.in_flight());
    all.push_back(family(
        "muster_watch_encodings_total",
        "Objects made into text: once for all watchers of a change, in other forms for each.",
        prometheus::MetricType::Counter, "form",
        {{"object", static_cast<double>(store::ObjectText::made())},
         {"other", static_cast<double>(own_lines)}}));
    return all;
}

apiserver::StatusResult<void> HttpFront::Impl::serve_path(Incoming& incoming,
                                                          apiserver::StatusError no_target) {
    const std::string& path = incoming.request.path;
    TRY_VOID(authorize(incoming.record()));
    if (path == "/healthz" || path == "/livez" || path == "/readyz") {
        const std::optional<Error> failure = handler.write_failure();
        const bool fails = failure && path != "/livez";
        std::string text = fails ? "the store keeps nothing new: " + failure->message() : "ok";
        if (std::ranges::any_of(incoming.request.query,
                                [](const auto& pair) { return pair.first == "verbose"; }))
            text = fmt::format("[+]ping ok\n[{}]store {}\n{} check {}\n", fails ? '-' : '+', text,
                               path.substr(1), fails ? "failed" : "passed");
        incoming.exchange.respond(fails ? 500 : 200, headers_of(kTextType), std::move(text));
        return {};
    }
    if (path == "/metrics") {
        if (incoming.request.method != kube::Method::kGet) return apiserver::method_not_allowed();
        incoming.exchange.respond(200, headers_of("text/plain; version=0.0.4; charset=utf-8"),
                                  accounts.metrics().text(metrics));
        return {};
    }
    if (const auto text = issuer_document(handler.signing_key(), path)) {
        if (incoming.request.method != kube::Method::kGet) return apiserver::method_not_allowed();
        net::HttpHeaders headers;
        headers.add("Content-Type", text->content_type);
        headers.add("Cache-Control", "public, max-age=3600");
        incoming.exchange.respond(200, std::move(headers), text->text);
        return {};
    }
    const std::optional<Document> document =
        documents.find(path, incoming.accepted.form, incoming.request.query_value("hash"));
    if (!document) return no_target;
    if (incoming.request.method != kube::Method::kGet) return apiserver::method_not_allowed();
    net::HttpHeaders headers;
    headers.add("Content-Type", document->content_type);
    headers.add("Vary", "Accept");
    headers.add("Cache-Control", document->forever ? "public, immutable" : "no-cache, private");
    if (!document->etag.empty()) headers.add("ETag", document->etag);
    const bool known = !document->etag.empty() &&
                       header(incoming.exchange.request(), "If-None-Match") == document->etag;
    if (known)
        incoming.exchange.respond(304, std::move(headers), std::string());
    else if (incoming.accepted.yaml)
        respond(incoming, 200, std::move(headers), *document->text);
    else
        incoming.exchange.respond(200, std::move(headers), document->text);
    return {};
}

apiserver::StatusResult<void> HttpFront::Impl::read_body(Incoming& incoming,
                                                         const apiserver::Target& target) const {
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
    incoming.record().apply = type.content == kube::ContentType::kApplyPatch;
    if (type.format == BodyFormat::kProtobuf) {
        if (target.def->custom && request.method != kube::Method::kDelete)
            return apiserver::unsupported_media_type(
                "the body of the request was in an unknown format - accepted media types include: "
                "application/json, application/yaml");
        TRY(json::object object, decode_protobuf(http.body));
        request.body = std::make_shared<const json::value>(std::move(object));
        incoming.record().request_object = request.body;
        return {};
    }
    TRY(apiserver::JsonBody body, type.format == BodyFormat::kYaml
                                      ? parse_yaml_body(http.body, yaml)
                                      : apiserver::parse_json_body(http.body));
    request.body = std::move(body.value);
    incoming.record().request_object = request.body;
    request.duplicate_fields = std::move(body.duplicate_fields);
    return {};
}

/// What a user who is not the admin is asked for beyond the verb of the request.
apiserver::Admit HttpFront::Impl::admission(const apiserver::User& user,
                                            const apiserver::Target& target,
                                            kube::Method method) const {
    if (user.in_group(apiserver::kMasters)) return nullptr;
    apiserver::Action creation = apiserver::action_on(target, kube::Method::kPost, false);
    return [this, user, type = target.type(), creation, method](
               const json::object* before,
               const json::object& after) -> apiserver::StatusResult<void> {
        // A PUT or an apply makes what is not there.
        if (before == nullptr && method != kube::Method::kPost) TRY_VOID(authorize(user, creation));
        return apiserver::check_escalation(handler.cache(), user, type, before, after);
    };
}

Task<apiserver::StatusResult<void>> HttpFront::Impl::serve_target(Incoming& incoming,
                                                                  apiserver::Target target) {
    kube::Request& request = incoming.request;
    const bool get = request.method == kube::Method::kGet;
    const bool watch = incoming.record().action.verb == "watch";
    CO_TRY_VOID(authorize(incoming.record()));
    incoming.entry.announce();
    if (apiserver::is_connection(target.subresource)) {
        // It does something to the pod, whatever method asks for the upgrade.
        CO_TRY_VOID(
            authorize(incoming.user(), apiserver::action_on(target, kube::Method::kPost, false)));
        co_return co_await connect_to_pod(incoming.exchange, handler, std::move(target),
                                          std::move(request));
    }
    CO_TRY_VOID(read_body(incoming, target));
    if (!target.def->stored) co_return serve_review(incoming, target);
    if (target.subresource == "log" && get)
        co_return co_await serve_log(incoming, std::move(target));
    if (watch) co_return co_await serve_watch(incoming, std::move(target));

    const auto row_object = row_object_of(request.query_value("includeObject"));
    if (!row_object)
        co_return apiserver::bad_request(
            fmt::format("unknown includeObject \"{}\": None, Metadata or Object",
                        request.query_value("includeObject")));
    const apiserver::DefPtr def = target.def;
    apiserver::Requester requester;
    if (!get) {
        requester.admit = admission(incoming.user(), target, request.method);
        requester.user = std::make_shared<const apiserver::User>(incoming.user());
    }
    CO_TRY(const apiserver::Reply reply,
           co_await handler.call(std::move(target), std::move(request), std::move(requester)));
    incoming.record().response_object = reply.body;
    incoming.record().response_text = reply.object;
    net::HttpHeaders headers = headers_of(kJsonType);
    add_warnings(headers, reply.warnings);
    respond(incoming, reply.status, std::move(headers),
            present(*def, reply, incoming.accepted.form, *row_object, handler.clock().wall_now()));
    co_return apiserver::StatusResult<void>();
}

Task<apiserver::StatusResult<void>> HttpFront::Impl::serve_watch(Incoming& incoming,
                                                                 apiserver::Target target) {
    kube::Request& request = incoming.request;
    const auto row_object = row_object_of(request.query_value("includeObject"));
    if (!row_object)
        co_return apiserver::bad_request("includeObject must be None, Metadata or Object");
    const apiserver::DefPtr def = target.def;
    CO_TRY(const std::unique_ptr<apiserver::Watcher> watcher,
           co_await handler.watch(std::move(target), std::move(request)));
    prometheus::Counter& sent = accounts.metrics().watch_events(def->type);
    EventPresenter presenter(def, incoming.accepted.form, *row_object);
    // At once, so that a client knows that it watches before anything has happened.
    if (!co_await incoming.exchange.begin(200, headers_of(kJsonType)))
        co_return apiserver::StatusResult<void>();
    std::string lines;
    while (std::optional<apiserver::WatchedEvent> event = co_await watcher->next_text()) {
        // All that waits goes out in one piece: most of what a line costs is sending it.
        lines.clear();
        for (; event; event = watcher->try_next()) {
            sent.Increment();
            if (incoming.accepted.form != Form::kObject) ++own_lines;
            presenter.append(lines, *event, handler.clock().wall_now());
            if (lines.size() >= kWatchPiece) break;
        }
        if (!co_await incoming.exchange.write(lines)) co_return apiserver::StatusResult<void>();
    }
    std::ignore = co_await incoming.exchange.end();
    co_return apiserver::StatusResult<void>();
}

Task<apiserver::StatusResult<void>> HttpFront::Impl::serve_log(Incoming& incoming,
                                                               apiserver::Target target) {
    CO_TRY(const std::unique_ptr<kube::TextStream> stream,
           co_await handler.log(std::move(target), std::move(incoming.request)));
    if (!co_await incoming.exchange.begin(200, headers_of("text/plain")))
        co_return apiserver::StatusResult<void>();
    for (;;) {
        Result<std::optional<std::string>> piece = co_await stream->read();
        if (!piece)
            co_return apiserver::StatusResult<void>();  // cut off, which no client takes for the
                                                        // end
        if (!*piece) break;
        if (!co_await incoming.exchange.write(**piece)) co_return apiserver::StatusResult<void>();
    }
    std::ignore = co_await incoming.exchange.end();
    co_return apiserver::StatusResult<void>();
}

}  // namespace muster::apiserver_http
