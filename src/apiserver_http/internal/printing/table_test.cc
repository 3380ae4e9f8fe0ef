#include "apiserver_http/internal/printing/table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "apiserver/registry_fixture.h"
#include "apiserver_http/internal/json_access.h"
#include "kube/values/time.h"
#include "store/object_text.h"

namespace muster::apiserver_http::table_test {
namespace {

using testing::HasSubstr;

const WallTime kNow = *kube::parse_time("2026-01-02T03:04:05Z");

apiserver::ResourceDef def_of(std::string_view qualified) {
    apiserver::ResourceDef def;
    const std::size_t dot = qualified.find('.');
    def.type.plural = qualified.substr(0, dot);
    if (dot != std::string_view::npos) def.type.group = qualified.substr(dot + 1);
    def.type.version = "v1";
    return def;
}

/// Put behind the object's other fields; created an hour ago.
constexpr const char* kMeta =
    R"("metadata":{"name":"x","namespace":"d","creationTimestamp":"2026-01-02T02:00:00Z"})";

kube::ObjectPtr object_with(std::string_view fields) {
    return std::make_shared<const json::value>(
        json::parse(fmt::format("{{{}{}{}}}", fields, fields.empty() ? "" : ",", kMeta)));
}

/// A table of one row, which is the same as a value and as text.
json::object table_of(const apiserver::ResourceDef& def, const kube::ObjectPtr& object,
                      RowObject row_object = RowObject::kMetadata) {
    json::object table = table_head(def, {.resource_version = "7"}, true);
    json::object row = table_row(def, *object, row_object, kNow);
    std::string text;
    append_table_row(text, def, store::ObjectText::of(object)->text(), *object, row_object, kNow);
    EXPECT_EQ(text, json::serialize(row));
    table["rows"] = json::array{std::move(row)};
    return table;
}

std::string cells_of(std::string_view resource, std::string_view fields) {
    const json::object table = table_of(def_of(resource), object_with(fields));
    const json::array& cells = table.at("rows").at(0).at("cells").get_array();
    EXPECT_EQ(cells.size(), table.at("columnDefinitions").get_array().size()) << resource;
    return json::serialize(cells);
}

TEST(Table, HasTheFormThatClientsExpect) {
    const kube::ObjectPtr ns = object_with(R"("status":{"phase":"Active"})");
    const json::object head = table_head(
        def_of("namespaces"), {.resource_version = "7", .continue_ = "more", .remaining = 3}, true);
    EXPECT_EQ(json::value(head), json::parse(R"({"kind":"Table","apiVersion":"meta.k8s.io/v1",
        "metadata":{"resourceVersion":"7","continue":"more","remainingItemCount":3},
        "columnDefinitions":[
          {"name":"Name","type":"string","format":"name","priority":0,
           "description":"Unique among the objects of its kind in a namespace."},
          {"name":"Status","type":"string","format":"","priority":0,
           "description":"Whether it is in use or on its way out."},
          {"name":"Age","type":"string","format":"","priority":0,
           "description":"Time since the object was created."}]})"))
        << json::serialize(head);
    EXPECT_EQ(
        table_of(def_of("namespaces"), ns).at("rows"),
        json::parse(R"([{"cells":["x","Active","64m"],"object":{"kind":"PartialObjectMetadata",
          "apiVersion":"meta.k8s.io/v1","metadata":{"name":"x","namespace":"d",
          "creationTimestamp":"2026-01-02T02:00:00Z"}}}])"));
}

TEST(Table, CarriesAsMuchOfTheObjectAsIsAskedFor) {
    const kube::ObjectPtr ns = object_with(R"("status":{"phase":"Active"})");
    const auto object = [&](RowObject wanted) {
        return table_of(def_of("namespaces"), ns, wanted).at("rows").at(0).at("object");
    };
    EXPECT_EQ(object(RowObject::kNone), json::value(nullptr));
    EXPECT_EQ(object(RowObject::kFull), *ns);
    EXPECT_EQ(object(RowObject::kMetadata).at("kind"), "PartialObjectMetadata");
    EXPECT_EQ(table_head(def_of("namespaces"), {}, false).at("columnDefinitions"), nullptr);
}

