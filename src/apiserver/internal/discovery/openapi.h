#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/internal/registry.h"

namespace muster::apiserver {

/// One OpenAPI v3 document as it is sent.
struct OpenApiDocument {
    std::string text;  ///< JSON
    std::string hash;  ///< of the text, upper-case hexadecimal
};

/// The OpenAPI v3 documents, one for each group version. A document is made when somebody asks for
/// it or for the index, and again when the definitions of its group version have changed.
/// Thread: the server's loop. `registry` outlives it.
class OpenApiDocuments {
  public:
    explicit OpenApiDocuments(const Registry& registry) : registry_(registry) {}

    /// /openapi/v3: where the documents are; their URLs carry their hashes.
    std::shared_ptr<const OpenApiDocument> index();
    /// /openapi/v3/PATH; `path` is "api/v1" or "apis/GROUP/VERSION". Null when it is not served.
    std::shared_ptr<const OpenApiDocument> find(std::string_view path);

  private:
    struct Made {
        std::vector<DefPtr> of;
        std::shared_ptr<const OpenApiDocument> document;
    };

    std::shared_ptr<const OpenApiDocument> document_of(const std::string& api_version,
                                                       std::vector<DefPtr> defs);

    const Registry& registry_;
    std::map<std::string, Made, std::less<>> made_;  // by apiVersion
    std::uint64_t index_generation_ = 0;
    std::shared_ptr<const OpenApiDocument> index_;  // null: not made for that generation
};

}  // namespace muster::apiserver
