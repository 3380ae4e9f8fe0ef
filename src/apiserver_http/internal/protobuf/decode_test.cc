#include "apiserver_http/internal/protobuf/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "apiserver_http/internal/protobuf/message_catalog.h"
#include "apiserver_http/internal/protobuf/wire_reader.h"
#include "apiserver_http/internal/protobuf/wire_writer.h"
#include "base/utf8.h"

namespace muster::apiserver_http::decode_test {
namespace {

using testing::HasSubstr;
using W = WireWriter;

/// The object without apiVersion and kind, or the error's message.
std::string decoded(std::string_view api_version, std::string_view kind, const W& object) {
    Result<json::object> result = decode_protobuf(protobuf_body(api_version, kind, object));
    if (!result) return result.error().message();
    EXPECT_EQ(result->at("apiVersion").as_string(), api_version);
    EXPECT_EQ(result->at("kind").as_string(), kind);
    result->erase("apiVersion");
    result->erase("kind");
    return json::serialize(*result);
}

W pod_spec(const W& spec) { return W().message(2, spec); }
W container(const W& fields) { return pod_spec(W().message(2, fields)); }

void expect_json(const std::string& text, std::string_view wanted) {
    boost::system::error_code problem;
    const json::value value = json::parse(text, problem);
    ASSERT_FALSE(problem) << text;
    EXPECT_EQ(value, json::parse(json::string_view(wanted))) << text;
}

// Go embeds these structures, so that their fields are the object's own in JSON.
TEST(DecodeProtobuf, EmbeddedMessages) {
    const W path = W().bytes(1, "/").message(
        2, W().message(4, W().bytes(1, "s").message(2, W().bytes(1, "").varint(2, 80))));
    const W rule = W().bytes(1, "h").message(2, W().message(1, W().message(1, path)));
    expect_json(decoded("networking.k8s.io/v1", "Ingress", W().message(2, W().message(3, rule))),
                R"({"spec":{"rules":[{"host":"h","http":{"paths":[{"path":"/",
                    "backend":{"service":{"name":"s","port":{"number":80}}}}]}}]}})");
    const W source = W().message(3, W().bytes(1, "/d"));
    expect_json(decoded("v1", "PersistentVolume", W().message(2, W().message(2, source))),
                R"({"spec":{"hostPath":{"path":"/d"}}})");
}

TEST(DecodeProtobuf, AConfigMapAsAGoClientSendsIt) {
    // Go writes every field of ObjectMeta that is not a pointer, though it is empty.
    const W meta = W().bytes(1, "cm")
                       .bytes(2, "")
                       .bytes(3, "")
                       .bytes(4, "")
                       .bytes(5, "")
                       .bytes(6, "")
                       .varint(7, 0)
                       .message(8, W())
                       .message(11, W().bytes(1, "app").bytes(2, "x"));
    const W object = W().message(1, meta)
                         .message(2, W().bytes(1, "a").bytes(2, "1"))
                         .message(2, W().bytes(1, "empty").bytes(2, ""))
                         .message(3, W().bytes(1, "b").bytes(2, std::string_view("\0\xff", 2)));
    expect_json(decoded("v1", "ConfigMap", object),
                R"({"metadata":{"name":"cm","labels":{"app":"x"}},
                    "data":{"a":"1","empty":""},"binaryData":{"b":"AP8="}})");
}

TEST(DecodeProtobuf, ZeroIsAbsentUnlessTheFieldIsAPointer) {
    struct Row {
        const char* what;
        W object;
        const char* json;
    };
    const Row rows[] = {
        {"a bool", pod_spec(W().varint(11, 0)), R"({"spec":{}})"},
        {"a bool that is set", pod_spec(W().varint(11, 1)), R"({"spec":{"hostNetwork":true}})"},
        {"a pointer to a bool", pod_spec(W().varint(30, 0)),
         R"({"spec":{"enableServiceLinks":false}})"},
        {"a pointer to a number", pod_spec(W().varint(4, 0)),
         R"({"spec":{"terminationGracePeriodSeconds":0}})"},
        {"a pointer to a text", pod_spec(W().bytes(29, "")), R"({"spec":{"runtimeClassName":""}})"},
        {"a text", pod_spec(W().bytes(10, "")), R"({"spec":{}})"},
        {"a field that Go writes always", container(W().bytes(1, "")),
         R"({"spec":{"containers":[{"name":""}]}})"},
        {"the last one counts", pod_spec(W().bytes(10, "n").bytes(10, "m")),
         R"({"spec":{"nodeName":"m"}})"},
        {"a zero counts too", pod_spec(W().bytes(10, "n").bytes(10, "")), R"({"spec":{}})"},
        {"an empty message", W().message(3, W()), R"({"status":{}})"},
        {"a message in two parts",
         W().message(2, W().bytes(10, "n")).message(2, W().bytes(16, "h")),
         R"({"spec":{"nodeName":"n","hostname":"h"}})"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.what);
        expect_json(decoded("v1", "Pod", row.object), row.json);
    }
}

