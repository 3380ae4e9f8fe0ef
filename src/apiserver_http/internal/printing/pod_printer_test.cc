#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "apiserver_http/internal/printing/printer.h"
#include "kube/values/time.h"

namespace muster::apiserver_http::pod_printer_test {
namespace {

json::array cells_of(std::string_view pod) {
    const Printer* printer = builtin_printer("pods");
    return printer->cells(json::parse(json::string_view(pod)).get_object(),
                          *kube::parse_time("2026-01-02T03:04:05Z"));
}

struct Row {
    const char* what;
    const char* spec;
    const char* status;
    const char* cells;  ///< ready, status, restarts
    const char* meta = R"({"name":"p"})";
};

void expect_rows(std::span<const Row> rows) {
    for (const Row& row : rows) {
        const json::array cells = cells_of(fmt::format(R"({{"metadata":{},"spec":{},"status":{}}})",
                                                       row.meta, row.spec, row.status));
        EXPECT_EQ(json::serialize(json::array{cells.at(1), cells.at(2), cells.at(3)}), row.cells)
            << row.what;
    }
}

constexpr const char* kTwo = R"({"containers":[{"name":"a"},{"name":"b"}]})";

TEST(PodPrinter, MainContainers) {
    constexpr Row kRows[] = {
        {"nothing known", "{}", "{}", R"(["0/0","","0"])"},
        {"pending", kTwo, R"({"phase":"Pending"})", R"(["0/2","Pending","0"])"},
        {"evicted", kTwo, R"({"phase":"Failed","reason":"Evicted"})", R"(["0/2","Evicted","0"])"},
        {"gated", kTwo,
         R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False",
             "reason":"SchedulingGated"}]})",
         R"(["0/2","SchedulingGated","0"])"},
        {"creating", kTwo,
         R"({"phase":"Pending","containerStatuses":[
             {"name":"a","state":{"waiting":{"reason":"ContainerCreating"}}},
             {"name":"b","state":{"waiting":{"reason":"ContainerCreating"}}}]})",
         R"(["0/2","ContainerCreating","0"])"},
        {"running", kTwo,
         R"({"phase":"Running","containerStatuses":[
             {"name":"a","ready":true,"state":{"running":{}}},
             {"name":"b","ready":false,"state":{"running":{}}}]})",
         R"(["1/2","Running","0"])"},
        {"the first container's reason counts", kTwo,
         R"({"phase":"Running","containerStatuses":[
             {"name":"a","restartCount":3,"state":{"waiting":{"reason":"CrashLoopBackOff"}}},
             {"name":"b","restartCount":2,"state":{"waiting":{"reason":"ImagePullBackOff"}}}]})",
         R"(["0/2","CrashLoopBackOff","5"])"},
        {"failed without a reason", kTwo,
         R"({"phase":"Failed","containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":3}}}]})",
         R"(["0/2","ExitCode:3","0"])"},
        {"killed", kTwo,
         R"({"phase":"Failed","containerStatuses":[
             {"name":"a","state":{"terminated":{"exitCode":137,"signal":9}}}]})",
         R"(["0/2","Signal:9","0"])"},
        {"completed", kTwo,
         R"({"phase":"Succeeded","containerStatuses":[
             {"name":"a","state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]})",
         R"(["0/2","Completed","0"])"},
        {"one completed, the other runs, the pod is ready", kTwo,
         R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[
             {"name":"a","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},
             {"name":"b","ready":true,"state":{"running":{}}}]})",
         R"(["1/2","Running","0"])"},
        {"one completed, the other runs, the pod is not ready", kTwo,
         R"({"phase":"Running","containerStatuses":[
             {"name":"a","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},
             {"name":"b","ready":true,"state":{"running":{}}}]})",
         R"(["1/2","NotReady","0"])"},
        {"one completed, the other failed", kTwo,
         R"({"phase":"Failed","containerStatuses":[
             {"name":"a","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},
             {"name":"b","state":{"terminated":{"exitCode":1,"reason":"Error"}}}]})",
         R"(["0/2","Error","0"])"},
        {"restarted a while ago", kTwo,
         R"({"phase":"Running","containerStatuses":[
             {"name":"a","restartCount":1,"ready":true,"state":{"running":{}},
              "lastState":{"terminated":{"finishedAt":"2026-01-02T03:00:00Z"}}},
             {"name":"b","restartCount":2,"ready":true,"state":{"running":{}},
              "lastState":{"terminated":{"finishedAt":"2026-01-02T03:04:00Z"}}}]})",
         R"cells(["2/2","Running","3 (5s ago)"])cells"},
    };
    expect_rows(kRows);
}

