#include "apiserver_http/internal/wire/documents.h"

#include <boost/json/serialize.hpp>

#include "apiserver_http/internal/discovery/discovery.h"
#include "apiserver_http/internal/discovery/openapi_v2.h"

namespace muster::apiserver_http {

namespace {

std::optional<Document> document(json::object made) {
    auto kept = std::make_shared<const json::value>(std::move(made));
    auto text = std::make_shared<const std::string>(json::serialize(*kept));
    return Document{.text = std::move(text), .value = [kept] { return *kept; }};
}

std::optional<Document> document(std::optional<json::object> value) {
    if (!value) return std::nullopt;
    return document(*std::move(value));
}

std::optional<Document> aggregated_document(json::object value) {
    std::optional<Document> made = document(std::move(value));
    made->content_type = kAggregatedDiscoveryType;
    made->etag = fmt::format("\"{}\"", content_hash(*made->text));
    made->caching = Document::Caching::kShared;
    return made;
}

}  // namespace

Task<void> Documents::prepare(std::string path, SideThread* thread) {
    if (path == kOpenApiV2Path || path.starts_with("/openapi/v3"))
        co_await openapi_.prepare(std::move(path), thread);
}

std::optional<Document> Documents::find(std::string_view path, Form form, std::string_view hash) {
    const bool aggregated = form == Form::kDiscovery;
    if (path.empty()) return document(root_paths(registry_, extensions_));
    if (path == "/version") return document(version_document());
    if (path == "/api")
        return aggregated ? aggregated_document(aggregated_core(registry_))
                          : document(api_versions(""));
    if (path == "/apis")
        return aggregated ? aggregated_document(aggregated_groups(registry_, extensions_))
                          : document(api_group_list(registry_, extensions_));
    if (path == kOpenApiV2Path) return openapi_v2(form == Form::kProtobuf);
    if (path.starts_with("/openapi/v3")) return openapi(path, hash);
    if (path.starts_with("/api/") && path.find('/', 5) == path.npos)
        return document(api_resource_list(registry_, path.substr(5)));
    if (path.starts_with("/apis/")) {
        const std::string_view rest = path.substr(6);
        const std::size_t slash = rest.find('/');
        if (slash == rest.npos) return document(api_group(registry_, extensions_, rest));
        if (rest.find('/', slash + 1) == rest.npos)
            return document(api_resource_list(registry_, rest));
    }
    return std::nullopt;
}

Document Documents::openapi_v2(bool protobuf) {
    const std::shared_ptr<const OpenApiDocument> made =
        protobuf ? openapi_.version_2_protobuf() : openapi_.version_2();
    return {.text = std::shared_ptr<const std::string>(made, &made->text),
            .value = openapi_.value_of_version_2(),
            .content_type = std::string(protobuf ? kOpenApiV2Protobuf : "application/json"),
            .etag = fmt::format("\"{}\"", made->hash)};
}

std::optional<Document> Documents::openapi(std::string_view path, std::string_view hash) {
    constexpr std::string_view kIndex = "/openapi/v3";
    std::shared_ptr<const OpenApiDocument> made;
    if (path == kIndex)
        made = openapi_.index();
    else if (path[kIndex.size()] == '/')
        made = openapi_.find(path.substr(kIndex.size() + 1));
    if (made == nullptr) return std::nullopt;
    return Document{.text = std::shared_ptr<const std::string>(made, &made->text),
                    .value = path == kIndex ? openapi_.value_of_index()
                                            : openapi_.value_of(path.substr(kIndex.size() + 1)),
                    .etag = fmt::format("\"{}\"", made->hash),
                    .caching = !hash.empty() && hash == made->hash ? Document::Caching::kForever
                                                                   : Document::Caching::kAsked};
}

}  // namespace muster::apiserver_http