TEST(DecodeProtobuf, ValuesOfEachType) {
    struct Row {
        const char* what;
        W object;
        const char* json;
    };
    const std::uint64_t minus_one = ~std::uint64_t{0};
    const Row rows[] = {
        {"a negative int32", pod_spec(W().varint(25, minus_one)), R"({"spec":{"priority":-1}})"},
        {"a negative int64", pod_spec(W().varint(5, minus_one)),
         R"({"spec":{"activeDeadlineSeconds":-1}})"},
        {"a list of texts", container(W().bytes(1, "c").bytes(3, "sh").bytes(3, "")),
         R"({"spec":{"containers":[{"name":"c","command":["sh",""]}]}})"},
        {"a list of numbers", pod_spec(W().message(14, W().varint(4, 5).varint(4, 0))),
         R"({"spec":{"securityContext":{"supplementalGroups":[5,0]}}})"},
        {"a packed list of numbers",
         pod_spec(W().message(14, W().bytes(4, std::string_view("\x05\x80\x01\x00", 4)))),
         R"({"spec":{"securityContext":{"supplementalGroups":[5,128,0]}}})"},
        {"quantities",
         container(
             W().message(8, W().message(1, W().bytes(1, "cpu").message(2, W().bytes(1, "2"))))),
         R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"2"}}}]}})"},
        {"an embedded message",
         container(W().message(
             7, W().bytes(1, "E").message(
                    3, W().message(
                           3, W().message(1, W().bytes(1, "cm")).bytes(2, "k").varint(3, 0))))),
         R"({"spec":{"containers":[{"env":[{"name":"E","valueFrom":{"configMapKeyRef":
             {"name":"cm","key":"k","optional":false}}}]}]}})"},
        {"an int-or-string with a number",
         container(W().message(
             10, W().message(1, W().message(2, W().message(2, W().varint(1, 0).varint(2, 80).bytes(
                                                                  3, "")))))),
         R"({"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":80}}}]}})"},
        {"an int-or-string with a text",
         container(W().message(
             10, W().message(1, W().message(2, W().message(2, W().varint(1, 1).varint(2, 0).bytes(
                                                                  3, "http")))))),
         R"({"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":"http"}}}]}})"},
        {"a time", W().message(1, W().message(9, W().varint(1, 1767323045).varint(2, 0))),
         R"({"metadata":{"deletionTimestamp":"2026-01-02T03:04:05Z"}})"},
        {"a time before 1970",
         W().message(1, W().message(9, W().varint(1, minus_one).varint(2, 0))),
         R"({"metadata":{"deletionTimestamp":"1969-12-31T23:59:59Z"}})"},
        {"the owner of a field",
         W().message(
             1, W().message(17, W().bytes(1, "m").message(7, W().bytes(1, R"({"f:spec":{}})")))),
         R"({"metadata":{"managedFields":[{"manager":"m","fieldsV1":{"f:spec":{}}}]}})"},
        {"unknown numbers of every wire type",
         W().varint(900, 7).fixed64(901, 7).bytes(902, "x").fixed32(903, 7).message(3, W()),
         R"({"status":{}})"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.what);
        expect_json(decoded("v1", "Pod", row.object), row.json);
    }
}

