#include "apiserver_http/http_front.h"

#include <fmt/format.h>

#include "apiserver/authentication/authentication.h"
#include "apiserver/authorization/reviews.h"
#include "apiserver/request_handler.h"
#include "apiserver/requests/json_body.h"
#include "apiserver/requests/request_options.h"
#include "apiserver_http/internal/extensions/extension_proxy.h"
#include "apiserver_http/internal/json_access.h"
#include "apiserver_http/internal/protobuf/decode.h"
#include "apiserver_http/internal/requests/access_control.h"
#include "apiserver_http/internal/requests/incoming.h"
#include "apiserver_http/internal/requests/path_endpoints.h"
#include "apiserver_http/internal/requests/request_accounts.h"
#include "apiserver_http/internal/requests/state_metrics.h"
#include "apiserver_http/internal/streams/connection.h"
#include "apiserver_http/internal/wire/answer_body.h"
#include "apiserver_http/internal/wire/answer_headers.h"
#include "apiserver_http/internal/wire/event_lines.h"
#include "apiserver_http/internal/wire/media_type.h"
#include "apiserver_http/internal/wire/url.h"
#include "apiserver_http/internal/wire/yaml_body.h"
#include "apiserver_http/metric_family.h"
#include "base/async/cancellation.h"
#include "base/async/side_thread.h"
#include "base/time/loop_watch.h"
#include "base/unexpected.h"
#include "kube/transport/transport_names.h"
#include "kube/values/time.h"
#include "store/json_text.h"

namespace muster::apiserver_http {

namespace {

/// A piece of a watch ends with the line that exceeds this size.
constexpr std::size_t kWatchPiece = std::size_t{64} * 1024;
/// What a piece of a log is expected to have.
constexpr std::size_t kLogPiece = std::size_t{64} * 1024;
/// A piece that is smaller takes no more memory than each connection does.
constexpr std::size_t kSmallPiece = std::size_t{4} * 1024;

/// Pure.
apiserver::StatusResult<apiserver::JsonBody> parse_body(BodyFormat format, std::string_view text,
                                                        const YamlText& yaml) {
    switch (format) {
        case BodyFormat::kJson:
            break;
        case BodyFormat::kYaml:
            return parse_yaml_body(text, yaml);
        case BodyFormat::kProtobuf: {
            TRY(json::object object, decode_protobuf(text));
            return apiserver::JsonBody{std::make_shared<const json::value>(std::move(object)), {}};
        }
    }
    return apiserver::parse_json_body(text);
}

}  // namespace

struct HttpFront::Impl {
    Impl(apiserver::RequestHandler& handler_, apiserver::AccessOptions access_,
         FrontOptions options)
        : handler(handler_),
          access(handler_, std::move(access_)),
          yaml(options.yaml),
          side_thread(options.side_thread),
          accounts(handler_.clock(), handler_.rng(), options.limits, options.audit),
          paths(handler_, access, accounts, with_current(std::move(options.metrics)),
                options.side_thread),
          extensions(handler_) {}

    Task<void> serve(net::HttpExchange& exchange);
    Task<apiserver::StatusResult<void>> answer(Incoming& incoming);
    /// Takes what the request needs; false: there is no room, and that was answered.
    static bool admit(Incoming& incoming);
    Task<apiserver::StatusResult<void>> serve_extension(Incoming& incoming,
                                                        apiserver::ExtensionServer server);
    Task<apiserver::StatusResult<void>> serve_target(Incoming& incoming, apiserver::Target target);
    Task<apiserver::StatusResult<void>> read_body(Incoming& incoming, bool custom) const;
    Task<apiserver::StatusResult<void>> serve_object(Incoming& incoming, apiserver::Target target);
    Task<apiserver::StatusResult<void>> serve_watch(Incoming& incoming, apiserver::Target target);
    Task<apiserver::StatusResult<void>> serve_log(Incoming& incoming, apiserver::Target target);
    Task<apiserver::StatusResult<void>> serve_review(Incoming& incoming,
                                                     apiserver::Target target) const;
    /// Adds what the front end itself knows.
    std::vector<std::shared_ptr<prometheus::Collectable>> with_current(
        std::vector<std::shared_ptr<prometheus::Collectable>> metrics);
    std::vector<prometheus::MetricFamily> current_metrics() const;

