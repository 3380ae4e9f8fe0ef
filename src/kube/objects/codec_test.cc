#include "kube/objects/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <limits>

#include "kube/objects/codec_impl.h"

namespace muster::kube {
namespace codec_test {

struct Inner {
    std::string name;
    std::optional<std::int32_t> count;
};
BOOST_DESCRIBE_STRUCT(Inner, (), (name, count))

struct Sample {
    std::string rdzv_id;
    std::string namespace_;
    std::string pod_ip;
    bool flag = false;
    std::int32_t small = 0;
    std::int64_t big = 0;
    Inner inner;
    std::optional<Inner> maybe;
    std::optional<std::string> text;
    std::vector<Inner> list;
    std::map<std::string, Inner> table;
    std::map<std::string, std::string> labels;
    json::value any;
    json::object free;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(Sample, (),
                      (rdzv_id, namespace_, pod_ip, flag, small, big, inner, maybe, text, list,
                       table, labels, any, free, rest))

constexpr std::string_view json_name(const Sample*, std::string_view member) {
    return member == "rdzv_id" ? "rdzvId" : "";
}

}  // namespace codec_test
}  // namespace muster::kube

MUSTER_INSTANTIATE_CODEC(muster::kube::codec_test::Sample);

namespace muster::kube::codec_test {
namespace {

using codec_test::Sample;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CodecNames, AreDerivedAtCompileTime) {
    using codec::derived_name;
    static_assert(derived_name("name").view() == "name");
    static_assert(derived_name("namespace_").view() == "namespace");
    static_assert(derived_name("template_").view() == "template");
    static_assert(derived_name("continue_").view() == "continue");
    static_assert(derived_name("api_version").view() == "apiVersion");
    static_assert(derived_name("container_port").view() == "containerPort");
    static_assert(derived_name("pod_ip").view() == "podIP");
    static_assert(derived_name("pod_ips").view() == "podIPs");
    static_assert(derived_name("cluster_ip").view() == "clusterIP");
    static_assert(derived_name("container_id").view() == "containerID");
    static_assert(derived_name("image_id").view() == "imageID");
    static_assert(derived_name("host_pid").view() == "hostPID");
    static_assert(derived_name("host_ipc").view() == "hostIPC");
    static_assert(derived_name("host_ip").view() == "hostIP");
    static_assert(derived_name("ip").view() == "ip");
    static_assert(derived_name("uid").view() == "uid");
    static_assert(derived_name("id_prefix").view() == "idPrefix");
    static_assert(derived_name("ttl_seconds_after_finished").view() == "ttlSecondsAfterFinished");
    static_assert(derived_name("qos_class").view() == "qosClass");
    static_assert(codec::name_of<Sample>("rdzv_id").view() == "rdzvId");
    static_assert(codec::name_of<Sample>("pod_ip").view() == "podIP");
}

TEST(Codec, LeavesOutWhatIsEmpty) {
    EXPECT_EQ(encode(Sample{}), json::value(json::object{}));

    Sample sample;
    sample.maybe.emplace();
    sample.text = "";
    sample.list.resize(1);
    sample.table["a"];
    EXPECT_EQ(encode(sample),
              json::parse(R"({"maybe":{},"text":"","list":[{}],"table":{"a":{}}})"));

    sample = {};
    sample.inner.count = 0;
    EXPECT_EQ(encode(sample), json::parse(R"({"inner":{"count":0}})"));
}

TEST(Codec, WritesPlainNumbersThatAreNotZero) {
    Sample sample;
    sample.flag = true;
    sample.small = -1;
    sample.big = 1LL << 40;
    EXPECT_EQ(encode(sample), json::parse(R"({"flag":true,"small":-1,"big":1099511627776})"));
}

TEST(Codec, RoundTripsEveryKindOfMember) {
    const json::value value = json::parse(R"({
        "rdzvId":"r","namespace":"n","podIP":"10.0.0.1","flag":true,"small":2147483647,
        "big":-9223372036854775808,"inner":{"name":"i","count":0},"maybe":{},"text":"",
        "list":[{"name":"a"},{}],"table":{"k":{"count":1},"l":{}},"labels":{"a":"b","c":""},
        "any":[1,null,{"x":1.5}],"free":{"p":null},
        "unknown":{"deep":[1,2,{"a":null}]},"alsoUnknown":null})");
    Result<Sample> sample = decode<Sample>(value);
    ASSERT_TRUE(sample) << sample.error().message();
    EXPECT_EQ(sample->rdzv_id, "r");
    EXPECT_EQ(sample->big, std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(sample->rest.size(), 2u);
    EXPECT_TRUE(sample->maybe);
    EXPECT_EQ(encode(*sample), value);
}

TEST(Codec, NullIsTheSameAsAbsent) {
    Result<Pod> pod = decode<Pod>(json::parse(
        R"({"kind":null,"metadata":{"creationTimestamp":null,"labels":null},"spec":null})"));
    ASSERT_TRUE(pod) << pod.error().message();
    EXPECT_EQ(pod->kind, "Pod");
    EXPECT_EQ(encode(*pod), json::parse(R"({"apiVersion":"v1","kind":"Pod"})"));

    Result<Sample> sample = decode<Sample>(json::parse(R"({"maybe":null,"list":[null]})"));
    ASSERT_TRUE(sample);
    EXPECT_FALSE(sample->maybe);
    EXPECT_EQ(sample->list.size(), 1u);
}

TEST(Codec, AMemberWinsOverTheSameKeyInRest) {
    Pod pod;
    pod.metadata.name = "typed";
    pod.metadata.rest["name"] = "rest";
    EXPECT_EQ(encode(pod).at("metadata").at("name"), "typed");
}

struct TypeRow {
    const char* json;
    const char* field;
    const char* message;
};

class CodecTypes : public testing::TestWithParam<TypeRow> {};

TEST_P(CodecTypes, AreReportedWithPathAndReason) {
    Sample sample;
    std::vector<Cause> problems;
    decode_into(json::parse(GetParam().json), sample, "spec", problems);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].reason, "FieldValueTypeInvalid");
    EXPECT_EQ(problems[0].field, GetParam().field);
    EXPECT_EQ(problems[0].message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, CodecTypes,
    testing::Values(
        TypeRow{R"([])", "spec", "must be an object, got a list"},
        TypeRow{R"({"small":"two"})", "spec.small", "must be an integer, got a string"},
        TypeRow{R"({"small":true})", "spec.small", "must be an integer, got a boolean"},
        TypeRow{R"({"small":1.5})", "spec.small", "must be an integer, got 1.5"},
        TypeRow{R"({"small":3.0})", "spec.small",
                "must be an integer written without a fraction or an exponent, got 3.0"},
        TypeRow{R"({"small":1e300})", "spec.small", "must be an integer, got 1e+300"},
        TypeRow{R"({"small":2147483648})", "spec.small",
                "must be an integer from -2147483648 to 2147483647, got 2147483648"},
        TypeRow{R"({"big":18446744073709551615})", "spec.big",
                "must be an integer from -9223372036854775808 to 9223372036854775807, got "
                "18446744073709551615"},
        TypeRow{R"({"inner":{"count":"1"}})", "spec.inner.count",
                "must be an integer, got a string"},
        TypeRow{R"({"list":{}})", "spec.list", "must be a list, got an object"},
        TypeRow{R"({"list":[{},{"name":[]}]})", "spec.list[1].name",
                "must be a string, got a list"},
        TypeRow{R"({"table":{"Master":{"count":{}}}})", "spec.table.Master.count",
                "must be an integer, got an object"},
        TypeRow{R"({"labels":{"a.b/c":1}})", "spec.labels[a.b/c]",
                "must be a string, got a number (put it in quotes: \"1\")"},
        TypeRow{R"({"labels":{"a":true}})", "spec.labels.a",
                "must be a string, got a boolean (put it in quotes: \"true\")"},
        TypeRow{R"({"flag":"yes"})", "spec.flag", "must be true or false, got a string"},
        TypeRow{R"({"free":[]})", "spec.free", "must be an object, got a list"},
        TypeRow{R"({"maybe":"x"})", "spec.maybe", "must be an object, got a string"}));

TEST(Codec, RefusesNumbersThatJsonCanNotWrite) {
    for (double odd :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        Result<Sample> sample = decode<Sample>(json::value{{"small", odd}});
        ASSERT_FALSE(sample);
        EXPECT_THAT(sample.error().message(), HasSubstr("must be an integer, got"));
    }
}

TEST(Codec, SaysAllProblemsAtOnce) {
    Result<Pod> pod = decode<Pod>(json::parse(
        R"({"metadata":{"name":1},"spec":{"containers":[{"ports":[{},{"containerPort":"x"}]}]}})"));
    ASSERT_FALSE(pod);
    EXPECT_EQ(pod.error().code(), Code::kBadRequest);
    ASSERT_EQ(pod.error().causes().size(), 2u);
    EXPECT_EQ(pod.error().causes()[0].field, "metadata.name");
    EXPECT_EQ(pod.error().causes()[1].field, "spec.containers[0].ports[1].containerPort");
    EXPECT_THAT(pod.error().message(), HasSubstr("metadata.name: must be a string"));
    EXPECT_THAT(pod.error().message(), HasSubstr("; spec.containers[0].ports[1].containerPort: "));

    EXPECT_EQ(decode<Pod>(json::value("x")).error().message(), "must be an object, got a string");

    json::object data;
    for (int i = 0; i < 1000; ++i) data[std::to_string(i)] = i;
    Result<ConfigMap> map = decode<ConfigMap>(json::object{{"data", data}});
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().causes().size(), 1000u);
    EXPECT_THAT(map.error().message(), HasSubstr("; and 990 more"));
}

