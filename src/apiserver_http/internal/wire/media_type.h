#pragma once

#include <optional>
#include <string_view>

#include "apiserver/requests/status_error.h"
#include "kube/transport/transport.h"

namespace muster::apiserver_http {

/// The form of an answer, which may be in JSON or YAML.
enum class Form {
    kObject,
    kTable,
    kMetadata,   ///< PartialObjectMetadata, or its list for a collection
    kDiscovery,  ///< APIGroupDiscoveryList; only for /api and /apis
    kProtobuf,   ///< only for /openapi/v2
};

inline constexpr std::string_view kYamlType = "application/yaml";

struct AcceptedForm {
    Form form = Form::kObject;
    bool yaml = false;

    friend bool operator==(const AcceptedForm&, const AcceptedForm&) = default;
};

/// The forms that a path offers besides those of all paths.
enum class Answers { kObjects, kDiscovery, kOpenApiV2 };

/// The first element of an Accept header that can be served. Nullopt if there is none (406), as for
/// protobuf alone on most paths.
std::optional<AcceptedForm> choose_form(std::string_view accept,
                                        Answers answers = Answers::kObjects);

enum class BodyFormat { kJson, kYaml, kProtobuf };

/// How to read the body of a request, and, for a PATCH, what it means.
struct BodyType {
    BodyFormat format = BodyFormat::kJson;
    kube::ContentType content = kube::ContentType::kJson;
};

/// An empty Content-Type is JSON (kubectl scale sends none). 415 for types that can't be read.
apiserver::StatusResult<BodyType> body_type(std::string_view content_type, kube::Method method);

}  // namespace muster::apiserver_http
