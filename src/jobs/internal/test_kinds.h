#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "jobs/internal/test_manifest.h"
#include "jobs/internal/test_rules.h"

// Tables for the tests of kinds: manifests are short, so that a row shows only what differs.

namespace muster::jobs {

/// The job "j" in the namespace "ns" with that many replicas of each type, each with one container
/// of the kind's name; then the edits.
struct Shape {
    std::map<std::string, int> replicas;
    std::vector<Edit> edits = {};
};

inline json::value manifest_of(const JobKind& kind, const Shape& shape) {
    json::object replicas;
    for (const auto& [type, count] : shape.replicas)
        replicas[type] = {{"replicas", count},
                          {"template",
                           {{"spec",
                             {{"containers", json::array{json::object{{"name", kind.container_name},
                                                                      {"image", "x"}}}}}}}}};
    json::value manifest = {{"apiVersion", kind.resource.api_version()},
                            {"kind", kind.resource.kind},
                            {"metadata", {{"name", "j"}, {"namespace", "ns"}, {"uid", "u-1"}}},
                            {"spec", {{kind.replicas_field, std::move(replicas)}}}};
    for (const Edit& edit : shape.edits) apply_edit(manifest, edit.path, edit.value);
    return manifest;
}

/// For shapes that are valid.
inline Job job_of(const JobKind& kind, const Shape& shape) {
    return load(kind, manifest_of(kind, shape)).value();
}

/// "NAME=value" in order, from the replica's first container; "NAME<path" is a field of the pod.
inline std::vector<std::string> environment_of(const Job& job, const ReplicaId& replica) {
    std::vector<std::string> lines;
    const kube::Pod pod = build_pod(job, replica).value();
    for (const kube::EnvVar& variable : pod.spec.containers.front().env)
        lines.push_back(variable.value_from
                            ? variable.name + "<" + variable.value_from->field_ref->field_path
                            : variable.name + "=" + variable.value);
    return lines;
}

struct EnvironmentCase {
    std::string name;
    Shape shape;
    ReplicaId replica;
    std::vector<std::string> wanted;
};
inline void expect_environments(const JobKind& kind, const std::vector<EnvironmentCase>& cases) {
    for (const EnvironmentCase& row : cases) {
        SCOPED_TRACE(row.name);
        EXPECT_THAT(environment_of(job_of(kind, row.shape), row.replica),
                    testing::ElementsAreArray(row.wanted));
    }
}

/// A manifest and its only problem; without a reason there is none.
struct ProblemCase {
    std::string name;
    Shape shape;
    std::string reason = {};
    std::string field = {};
    std::string message = {};  ///< a part of it
};
inline void expect_problems(const JobKind& kind, const std::vector<ProblemCase>& cases) {
    for (const ProblemCase& row : cases) {
        SCOPED_TRACE(row.name);
        expect_problem(review(kind, manifest_of(kind, row.shape)), row.reason, row.field,
                       row.message);
    }
}

struct VerdictCase {
    std::string name;
    Shape shape;
    std::string decides;   ///< the type whose counts these are
    ReplicaCounts counts;  ///< `wanted` is the manifest's
    Outcome outcome;
    std::string message = {};
};
inline void expect_verdicts(const JobKind& kind, const std::vector<VerdictCase>& cases) {
    for (const VerdictCase& row : cases) {
        SCOPED_TRACE(row.name);
        const Job job = job_of(kind, row.shape);
        const SuccessPolicy success_policy = kind.success_policy(job);
        EXPECT_EQ(kind.replica_types[success_policy.type].name, row.decides);
        ReplicaCounts counts = row.counts;
        counts.wanted = job.replica(row.decides)->replicas.value();
        const Verdict verdict = judge(kind, success_policy, "ns", "j", counts);
        EXPECT_EQ(verdict.outcome, row.outcome);
        EXPECT_EQ(verdict.message, row.message);
    }
}

}  // namespace muster::jobs