TEST(Codec, SkipsOnlyTheBadValue) {
    Sample sample;
    std::vector<Cause> problems;
    decode_into(json::parse(R"({"maybe":{"name":"kept","count":"x"},"text":1,"podIP":"kept"})"),
                sample, "", problems);
    EXPECT_EQ(problems.size(), 2u);
    ASSERT_TRUE(sample.maybe);
    EXPECT_EQ(sample.maybe->name, "kept");
    EXPECT_FALSE(sample.maybe->count);
    EXPECT_FALSE(sample.text);
    EXPECT_EQ(sample.pod_ip, "kept");
}

// What a cluster sends for a scheduled pod, with fields that nothing here reads.
constexpr const char* kPod = R"({
  "apiVersion":"v1","kind":"Pod",
  "metadata":{"name":"j-worker-0","namespace":"default","uid":"u","resourceVersion":"42",
    "creationTimestamp":"2026-01-02T03:04:05Z","labels":{"a":"b"},
    "ownerReferences":[{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","name":"j","uid":"v",
      "controller":true,"blockOwnerDeletion":true}],
    "managedFields":[{"manager":"m","operation":"Update","fieldsV1":{"f:spec":{}}}]},
  "spec":{"containers":[{"name":"pytorch","image":"i","command":["python","t.py"],
      "env":[{"name":"A","value":"1"},
             {"name":"IP","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"status.podIP"}}},
             {"name":"S","valueFrom":{"secretKeyRef":{"name":"s","key":"k","optional":false}}}],
      "resources":{"limits":{"cpu":1,"nvidia.com/gpu":"2"},"requests":{"cpu":"500m"}},
      "ports":[{"containerPort":23456,"name":"p","hostPort":1}],
      "livenessProbe":{"exec":{"command":["true"]}},
      "volumeMounts":[{"name":"v","mountPath":"/v","readOnly":true}]}],
    "volumes":[{"name":"v","emptyDir":{}},{"name":"w","configMap":{"name":"c","defaultMode":420,
      "items":[{"key":"k","path":"p","mode":0}]}},{"name":"x","nfs":{"server":"s","path":"/"}}],
    "restartPolicy":"Never","terminationGracePeriodSeconds":0,"nodeName":"n",
    "tolerations":[{"key":"k","operator":"Exists"}],"hostNetwork":false},
  "status":{"phase":"Running","hostIP":"10.0.0.1","podIP":"10.0.0.2","podIPs":[{"ip":"10.0.0.2"}],
    "qosClass":"Burstable","startTime":"2026-01-02T03:04:06Z",
    "conditions":[{"type":"Ready","status":"True","lastProbeTime":null}],
    "containerStatuses":[{"name":"pytorch","ready":false,"restartCount":0,"image":"i",
      "imageID":"sha","containerID":"c","started":false,
      "state":{"terminated":{"exitCode":0,"reason":"Completed","containerID":"c"}},
      "lastState":{"terminated":{"exitCode":137,"signal":9}}}]}})";