TEST(Table, MetadataAlone) {
    const kube::ObjectPtr pod = object_with(R"("kind":"Pod","spec":{"metadata":{"name":"no"}})");
    EXPECT_EQ(json::value(partial_metadata_list_head({.resource_version = "9"})),
              json::parse(R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",
                              "metadata":{"resourceVersion":"9"}})"));
    const std::string wanted = fmt::format(
        R"({{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",{}}})", kMeta);
    EXPECT_EQ(json::serialize(partial_metadata(pod->get_object())), wanted);
    std::string text;
    append_partial_metadata(text, store::ObjectText::of(pod)->text());
    EXPECT_EQ(text, wanted);
}

TEST(Table, RowsOfBuiltInKinds) {
    struct Row {
        const char* resource;
        const char* fields;
        const char* cells;
    };
    constexpr Row kRows[] = {
        {"configmaps", R"("data":{"a":"1","b":"2"},"binaryData":{"c":"eA=="})", R"(["x",3,"64m"])"},
        {"configmaps", "", R"(["x",0,"64m"])"},
        {"secrets", R"("type":"Opaque","data":{"a":"eA=="})", R"(["x","Opaque",1,"64m"])"},
        {"serviceaccounts", "", R"(["x","64m"])"},
        {"mutatingwebhookconfigurations.admissionregistration.k8s.io", R"("webhooks":[{},{}])",
         R"(["x",2,"64m"])"},
        {"leases.coordination.k8s.io", R"("spec":{"holderIdentity":"me"})", R"(["x","me","64m"])"},
        {"priorityclasses.scheduling.k8s.io",
         R"("value":9,"globalDefault":true,"preemptionPolicy":"Never")",
         R"(["x",9,true,"64m","Never"])"},
        {"roles.rbac.authorization.k8s.io", "", R"(["x","2026-01-02T02:00:00Z"])"},
        {"customresourcedefinitions.apiextensions.k8s.io", "", R"(["x","2026-01-02T02:00:00Z"])"},
        {"rolebindings.rbac.authorization.k8s.io",
         R"("roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"u"},
            {"kind":"User","name":"v"},{"kind":"Group","name":"g"},
            {"kind":"ServiceAccount","namespace":"n","name":"s"}])",
         R"(["x","Role/r","64m","u, v","g","n/s"])"},
        // Services.
        {"services",
         R"("spec":{"type":"ClusterIP","clusterIP":"10.0.0.1","selector":{"b":"2","a":"1"},
            "ports":[{"port":80,"protocol":"TCP"},{"port":443,"nodePort":30443,"protocol":"TCP"}]})",
         R"(["x","ClusterIP","10.0.0.1","<none>","80/TCP,443:30443/TCP","64m","a=1,b=2"])"},
        {"services", R"("spec":{"type":"ClusterIP","clusterIP":"None","externalIPs":["1.2.3.4"]})",
         R"(["x","ClusterIP","None","1.2.3.4","<none>","64m","<none>"])"},
        {"services", R"("spec":{"type":"LoadBalancer"})",
         R"(["x","LoadBalancer","<none>","<pending>","<none>","64m","<none>"])"},
        {"services",
         R"("spec":{"type":"LoadBalancer","externalIPs":["9.9.9.9"]},
            "status":{"loadBalancer":{"ingress":[{"hostname":"h"},{"ip":"1.1.1.1"}]}})",
         R"(["x","LoadBalancer","<none>","1.1.1.1,h,9.9.9.9","<none>","64m","<none>"])"},
        {"services", R"("spec":{"type":"ExternalName","externalName":"e.org"})",
         R"(["x","ExternalName","<none>","e.org","<none>","64m","<none>"])"},
        {"endpoints",
         R"("subsets":[{"addresses":[{"ip":"1.1.1.1"},{"ip":"::1"}],"ports":[{"port":1},{"port":2}]}])",
         R"(["x","1.1.1.1:1,[::1]:1,1.1.1.1:2 + 1 more...","64m"])"},
        {"endpoints", "", R"(["x","<none>","64m"])"},
        {"endpointslices.discovery.k8s.io",
         R"("addressType":"IPv4","ports":[{"port":80},{"name":"n"},{}],"endpoints":[{"addresses":["1.1.1.1"]}])",
         R"(["x","IPv4","80,n,*","1.1.1.1","64m"])"},
        // Nodes.
        {"nodes", "",
         R"(["x","Unknown","<none>","64m","","<none>","<none>","<unknown>","<unknown>","<unknown>"])"},
        {"nodes",
         R"("spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}],
            "addresses":[{"type":"Hostname","address":"h"},{"type":"InternalIP","address":"1.1.1.1"},
            {"type":"ExternalIP","address":"2.2.2.2"}],"nodeInfo":{"kubeletVersion":"v1",
            "osImage":"os","kernelVersion":"k","containerRuntimeVersion":"c"}})",
         R"(["x","Ready,SchedulingDisabled","<none>","64m","v1","1.1.1.1","2.2.2.2","os","k","c"])"},
        {"nodes", R"("status":{"conditions":[{"type":"Ready","status":"Unknown"}]})",
         R"(["x","NotReady","<none>","64m","","<none>","<none>","<unknown>","<unknown>","<unknown>"])"},
        {"endpointslices.discovery.k8s.io", "", R"(["x","","<unset>","<unset>","64m"])"},
        // Events of both generations.
        {"events",
         R"("involvedObject":{"kind":"Pod","name":"p","fieldPath":"f"},"type":"Normal","reason":"R",
            "message":" m \n","count":4,"firstTimestamp":"2026-01-02T03:00:05Z",
            "lastTimestamp":"2026-01-02T03:04:00Z","source":{"component":"c","host":"h"})",
         R"(["5s","Normal","R","pod/p","f","c, h","m","4m",4,"x"])"},
        {"events",
         R"("involvedObject":{"kind":"Pod"},"eventTime":"2026-01-02T03:04:00.000000Z",
            "reportingComponent":"c")",
         R"(["5s","","","pod","","c","","5s",1,"x"])"},
        {"events",
         R"("eventTime":"2026-01-02T03:03:05.000000Z","reportingComponent":"c","reportingInstance":"i",
            "series":{"count":7,"lastObservedTime":"2026-01-02T03:04:04.500000Z"})",
         R"(["1s","","","","","c, i","","60s",7,"x"])"},
        {"events.events.k8s.io",
         R"("regarding":{"kind":"Pod","name":"p"},"note":"m","reason":"R","type":"Normal",
            "deprecatedCount":3,"deprecatedFirstTimestamp":"2026-01-02T03:00:05Z",
            "deprecatedLastTimestamp":"2026-01-02T03:04:00Z","deprecatedSource":{"component":"c"})",
         R"(["5s","Normal","R","pod/p","","c","m","4m",3,"x"])"},
        {"events.events.k8s.io",
         R"("regarding":{"kind":"Pod","name":"p"},"reportingController":"c","eventTime":
            "2026-01-02T03:04:00.000000Z")",
         R"(["5s","","","pod/p","","c","","5s",1,"x"])"},
        // Workloads.
        {"deployments.apps",
         R"("spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}},"template":{"spec":{"containers":[
            {"name":"c","image":"i"},{"name":"d","image":"j"}]}}},
            "status":{"readyReplicas":1,"updatedReplicas":2,"availableReplicas":1})",
         R"(["x","1/3",2,1,"64m","c,d","i,j","a=b"])"},
        {"replicasets.apps", R"("spec":{"replicas":3},"status":{"replicas":2,"readyReplicas":1})",
         R"(["x",3,2,1,"64m","","","<none>"])"},
        {"statefulsets.apps", R"("spec":{"replicas":3},"status":{"readyReplicas":1})",
         R"(["x","1/3","64m","",""])"},
        {"daemonsets.apps", R"("status":{"desiredNumberScheduled":5,"currentNumberScheduled":4,
            "numberReady":3,"updatedNumberScheduled":2,"numberAvailable":1})",
         R"(["x",5,4,3,2,1,"<none>","64m","","","<none>"])"},
        {"cronjobs.batch", R"("spec":{"schedule":"* * * * *","suspend":false})",
         R"(["x","* * * * *","<none>","False",0,"<none>","64m","","","<none>"])"},
        {"replicationcontrollers",
         R"("spec":{"replicas":3,"selector":{"a":"b"}},"status":{"replicas":2,"readyReplicas":1})",
         R"(["x",3,2,1,"64m","","","a=b"])"},
        {"podtemplates",
         R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[
            {"name":"c","image":"i"}]}})",
         R"(["x","c","i","a=b"])"},
        {"controllerrevisions.apps", R"("revision":3)", R"(["x","<none>",3,"64m"])"},
        // Volumes, limits, networking.
        {"persistentvolumes",
         R"("spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteMany","ReadWriteOnce"],
            "persistentVolumeReclaimPolicy":"Retain","claimRef":{"namespace":"n","name":"c"},
            "storageClassName":"s","volumeMode":"Filesystem"},"status":{"phase":"Bound"})",
         R"(["x","1Gi","RWO,RWX","Retain","Bound","n/c","s","<unset>","","64m","Filesystem"])"},
        {"storageclasses.storage.k8s.io", R"("provisioner":"p")",
         R"(["x","p","Delete","Immediate",false,"64m"])"},
        {"resourcequotas",
         R"("status":{"hard":{"pods":"9","cpu":"4","limits.cpu":"8"},"used":{"cpu":"1"}})",
         R"(["x","cpu: 1/4, pods: 0/9","limits.cpu: 0/8","64m"])"},
        {"limitranges", "", R"(["x","2026-01-02T02:00:00Z"])"},
        {"runtimeclasses.node.k8s.io", R"("handler":"runc")", R"(["x","runc","64m"])"},
        {"networkpolicies.networking.k8s.io", R"("spec":{"podSelector":{"matchLabels":{"a":"b"}}})",
         R"(["x","a=b","64m"])"},
        {"ingresses.networking.k8s.io",
         R"("spec":{"ingressClassName":"c","rules":[{"host":"a"},{"host":"b"},{"host":"c"},{}],
            "tls":[{}]},"status":{"loadBalancer":{"ingress":[{"ip":"1.1.1.1"}]}})",
         R"(["x","c","a,b,c + 1 more...","1.1.1.1","80, 443","64m"])"},
        {"ingresses.networking.k8s.io", R"("spec":{"rules":[{}]})",
         R"(["x","<none>","*","","80","64m"])"},
        {"ingressclasses.networking.k8s.io",
         R"("spec":{"controller":"e.org/c","parameters":{"apiGroup":"g","kind":"K","name":"n"}})",
         R"(["x","e.org/c","K.g/n","64m"])"},
        {"poddisruptionbudgets.policy",
         R"("spec":{"minAvailable":"50%"},"status":{"disruptionsAllowed":2})",
         R"(["x","50%","N/A",2,"64m"])"},
        {"horizontalpodautoscalers.autoscaling",
         R"("spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},"maxReplicas":9,"metrics":[
            {"type":"Resource","resource":{"name":"cpu","target":{"averageUtilization":80}}}]})",
         R"(["x","Deployment/d","cpu: <unknown>/80%","<unset>",9,0,"64m"])"},
        {"horizontalpodautoscalers.autoscaling",
         R"("spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},"maxReplicas":9,
            "targetCPUUtilizationPercentage":80},"status":{"currentCPUUtilizationPercentage":7})",
         R"(["x","Deployment/d","cpu: 7%/80%","<unset>",9,0,"64m"])"},
        {"horizontalpodautoscalers.autoscaling",
         R"("spec":{"minReplicas":2,"metrics":[
            {"type":"Pods","pods":{"target":{"averageValue":"5"}}},
            {"type":"External","external":{"target":{"averageValue":"7"}}},{"type":"Object"}]},
            "status":{"currentReplicas":3,"currentMetrics":[{"pods":{"current":{"averageValue":"1500m"}}}]})",
         R"(["x","/","1500m/5, <unknown>/7 (avg) + 1 more...","2",0,3,"64m"])"},
        {"persistentvolumeclaims",
         R"("spec":{"volumeName":"v","storageClassName":"s","volumeMode":"Filesystem"},
            "status":{"phase":"Bound","capacity":{"storage":"1Gi"},
            "accessModes":["ReadWriteMany","ReadWriteOnce"]})",
         R"(["x","Bound","v","1Gi","RWO,RWX","s","<unset>","64m","Filesystem"])"},
    };
    for (const Row& row : kRows)
        EXPECT_EQ(cells_of(row.resource, row.fields), row.cells) << row.resource;
}

