#pragma once

#include <string_view>

namespace muster::kube {

// The structures of Kubernetes 1.33 in the notation that core_schema.cc explains. A field is
// required if a CRD that embeds the structure requires it; in status structures none is, since the
// real server fills in what a writer leaves out.

extern const std::string_view kMetaTable;
extern const std::string_view kPodTable;
extern const std::string_view kVolumeTable;
extern const std::string_view kPodStatusTable;
extern const std::string_view kNodeTable;
extern const std::string_view kCrdTable;
extern const std::string_view kKindTable;       ///< the smaller kinds
extern const std::string_view kAccessTable;     ///< roles, bindings and reviews
extern const std::string_view kAdmissionTable;  ///< webhook configurations
extern const std::string_view kWorkloadTable;  ///< apps, batch, and similar kinds of the core group
extern const std::string_view kAutoscalerTable;
extern const std::string_view kStorageTable;  ///< claims, volumes and their classes
extern const std::string_view kNetworkTable;  ///< endpoints, policies and ingresses
extern const std::string_view kLimitTable;    ///< quotas, ranges, priorities and runtimes

}  // namespace muster::kube