TEST(Codec, RoundTripsAPodWithFieldsThatNobodyReads) {
    const json::value value = json::parse(kPod);
    Result<Pod> pod = decode<Pod>(value);
    ASSERT_TRUE(pod) << pod.error().message();
    EXPECT_EQ(pod->spec.containers.at(0).ports.at(0).container_port, 23456);
    EXPECT_EQ(pod->status.container_statuses.at(0).state.terminated->exit_code, 0);
    EXPECT_EQ(pod->status.pod_ip, "10.0.0.2");
    EXPECT_EQ(pod->metadata.controller()->name, "j");
    EXPECT_TRUE(pod->spec.volumes.at(2).rest.contains("nfs"));

    EXPECT_EQ(encode(*pod), value) << json::serialize(encode(*pod));
}

TEST(Codec, RefusesNonStringsInMapsOfStrings) {
    Result<ConfigMap> map = decode<ConfigMap>(json::parse(R"({"data":{"a":"1","b":2}})"));
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().causes().at(0).field, "data.b");
}

TEST(Codec, WritesServicesAndEventsAsTheApiSpellsThem) {
    Service service;
    service.metadata.name = "s";
    service.spec.cluster_ip = "None";
    service.spec.ports.push_back({.name = "p", .port = 23456, .protocol = {}, .rest = {}});
    EXPECT_EQ(encode(service), json::parse(R"({"apiVersion":"v1","kind":"Service",
        "metadata":{"name":"s"},"spec":{"clusterIP":"None","ports":[{"name":"p","port":23456}]}})"));

    Event event;
    event.involved_object.namespace_ = "n";
    event.involved_object.field_path = "spec";
    event.count = 1;
    EXPECT_EQ(encode(event), json::parse(R"({"apiVersion":"v1","kind":"Event",
        "involvedObject":{"namespace":"n","fieldPath":"spec"},"count":1})"));
}

}  // namespace
}  // namespace muster::kube::codec_test
