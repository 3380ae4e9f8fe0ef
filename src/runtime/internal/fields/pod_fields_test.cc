#include "runtime/internal/fields/pod_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <map>

#include "base/fields.h"
#include "kube/objects/codec.h"
#include "kube/schema/schema.h"
#include "runtime/internal/fields/newest_pod_schema.h"
#include "runtime/internal/files/volumes.h"
#include "runtime/internal/lifecycle/lifecycle.h"

namespace muster::runtime::pod_fields_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Field {
    std::string name;
    std::string type;  ///< "bool", "[]Container"
};
using Structs = std::map<std::string, std::vector<Field>, std::less<>>;

const Structs& newest() {
    static const Structs kStructs = [] {
        Structs structs;
        std::string_view lines = kNewestPodSchema;
        while (!lines.empty()) {
            std::string_view line = take_field(lines, '\n');
            if (line.empty()) continue;
            std::vector<Field>& fields = structs[std::string(take_field(line, ' '))];
            while (!line.empty()) {
                std::string_view field = take_field(line, ' ');
                const std::string_view name = take_field(field, ':');
                fields.push_back({.name = std::string(name), .type = std::string(field)});
            }
        }
        return structs;
    }();
    return kStructs;
}

/// The fields of a struct, or of the items of a list of structs; null for a single value.
const std::vector<Field>* fields_of(std::string_view type) {
    if (type.starts_with("[]")) type.remove_prefix(2);
    const auto found = newest().find(type);
    return found == newest().end() ? nullptr : &found->second;
}

/// Calls `visit(path, type)` for each field below; one that returns false is not entered.
template <class Visit>
void walk(std::string_view type, const std::string& path, const Visit& visit) {
    for (const Field& field : *fields_of(type)) {
        const std::string here = path.empty() ? field.name : path + "." + field.name;
        if (!visit(here, field.type) || fields_of(field.type) == nullptr) continue;
        walk(field.type, field.type.starts_with("[]") ? here + "[]" : here, visit);
    }
}

/// By its paths, each field that has a treatment.
std::map<std::string, std::string> types_of_treated() {
    std::map<std::string, std::string> types;
    walk("PodSpec", "", [&](const std::string& path, const std::string& type) {
        if (!treatment_of(path)) return true;
        types.emplace(path, type);
        return false;
    });
    return types;
}

/// What is unknown to the API does not get to the node: the API refuses it, or warns, by its name.
bool is_known_to_the_api(std::string_view path) {
    const kube::Schema* schema = kube::core_schema("PodTemplateSpec")->property("spec");
    while (schema != nullptr && !path.empty()) {
        std::string_view word = take_field(path, '.');
        const bool item = word.ends_with("[]");
        if (item) word.remove_suffix(2);
        schema = schema->property(word);
        if (schema != nullptr && item) schema = schema->items.get();
    }
    return schema != nullptr;
}

json::value value_of(std::string_view type, bool flag) {
    if (type.starts_with("[]")) {
        json::array list;
        list.push_back(value_of(type.substr(2), flag));
        return list;
    }
    if (const std::vector<Field>* fields = fields_of(type)) {
        json::object object;
        object[fields->front().name] = value_of(fields->front().type, flag);
        return object;
    }
    if (type == "bool") return flag;
    if (type == "int32" || type == "int64" || type == "IntOrString") return 7;
    if (type == "map") return json::object{{"a", "1"}};
    return "x";
}

/// A spec with that value at the path, in the first item of each list.
kube::PodSpec spec_with(std::string_view path, json::value value) {
    while (!path.empty()) {
        const std::size_t dot = path.rfind('.');
        std::string_view word = dot == path.npos ? path : path.substr(dot + 1);
        path = dot == path.npos ? std::string_view() : path.substr(0, dot);
        if (word.ends_with("[]")) {
            word.remove_suffix(2);
            json::array list;
            list.push_back(std::move(value));
            value = std::move(list);
        }
        json::object parent;
        parent[word] = std::move(value);
        value = std::move(parent);
    }
    auto spec = kube::decode<kube::PodSpec>(value);
    EXPECT_TRUE(spec) << json::serialize(value) << ": " << spec.error().message();
    return spec ? *spec : kube::PodSpec{};
}

std::string shown(std::string path) {
    for (std::size_t at = path.find("[]"); at != path.npos; at = path.find("[]", at))
        path.replace(at, 2, "[0]");
    return "spec." + path;
}

/// Why the node refuses a pod with this spec; empty if it does not.
std::string refusal_of(const kube::PodSpec& spec) {
    if (const auto lifecycles = read_lifecycles(spec); !lifecycles)
        return lifecycles.error().message();
    kube::Pod pod;
    pod.spec = spec;
    const KeyValueObjects none;
    const EnvironmentInput input{.pod = pod,
                                 .config_maps = none,
                                 .secrets = none,
                                 .base = {},
                                 .hostname = {},
                                 .pod_ip = {},
                                 .host_ip = {},
                                 .node_name = {},
                                 .node_cpu = {},
                                 .node_memory = {},
                                 .addresses = {}};
    const auto volumes = prepare_volumes(input, "/nowhere", {});
    return volumes ? "" : volumes.error().message();
}

