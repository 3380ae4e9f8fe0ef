#pragma once

#include <optional>
#include <string_view>

#include "apiserver/internal/refusal.h"
#include "kube/transport.h"

namespace muster::apiserver {

/// In what form an answer goes out. All are JSON.
enum class Form {
    kObject,
    kTable,
    kMetadata,   ///< PartialObjectMetadata, or its list for a collection
    kDiscovery,  ///< APIGroupDiscoveryList; asked for on /api and /apis alone
};

/// The first element of an Accept header that can be served. `discovery`: of /api and /apis.
/// Nullopt when there is none (406); protobuf alone is such a case.
std::optional<Form> choose_form(std::string_view accept, bool discovery = false);

enum class BodyFormat { kJson, kProtobuf };

/// How the body of a request is to be read, and, of a PATCH, what it means.
struct BodyType {
    BodyFormat format = BodyFormat::kJson;
    kube::ContentType content = kube::ContentType::kJson;
};

/// An empty Content-Type is JSON (kubectl scale sends none). 415 for what is not read.
Answer<BodyType> body_type(std::string_view content_type, kube::Method method);

}  // namespace muster::apiserver
