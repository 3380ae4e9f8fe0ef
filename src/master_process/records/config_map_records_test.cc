#include "master_process/records/config_map_records.h"

#include <gmock/gmock.h>

#include <deque>
#include <memory>

#include "apiserver/api_server.h"
#include "base/log.h"
#include "base/rng.h"
#include "job_protocol/protocol.h"
#include "kube/values/base64.h"
#include "kube/values/document.h"
#include "master/records_contract_test.h"
#include "master_process/records/in_time.h"
#include "store/store.h"

namespace muster::master::config_map_records_test {
namespace {

using namespace std::chrono_literals;
using job_protocol::JobRecord;
using kube::types::kConfigMaps;
using master_process::ConfigMapRecords;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

enum class Fault {
    kNone,
    kAway,      ///< the request does not arrive
    kLost,      ///< the answer does not
    kHangs,     ///< neither does, and nobody says so
    kLabelled,  ///< another client writes the object just before
};

/// The way to the API server, with a fault for each of the next writes.
class Way final : public kube::Transport {
  public:
    Way(kube::Transport& below, Clock& clock) : below_(below), clock_(clock) {}

    Task<Result<kube::Response>> call(kube::Request request) override {
        ++requests;
        const bool writes = request.method == kube::Method::kPut;
        writes_ += writes ? 1 : 0;
        if (!writes || faults.empty()) co_return co_await below_.call(std::move(request));
        const Fault fault = faults.front();
        faults.pop_front();
        if (fault == Fault::kAway) co_return Error(Code::kUnavailable, "no route to the server");
        if (fault == Fault::kHangs) co_await clock_.sleep_for(1h);
        if (fault == Fault::kLabelled) co_await label();
        auto answer = co_await below_.call(std::move(request));
        if (fault == Fault::kLost) co_return Error(Code::kUnavailable, "the connection broke");
        co_return answer;
    }
    Task<Result<std::unique_ptr<kube::WatchStream>>> watch(kube::Request request) override {
        return below_.watch(std::move(request));
    }
    Task<Result<std::unique_ptr<kube::TextStream>>> stream_text(kube::Request request) override {
        return below_.stream_text(std::move(request));
    }

    std::deque<Fault> faults;
    int requests = 0;
    int writes() const { return writes_; }

  private:
    Task<void> label() {
        kube::Client client(below_);
        const auto patched = co_await client.patch(
            kConfigMaps, "default", "elasticjob-a-dlrover-master", kube::ContentType::kMergePatch,
            {{"metadata", {{"labels", {{"seen", std::to_string(++labels_)}}}}}});
        EXPECT_TRUE(patched);
    }

    kube::Transport& below_;
    Clock& clock_;
    int writes_ = 0;
    int labels_ = 0;
};

/// An API server with the object as the operator makes it.
class InAnObject : public RecordsPlace {
  public:
    InAnObject() {
        EXPECT_TRUE(loop_.await(api_.start()));
        make();
    }
    ~InAnObject() override { loop_.await(api_.stop()); }
    TestLoop& loop() override { return loop_; }
    std::unique_ptr<Records> open() override { return open(1); }
    std::unique_ptr<Records> open(std::uint64_t first) {
        return std::make_unique<ConfigMapRecords>(client_, loop_.clock, "default", kName, first);
    }
    void make() {
        const auto made = loop_.await(
            client_.create(kConfigMaps, "default",
                           {{"apiVersion", "v1"},
                            {"kind", "ConfigMap"},
                            {"metadata", {{"name", kName}, {"labels", {{"mine", "yes"}}}}}}));
        EXPECT_TRUE(made) << made.error().message();
    }
    void remove() { EXPECT_TRUE(loop_.await(client_.remove(kConfigMaps, "default", kName))); }
    json::value object() {
        const auto found = loop_.await(client_.get(kConfigMaps, "default", kName));
        EXPECT_TRUE(found);
        return found ? kube::copy_of(**found) : json::value();
    }
    void put(json::value fields) {
        EXPECT_TRUE(loop_.await(client_.patch(kConfigMaps, "default", kName,
                                              kube::ContentType::kMergePatch, std::move(fields))));
    }
    Way& way() { return way_; }
    Clock& clock() { return loop_.clock; }

    static constexpr const char* kName = "elasticjob-a-dlrover-master";

