#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/internal/discovery/openapi.h"
#include "apiserver/internal/registry.h"

namespace muster::apiserver {

/// An answer that is no object.
struct Document {
    std::shared_ptr<const std::string> text;
    std::string content_type = "application/json";
    std::string etag = {};  ///< quoted; empty: none
    bool forever = false;   ///< the URL names this very content
};

/// What describes the server: `/`, /version, /api, /apis and below, /openapi/v3. Made when asked
/// for, and again when the registry has changed. Thread: the server's loop. `registry` outlives it.
class Documents {
  public:
    explicit Documents(const Registry& registry) : registry_(registry), openapi_(registry) {}

    /// Nullopt when the path is none of these. `aggregated`: the form of /api and /apis that the
    /// client asks for. `hash`: the query parameter.
    std::optional<Document> find(std::string_view path, bool aggregated, std::string_view hash);

  private:
    std::optional<Document> openapi(std::string_view path, std::string_view hash);

    const Registry& registry_;
    OpenApiDocuments openapi_;
};

}  // namespace muster::apiserver
