#include "apiserver_http/internal/discovery/openapi.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "apiserver_http/internal/discovery/discovery.h"
#include "apiserver_http/internal/discovery/openapi_paths.h"
#include "apiserver_http/internal/discovery/openapi_schemas.h"
#include "apiserver_http/internal/discovery/openapi_v2.h"

namespace muster::apiserver_http {

namespace {

std::shared_ptr<const OpenApiDocument> finished(std::string text) {
    std::string hash = content_hash(text);
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

std::shared_ptr<const OpenApiDocument> made_of(const std::vector<apiserver::DefPtr>& defs) {
    return finished(json::serialize(document_of_version(defs)));
}

json::object version_2_of(const std::map<std::string, std::vector<apiserver::DefPtr>>& served) {
    std::vector<json::value> documents;
    for (const auto& [api_version, defs] : served)
        documents.emplace_back(document_of_version(defs));
    return openapi_v2(documents);
}

/// "api/v1" for v1, "apis/apps/v1" for apps/v1.
std::string path_of(const std::string& api_version) {
    return api_version.find('/') == std::string::npos ? "api/" + api_version
                                                      : "apis/" + api_version;
}

}  // namespace

std::string content_hash(std::string_view text) {
    // FNV-1a.
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return fmt::format("{:016X}", hash);
}

Task<void> OpenApiDocuments::prepare(std::string path, SideThread* thread) {
    constexpr std::string_view kVersion3 = "/openapi/v3";
    if (!path.starts_with(kVersion3)) {
        if (has_version_2()) co_return;
        const std::uint64_t generation = registry_.generation();
        Version2 made = co_await compute_beside(
            thread, "describe all versions (OpenAPI v2)", kWorthSideThread,
            [served = registry_.served()] { return make_version_2(served); });
        version_2_ = std::move(made);
        version_2_generation_ = generation;
        co_return;
    }
    const std::string wanted = path.substr(std::min(path.size(), kVersion3.size() + 1));
    const std::map<std::string, Defs> served = registry_.served();
    for (const auto& [api_version, defs] : served) {
        if (has(api_version, defs) || (!wanted.empty() && path_of(api_version) != wanted)) continue;
        auto document =
            co_await compute_beside(thread, "describe a version (OpenAPI v3)", kWorthSideThread,
                                    [of = defs] { return made_of(of); });
        made_[api_version] = {defs, std::move(document)};
    }
}

std::shared_ptr<const OpenApiDocument> OpenApiDocuments::index() {
    if (index_ != nullptr && index_generation_ == registry_.generation() &&
        index_extensions_ == extensions_.generation())
        return index_;
    index_ = finished(json::serialize(index_value()));
    index_generation_ = registry_.generation();
    index_extensions_ = extensions_.generation();
    return index_;
}

json::object OpenApiDocuments::index_value() {
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
    for (const auto& [api_version, known] : extensions_.all()) {
        if (known.said == nullptr) continue;
        const std::string path = path_of(api_version);
        if (known.said->openapi_url.empty())
            paths.erase(path);
        else
            paths[path] = {{"serverRelativeURL", known.said->openapi_url}};
    }
    return {{"paths", std::move(paths)}};
}

OpenApiDocuments::MakeValue OpenApiDocuments::value_of_index() {
    return [value = index_value()] { return value; };
}

OpenApiDocuments::MakeValue OpenApiDocuments::value_of_version_2() const {
    return [served = registry_.served()] { return version_2_of(served); };
}

OpenApiDocuments::MakeValue OpenApiDocuments::value_of(std::string_view path) const {
    for (auto& [api_version, defs] : registry_.served())
        if (path_of(api_version) == path) return [of = defs] { return document_of_version(of); };
    return [] { return json::object(); };
}

OpenApiDocuments::Version2 OpenApiDocuments::make_version_2(
    const std::map<std::string, Defs>& served) {
    const json::object document = version_2_of(served);
    return {finished(json::serialize(document)), finished(openapi_v2_protobuf(document))};
}

const OpenApiDocuments::Version2& OpenApiDocuments::both_of_version_2() {
    if (!has_version_2()) {
        version_2_ = make_version_2(registry_.served());
        version_2_generation_ = registry_.generation();
    }
    return version_2_;
}

std::shared_ptr<const OpenApiDocument> OpenApiDocuments::version_2() {
    return both_of_version_2().json;
}

std::shared_ptr<const OpenApiDocument> OpenApiDocuments::version_2_protobuf() {
    return both_of_version_2().protobuf;
}

std::shared_ptr<const OpenApiDocument> OpenApiDocuments::find(std::string_view path) {
    auto served = registry_.served();
    for (auto& [api_version, defs] : served)
        if (path_of(api_version) == path) return document_of(api_version, std::move(defs));
    return nullptr;
}

bool OpenApiDocuments::has(const std::string& api_version, const Defs& defs) const {
    const auto found = made_.find(api_version);
    return found != made_.end() && found->second.document != nullptr && found->second.of == defs;
}

std::shared_ptr<const OpenApiDocument> OpenApiDocuments::document_of(const std::string& api_version,
                                                                     Defs defs) {
    if (!has(api_version, defs)) {
        auto document = made_of(defs);
        made_[api_version] = {std::move(defs), std::move(document)};
    }
    return made_[api_version].document;
}

}  // namespace muster::apiserver_http