TEST(PodFields, EachFieldOfTheNewestKubernetesHasATreatment) {
    int fields = 0;
    walk("PodSpec", "", [&](const std::string& path, const std::string& type) {
        ++fields;
        const auto treatment = treatment_of(path);
        // Of a field with others below, each must be looked at when Kubernetes gets a new one.
        if (treatment == FieldTreatment::kHonoured)
            EXPECT_EQ(fields_of(type), nullptr) << path << " has fields: say what each one gets";
        if (treatment || !is_known_to_the_api(path)) return false;
        EXPECT_NE(fields_of(type), nullptr) << "what does the node do with " << path << "?";
        return true;
    });
    EXPECT_GT(fields, 200);
}

TEST(PodFields, TheTableHasOnlyFieldsThatThereAre) {
    const auto types = types_of_treated();
    for (const std::string& path : treated_paths()) {
        EXPECT_TRUE(is_known_to_the_api(path)) << path;
        EXPECT_TRUE(types.contains(path)) << path << " is below a field that has a treatment";
    }
}

TEST(PodFields, WhatHasNoEffectIsNamed) {
    int named = 0;
    for (const auto& [path, type] : types_of_treated()) {
        if (treatment_of(path) != FieldTreatment::kNamed) continue;
        SCOPED_TRACE(path);
        ++named;
        // A flag asks for something by one of its two values.
        std::vector<std::string> found =
            fields_without_effect(spec_with(path, value_of(type, true)), true);
        if (type == "bool" && found.empty())
            found = fields_without_effect(spec_with(path, value_of(type, false)), true);
        EXPECT_THAT(found, ElementsAre(shown(path)));
    }
    EXPECT_GT(named, 20);
}

TEST(PodFields, WhatIsRefusedIsRefusedByItsName) {
    int refused = 0;
    for (const auto& [path, type] : types_of_treated()) {
        if (treatment_of(path) != FieldTreatment::kRefused) continue;
        ++refused;
        const std::string name = path.substr(path.rfind('.') + 1);
        EXPECT_THAT(refusal_of(spec_with(path, value_of(type, true))), HasSubstr(name)) << path;
    }
    EXPECT_GT(refused, 20);
}

TEST(PodFields, OthersAreNotNamed) {
    for (const auto& [path, type] : types_of_treated()) {
        const auto treatment = treatment_of(path);
        if (treatment != FieldTreatment::kHonoured && treatment != FieldTreatment::kDocumented)
            continue;
        EXPECT_THAT(fields_without_effect(spec_with(path, value_of(type, true)), true), IsEmpty())
            << path;
    }
}

TEST(PodFields, ValuesThatAskForNothingElseAreNotNamed) {
    const auto usual = kube::decode<kube::PodSpec>(json::parse(R"({
        "hostPID":false, "hostIPC":false, "hostNetwork":false, "hostUsers":true,
        "setHostnameAsFQDN":false, "os":{"name":"linux"}, "priority":0, "affinity":{},
        "readinessGates":[], "schedulerName":"default-scheduler", "runtimeClassName":null,
        "dnsPolicy":"ClusterFirst", "nodeSelector":{"kubernetes.io/os":"linux"},
        "volumes":[{"name":"v","emptyDir":{"medium":"Memory","sizeLimit":"1Mi"}}],
        "containers":[{"name":"c","volumeMounts":[
            {"name":"v","mountPath":"/v","mountPropagation":"None","recursiveReadOnly":"Disabled"}
        ]}]})"));
    ASSERT_TRUE(usual) << usual.error().message();
    EXPECT_THAT(fields_without_effect(*usual, true), IsEmpty());
    EXPECT_THAT(fields_without_effect(*usual, false), IsEmpty());
}

TEST(PodFields, SomeAreJudgedByTheirValues) {
    struct Case {
        const char* spec;
        std::vector<std::string> with_namespaces;
        std::vector<std::string> without;
    };
    const char* const dns = "spec.dnsConfig (pods share this machine's files and network here)";
    const Case cases[] = {
        {R"({"nodeSelector":{"gpu":"a100"}})", {"spec.nodeSelector"}, {"spec.nodeSelector"}},
        {R"({"volumes":[{"name":"v"},{"name":"w","emptyDir":{"sizeLimit":"1Mi"}}]})",
         {"spec.volumes[1].emptyDir.sizeLimit"},
         {"spec.volumes[1].emptyDir.sizeLimit"}},
        {R"({"dnsConfig":{"options":[{"name":"ndots","value":"1"}]}})", {}, {dns}},
        {R"({"dnsPolicy":"None","dnsConfig":{"nameservers":["192.0.2.1"]}})", {}, {dns}},
        {R"({"dnsPolicy":"Default"})", {}, {}},
    };
    for (const Case& c : cases) {
        const auto spec = kube::decode<kube::PodSpec>(json::parse(c.spec));
        ASSERT_TRUE(spec) << c.spec;
        EXPECT_EQ(fields_without_effect(*spec, true), c.with_namespaces) << c.spec;
        EXPECT_EQ(fields_without_effect(*spec, false), c.without) << c.spec;
    }
}

}  // namespace
}  // namespace muster::runtime::pod_fields_test