TEST(Table, RolesOfANode) {
    struct Row {
        const char* labels;
        const char* roles;
    };
    constexpr Row kRows[] = {
        {R"({})", "<none>"},
        {R"({"node-role.kubernetes.io/worker":"","node-role.kubernetes.io/control-plane":""})",
         "control-plane,worker"},
        {R"({"node-role.kubernetes.io/":""})", "<none>"},
        {R"({"kubernetes.io/role":"gpu","node-role.kubernetes.io/a":""})", "a,gpu"},
        {R"({"kubernetes.io/role":""})", "<none>"},
        {R"({"x/node-role.kubernetes.io/":"y"})", "<none>"},
    };
    for (const Row& row : kRows) {
        const auto node = std::make_shared<const json::value>(
            json::parse(fmt::format(R"({{"metadata":{{"name":"x","labels":{}}}}})", row.labels)));
        EXPECT_EQ(table_of(def_of("nodes"), node).at("rows").at(0).at("cells").at(2).as_string(),
                  row.roles)
            << row.labels;
    }
}

TEST(Table, StatusOfAJob) {
    struct Row {
        const char* fields;
        const char* cells;  ///< status, completions, duration
    };
    constexpr Row kRows[] = {
        {"", R"("Running","0/1","")"},
        {R"("spec":{"completions":5},"status":{"succeeded":2,"startTime":"2026-01-02T03:04:00Z"})",
         R"("Running","2/5","5s")"},
        {R"("spec":{"parallelism":4},"status":{"startTime":"2026-01-02T03:00:00Z",
            "completionTime":"2026-01-02T03:00:30Z","conditions":[{"type":"Complete","status":"True"}]})",
         R"("Complete","0/1 of 4","30s")"},
        {R"("status":{"conditions":[{"type":"Complete","status":"False"},
            {"type":"Failed","status":"True"}]})",
         R"("Failed","0/1","")"},
        {R"("status":{"conditions":[{"type":"Suspended","status":"True"}]})",
         R"("Suspended","0/1","")"},
        {R"("status":{"conditions":[{"type":"FailureTarget","status":"True"}]})",
         R"("FailureTarget","0/1","")"},
    };
    for (const Row& row : kRows)
        EXPECT_EQ(cells_of("jobs.batch", row.fields),
                  fmt::format(R"(["x",{},"64m","","","<none>"])", row.cells));
}

