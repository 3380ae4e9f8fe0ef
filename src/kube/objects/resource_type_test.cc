#include "kube/objects/resource_type.h"

#include <gtest/gtest.h>

#include "kube/values/field_path.h"

namespace muster::kube::resource_type_test {
namespace {

TEST(ResourceType, NamesItsPlaceInTheApi) {
    EXPECT_EQ(types::kPods.path("n"), "/api/v1/namespaces/n/pods");
    EXPECT_EQ(types::kPods.path("n", "p", "log"), "/api/v1/namespaces/n/pods/p/log");
    EXPECT_EQ(types::kPods.path(""), "/api/v1/pods");
    EXPECT_EQ(types::kNamespaces.path("", "n"), "/api/v1/namespaces/n");
    EXPECT_EQ(types::kNodes.path("ignored", "x", "status"), "/api/v1/nodes/x/status");
    EXPECT_EQ(types::kLeases.path("n", "l"), "/apis/coordination.k8s.io/v1/namespaces/n/leases/l");
}

TEST(ResourceType, NamesItselfInMessages) {
    EXPECT_EQ(types::kPods.qualified(), "pods");
    EXPECT_EQ(types::kPods.api_version(), "v1");
    EXPECT_EQ(types::kCustomResourceDefinitions.qualified(),
              "customresourcedefinitions.apiextensions.k8s.io");
    EXPECT_EQ(types::kCustomResourceDefinitions.api_version(), "apiextensions.k8s.io/v1");
}

TEST(FieldPath, IsWrittenAsKubernetesWritesIt) {
    EXPECT_EQ(child_path("", "spec"), "spec");
    EXPECT_EQ(child_path("spec", "nodeName"), "spec.nodeName");
    EXPECT_EQ(item_path("spec.containers", 0), "spec.containers[0]");
    EXPECT_EQ(child_path("spec.containers[0]", "name"), "spec.containers[0].name");
    EXPECT_EQ(child_path("resources.limits", "nvidia.com/gpu"), "resources.limits[nvidia.com/gpu]");
    EXPECT_EQ(child_path("data", ""), "data[]");
    EXPECT_EQ(child_path("", "a.b"), "[a.b]");
}

}  // namespace
}  // namespace muster::kube::resource_type_test
