#include <gtest/gtest.h>

#include "jobs/kind.h"
#include "kube/values/field_path.h"

namespace muster::jobs::field_notes_test {
namespace {

/// Fields of ours without a word about them; what Kubernetes' own structs are made of is its.
void find_silent(const kube::Schema& schema, const std::string& path,
                 std::vector<std::string>& silent) {
    if (!kube::core_schema_name(schema).empty()) return;
    if (schema.items) return find_silent(*schema.items, path, silent);
    if (schema.additional) return find_silent(*schema.additional, path, silent);
    for (const auto& [name, field] : schema.properties) {
        const std::string at = kube::child_path(path, name);
        if (field->description.empty() && kube::core_schema_name(*field).empty())
            silent.push_back(at);
        find_silent(*field, at, silent);
    }
}

TEST(FieldNotes, EveryFieldOfAJobIsExplained) {
    for (const JobKind* kind : all_kinds()) {
        std::vector<std::string> silent;
        find_silent(*object_schema(*kind), kind->resource.kind, silent);
        for (const std::string& field : silent) ADD_FAILURE() << field << " has no field note";
    }
}

TEST(FieldNotes, EveryVariableHasARule) {
    for (const JobKind* kind : all_kinds()) {
        json::object replicas;
        for (const ReplicaType& type : kind->replica_types)
            replicas[type.name] = {
                {"replicas", type.only_replicas.value_or(2)},
                {"template",
                 {{"spec",
                   {{"containers",
                     json::array{json::object{
                         {"name", kind->container_name.empty() ? "main" : kind->container_name},
                         {"image", "x"}}}}}}}}};
        // Rules don't matter here: a TFJob has no Chief and Master at once.
        std::vector<Cause> ignored;
        Job job = kind->decode({{"metadata", {{"name", "j"}, {"namespace", "ns"}}},
                                {"spec", {{kind->replicas_field, std::move(replicas)}}}},
                               ignored);
        apply_defaults(job);
        for (const ReplicaType& type : kind->replica_types)
            for (std::int32_t index = 0; index < *job.replica(type.name)->replicas; ++index) {
                const auto variables = kind->environment(job, {type.name, index});
                ASSERT_TRUE(variables.has_value()) << variables.error().message();
                for (const Variable& variable : *variables)
                    EXPECT_FALSE(variable.rule.empty())
                        << kind->resource.kind << " " << type.name << ": " << variable.env.name;
            }
    }
}

}  // namespace
}  // namespace muster::jobs::field_notes_test