  private:
    SimulatedLoop loop_;
    Rng rng_{3};
    apiserver::ApiServer api_{loop_.context.get_executor(), loop_.clock, rng_,
                              store::make_memory_store()};
    Way way_{api_, loop_.clock};
    kube::Client client_{way_};
};

INSTANTIATE_TEST_SUITE_P(ConfigMap, RecordsContract, testing::Values([] {
                             return std::unique_ptr<RecordsPlace>(std::make_unique<InAnObject>());
                         }));

class ConfigMapRecordsTest : public ::testing::Test, protected InAnObject {
  protected:
    Result<JobRecord> claim(Records& of) { return loop().await(of.claim()); }
    Result<void> write(Records& to, JobRecord record) {
        return loop().await(to.write(std::move(record)));
    }
    JobRecord kept() { return master_process::record_in(object()).value(); }

    std::unique_ptr<Records> records = open();
};

TEST_F(ConfigMapRecordsTest, WhatOthersPutThereStays) {
    ASSERT_TRUE(claim(*records));
    ASSERT_TRUE(write(*records, full_record(1)));
    const json::value found = object();
    EXPECT_EQ(found.at("metadata").at("labels").at("mine"), "yes");
    EXPECT_EQ(found.at("data").at("epoch"), "1");
    EXPECT_EQ(found.at("data").at("end"), "failed: why") << "for people";
    put({{"data", {{"note", "of a person"}}}});
    ASSERT_TRUE(write(*records, full_record(1)));
    EXPECT_EQ(object().at("data").at("note"), "of a person");
}

TEST_F(ConfigMapRecordsTest, AnEpochIsAboveThoseOfObjectsBefore) {
    const auto first = open(100);
    EXPECT_EQ(claim(*first)->epoch, 100u);
    EXPECT_EQ(claim(*open(90))->epoch, 101u);
    remove();
    make();
    EXPECT_EQ(claim(*open(200))->epoch, 200u);
}

TEST_F(ConfigMapRecordsTest, AWriteIsOneRequest) {
    ASSERT_TRUE(claim(*records));
    const int before = way().requests;
    ASSERT_TRUE(write(*records, full_record(1)));
    ASSERT_TRUE(write(*records, full_record(1)));
    EXPECT_EQ(way().requests, before + 2);
}

TEST_F(ConfigMapRecordsTest, AWriteWhoseAnswerWasLostIsRepeatedAndIsNoConflict) {
    ASSERT_TRUE(claim(*records));
    way().faults = {Fault::kLost};
    const auto lost = write(*records, full_record(1));
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code(), Code::kUnavailable);
    EXPECT_THAT(lost.error().message(), HasSubstr("ConfigMap default/elasticjob-a-dlrover-master"));
    EXPECT_EQ(kept(), full_record(1)) << "it was written";
    ASSERT_TRUE(write(*records, full_record(1)));
    way().faults = {Fault::kAway};
    EXPECT_FALSE(write(*records, full_record(1)));
    EXPECT_TRUE(write(*records, full_record(1)));
}

TEST_F(ConfigMapRecordsTest, AClaimWhoseAnswerWasLostIsFollowedByALaterEpoch) {
    way().faults = {Fault::kLost};
    EXPECT_FALSE(claim(*records));
    EXPECT_EQ(kept().epoch, 1u);
    EXPECT_EQ(claim(*records)->epoch, 2u);
}

TEST_F(ConfigMapRecordsTest, WhoOnlyLabelsTheObjectIsNoOtherMaster) {
    way().faults = {Fault::kLabelled};
    EXPECT_EQ(claim(*records)->epoch, 1u);
    way().faults = {Fault::kLabelled, Fault::kLabelled};
    EXPECT_TRUE(write(*records, full_record(1)));
    EXPECT_EQ(object().at("metadata").at("labels").at("seen"), "3");
    EXPECT_EQ(kept(), full_record(1));
}

TEST_F(ConfigMapRecordsTest, WhoIsDisturbedAgainAndAgainSaysSo) {
    way().faults.assign(100, Fault::kLabelled);
    const auto claimed = claim(*records);
    ASSERT_FALSE(claimed);
    EXPECT_EQ(claimed.error().code(), Code::kUnavailable);
    EXPECT_THAT(claimed.error().message(), HasSubstr("is there another master?"));
    EXPECT_LT(way().writes(), 20);
}

TEST_F(ConfigMapRecordsTest, AServerThatSaysNothingIsNotWaitedForForLong) {
    ASSERT_TRUE(claim(*records));
    way().faults = {Fault::kHangs};
    const Instant before = clock().now();
    const auto written = write(*records, full_record(1));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code(), Code::kUnavailable);
    EXPECT_EQ(clock().now() - before, master_process::kRequestTime);
    EXPECT_TRUE(write(*records, full_record(1)));
}

