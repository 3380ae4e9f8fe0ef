#include "apiserver_http/internal/discovery/openapi.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>

#include "apiserver_http/internal/discovery/discovery.h"
#include "apiserver_http/internal/discovery/openapi_paths.h"
#include "apiserver_http/internal/discovery/openapi_schemas.h"
#include "apiserver_http/internal/discovery/openapi_v2.h"

namespace muster::apiserver_http {

namespace {

/// FNV-1a: distinguishes one text from the next.
std::string hash_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return fmt::format("{:016X}", hash);
}

std::shared_ptr<const OpenApiDocument> finished(std::string text) {
    std::string hash = hash_of(text);
    return std::make_shared<const OpenApiDocument>(
        OpenApiDocument{std::move(text), std::move(hash)});
}

json::object document_of_version(const std::vector<apiserver::DefPtr>& defs) {
    json::object paths;
    SchemaComponents components;
    for (const apiserver::DefPtr& def : defs) {
        add_paths(*def, paths);
        components.add(*def);
    }
    return {{"openapi", "3.0.0"},
            {"info", {{"title", "Kubernetes"}, {"version", kServerVersion}}},
            {"paths", std::move(paths)},
            {"components", {{"schemas", components.take()}}}};
}

/// "api/v1" for v1, "apis/apps/v1" for apps/v1.
std::string path_of(const std::string& api_version) {
    return api_version.find('/') == std::string::npos ? "api/" + api_version
                                                      : "apis/" + api_version;
}

}  // namespace

std::shared_ptr<const OpenApiDocument> OpenApiDocuments::index() {
    if (index_ != nullptr && index_generation_ == registry_.generation()) return index_;
    index_ = finished(json::serialize(value_of_index()));
    index_generation_ = registry_.generation();
    return index_;
}

json::object OpenApiDocuments::value_of_index() {
    json::object paths;
    std::map<std::string, Made, std::less<>> kept;
    for (auto& [api_version, defs] : registry_.served()) {
        const std::string path = path_of(api_version);
        const std::string hash = document_of(api_version, std::move(defs))->hash;
        paths[path] = {{"serverRelativeURL", fmt::format("/openapi/v3/{}?hash={}", path, hash)}};
        kept.insert(made_.extract(api_version));
    }
    // Documents that are no longer served are dropped.
    made_ = std::move(kept);
    return {{"paths", std::move(paths)}};
}

json::object OpenApiDocuments::value_of_version_2() const {
    std::vector<json::value> documents;
    for (const auto& [api_version, defs] : registry_.served())
        documents.emplace_back(document_of_version(defs));
    return openapi_v2(documents);
}

json::object OpenApiDocuments::value_of(std::string_view path) const {
    for (const auto& [api_version, defs] : registry_.served())
        if (path_of(api_version) == path) return document_of_version(defs);
    return {};
}

void OpenApiDocuments::make_version_2() {
    if (version_2_ != nullptr && version_2_generation_ == registry_.generation()) return;
    const json::object document = value_of_version_2();
    version_2_ = finished(json::serialize(document));
    version_2_protobuf_ = finished(openapi_v2_protobuf(document));
    version_2_generation_ = registry_.generation();
}

std::shared_ptr<const OpenApiDocument> OpenApiDocuments::version_2() {
    make_version_2();
    return version_2_;
}

std::shared_ptr<const OpenApiDocument> OpenApiDocuments::version_2_protobuf() {
    make_version_2();
    return version_2_protobuf_;
}

std::shared_ptr<const OpenApiDocument> OpenApiDocuments::find(std::string_view path) {
    auto served = registry_.served();
    for (auto& [api_version, defs] : served)
        if (path_of(api_version) == path) return document_of(api_version, std::move(defs));
    return nullptr;
}

std::shared_ptr<const OpenApiDocument> OpenApiDocuments::document_of(
    const std::string& api_version, std::vector<apiserver::DefPtr> defs) {
    Made& made = made_[api_version];
    if (made.document != nullptr && made.of == defs) return made.document;
    made = {std::move(defs), nullptr};
    made.document = finished(json::serialize(document_of_version(made.of)));
    return made.document;
}

}  // namespace muster::apiserver_http
