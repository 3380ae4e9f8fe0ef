#include "master/ps_cluster/ps_service.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "job_protocol/kv_protocol.h"
#include "master/service/quiet_host.h"
#include "rpc/rpc_fixture.h"

namespace muster::master::ps_service_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

/// Its record is written as soon as it may be.
class RecordOnly final : public QuietHost {
  public:
    RecordOnly(std::uint64_t epoch, std::map<std::string, std::string>& sections)
        : QuietHost(epoch), sections_(sections) {}

    std::string section(const std::string& name) const override {
        const auto found = sections_.find(name);
        return found == sections_.end() ? std::string() : found->second;
    }
    Result<void> set_section(const std::string& name, std::string bytes) override {
        sections_[name] = std::move(bytes);
        return {};
    }

  private:
    std::map<std::string, std::string>& sections_;
};

PsAttendance pod(std::string type, std::int32_t id) {
    PsAttendance told{.type = std::move(type), .id = id, .rank = id, .address = {}, .places = 2};
    if (told.type == "ps") {
        told.address = fmt::format("ps-{}:2222", id);
        told.servers = 1;
    } else {
        told.place = id;
    }
    return told;
}

class PsServiceTest : public rpc::RpcFixture {
  protected:
    void make_service(std::uint64_t epoch = 3) {
        hosts.push_back(std::make_unique<RecordOnly>(epoch, sections));
        services.push_back(std::make_unique<PsService>(
            ServiceContext{.executor = context.get_executor(),
                           .job = *hosts.back(),
                           .recorded = [this] { return written(); },
                           .wake = [this] { tasks.spawn("advance", advance_service()); }}));
        rpc::Server& server = make_server();
        services.back()->serve(server);
        serve(server);
    }
    Task<void> advance_service() {
        services.back()->advance(clock.now(), clock.wall_now());
        co_return;
    }
    Task<Result<void>> written() {
        while (!may_write) co_await may_write_changed.wait();
        co_return Result<void>();
    }
    /// Follows the clusters, until its client is stopped.
    void attend(rpc::Client& client, PsAttendance told) {
        tasks.spawn("attend", follow(client, std::move(told), seen));
        advance(1ms);
    }
    static Task<void> follow(rpc::Client& client, PsAttendance told,
                             std::vector<std::string>& seen) {
        const auto stream =
            co_await rpc::open(client, job_protocol::kAttend, job_protocol::to_wire(told));
        if (!stream) co_return;
        for (;;) {
            const auto item = co_await (*stream)->next();
            if (!item) seen.push_back(item.error().message());
            if (!item || !*item) co_return;
            const PsCluster cluster = job_protocol::from_wire(**item);
            seen.push_back(fmt::format("{}: {} {}", told.type, cluster.version,
                                       fmt::join(cluster.servers, ",")));
        }
    }
    static Task<Result<std::int64_t>> version(rpc::Client& client, VersionRequest request) {
        CO_TRY(const auto answer, co_await rpc::call(client, job_protocol::kVersion,
                                                     job_protocol::to_wire(request), 1s));
        co_return job_protocol::from_wire(answer).version;
    }
    static Task<Result<KvAnswer>> ask(rpc::Client& client, KvSpace space,
                                      decltype(KvRequest::what) what) {
        CO_TRY(const auto answer,
               co_await rpc::call(
                   client, job_protocol::kPsKeys,
                   job_protocol::to_wire(KvRequest{.space = space, .what = std::move(what)}), 10s));
        co_return job_protocol::from_wire(answer);
    }
    static Task<void> meet(rpc::Client& client, std::string name, std::vector<std::string>& seen) {
        const auto answer = co_await ask(
            client, {.epoch = 3, .generation = job_protocol::meeting_of(3)}, EnterBarrier{"b"});
        seen.push_back(answer ? name : answer.error().message());
    }

    std::map<std::string, std::string> sections;
    std::vector<std::unique_ptr<RecordOnly>> hosts;
    std::vector<std::unique_ptr<PsService>> services;
    std::vector<std::string> seen;
    bool may_write = true;
    Signal may_write_changed{context.get_executor()};
};

TEST_F(PsServiceTest, WhoAttendsIsToldEachClusterWhenItIsOnRecord) {
    make_service();
    attend(make_client(), pod("worker", 1));
    EXPECT_THAT(seen, ElementsAre("worker: 0 "));
    may_write = false;
    attend(make_client(), pod("ps", 0));
    EXPECT_THAT(seen, ElementsAre("worker: 0 "));
    may_write = true;
    may_write_changed.notify_all();
    advance(1ms);
    EXPECT_THAT(seen, testing::UnorderedElementsAre("worker: 0 ", "worker: 1 ps-0:2222",
                                                    "ps: 1 ps-0:2222"));
    EXPECT_THAT(sections["ps-cluster"], HasSubstr("1 "));
}

TEST_F(PsServiceTest, AnImpossibleAttendanceIsRefused) {
    make_service();
    attend(make_client(), pod("", 1));
    EXPECT_THAT(seen, ElementsAre(HasSubstr("a type")));
}

TEST_F(PsServiceTest, VersionsOutliveTheMasterThatGaveThem) {
    make_service(3);
    rpc::Client& client = make_client();
    EXPECT_EQ(await(version(client, {.type = {}, .set = 4})).value(), 4);
    EXPECT_EQ(
        await(version(client, {.kind = VersionKind::kLocal, .type = "worker", .set = 2})).value(),
        2);
    make_service(4);
    rpc::Client& other = make_client();
    EXPECT_EQ(await(version(other, {.type = {}})).value(), 4);
    EXPECT_EQ(await(version(other, {.kind = VersionKind::kLocal, .type = "worker"})).value(), 0)
        << "its program tells it again";
}

TEST_F(PsServiceTest, ThoseWhoAttendMeetAndEveryoneHasKeys) {
    make_service();
    rpc::Client& chief = make_client();
    rpc::Client& worker = make_client();
    rpc::Client& server = make_client();
    attend(chief, pod("chief", 0));
    attend(worker, pod("worker", 1));
    attend(server, pod("ps", 0));
    seen.clear();
    tasks.spawn("meet", meet(server, "the server", seen));
    advance(1ms);
    EXPECT_THAT(seen, ElementsAre(HasSubstr("only members")));
    seen.clear();
    tasks.spawn("meet", meet(chief, "the chief", seen));
    advance(1s);
    EXPECT_THAT(seen, testing::IsEmpty());
    tasks.spawn("meet", meet(worker, "the worker", seen));
    advance(1ms);
    EXPECT_THAT(seen, testing::UnorderedElementsAre("the chief", "the worker"));
    ASSERT_TRUE(await(ask(server, {.epoch = 3}, SetKey{"k", "v"})));
    EXPECT_EQ(await(ask(worker, {.epoch = 3}, GetKey{"k"}))->value, "v");
    EXPECT_EQ(await(ask(worker, {.epoch = 2}, GetKey{"k"})).error().code(), Code::kGone);
}

}  // namespace
}  // namespace muster::master::ps_service_test