TEST_F(ConfigMapRecordsTest, AnObjectThatIsMissingIsNamed) {
    ASSERT_TRUE(claim(*records));
    remove();
    const auto written = write(*records, full_record(1));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code(), Code::kNotFound);
    EXPECT_THAT(written.error().message(),
                HasSubstr("ConfigMap default/elasticjob-a-dlrover-master does not exist: the "
                          "operator makes it"));
    EXPECT_EQ(claim(*records).error().code(), Code::kNotFound);
}

TEST_F(ConfigMapRecordsTest, AnObjectThatWasMadeAgainGetsTheRecordOfTheMasterThatIsThere) {
    ASSERT_TRUE(claim(*records));
    remove();
    make();
    ASSERT_TRUE(write(*records, full_record(1)));
    EXPECT_EQ(kept(), full_record(1));
}

/// What someone may have made of a record.
std::vector<std::string> damages() {
    JobRecord no_epoch_follows{.epoch = ~std::uint64_t{0}};
    return {"no message \xff\xff", "", job_protocol::to_wire(no_epoch_follows).SerializeAsString()};
}

TEST_F(ConfigMapRecordsTest, ADamagedRecordIsToldAndFollowedByTheEpochOfASuccessor) {
    for (const std::string& bytes : damages()) {
        std::vector<std::string> told;
        log::set_sink([&](log::Level, std::string_view line) { told.emplace_back(line); });
        put({{"binaryData", {{"record", kube::base64_encode(bytes)}}}});
        EXPECT_FALSE(master_process::record_in(object()));
        const auto claimed = claim(*open(100));
        log::set_sink({});
        ASSERT_TRUE(claimed) << claimed.error().message();
        EXPECT_EQ(*claimed, JobRecord{.epoch = 101}) << "with 100 the job would begin";
        EXPECT_EQ(kept(), *claimed);
        EXPECT_THAT(told, ElementsAre(AllOf(HasSubstr("was damaged"),
                                            HasSubstr("default/elasticjob-a-dlrover-master"))));
    }
}

TEST_F(ConfigMapRecordsTest, ARecordThatIsDamagedWhileItsMasterLivesIsWrittenAgain) {
    ASSERT_TRUE(claim(*records));
    log::set_sink([](log::Level, std::string_view) {});
    for (const std::string& bytes : damages()) {
        put({{"binaryData", {{"record", kube::base64_encode(bytes)}}}});
        EXPECT_TRUE(write(*records, full_record(1)));
        EXPECT_EQ(kept(), full_record(1));
    }
    log::set_sink({});
}

TEST_F(ConfigMapRecordsTest, ARecordThatIsTooLargeLosesItsOldestIncidents) {
    ASSERT_TRUE(claim(*records));
    JobRecord large = full_record(1);
    for (int i = 0; i < 2000; ++i)
        large.incidents.push_back({.restarts = i, .error = std::string(1000, 'e')});
    ASSERT_TRUE(write(*records, large));
    const JobRecord found = kept();
    EXPECT_GT(found.incidents.size(), 500u);
    EXPECT_LT(found.incidents.size(), 1000u);
    EXPECT_EQ(found.incidents.back(), large.incidents.back());
    EXPECT_EQ(found.end, large.end);
}

/// Two masters that claim and write in turns, with faults: no epoch is had twice, and what one wrote
/// is never replaced by what an older one writes later.
TEST_F(ConfigMapRecordsTest, MastersInTurnsNeverOverwriteANewerOne) {
    Rng rng(11);
    std::vector<std::unique_ptr<Records>> masters;
    std::vector<std::uint64_t> epochs(3, 0);
    for (int i = 0; i < 3; ++i) masters.push_back(open());
    std::uint64_t newest = 0;
    for (int step = 0; step < 400; ++step) {
        const std::size_t who = rng.below(3);
        if (rng.chance(0.4)) {
            constexpr Fault kFaults[] = {Fault::kAway, Fault::kLost, Fault::kLabelled};
            way().faults = {kFaults[rng.below(3)]};
        }
        if (epochs[who] == 0 || rng.chance(0.1)) {
            const auto claimed = claim(*masters[who]);
            if (claimed) {
                EXPECT_GT(claimed->epoch, newest);
                epochs[who] = claimed->epoch;
            }
            newest = kept().epoch;
            continue;
        }
        const JobRecord record{.epoch = epochs[who], .excluded = {std::to_string(step)}};
        const auto written = write(*masters[who], record);
        way().faults.clear();
        if (epochs[who] < newest) {
            ASSERT_FALSE(written);
            EXPECT_NE(kept(), record);
            if (written.error().code() == Code::kConflict) epochs[who] = 0;
        } else if (written) {
            EXPECT_EQ(kept(), record);
        } else {
            EXPECT_EQ(written.error().code(), Code::kUnavailable);
        }
    }
}

}  // namespace
}  // namespace muster::master::config_map_records_test
