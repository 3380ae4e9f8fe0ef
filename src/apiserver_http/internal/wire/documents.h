#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/resources/registry.h"
#include "apiserver_http/internal/discovery/openapi.h"
#include "apiserver_http/internal/wire/media_type.h"

namespace muster::apiserver_http {

inline constexpr std::string_view kOpenApiV2Path = "/openapi/v2";

/// An answer that is not an object. `value` makes the value that is written as YAML: pure, for any
/// thread.
struct Document {
    std::shared_ptr<const std::string> text;
    std::function<json::value()> value;
    std::string content_type = "application/json";
    std::string etag = {};  ///< quoted; empty: none
    enum class Caching {
        kAsked,    ///< its client asks again each time
        kShared,   ///< anybody may keep it, and asks whether it is still the same
        kForever,  ///< the URL identifies this very content
    };
    Caching caching = Caching::kAsked;
};

/// The documents that describe the server: `/`, /version, /api, /apis and below, /openapi/v2 and
/// v3. Made on request, and again when what is served has changed. Thread: the server's loop.
/// What it refers to outlives it.
class Documents {
  public:
    Documents(const apiserver::Registry& registry, const apiserver::ExtensionServers& extensions)
        : registry_(registry), extensions_(extensions), openapi_(registry, extensions) {}

    /// Makes beside the loop what find() would have to make for this path; null: on the loop.
    Task<void> prepare(std::string path, SideThread* thread);
    /// Nullopt if the path is none of these. `form`: the form of /api, /apis and /openapi/v2 that
    /// the client asks for. `hash`: the query parameter.
    std::optional<Document> find(std::string_view path, Form form, std::string_view hash);

  private:
    std::optional<Document> openapi(std::string_view path, std::string_view hash);
    Document openapi_v2(bool protobuf);

    const apiserver::Registry& registry_;
    const apiserver::ExtensionServers& extensions_;
    OpenApiDocuments openapi_;
};

}  // namespace muster::apiserver_http
