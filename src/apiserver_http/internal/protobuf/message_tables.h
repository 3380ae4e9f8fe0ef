#pragma once

#include <string_view>

namespace muster::apiserver_http {

// The messages of the protobuf bodies, with the numbers of the generated.proto files of
// kubernetes/api, kubernetes/apimachinery and kubernetes/apiextensions-apiserver.
// message_catalog.cc explains the notation.

extern const std::string_view kMetaMessages;
extern const std::string_view kVolumeMessages;
extern const std::string_view kPodMessages;
extern const std::string_view kPodStatusMessages;
extern const std::string_view kCoreMessages;      ///< the smaller kinds of the core group
extern const std::string_view kWorkloadMessages;  ///< apps, batch, autoscaling, policy
extern const std::string_view kAccessMessages;    ///< roles, tokens, reviews
extern const std::string_view kCrdMessages;
extern const std::string_view kAdmissionMessages;
extern const std::string_view kStoredMessages;  ///< volumes, limits, networking

}  // namespace muster::apiserver_http