TEST(DecodeProtobuf, OtherKinds) {
    expect_json(decoded("coordination.k8s.io/v1", "Lease",
                        W().message(2, W().bytes(1, "").varint(2, 15).message(
                                           4, W().varint(1, 1767323045).varint(2, 123456789)))),
                R"({"spec":{"holderIdentity":"","leaseDurationSeconds":15,
                    "renewTime":"2026-01-02T03:04:05.123456Z"}})");
    expect_json(
        decoded("v1", "Secret", W().message(2, W().bytes(1, "k").bytes(2, "")).bytes(3, "Opaque")),
        R"({"data":{"k":""},"type":"Opaque"})");
    expect_json(
        decoded("authorization.k8s.io/v1", "SubjectAccessReview",
                W().message(
                    2, W().bytes(3, "u").message(
                           5, W().bytes(1, "scopes").message(2, W().bytes(1, "a").bytes(1, "b"))))),
        R"({"spec":{"user":"u","extra":{"scopes":["a","b"]}}})");
    // Options come with the version of the objects that they are about.
    for (const char* version : {"v1", "apps/v1", "meta.k8s.io/v1"})
        expect_json(decoded(version, "DeleteOptions",
                            W().varint(1, 0).message(2, W().bytes(1, "uid")).bytes(5, "All")),
                    R"({"gracePeriodSeconds":0,"preconditions":{"uid":"uid"},"dryRun":["All"]})");
    // The same kind in two groups.
    expect_json(decoded("v1", "Event", W().bytes(3, "R")), R"({"reason":"R"})");
    expect_json(decoded("events.k8s.io/v1", "Event", W().bytes(7, "R").bytes(10, "n")),
                R"({"reason":"R","note":"n"})");
    expect_json(decoded("autoscaling/v1", "HorizontalPodAutoscaler",
                        W().message(2, W().varint(3, 5).varint(4, 80))),
                R"({"spec":{"maxReplicas":5,"targetCPUUtilizationPercentage":80}})");
}

TEST(DecodeProtobuf, SchemasOfACustomResourceDefinition) {
    const auto crd = [](const W& schema) {
        return decoded("apiextensions.k8s.io/v1", "CustomResourceDefinition",
                       W().message(2, W().message(7, W().message(4, W().message(1, schema)))));
    };
    struct Row {
        const char* what;
        W schema;
        const char* json;
    };
    const auto bits = [](double number) { return std::bit_cast<std::uint64_t>(number); };
    const W text = W().bytes(5, "string");
    const Row rows[] = {
        {"properties", W().message(29, W().bytes(1, "a").message(2, text)),
         R"({"properties":{"a":{"type":"string"}}})"},
        {"items", W().message(24, W().message(1, text)), R"({"items":{"type":"string"}})"},
        {"a list of items", W().message(24, W().message(2, text).message(2, W())),
         R"({"items":[{"type":"string"},{}]})"},
        {"any other property", W().message(30, W().varint(1, 1)),
         R"({"additionalProperties":true})"},
        {"no other property", W().message(30, W().varint(1, 0)),
         R"({"additionalProperties":false})"},
        {"other properties", W().message(30, W().varint(1, 1).message(2, text)),
         R"({"additionalProperties":{"type":"string"}})"},
        {"a default", W().message(8, W().bytes(1, R"({"a":[1]})")), R"({"default":{"a":[1]}})"},
        {"an enum", W().message(20, W().bytes(1, "\"x\"")).message(20, W().bytes(1, "2")),
         R"({"enum":["x",2]})"},
        {"whole and other numbers", W().fixed64(9, bits(5)).fixed64(11, bits(-0.5)),
         R"({"maximum":5,"minimum":-0.5})"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.what);
        const json::value spec = json::parse(crd(row.schema));
        EXPECT_EQ(spec.at("spec").at("versions").at(0).at("schema").at("openAPIV3Schema"),
                  json::parse(row.json))
            << json::serialize(spec);
    }
    EXPECT_THAT(
        crd(W().fixed64(9, bits(std::numeric_limits<double>::infinity()))),
        HasSubstr("spec.versions.schema.openAPIV3Schema.maximum: a number that JSON can't"));
    EXPECT_THAT(crd(W().message(8, W().bytes(1, "{"))),
                HasSubstr("openAPIV3Schema.default: no valid JSON"));
}

