#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/aggregation/extension_servers.h"
#include "apiserver/resources/registry.h"
#include "base/async/side_thread.h"

namespace muster::apiserver_http {

/// Distinguishes one text from the next; upper-case hexadecimal.
std::string content_hash(std::string_view text);

/// One OpenAPI document as it is sent.
struct OpenApiDocument {
    std::string text;  ///< JSON; of v2 also protobuf
    std::string hash;  ///< content_hash() of the text
};

/// The OpenAPI v3 documents, one for each group version, and that of v2, which is made from them. A
/// document is made when it or the index is requested, and again when the definitions of its group
/// version have changed. Those of extension servers are in the index alone. Thread: the server's
/// loop. What it refers to outlives it.
class OpenApiDocuments {
  public:
    OpenApiDocuments(const apiserver::Registry& registry,
                     const apiserver::ExtensionServers& extensions)
        : registry_(registry), extensions_(extensions) {}

    /// Makes what a request for this path (/openapi/...) needs and what is not there yet, on the
    /// thread if it is not null. Afterwards the functions below cost little; without it they make
    /// it themselves.
    Task<void> prepare(std::string path, SideThread* thread);

    /// /openapi/v3: the index of documents; their URLs contain their hashes.
    std::shared_ptr<const OpenApiDocument> index();
    /// /openapi/v2: all of them as one.
    std::shared_ptr<const OpenApiDocument> version_2();
    std::shared_ptr<const OpenApiDocument> version_2_protobuf();
    /// /openapi/v3/PATH; `path` is "api/v1" or "apis/GROUP/VERSION". Null if it is not served.
    std::shared_ptr<const OpenApiDocument> find(std::string_view path);

    // Functions that make the values of the texts, for other forms: pure, for any thread. The values
    // are made again each time, since they are rarely requested.
    using MakeValue = std::function<json::object()>;
    MakeValue value_of_index();
    MakeValue value_of_version_2() const;
    /// Its value is empty if the path is not served.
    MakeValue value_of(std::string_view path) const;

  private:
    using Defs = std::vector<apiserver::DefPtr>;
    struct Made {
        Defs of;
        std::shared_ptr<const OpenApiDocument> document;
    };
    struct Version2 {
        std::shared_ptr<const OpenApiDocument> json;
        std::shared_ptr<const OpenApiDocument> protobuf;
    };

    static Version2 make_version_2(const std::map<std::string, Defs>& served);
    bool has_version_2() const {
        return version_2_.json != nullptr && version_2_generation_ == registry_.generation();
    }
    const Version2& both_of_version_2();
    bool has(const std::string& api_version, const Defs& defs) const;
    json::object index_value();
    std::shared_ptr<const OpenApiDocument> document_of(const std::string& api_version, Defs defs);

    const apiserver::Registry& registry_;
    const apiserver::ExtensionServers& extensions_;
    std::map<std::string, Made, std::less<>> made_;  // by apiVersion
    std::uint64_t index_generation_ = 0;
    std::uint64_t index_extensions_ = 0;            ///< the generation of these
    std::shared_ptr<const OpenApiDocument> index_;  // null: not made for that generation
    std::uint64_t version_2_generation_ = 0;
    Version2 version_2_;  // null as above
};

}  // namespace muster::apiserver_http