TEST(PodPrinter, InitContainers) {
    constexpr const char* kInit =
        R"({"initContainers":[{"name":"i"},{"name":"j"}],"containers":[{"name":"a"}]})";
    constexpr const char* kSidecar =
        R"({"initContainers":[{"name":"s","restartPolicy":"Always"}],"containers":[{"name":"a"}]})";
    constexpr Row kRows[] = {
        {"the second one runs", kInit,
         R"({"phase":"Pending","initContainerStatuses":[
             {"name":"i","state":{"terminated":{"exitCode":0}}},{"name":"j","state":{"running":{}}}]})",
         R"(["0/1","Init:1/2","0"])"},
        {"the first one waits its turn", kInit,
         R"({"phase":"Pending","initContainerStatuses":[
             {"name":"i","state":{"waiting":{"reason":"PodInitializing"}}}]})",
         R"(["0/1","Init:0/2","0"])"},
        {"an image can't be had", kInit,
         R"({"phase":"Pending","initContainerStatuses":[
             {"name":"i","state":{"waiting":{"reason":"ImagePullBackOff"}}}]})",
         R"(["0/1","Init:ImagePullBackOff","0"])"},
        {"failed, with a reason", kInit,
         R"({"phase":"Pending","initContainerStatuses":[
             {"name":"i","restartCount":4,"state":{"terminated":{"exitCode":1,"reason":"Error"}}}]})",
         R"(["0/1","Init:Error","4"])"},
        {"failed by a signal", kInit,
         R"({"phase":"Pending","initContainerStatuses":[
             {"name":"i","state":{"terminated":{"exitCode":137,"signal":9}}}]})",
         R"(["0/1","Init:Signal:9","0"])"},
        {"failed with a code", kInit,
         R"({"phase":"Pending","initContainerStatuses":[
             {"name":"i","state":{"terminated":{"exitCode":2}}}]})",
         R"(["0/1","Init:ExitCode:2","0"])"},
        {"all done: their restarts no longer count", kInit,
         R"({"phase":"Running","initContainerStatuses":[
             {"name":"i","restartCount":4,"state":{"terminated":{"exitCode":0}}},
             {"name":"j","state":{"terminated":{"exitCode":0}}}],
             "containerStatuses":[{"name":"a","ready":true,"restartCount":1,"state":{"running":{}}}]})",
         R"(["1/1","Running","1"])"},
        {"a sidecar counts as a container", kSidecar,
         R"({"phase":"Running","initContainerStatuses":[
             {"name":"s","started":true,"ready":true,"restartCount":2,"state":{"running":{}}}],
             "containerStatuses":[{"name":"a","ready":true,"restartCount":1,"state":{"running":{}}}]})",
         R"(["2/2","Running","3"])"},
        {"a sidecar that has not started holds up the pod", kSidecar,
         R"({"phase":"Pending","initContainerStatuses":[
             {"name":"s","started":false,"state":{"running":{}}}]})",
         R"(["0/2","Init:0/1","0"])"},
        {"a sidecar that died after the pod was initialized", kSidecar,
         R"({"phase":"Running","conditions":[{"type":"Initialized","status":"True"}],
             "initContainerStatuses":[{"name":"s","started":false,"restartCount":1,
               "state":{"terminated":{"exitCode":1,"reason":"Error"}}}],
             "containerStatuses":[{"name":"a","ready":true,"state":{"running":{}}}]})",
         R"(["1/2","Init:Error","1"])"},
    };
    expect_rows(kRows);
}

TEST(PodPrinter, Deletion) {
    constexpr const char* kGoing = R"({"name":"p","deletionTimestamp":"2026-01-02T03:04:05Z"})";
    constexpr Row kRows[] = {
        {"running", kTwo, R"({"phase":"Running"})", R"(["0/2","Terminating","0"])", kGoing},
        {"failed", kTwo, R"({"phase":"Failed"})", R"(["0/2","Failed","0"])", kGoing},
        {"ended", kTwo, R"({"phase":"Succeeded"})", R"(["0/2","Succeeded","0"])", kGoing},
        {"on a lost node", kTwo, R"({"phase":"Running","reason":"NodeLost"})",
         R"(["0/2","Unknown","0"])", kGoing},
    };
    expect_rows(kRows);
}

TEST(PodPrinter, WideColumns) {
    const json::array bare = cells_of(R"({"metadata":{"name":"p"}})");
    EXPECT_EQ(json::serialize(bare),
              R"(["p","0/0","","0","<unknown>","<none>","<none>","<none>","<none>"])");
    const json::array full = cells_of(R"({
        "metadata":{"name":"p","creationTimestamp":"2026-01-02T03:04:00Z"},
        "spec":{"nodeName":"n","readinessGates":[{"conditionType":"A"},{"conditionType":"B"}]},
        "status":{"podIPs":[{"ip":"1.1.1.1"},{"ip":"::1"}],"nominatedNodeName":"m",
          "conditions":[{"type":"A","status":"True"},{"type":"B","status":"False"}]}})");
    EXPECT_EQ(json::serialize(full), R"(["p","0/0","","0","5s","1.1.1.1","n","m","1/2"])");
}

}  // namespace
}  // namespace muster::apiserver_http::pod_printer_test