TEST(Table, AJobThatIsDeleted) {
    const auto status = [](std::string_view conditions) {
        const auto job = std::make_shared<const json::value>(json::parse(fmt::format(
            R"({{"metadata":{{"name":"x","deletionTimestamp":"2026-01-02T03:04:00Z"}},
                "status":{{"conditions":[{}]}}}})",
            conditions)));
        return table_of(def_of("jobs.batch"), job).at("rows").at(0).at("cells").at(1);
    };
    EXPECT_EQ(status(""), "Terminating");
    EXPECT_EQ(status(R"({"type":"Suspended","status":"True"})"), "Terminating");
    EXPECT_EQ(status(R"({"type":"Complete","status":"True"})"), "Complete");
}

// Columns that a CustomResourceDefinition declares.

struct CustomResource : apiserver::RegistryFixture {
    using apiserver::RegistryFixture::define;
};

apiserver::DefPtr custom(std::string_view columns) {
    const json::value crd = json::parse(fmt::format(
        R"({{"metadata":{{"name":"things.ex.org"}},"spec":{{"group":"ex.org","scope":"Namespaced",
        "names":{{"plural":"things","kind":"Thing","singular":"thing","listKind":"ThingList",
        "shortNames":["th"],"categories":["all"]}},"versions":[{{"name":"v1","served":true,
        "storage":true,"schema":{{"openAPIV3Schema":{{"type":"object"}}}}{}}}]}}}})",
        columns));
    return CustomResource().define(crd.get_object()).at(0);
}

