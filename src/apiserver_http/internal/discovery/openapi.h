#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/resources/registry.h"

namespace muster::apiserver_http {

/// One OpenAPI document as it is sent.
struct OpenApiDocument {
    std::string text;  ///< JSON; of v2 also protobuf
    std::string hash;  ///< of the text, upper-case hexadecimal
};

/// The OpenAPI v3 documents, one for each group version, and that of v2, which is made from them. A
/// document is made when it or the index is requested, and again when the definitions of its group
/// version have changed. Thread: the server's loop. `registry` outlives it.
class OpenApiDocuments {
  public:
    explicit OpenApiDocuments(const apiserver::Registry& registry) : registry_(registry) {}

    /// /openapi/v3: the index of documents; their URLs contain their hashes.
    std::shared_ptr<const OpenApiDocument> index();
    /// /openapi/v2: all of them as one.
    std::shared_ptr<const OpenApiDocument> version_2();
    std::shared_ptr<const OpenApiDocument> version_2_protobuf();
    /// /openapi/v3/PATH; `path` is "api/v1" or "apis/GROUP/VERSION". Null if it is not served.
    std::shared_ptr<const OpenApiDocument> find(std::string_view path);

    // The values from which the texts are made, for other forms. Made again each time, since they
    // are rarely requested.
    json::object value_of_index();
    json::object value_of_version_2() const;
    /// Empty if it is not served.
    json::object value_of(std::string_view path) const;

  private:
    struct Made {
        std::vector<apiserver::DefPtr> of;
        std::shared_ptr<const OpenApiDocument> document;
    };

    void make_version_2();
    std::shared_ptr<const OpenApiDocument> document_of(const std::string& api_version,
                                                       std::vector<apiserver::DefPtr> defs);

    const apiserver::Registry& registry_;
    std::map<std::string, Made, std::less<>> made_;  // by apiVersion
    std::uint64_t index_generation_ = 0;
    std::shared_ptr<const OpenApiDocument> index_;  // null: not made for that generation
    std::uint64_t version_2_generation_ = 0;
    std::shared_ptr<const OpenApiDocument> version_2_;  // null as above
    std::shared_ptr<const OpenApiDocument> version_2_protobuf_;
};

}  // namespace muster::apiserver_http
