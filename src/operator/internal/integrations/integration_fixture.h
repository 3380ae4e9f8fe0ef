#pragma once

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <string>
#include <string_view>

#include "jobs/kind.h"

namespace muster::operators {

/// A job of any kind from its spec, as seen by an operator on a cluster that was started with this
/// gang scheduler. Its uid is "u".
inline jobs::Job integrated_job(const std::string& version, const std::string& kind,
                                std::string_view spec, const std::string& gang_scheduler,
                                json::object annotations = {}) {
    json::object object{{"apiVersion", "kubeflow.org/" + version},
                        {"kind", kind},
                        {"metadata",
                         {{"name", "demo"},
                          {"namespace", "ml"},
                          {"uid", "u"},
                          {"annotations", std::move(annotations)}}},
                        {"spec", json::parse(spec)}};
    auto job = jobs::load(*jobs::find_kind("kubeflow.org/" + version, kind), object,
                          {.node_program = {},
                           .cluster_domain = {},
                           .cluster = true,
                           .gang_scheduler = gang_scheduler});
    if (!job.has_value()) {
        ADD_FAILURE() << job.error().message();
        return {};
    }
    return *std::move(job);
}

inline jobs::Job integrated_job(std::string_view spec, const std::string& gang_scheduler,
                                json::object annotations = {}) {
    return integrated_job("v1", "PyTorchJob", spec, gang_scheduler, std::move(annotations));
}

/// A replica of a PyTorchJob; `rest` is what its pod spec has in addition to the container.
inline std::string replica(int count, std::string_view resources, std::string_view rest = "") {
    std::string text = R"({"replicas":)" + std::to_string(count) +
                       R"(,"template":{"spec":{"containers":[{"name":"pytorch","image":"i")";
    if (!resources.empty()) text += R"(,"resources":{"requests":)" + std::string(resources) + "}";
    return text + "}]" + (rest.empty() ? "" : "," + std::string(rest)) + "}}}";
}

}  // namespace muster::operators