TEST(Table, ACustomResourceWithoutColumnsShowsItsAge) {
    const json::object table = table_of(*custom(""), object_with(""));
    EXPECT_EQ(table.at("rows").at(0).at("cells"), (json::array{"x", "64m"}));
    EXPECT_EQ(table.at("columnDefinitions").at(1).at("name"), "Age");
    EXPECT_EQ(table.at("columnDefinitions").at(1).at("type"), "date");
}

TEST(Table, ColumnsOfACustomResource) {
    struct Row {
        const char* type;
        const char* path;
        const char* cell;
    };
    constexpr Row kRows[] = {
        {"string", ".spec.text", R"("hello")"},
        {"string", ".spec.number", R"("3")"},
        {"string", ".spec.flag", R"("true")"},
        {"string", ".spec.list", R"("[1,2]")"},
        {"string", ".spec.list[*]", R"("1")"},
        {"string", ".spec.none", "null"},
        {"string", ".spec.nil", "null"},
        {"integer", ".spec.number", "3"},
        {"integer", ".spec.half", "2"},
        {"integer", ".spec.huge", "null"},
        {"integer", ".spec.text", "null"},
        {"number", ".spec.number", "3E0"},
        {"number", ".spec.half", "2.5E0"},
        {"number", ".spec.flag", "null"},
        {"boolean", ".spec.flag", "true"},
        {"boolean", ".spec.text", "null"},
        {"date", ".spec.when", R"("5s")"},
        {"date", ".spec.text", R"("<invalid>")"},
        {"date", ".spec.number", "null"},
        {"date", ".spec.empty", R"("<unknown>")"},
        {"string", R"(.status.conditions[?(@.type=="Ready")].status)", R"("True")"},
    };
    const kube::ObjectPtr thing = object_with(
        R"("spec":{"text":"hello","number":3,"flag":true,"list":[1,2],"nil":null,"half":2.5,
           "huge":1e300,"when":"2026-01-02T03:04:00Z","empty":""},
           "status":{"conditions":[{"type":"Ready","status":"True"}]})");
    for (const Row& row : kRows) {
        json::array columns{{{"name", "C"}, {"type", row.type}, {"jsonPath", row.path}}};
        const apiserver::DefPtr def =
            custom(fmt::format(R"(,"additionalPrinterColumns":{})", json::serialize(columns)));
        const json::object table = table_of(*def, thing);
        EXPECT_EQ(json::serialize(table.at("rows").at(0).at("cells").at(1)), row.cell)
            << row.type << " " << row.path;
    }
}

