#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <string>

#include "jobs/kind.h"
#include "jobs/scale_plan.h"
#include "operator/internal/cache/projections.h"
#include "operator/internal/scaling/plan_record.h"

namespace muster::operators {

// ElasticJobs and plans for the tests of this room.

inline const jobs::JobKind& elastic() {
    return *jobs::find_kind("elastic.iml.github.io/v1alpha1", "ElasticJob");
}

inline std::string replica_spec(const std::string& type, int replicas) {
    return fmt::format(R"("{}": {{"replicas": {}, "template": {{"spec": {{"containers": [
        {{"name": "main", "image": "x", "command": ["train"],
          "resources": {{"requests": {{"cpu": "1"}}}}}}]}}}}}})",
                       type, replicas);
}

/// `types`: what replica_spec() makes. `more`: further fields of the spec, each with a comma.
inline json::value elastic_object(const std::string& types, const std::string& more = {},
                                  const std::string& name = "demo") {
    return json::parse(fmt::format(R"({{
        "apiVersion": "elastic.iml.github.io/v1alpha1", "kind": "ElasticJob",
        "metadata": {{"name": "{}", "namespace": "default"}},
        "spec": {{{} "replicaSpecs": {{{}}}}}}})",
                                   name, more, types));
}

/// As a server has it.
inline json::value served(json::value object, const std::string& uid, int generation,
                          const std::string& status = "{}") {
    json::object& metadata = object.at("metadata").as_object();
    metadata["uid"] = uid;
    metadata["resourceVersion"] = uid + "-1";
    metadata["generation"] = generation;
    metadata["creationTimestamp"] = "2026-01-01T00:00:00Z";
    object.as_object()["status"] = json::parse(status);
    return object;
}

/// A job that has begun.
inline JobPtr elastic_record(const json::value& object, const std::string& members,
                             const std::string& more_status = {}) {
    const std::string status = fmt::format(
        R"({{"startTime": "2026-01-01T00:00:00Z", "members": {},
            "conditions": [{{"type": "Created", "status": "True"}}]{}}})",
        members, more_status);
    return project_job(elastic(), served(object, "job-uid", 1, status), nullptr).record;
}

/// `spec`: without the name of the job.
inline json::value plan_object(const std::string& name, const std::string& spec,
                               const std::string& type = "manual",
                               const std::string& job = "demo") {
    return json::parse(fmt::format(R"({{
        "apiVersion": "elastic.iml.github.io/v1alpha1", "kind": "ScalePlan",
        "metadata": {{"name": "{}", "namespace": "default", "labels": {{"scale-type": "{}"}}}},
        "spec": {{"ownerJob": "{}", {}}}}})",
                                   name, type, job, spec));
}

inline std::string workers(int number) {
    return fmt::format(R"("replicaResourceSpecs": {{"worker": {{"replicas": {}}}}})", number);
}

}  // namespace muster::operators
