#include "apiserver_http/internal/wire/media_type.h"

#include <gtest/gtest.h>

namespace muster::apiserver_http::media_type_test {
namespace {

TEST(MediaType, TheFirstFormThatIsServedIsChosen) {
    struct Case {
        const char* accept;
        Answers answers;
        std::optional<Form> form;
        bool yaml = false;
    };
    const char* const kTables =
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g="
        "meta.k8s.io,application/json";
    const char* const kAggregated =
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g="
        "apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
    const Case cases[] = {
        {"", Answers::kObjects, Form::kObject},
        {"*/*", Answers::kObjects, Form::kObject},
        {"application/*", Answers::kObjects, Form::kObject},
        {"application/json", Answers::kObjects, Form::kObject},
        {"APPLICATION/JSON", Answers::kObjects, Form::kObject},
        {"application/json, */*", Answers::kObjects, Form::kObject},
        {"application/json;stream=watch", Answers::kObjects, Form::kObject},
        {kTables, Answers::kObjects, Form::kTable},
        {"application/json;as=Table;v=v1beta1;g=meta.k8s.io", Answers::kObjects, Form::kTable},
        {"application/json;as=Table;v=v2;g=meta.k8s.io,application/json", Answers::kObjects,
         Form::kObject},
        {"application/json;as=Table;g=meta.k8s.io;v=v9", Answers::kObjects, std::nullopt},
        {"application/json; as=PartialObjectMetadata; v=v1; g=meta.k8s.io", Answers::kObjects,
         Form::kMetadata},
        {"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
         "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
         Answers::kObjects, Form::kMetadata},
        {"application/vnd.kubernetes.protobuf,application/json", Answers::kObjects, Form::kObject},
        {"application/vnd.kubernetes.protobuf, */*", Answers::kObjects, Form::kObject},
        {"application/vnd.kubernetes.protobuf", Answers::kObjects, std::nullopt},
        {"text/html", Answers::kObjects, std::nullopt},
        {kAggregated, Answers::kDiscovery, Form::kDiscovery},
        {kAggregated, Answers::kObjects, Form::kObject},
        {"application/json", Answers::kDiscovery, Form::kObject},
        {"application/json;as=APIGroupDiscoveryList;v=v2beta1;g=apidiscovery.k8s.io",
         Answers::kDiscovery, std::nullopt},
        {kTables, Answers::kDiscovery, Form::kObject},
        {"application/yaml", Answers::kObjects, Form::kObject, true},
        {"application/yaml, application/json", Answers::kObjects, Form::kObject, true},
        {"application/json, application/yaml", Answers::kObjects, Form::kObject},
        {"application/com.github.proto-openapi.spec.v2@v1.0+protobuf", Answers::kOpenApiV2,
         Form::kProtobuf},
        {"application/json, application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
         Answers::kOpenApiV2, Form::kObject},
        {"application/com.github.proto-openapi.spec.v2@v1.0+protobuf", Answers::kObjects,
         std::nullopt},
        {"application/yaml;as=Table;v=v1;g=meta.k8s.io", Answers::kObjects, Form::kTable, true},
    };
    for (const Case& c : cases) {
        const std::optional<AcceptedForm> chosen = choose_form(c.accept, c.answers);
        EXPECT_EQ(chosen.has_value(), c.form.has_value()) << c.accept;
        if (chosen) EXPECT_EQ(*chosen, (AcceptedForm{*c.form, c.yaml})) << c.accept;
    }
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
        {"application/apply-patch+yaml", Method::kPatch, kApplyPatch, BodyFormat::kYaml},
        {"application/yaml", Method::kPost, kJson, BodyFormat::kYaml},
        {"application/yaml", Method::kPatch, std::nullopt},
        {"application/json", Method::kPatch, std::nullopt},
        {"", Method::kPatch, std::nullopt},
        {"application/merge-patch+json", Method::kPost, std::nullopt},
    };
    for (const Case& c : cases) {
        const apiserver::StatusResult<BodyType> type = body_type(c.type, c.method);
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
}  // namespace muster::apiserver_http::media_type_test