TEST(DecodeProtobuf, SaysWhatIsMalformedAndWhere) {
    struct Row {
        const char* what;
        W object;
        const char* problem;
    };
    W deep;
    for (int i = 0; i < 300; ++i) deep = W().message(28, deep);  // not: {not: {...}}
    const auto cut = [](const W& whole) {
        // The announced size stays, the last byte goes.
        return W().bytes(1, std::string_view(whole.text()).substr(0, whole.text().size() - 1));
    };
    const Row rows[] = {
        {"cut inside of a text", cut(W().bytes(1, "name")),
         "metadata.name: 4 bytes are announced and only 3 are there at offset "},
        {"cut inside of a number", cut(W().varint(7, 300)),
         "metadata.generation: the message ends inside of a number at offset "},
        {"a number that is too long", W().bytes(1, "\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
         "metadata.generation: a number of more than 64 bits at offset "},
        {"a field without a number", W().bytes(1, std::string_view("\0\0", 2)),
         "metadata: a field with no valid number at offset "},
        {"a group", W().bytes(1, "\x0b"), "metadata: a field of the unknown wire type 3 at offset"},
        {"a text where a number belongs", W().message(1, W().bytes(7, "x")),
         "metadata.generation: a value of the wrong wire type 2 at offset "},
        {"a number where a message belongs", W().varint(1, 5),
         "metadata: a value of the wrong wire type 0 at offset "},
        {"no UTF-8", W().message(1, W().bytes(1, "\xff")),
         "metadata.name: a text that is not UTF-8 before at offset "},
        {"a key that is not UTF-8", W().message(1, W().message(11, W().bytes(1, "\xff"))),
         "metadata.labels: a text that is not UTF-8 before at offset "},
        {"a time of too many nanoseconds",
         W().message(1, W().message(8, W().varint(1, 1).varint(2, 1'000'000'000))),
         "metadata.creationTimestamp: a time that can't be told at offset "},
        {"a time far away", W().message(1, W().message(8, W().varint(1, 1ull << 40))),
         "metadata.creationTimestamp: a time that can't be told at offset "},
    };
    for (const Row& row : rows) {
        const Result<json::object> result = decode_protobuf(protobuf_body("v1", "Pod", row.object));
        ASSERT_FALSE(result.has_value()) << row.what;
        EXPECT_EQ(result.error().code(), Code::kBadRequest) << row.what;
        EXPECT_THAT(result.error().message(), HasSubstr(row.problem)) << row.what;
    }
    EXPECT_THAT(decoded("apiextensions.k8s.io/v1", "CustomResourceDefinition",
                        W().message(2, W().message(7, W().message(4, W().message(1, deep))))),
                HasSubstr("nested more than 200 levels deep"));
}

TEST(DecodeProtobuf, Envelopes) {
    struct Row {
        const char* what;
        std::string body;
        Code code;
        const char* problem;
    };
    const std::string magic("k8s\0", 4);
    const W type = W().bytes(1, "v1").bytes(2, "Pod");
    const Row rows[] = {
        {"empty", "", Code::kBadRequest, "begins with the bytes 6b 38 73 00"},
        {"JSON", "{}", Code::kBadRequest, "begins with the bytes 6b 38 73 00"},
        {"nothing behind the magic", magic, Code::kUnsupported, "no protobuf description of"},
        {"cut", magic + "\x0a\x05v1", Code::kBadRequest, "5 bytes are announced and only 2"},
        {"an unknown kind", protobuf_body("v1", "Cat", W()), Code::kUnsupported,
         "no protobuf description of v1 Cat; send it as JSON"},
        {"a kind of another group", protobuf_body("apps/v1", "Pod", W()), Code::kUnsupported,
         "no protobuf description of apps/v1 Pod"},
        {"an encoded object", magic + W().message(1, type).bytes(3, "gzip").text(),
         Code::kUnsupported, "must be protobuf itself"},
        {"an object in JSON", magic + W().message(1, type).bytes(4, "application/json").text(),
         Code::kUnsupported, "must be protobuf itself"},
        {"a kind that is not UTF-8", protobuf_body("v1", "\xff", W()), Code::kBadRequest,
         "not UTF-8"},
        {"too large", magic + std::string((3u << 20) - 3, '\0'), Code::kTooLarge,
         "a protobuf body of 3145729 bytes"},
    };
    for (const Row& row : rows) {
        const Result<json::object> result = decode_protobuf(row.body);
        ASSERT_FALSE(result.has_value()) << row.what;
        EXPECT_EQ(result.error().code(), row.code) << row.what;
        EXPECT_THAT(result.error().message(), HasSubstr(row.problem)) << row.what;
    }
    const Result<json::object> bare = decode_protobuf(magic + W().message(1, type).text());
    ASSERT_TRUE(bare.has_value()) << "no object is an empty one";
    EXPECT_EQ(json::serialize(*bare), R"({"apiVersion":"v1","kind":"Pod"})");
}

TEST(DecodeProtobuf, EveryPrefixOfABodyIsAnsweredOrRefused) {
    const std::string body =
        protobuf_body("v1", "Pod",
                      container(W().bytes(1, "c").varint(16, 1).message(
                          8, W().message(1, W().bytes(1, "cpu").message(2, W().bytes(1, "2"))))));
    ASSERT_TRUE(decode_protobuf(body).has_value());
    for (std::size_t size = 0; size < body.size(); ++size) {
        const Result<json::object> result = decode_protobuf(body.substr(0, size));
        if (!result.has_value()) EXPECT_FALSE(result.error().message().empty());
    }
}

TEST(WireReader, TellsUtf8FromOtherBytes) {
    for (const char* good : {"", "a", "\u00e9", "\u20ac", "\U0001f600", "\uffff", "\ud7ff"})
        EXPECT_TRUE(is_utf8(good)) << good;
    for (const char* bad :
         {"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xe0\x80\x80", "\xe2\x82", "\xed\xa0\x80",
          "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "a\xe2(\xa1"})
        EXPECT_FALSE(is_utf8(bad));
    EXPECT_TRUE(is_utf8(std::string_view("\0", 1)));
}

TEST(MessageCatalog, KnowsTheKindsThatGoClientsSend) {
    constexpr std::pair<const char*, const char*> kKinds[] = {
        {"v1", "Pod"},
        {"v1", "Service"},
        {"v1", "ConfigMap"},
        {"v1", "Secret"},
        {"v1", "Event"},
        {"v1", "Namespace"},
        {"v1", "Node"},
        {"v1", "ServiceAccount"},
        {"v1", "Binding"},
        {"v1", "Endpoints"},
        {"v1", "PersistentVolumeClaim"},
        {"events.k8s.io/v1", "Event"},
        {"coordination.k8s.io/v1", "Lease"},
        {"batch/v1", "Job"},
        {"batch/v1", "CronJob"},
        {"apps/v1", "Deployment"},
        {"apps/v1", "ReplicaSet"},
        {"apps/v1", "StatefulSet"},
        {"apps/v1", "DaemonSet"},
        {"rbac.authorization.k8s.io/v1", "Role"},
        {"rbac.authorization.k8s.io/v1", "ClusterRole"},
        {"rbac.authorization.k8s.io/v1", "RoleBinding"},
        {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding"},
        {"authentication.k8s.io/v1", "TokenRequest"},
        {"authentication.k8s.io/v1", "TokenReview"},
        {"authentication.k8s.io/v1", "SelfSubjectReview"},
        {"authorization.k8s.io/v1", "SubjectAccessReview"},
        {"authorization.k8s.io/v1", "LocalSubjectAccessReview"},
        {"authorization.k8s.io/v1", "SelfSubjectAccessReview"},
        {"authorization.k8s.io/v1", "SelfSubjectRulesReview"},
        {"policy/v1", "Eviction"},
        {"policy/v1", "PodDisruptionBudget"},
        {"scheduling.k8s.io/v1", "PriorityClass"},
        {"v1", "PersistentVolume"},
        {"v1", "ResourceQuota"},
        {"v1", "LimitRange"},
        {"v1", "PodTemplate"},
        {"v1", "ReplicationController"},
        {"apps/v1", "ControllerRevision"},
        {"discovery.k8s.io/v1", "EndpointSlice"},
        {"networking.k8s.io/v1", "NetworkPolicy"},
        {"networking.k8s.io/v1", "Ingress"},
        {"networking.k8s.io/v1", "IngressClass"},
        {"node.k8s.io/v1", "RuntimeClass"},
        {"storage.k8s.io/v1", "StorageClass"},
        {"autoscaling/v1", "Scale"},
        {"autoscaling/v1", "HorizontalPodAutoscaler"},
        {"autoscaling/v2", "HorizontalPodAutoscaler"},
        {"apiextensions.k8s.io/v1", "CustomResourceDefinition"},
    };
    for (const auto& [api_version, kind] : kKinds)
        EXPECT_NE(find_message(api_version, kind), nullptr) << api_version << " " << kind;
}

}  // namespace
}  // namespace muster::apiserver_http::decode_test
