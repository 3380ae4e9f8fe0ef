#pragma once

#include <optional>
#include <string_view>

#include "apiserver/requests/status_error.h"
#include "kube/transport/transport.h"

namespace muster::apiserver_http {

/// In what form an answer goes out, which JSON and YAML have in common.
enum class Form {
    kObject,
    kTable,
    kMetadata,   ///< PartialObjectMetadata, or its list for a collection
    kDiscovery,  ///< APIGroupDiscoveryList; asked for on /api and /apis alone
    kProtobuf,   ///< of /openapi/v2 alone
};

inline constexpr std::string_view kYamlType = "application/yaml";

struct AcceptedForm {
    Form form = Form::kObject;
    bool yaml = false;

    friend bool operator==(const AcceptedForm&, const AcceptedForm&) = default;
};

/// What a path answers with besides what all do.
enum class Answers { kObjects, kDiscovery, kOpenApiV2 };

/// The first element of an Accept header that can be served. Nullopt when there is none (406);
/// protobuf alone is such a case for most paths.
std::optional<AcceptedForm> choose_form(std::string_view accept,
                                        Answers answers = Answers::kObjects);

enum class BodyFormat { kJson, kYaml, kProtobuf };

/// How the body of a request is to be read, and, of a PATCH, what it means.
struct BodyType {
    BodyFormat format = BodyFormat::kJson;
    kube::ContentType content = kube::ContentType::kJson;
};

/// An empty Content-Type is JSON (kubectl scale sends none). 415 for what is not read.
apiserver::StatusResult<BodyType> body_type(std::string_view content_type, kube::Method method);

}  // namespace muster::apiserver_http
