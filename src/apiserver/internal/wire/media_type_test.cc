#include "apiserver/internal/wire/media_type.h"

#include <gtest/gtest.h>

namespace muster::apiserver {
namespace {

TEST(MediaType, TheFirstFormThatIsServedIsChosen) {
    struct Case {
        const char* accept;
        bool discovery;
        std::optional<Form> form;
    };
    const char* const kTables =
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g="
        "meta.k8s.io,application/json";
    const char* const kAggregated =
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g="
        "apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
    const Case cases[] = {
        {"", false, Form::kObject},
        {"*/*", false, Form::kObject},
        {"application/*", false, Form::kObject},
        {"application/json", false, Form::kObject},
        {"APPLICATION/JSON", false, Form::kObject},
        {"application/json, */*", false, Form::kObject},
        {"application/json;stream=watch", false, Form::kObject},
        {kTables, false, Form::kTable},
        {"application/json;as=Table;v=v1beta1;g=meta.k8s.io", false, Form::kTable},
        {"application/json;as=Table;v=v2;g=meta.k8s.io,application/json", false, Form::kObject},
        {"application/json;as=Table;g=meta.k8s.io;v=v9", false, std::nullopt},
        {"application/json; as=PartialObjectMetadata; v=v1; g=meta.k8s.io", false, Form::kMetadata},
        {"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
         "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
         false, Form::kMetadata},
        {"application/vnd.kubernetes.protobuf,application/json", false, Form::kObject},
        {"application/vnd.kubernetes.protobuf, */*", false, Form::kObject},
        {"application/vnd.kubernetes.protobuf", false, std::nullopt},
        {"text/html", false, std::nullopt},
        {kAggregated, true, Form::kDiscovery},
        {kAggregated, false, Form::kObject},
        {"application/json", true, Form::kObject},
        {"application/json;as=APIGroupDiscoveryList;v=v2beta1;g=apidiscovery.k8s.io", true,
         std::nullopt},
        {kTables, true, Form::kObject},
    };
    for (const Case& c : cases) EXPECT_EQ(choose_form(c.accept, c.discovery), c.form) << c.accept;
}

TEST(MediaType, Bodies) {
    using enum kube::ContentType;
    using kube::Method;
    struct Case {
        const char* type;
        Method method;
        std::optional<kube::ContentType> content;
        BodyFormat format = BodyFormat::kJson;
    };
    const Case cases[] = {
        {"", Method::kPut, kJson},
        {"application/json", Method::kPost, kJson},
        {"application/json; charset=utf-8", Method::kPost, kJson},
        {"application/vnd.kubernetes.protobuf", Method::kPost, kJson, BodyFormat::kProtobuf},
        {"application/vnd.kubernetes.protobuf", Method::kDelete, kJson, BodyFormat::kProtobuf},
        {"text/plain", Method::kPost, std::nullopt},
        {"application/cbor", Method::kPost, std::nullopt},
        {"application/json-patch+json", Method::kPatch, kJsonPatch},
        {"application/merge-patch+json", Method::kPatch, kMergePatch},
        {"application/strategic-merge-patch+json", Method::kPatch, kStrategicMergePatch},
        {"application/apply-patch+yaml", Method::kPatch, kApplyPatch},
        {"application/json", Method::kPatch, std::nullopt},
        {"", Method::kPatch, std::nullopt},
        {"application/merge-patch+json", Method::kPost, std::nullopt},
    };
    for (const Case& c : cases) {
        const Answer<BodyType> type = body_type(c.type, c.method);
        ASSERT_EQ(type.has_value(), c.content.has_value()) << c.type;
        if (!type) {
            EXPECT_EQ(type.error().error.code(), Code::kUnsupported) << c.type;
            continue;
        }
        EXPECT_EQ(type->content, *c.content) << c.type;
        EXPECT_EQ(type->format, c.format) << c.type;
    }
}

}  // namespace
}  // namespace muster::apiserver
