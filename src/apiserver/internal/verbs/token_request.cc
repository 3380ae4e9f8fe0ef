#include "apiserver/internal/verbs/token_request.h"

#include "apiserver/authentication/account_token.h"
#include "apiserver/authentication/jwt.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/text_fields.h"
#include "apiserver/requests/request_options.h"
#include "kube/values/time.h"

namespace muster::apiserver {

namespace {

constexpr std::int64_t kDefaultSeconds = 3600;
constexpr std::int64_t kLeastSeconds = 600;
constexpr std::int64_t kMostSeconds = std::int64_t{1} << 32;
constexpr std::string_view kApiVersion = "authentication.k8s.io/v1";

StatusResult<json::object> read_body(const Target& target, const kube::ObjectPtr& body) {
    if (body == nullptr || !body->is_object())
        return bad_request("the body of the request must be a TokenRequest object");
    const json::object& object = body->get_object();
    const std::string_view kind = string_at(object, "kind");
    const std::string_view version = string_at(object, "apiVersion");
    if ((!kind.empty() && kind != "TokenRequest") || (!version.empty() && version != kApiVersion))
        return bad_request(fmt::format("a TokenRequest of {} is wanted, not a {} of {}",
                                       kApiVersion, kind, version));
    const kube::Inspection found = kube::inspect(*kube::core_schema("TokenRequest"), *body);
    if (!found.causes.empty())
        return bad_request("the TokenRequest can't be read: " + describe(found.causes.front()));
    const std::string_view name = name_of(object);
    if (!name.empty() && name != target.name)
        return bad_request(
            fmt::format("the name of the object ({}) does not match the name on the URL ({})", name,
                        target.name));
    const std::string_view space = namespace_of(object);
    if (!space.empty() && space != target.namespace_)
        return bad_request(fmt::format(
            "the namespace of the object ({}) does not match the namespace on the URL ({})", space,
            target.namespace_));
    return object;
}

StatusResult<std::int64_t> lifetime(const Target& target, const json::object& spec) {
    const std::int64_t seconds = int_at(spec, "expirationSeconds").value_or(kDefaultSeconds);
    std::string_view wrong;
    if (seconds < kLeastSeconds) wrong = "may not specify a duration less than 10 minutes";
    if (seconds > kMostSeconds) wrong = "may not specify a duration larger than 2^32 seconds";
    if (wrong.empty()) return seconds;
    return invalid("TokenRequest", "authentication.k8s.io", target.name,
                   {invalid_value("spec.expirationSeconds", json::value(seconds), wrong)});
}

/// The object that the token is to be bound to.
StatusResult<kube::ObjectPtr> bound_object(const WatchCache& cache, const kube::ResourceType& type,
                                           const std::string& namespace_,
                                           const json::object& reference) {
    const std::string name(string_at(reference, "name"));
    const CachedObject* found =
        cache.find(type.qualified(), type.namespaced ? namespace_ : std::string(), name);
    if (found == nullptr) return not_found(type, name);
    const std::string_view uid = string_at(reference, "uid");
    if (!uid.empty() && uid != uid_of(*found->object))
        return conflict(type, name,
                        fmt::format("the UID in the bound object reference ({}) does not match the "
                                    "UID in record. The object might have been deleted and then "
                                    "recreated",
                                    uid));
    return found->tree();
}

NamedObject named(const kube::ObjectPtr& object) {
    return {std::string(name_of(object->get_object())), std::string(uid_of(object->get_object()))};
}

StatusResult<void> bind(const WatchCache& cache, const json::object& reference,
                        AccountToken& token) {
    const std::string_view kind = string_at(reference, "kind");
    const std::string& space = token.account.namespace_;
    if (string_at(reference, "apiVersion") != "v1" ||
        (kind != "Pod" && kind != "Secret" && kind != "Node"))
        return bad_request(fmt::format("cannot bind token to object of type {}, Kind={}",
                                       string_at(reference, "apiVersion"), kind));
    if (kind == "Secret") {
        TRY(const kube::ObjectPtr secret,
            bound_object(cache, kube::types::kSecrets, space, reference));
        token.secret = named(secret);
        return {};
    }
    if (kind == "Node") {
        TRY(const kube::ObjectPtr node, bound_object(cache, kube::types::kNodes, "", reference));
        token.node = named(node);
        return {};
    }
    TRY(const kube::ObjectPtr pod, bound_object(cache, kube::types::kPods, space, reference));
    token.pod = named(pod);
    const json::object* spec = object_at(pod->get_object(), "spec");
    std::string_view account = spec == nullptr ? "" : string_at(*spec, "serviceAccountName");
    if (account.empty()) account = "default";
    if (account != token.account.name)
        return bad_request(
            fmt::format("cannot bind token for serviceaccount \"{}\" to pod running "
                        "with different serviceaccount name.",
                        token.account.name));
    const std::string node(spec == nullptr ? "" : string_at(*spec, "nodeName"));
    if (const CachedObject* found = cache.find("nodes", "", node))
        token.node = named(found->tree());
    return {};
}

}  // namespace

StatusResult<Reply> grant_token(ServerState& state, const Target& target,
                                const kube::Request& request) {
    if (request.method != kube::Method::kPost) return method_not_allowed();
    if (state.options.signing_key == nullptr) return unknown_resource();
    TRY_VOID(parse_write_query(request, "CreateOptions"));
    TRY(json::object answer, read_body(target, request.body));
    const CachedObject* account =
        state.cache.find("serviceaccounts", target.namespace_, target.name);
    if (account == nullptr) return not_found(target.type(), target.name);

    json::object& spec = ensure_object(answer, "spec");
    TRY(const std::int64_t seconds, lifetime(target, spec));
    const TokenRules& rules = state.options.token_rules;
    AccountToken token{.issuer = rules.issuers.front(),
                       .account = {target.namespace_, target.name},
                       .account_uid = uid_of(*account->object),
                       .audiences = strings_at(spec, "audiences"),
                       .id = state.rng.uuid(),
                       .issued = state.clock.wall_now(),
                       .expires = {}};
    token.expires = token.issued + std::chrono::seconds(seconds);
    if (token.audiences.empty()) token.audiences = rules.own_audiences();
    if (const json::object* reference = object_at(spec, "boundObjectRef"))
        TRY_VOID(bind(state.cache, *reference, token));
    TRY(std::string text, make_jwt(*state.options.signing_key, claims_of(token)));

    spec["audiences"] = json::array(token.audiences.begin(), token.audiences.end());
    spec["expirationSeconds"] = seconds;
    answer["apiVersion"] = kApiVersion;
    answer["kind"] = "TokenRequest";
    answer["metadata"] = {{"name", target.name},
                          {"namespace", target.namespace_},
                          {"creationTimestamp", kube::format_time(token.issued)}};
    answer["status"] = {{"token", std::move(text)},
                        {"expirationTimestamp", kube::format_time(token.expires)}};
    Reply reply;
    reply.status = 201;
    reply.body = std::make_shared<const json::value>(std::move(answer));
    return reply;
}

}  // namespace muster::apiserver