    apiserver::RequestHandler& handler;
    AccessControl access;
    YamlText yaml;
    SideThread* side_thread;
    std::uint64_t own_lines = 0;  ///< of watches in other forms, made separately for each watcher
    RequestAccounts accounts;
    PathEndpoints paths;
    ExtensionProxy extensions;
};

HttpFront::HttpFront(apiserver::ApiServer& server, apiserver::AccessOptions access,
                     FrontOptions options)
    : impl_(std::make_unique<Impl>(server.handler(), std::move(access), std::move(options))) {}

HttpFront::~HttpFront() = default;

std::string body_too_large(std::size_t limit) {
    return json::serialize(kube::status_from_error(
        Error(Code::kTooLarge, fmt::format("Request entity too large: limit is {}", limit))));
}

Task<void> HttpFront::serve(net::HttpExchange& exchange) { return impl_->serve(exchange); }

Task<apiserver::StatusResult<void>> HttpFront::Impl::serve_review(Incoming& incoming,
                                                                  apiserver::Target target) const {
    kube::Request& request = incoming.request;
    if (request.method != kube::Method::kPost || !target.is_collection())
        co_return apiserver::method_not_allowed();
    if (target.type().namespaced && target.namespace_.empty())
        co_return apiserver::method_not_allowed();
    CO_TRY(const apiserver::WriteQuery query,
           apiserver::parse_write_query(request, "CreateOptions"));
    CO_TRY(const apiserver::DecodedObject asked,
           co_await compute_beside(
               side_thread, "decode a review", incoming.exchange.request().body.size(),
               [def = target.def, body = request.body, validation = query.field_validation] {
                   return apiserver::decode_object(*def, body, validation);
               }));
    incoming.works();
    const apiserver::ReviewContext context{
        handler.cache(), incoming.user(),
        [this](const std::string& token, const std::vector<std::string>& audiences) {
            return access.owner_of(token, audiences);
        },
        access.everything_allowed()};
    CO_TRY(json::object answer, apiserver::answer_review(context, target, asked));
    ensure_object(answer, "metadata")["creationTimestamp"] =
        kube::format_time(handler.clock().wall_now());
    net::HttpHeaders headers = headers_of(kJsonType);
    add_warnings(headers, asked.warnings);
    incoming.respond(201, std::move(headers), json::value(std::move(answer)));
    co_return apiserver::StatusResult<void>();
}

Task<void> HttpFront::Impl::serve(net::HttpExchange& exchange) {
    RequestAccounts::Entry entry(accounts, exchange);
    Incoming incoming{exchange, entry, yaml};
    incoming.works();
    apiserver::StatusResult<void> served;
    try {
        served = co_await answer(incoming);
    } catch (...) {
        if (is_cancellation(std::current_exception())) throw;
        served = apiserver::internal_error(report_unexpected(
            fmt::format("{} {}", exchange.request().method, exchange.request().path()),
            std::current_exception()));
    }
    // An answer that was begun is cut off, so that no client takes it for a complete one.
    if (!served && exchange.may_respond()) incoming.refuse(served.error());
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
    std::optional<apiserver::ExtensionServer> extension =
        extension_server(handler.extensions(), request.path);
    apiserver::StatusResult<apiserver::Target> target =
        apiserver::route(handler.registry(), request.path);
    if (extension)
        describe_forwarded(record, *extension, request, http.headers);
    else if (target)
        describe_request(record, *target, request);
    else
        record.action = apiserver::action_on_path(request.path, request.method);

    CO_TRY_VOID(access.identify(http, record));
    if (!record.user.in_group(apiserver::kUnauthenticated)) incoming.exchange.know_client();
    if (!method) co_return apiserver::method_not_allowed();
    if (extension) co_return co_await serve_extension(incoming, *std::move(extension));
    const std::optional<AcceptedForm> accepted = choose_form(incoming.header("Accept"), answers);
    const bool watch = record.action.verb == "watch";
    if (!accepted || (accepted->yaml && (yaml.write == nullptr || watch))) {
        incoming.respond_not_acceptable();
        co_return apiserver::StatusResult<void>();
    }
    incoming.accepted = *accepted;
    if (!admit(incoming)) co_return apiserver::StatusResult<void>();
    if (!target) co_return co_await paths.serve(incoming, std::move(target.error()));
    incoming.named = *target;
    co_return co_await serve_target(incoming, *std::move(target));
}

bool HttpFront::Impl::admit(Incoming& incoming) {
    // Administrators must be able to reach an overloaded server.
    if (incoming.user().in_group(apiserver::kMasters)) incoming.exchange.exempt_from_budget();
    if (incoming.exchange.hold_request() && incoming.entry.admit()) return true;
    incoming.respond_overload();
    return false;
}

Task<apiserver::StatusResult<void>> HttpFront::Impl::serve_extension(
    Incoming& incoming, apiserver::ExtensionServer server) {
    if (!admit(incoming)) co_return apiserver::StatusResult<void>();
    CO_TRY_VOID(access.authorize(incoming.record()));
    incoming.entry.announce();
    co_return co_await extensions.serve(incoming, std::move(server));
}

std::vector<std::shared_ptr<prometheus::Collectable>> HttpFront::Impl::with_current(
    std::vector<std::shared_ptr<prometheus::Collectable>> metrics) {
    metrics.push_back(std::make_shared<CollectedNow>([this] { return current_metrics(); }));
    return metrics;
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

Task<apiserver::StatusResult<void>> HttpFront::Impl::read_body(Incoming& incoming,
                                                               bool custom) const {
    const net::HttpRequest& http = incoming.exchange.request();
    kube::Request& request = incoming.request;
    request.items_apart = true;
    request.user_agent = incoming.header("User-Agent");
    if (request.method == kube::Method::kGet || http.body.empty()) {
        // A patch without a body must at least give its type.
        if (request.method == kube::Method::kPatch) {
            CO_TRY(const BodyType type, body_type(incoming.header("Content-Type"), request.method));
            request.content_type = type.content;
        }
        co_return apiserver::StatusResult<void>();
    }
    CO_TRY(const BodyType type, body_type(incoming.header("Content-Type"), request.method));
    request.content_type = type.content;
    incoming.record().apply = type.content == kube::ContentType::kApplyPatch;
    if (type.format == BodyFormat::kProtobuf && custom && request.method != kube::Method::kDelete)
        co_return apiserver::unsupported_media_type(
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json, application/yaml");
    CO_TRY(apiserver::JsonBody body,
           co_await compute_beside(
               side_thread, "parse a body", http.body.size(),
               [format = type.format, text = std::string_view(http.body), yaml_text = yaml] {
                   return parse_body(format, text, yaml_text);
               }));
    incoming.works();
    request.body = std::move(body.value);
    incoming.record().request_object = request.body;
    request.duplicate_fields = std::move(body.duplicate_fields);
    co_return apiserver::StatusResult<void>();
}

Task<apiserver::StatusResult<void>> HttpFront::Impl::serve_target(Incoming& incoming,
                                                                  apiserver::Target target) {
    kube::Request& request = incoming.request;
    const bool get = request.method == kube::Method::kGet;
    const bool watch = incoming.record().action.verb == "watch";
    CO_TRY_VOID(access.authorize(incoming.record()));
    incoming.entry.announce();
    if (apiserver::is_connection(target.subresource)) {
        // It acts on the pod, whatever method requests the upgrade.
        CO_TRY_VOID(access.authorize(incoming.user(),
                                     apiserver::action_on(target, kube::Method::kPost, false)));
        if (incoming.exchange.has_more_body() && !co_await incoming.exchange.read_body())
            co_return apiserver::StatusResult<void>();
        co_return co_await connect_to_pod(incoming.exchange, handler, std::move(target),
                                          std::move(request));
    }
    if (incoming.exchange.has_more_body() && !co_await incoming.exchange.read_body())
        co_return apiserver::StatusResult<void>();
    CO_TRY_VOID(co_await read_body(incoming, target.def->custom));
    if (!target.def->stored) co_return co_await serve_review(incoming, std::move(target));
    if (target.subresource == "log" && get)
        co_return co_await serve_log(incoming, std::move(target));
    if (watch) co_return co_await serve_watch(incoming, std::move(target));

    co_return co_await serve_object(incoming, std::move(target));
}

Task<apiserver::StatusResult<void>> HttpFront::Impl::serve_object(Incoming& incoming,
                                                                  apiserver::Target target) {
    kube::Request& request = incoming.request;
    const auto row_object = row_object_of(request.query_value("includeObject"));
    if (!row_object)
        co_return apiserver::bad_request(
            fmt::format("unknown includeObject \"{}\": None, Metadata or Object",
                        request.query_value("includeObject")));
    const apiserver::DefPtr def = target.def;
    apiserver::Requester requester;
    if (request.method != kube::Method::kGet) {
        requester.admit = access.admission(incoming.user(), target, request.method);
        requester.user = std::make_shared<const apiserver::User>(incoming.user());
        requester.body_bytes = incoming.exchange.request().body.size();
        requester.audit = std::make_shared<apiserver::AuditAnnotations>();
        incoming.record().annotations = requester.audit;
    }
    CO_TRY(apiserver::Reply reply,
           co_await handler.call(std::move(target), std::move(request), std::move(requester)));
    incoming.works();
    incoming.record().response_object = reply.body;
    incoming.record().response_text = reply.object;
    net::HttpHeaders headers = headers_of(kJsonType);
    add_warnings(headers, reply.warnings);
    const AnswerForm form{.form = incoming.accepted.form,
                          .row_object = *row_object,
                          .now = handler.clock().wall_now(),
                          .yaml = incoming.accepted.yaml ? yaml.write : nullptr};
    const int status = reply.status;
    if (form.yaml != nullptr) headers.set("Content-Type", kYamlType);
    const auto body = std::make_shared<AnswerBody>(def, std::move(reply), form);
    const std::size_t worth = body->is_long() ? kWorthSideThread : 0;
    for (bool more = true; more;) {
        if (!incoming.exchange.hold_answer(body->bytes())) {
            incoming.respond_overload();
            co_return apiserver::StatusResult<void>();
        }
        more = co_await compute_beside(side_thread, "write an answer", worth,
                                       [body] { return body->write_some(); });
        incoming.works();
    }
    incoming.respond_text(status, std::move(headers), body->take());
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
    EventLines event_lines(def, incoming.accepted.form, *row_object);
    // Immediately, so that a client knows that it watches before anything has happened.
    if (!co_await incoming.exchange.begin(200, headers_of(kJsonType)))
        co_return apiserver::StatusResult<void>();
    while (std::optional<apiserver::WatchedEvent> event = co_await watcher->next_text()) {
        // Everything that waits is sent in one piece: most of the cost of a line is sending it.
        std::string lines;  // its memory is not kept while nothing happens
        incoming.works();
        for (; event; event = watcher->try_next()) {
            sent.Increment();
            if (incoming.accepted.form != Form::kObject) ++own_lines;
            const auto append = [&, now = handler.clock().wall_now()] {
                event_lines.append(lines, *event, now);
                return true;
            };
            if (event_lines.is_long(*event)) {
                std::ignore = co_await compute_beside(side_thread, "write events of a watch",
                                                      kWorthSideThread, append);
                incoming.works();
            } else {
                append();
            }
            if (lines.size() >= kWatchPiece || turn_is_long()) break;
        }
        // The client watches again, from the last change that it got.
        if (!incoming.exchange.hold_answer(lines.size() < kSmallPiece ? 0 : lines.size())) break;
        if (!co_await incoming.exchange.write(lines)) co_return apiserver::StatusResult<void>();
        incoming.exchange.hold_answer(0);
    }
    std::ignore = co_await incoming.exchange.end();
    co_return apiserver::StatusResult<void>();
}

Task<apiserver::StatusResult<void>> HttpFront::Impl::serve_log(Incoming& incoming,
                                                               apiserver::Target target) {
    CO_TRY(const std::unique_ptr<kube::TextStream> stream,
           co_await handler.log(std::move(target), std::move(incoming.request)));
    if (!incoming.exchange.hold_answer(kLogPiece)) {
        incoming.respond_overload();
        co_return apiserver::StatusResult<void>();
    }
    if (!co_await incoming.exchange.begin(200, headers_of("text/plain")))
        co_return apiserver::StatusResult<void>();
    for (;;) {
        incoming.exchange.hold_answer(0);  // a log that is followed may say nothing for long
        Result<std::optional<std::string>> piece = co_await stream->read();
        if (!piece) co_return apiserver::StatusResult<void>();  // cut off, so that clients notice
        if (!*piece) break;
        const std::size_t size = (*piece)->size();
        const bool room = incoming.exchange.hold_answer(size < kSmallPiece ? 0 : size);
        if (!room || !co_await incoming.exchange.write(**piece))
            co_return apiserver::StatusResult<void>();  // cut off as well
    }
    std::ignore = co_await incoming.exchange.end();
    co_return apiserver::StatusResult<void>();
}

}  // namespace muster::apiserver_http