TEST(Table, ALongCellIsCut) {
    const auto cell_of = [](const json::value& of) {
        const apiserver::DefPtr def = custom(
            R"(,"additionalPrinterColumns":[{"name":"C","type":"string","jsonPath":".x[*]"}])");
        const json::object table =
            table_of(*def, object_with(fmt::format(R"("x":{})", json::serialize(of))));
        return std::string(table.at("rows").at(0).at("cells").at(1).as_string());
    };
    const auto text = [](std::size_t size) { return std::string(size, 't'); };
    EXPECT_EQ(cell_of(json::array{text(4096)}), text(4096));
    EXPECT_EQ(cell_of(json::array{text(4097)}), text(4096) + "...");
    EXPECT_EQ(cell_of(json::array{text(1'000'000)}), text(4096) + "...");
    EXPECT_EQ(cell_of(json::array{text(4095) + "\xe2\x82\xac"}), text(4095) + "...")
        << "no half character";
    EXPECT_EQ(cell_of(json::array{text(4093) + "\xe2\x82\xac"}), text(4093) + "\xe2\x82\xac");
    EXPECT_EQ(cell_of(json::array{text(4000), text(95)}), text(4000)) << "the first";
    json::array lists;
    lists.push_back(json::array(10'000, "\xc3\xa4"));
    const std::string list = cell_of(lists);
    EXPECT_EQ(list.size(), 4096u + 3) << list.substr(4000);
    EXPECT_TRUE(list.ends_with("\xc3\xa4\",...")) << list.substr(4000);
}

TEST(Table, OfADefinitionThatWasStoredBeforeThereWasALimitHasTheFirstColumns) {
    const json::array columns(300, {{"name", "C"}, {"type", "string"}, {"jsonPath", ".x"}});
    const apiserver::DefPtr def =
        custom(fmt::format(R"(,"additionalPrinterColumns":{})", json::serialize(columns)));
    const json::object table = table_of(*def, object_with(""));
    EXPECT_EQ(table.at("columnDefinitions").get_array().size(), 201u) << "the name, and 200";
    EXPECT_EQ(table.at("rows").at(0).at("cells").as_array().size(), 201u);
}

TEST(Table, DefinitionsOfCustomColumns) {
    const apiserver::DefPtr def =
        custom(R"(,"additionalPrinterColumns":[{"name":"C","type":"integer",
        "format":"int32","description":"How many.","priority":1,"jsonPath":".spec.c"}])");
    EXPECT_EQ(def->singular, "thing");
    EXPECT_EQ(def->short_names, std::vector<std::string>{"th"});
    EXPECT_EQ(def->categories, std::vector<std::string>{"all"});
    const json::object table = table_of(*def, object_with(""));
    EXPECT_EQ(table.at("columnDefinitions").get_array().size(), 2u);
    EXPECT_EQ(table.at("columnDefinitions").at(1),
              json::parse(R"({"name":"C","type":"integer","format":"int32",
                              "description":"How many.","priority":1})"));
}

}  // namespace
}  // namespace muster::apiserver_http::table_test
