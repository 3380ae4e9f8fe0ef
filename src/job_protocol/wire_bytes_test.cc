#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "job_protocol/checkpoint_commit_protocol.h"
#include "job_protocol/kv_protocol.h"
#include "job_protocol/node_check_protocol.h"
#include "job_protocol/protocol.h"
#include "job_protocol/ps_cluster_protocol.h"

namespace muster::job_protocol::wire_bytes_test {
namespace {

using namespace std::chrono_literals;

// The bytes of version 0.1, of each kind of message. They never change: programs of two versions
// talk to each other. protocol_test.cc has those of the largest messages.

std::string hex(const std::string& bytes) {
    std::string out;
    for (const char byte : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return out;
}

template <class T>
T value_of(Result<T> read) {
    EXPECT_TRUE(read) << read.error().message();
    return read ? *std::move(read) : T();
}
template <class T>
T value_of(T read) {
    return read;
}

/// There and back: the bytes are these, and are read as the same value.
template <class Value>
void expect_bytes(const Value& value, std::string_view bytes) {
    const auto wire = to_wire(value);
    EXPECT_EQ(hex(wire.SerializeAsString()), bytes);
    EXPECT_EQ(value_of(from_wire(wire)), value) << bytes;
}

constexpr WallTime kWhen(std::chrono::seconds(1'700'000'000));

TEST(WireBytes, Directives) {
    expect_bytes(Directive{.epoch = 5, .what = Wait{.standby = true, .text = "for b"}},
                 "0805120908011205666f722062");
    expect_bytes(Directive{.epoch = 5,
                           .what = Stop{.generation = {.epoch = 5, .number = 9}},
                           .why = "b is lost",
                           .grace = 2500ms},
                 "080522060a0408051009320962206973206c6f737438c413");
    const FailureReport cause{.kind = FailureKind::kNotStarted,
                              .generation = {.epoch = 5, .number = 9},
                              .restarts = 3,
                              .slot = 1,
                              .node = "10.0.0.7",
                              .signal = 9,
                              .error = "\xff",
                              .when = kWhen + 1ns};
    expect_bytes(
        Directive{
            .epoch = 5,
            .what = Verdict{.kind = Verdict::Kind::kFailed, .text = "no more", .cause = cause}},
        "08052a430a066661696c656412076e6f206d6f72651a300a0b6e6f742d7374617274656412040805"
        "10091803"
        "20012a0831302e302e302e3740094a01ff508180a8b1e39fe7cb17");
    expect_bytes(
        Directive{.epoch = 5,
                  .what = Check{.epoch = 5,
                                .round = 1,
                                .dials = {{.incarnation = "b-1", .address = "10.0.0.8", .port = 7}},
                                .thorough = true,
                                .secret = std::string("\0s", 2),
                                .limit = 15s}},
        "0805422208051001180122110a03622d31120831302e302e302e381807280132020073389875");
}

TEST(WireBytes, Reports) {
    expect_bytes(
        Report{.gave_up = Generation{.epoch = 5, .number = 8},
               .store_ready = Generation{.epoch = 5, .number = 9},
               .leaving = "SIGTERM",
               .checked = CheckResult{.epoch = 5,
                                      .round = 1,
                                      .flops = 2.5e9,
                                      .memory_bytes = 1e10,
                                      .links = {{.peer = "b-1",
                                                 .trouble = "no",
                                                 .round_trip = 40us,
                                                 .bytes_out = 1,
                                                 .bytes_in = 2}},
                                      .trouble = "bad"}},
        "1204080510081a04080510093a075349475445524d423c0805100119000000205fa0e24121000000205fa00242"
        "2a1f0a03622d3112026e6f18c0b80221000000000000f03f2900000000000000403203626164");
}

TEST(WireBytes, JobRecords) {
    expect_bytes(JobRecord{.epoch = 5,
                           .excluded = {"c-1", "d-1"},
                           .end = Verdict{.kind = Verdict::Kind::kSucceeded, .text = "done"},
                           .sections = {{"tally", "3"}, {"shards", std::string("\0\xff", 2)}}},
                 "08051a03632d311a03642d3122110a097375636365656465641204646f6e652a0c0a067368617264"
                 "73120200ff2a0a0a0574616c6c79120133");
}

Terms terms() {
    return {.min_nodes = 2,
            .max_nodes = 6,
            .node_unit = 2,
            .grow_at_failure = true,
            .last_call = 7s,
            .silence = 2s,
            .broken_grace = 3s,
            .healthy_grace = 40s,
            .budgets = {{.charge = Charge::kMemory, .incidents = 3, .window = 86401s}},
            .policy = {.final_codes = {64},
                       .bad_node_codes = {-1, 70},
                       .bad_node_errors = {"ECC \xff"},
                       .give_up_after = 4},
            .check = NodeCheckKind::kLinks,
            .exclude_slow = true};
}

TEST(WireBytes, TermsOfAJob) {
    expect_bytes(
        JobRecord{.epoch = 5, .terms = terms()},
        "08053249080210061802200128d83630d00f38b81740c0b8024a0e0a066d656d6f727910031881a305"
        "52190a0140120bffffffffffffffffff01461a0545434320ff20045a056c696e6b736001");
    const Hello hello{.incarnation = "a", .slot = {}, .address = "x", .terms = terms()};
    const Hello read = value_of(from_wire(to_wire(hello)));
    EXPECT_EQ(read.terms, terms());
    EXPECT_FALSE(
        value_of(from_wire(to_wire(Hello{.incarnation = "a", .slot = {}, .address = "x"}))).terms);
}

TEST(WireBytes, NamesOfNodeChecks) {
    for (const auto& [kind, name] :
         {std::pair(NodeCheckKind::kNone, "none"), std::pair(NodeCheckKind::kNodes, "nodes"),
          std::pair(NodeCheckKind::kLinks, "links")}) {
        job::JobRecord wire = to_wire(JobRecord{.epoch = 1, .terms = Terms{.check = kind}});
        EXPECT_EQ(wire.terms().check(), name);
        EXPECT_EQ(value_of(from_wire(wire)).terms->check, kind);
        wire.mutable_terms()->set_check("of-a-later-version");
        EXPECT_EQ(value_of(from_wire(wire)).terms->check, NodeCheckKind::kNodes);
    }
}

TEST(WireBytes, TermsThatCannotBeAreRefused) {
    const std::pair<const char*, void (*)(Terms&)> rows[] = {
        {"no node", [](Terms& t) { t.min_nodes = 0; }},
        {"more than the most", [](Terms& t) { t.min_nodes = 7; }},
        {"too many for any job", [](Terms& t) { t.max_nodes = 2'000'000'000; }},
        {"a unit of nothing", [](Terms& t) { t.node_unit = 0; }},
        {"a unit above the most", [](Terms& t) { t.node_unit = 7; }},
        {"no multiple between", [](Terms& t) { t.min_nodes = t.max_nodes = 5; }},
        {"silence at once", [](Terms& t) { t.silence = 0s; }},
        {"less than nothing", [](Terms& t) { t.budgets.front().incidents = -1; }},
        {"too many budgets", [](Terms& t) { t.budgets.resize(kCharges + 1); }},
        {"too many codes",
         [](Terms& t) {
             for (int code = 0; code <= 1000; ++code) t.policy.final_codes.insert(code);
         }},
        {"too many errors", [](Terms& t) { t.policy.bad_node_errors.resize(1001); }},
    };
    for (const auto& [about, spoil] : rows) {
        Terms bad = terms();
        spoil(bad);
        const auto hello =
            from_wire(to_wire(Hello{.incarnation = "a", .slot = {}, .address = "x", .terms = bad}));
        ASSERT_FALSE(hello) << about;
        EXPECT_EQ(hello.error().code(), Code::kBadRequest) << about;
        EXPECT_FALSE(from_wire(to_wire(JobRecord{.epoch = 1, .terms = bad}))) << about;
    }
}

TEST(WireBytes, KvRequests) {
    const auto expect = [](decltype(KvRequest::what) what, std::string_view bytes) {
        expect_bytes(KvRequest{.space = {.epoch = 2}, .what = std::move(what)}, bytes);
    };
    expect(SetKey{"k", std::string("\0\xff", 2)}, "0a02080212070a016b120200ff");
    expect(GetKey{"k"}, "0a0208021a030a016b");
    expect(AddToKey{"k", -5}, "0a02080222050a016b1009");
    expect(CompareSetKey{"k", std::nullopt, "d"}, "0a0208022a060a016b1a0164");
    expect(CompareSetKey{"k", "", "d"}, "0a0208022a080a016b12001a0164");
    expect(DeleteKey{"k"}, "0a02080232030a016b");
    expect(AwaitKeys{{"k", "l"}}, "0a0208023a060a016b0a016c");
    expect(EnterBarrier{"b"}, "0a02080242030a0162");
    expect(JoinSyncPoint{"s"}, "0a0208024a030a0173");
    expect(AwaitSyncPoint{"s"}, "0a02080252030a0173");
    expect_bytes(
        KvRequest{.space = {.epoch = 2, .generation = Generation{2, 1}}, .what = GetKey{"k"}},
        "0a0808021204080210011a030a016b");
}

TEST(WireBytes, KvAnswers) {
    expect_bytes(KvAnswer{}, "");
    expect_bytes(KvAnswer{.value = ""}, "0a00");
    expect_bytes(KvAnswer{.value = "v", .number = -1, .yes = true}, "0a017610011801");
}

TEST(WireBytes, OfParameterServers) {
    expect_bytes(PsAttendance{.type = "ps",
                              .id = 3,
                              .rank = 1,
                              .address = "p:1",
                              .servers = 2,
                              .place = 0,
                              .places = 4,
                              .versions = {{.type = "w", .rank = 1, .local = 2, .restored = -1}},
                              .started = 5,
                              .kept = "7 9",
                              .container = "c"},
                 "0a027073100318012203703a3128023000380442090a0177100118042001480a5203372039"
                 "5a0163");
    expect_bytes(
        PsCluster{
            .epoch = 2, .version = 3, .servers = {"p:1", "q:1"}, .complete = true, .kept = "3 9"},
        "080210061a03703a311a03713a3120012a03332039");
    expect_bytes(VersionRequest{.kind = VersionKind::kRestored, .type = "w", .rank = 1, .set = 0},
                 "0a08726573746f72656412017718012000");
    expect_bytes(VersionRequest{}, "0a06676c6f62616c");
    expect_bytes(VersionAnswer{.version = -1}, "0801");
}

TEST(WireBytes, Checkpoints) {
    expect_bytes(StoredShards{.root = "/d", .manifest = "{}"}, "0a022f6412027b7d");
    using State = CheckpointFate::State;
    expect_bytes(CheckpointFate{.state = State::kWrite, .manifest = "{}"},
                 "0a05777269746512027b7d");
    expect_bytes(CheckpointFate{.state = State::kCommitted}, "0a09636f6d6d6974746564");
    expect_bytes(CheckpointFate{.state = State::kSuperseded, .why = "9"},
                 "0a0a737570657273656465641a0139");
    expect_bytes(CheckpointFate{.state = State::kRefused, .why = "9"}, "0a07726566757365641a0139");
    expect_bytes(CommitEnd{.root = "/d", .epoch = 5, .generation = 9, .step = 300, .error = "full"},
                 "0a022f641005180920ac022a0466756c6c");
}

TEST(WireBytes, MasterClaims) {
    expect_bytes(MasterClaim{.epoch = 5, .nodes = 3}, "080510031801");
    expect_bytes(MasterClaim{.settled = false}, "");
}

TEST(WireBytes, NamesOfFailures) {
    const std::pair<FailureKind, std::string_view> names[] = {
        {FailureKind::kWorkerExited, "worker-exited"},
        {FailureKind::kNotStarted, "not-started"},
        {FailureKind::kOutOfMemory, "out-of-memory"},
        {FailureKind::kDisconnected, "connection-broke"},
        {FailureKind::kTimedOut, "node-silent"},
        {FailureKind::kNodeEvicted, "node-evicted"},
        {FailureKind::kCheckFailed, "check-failed"},
    };
    for (const auto& [kind, name] : names) {
        job::Report wire = to_wire(Report{.evidence = {{.kind = kind}}});
        EXPECT_EQ(wire.evidence(0).kind(), name);
        EXPECT_EQ(value_of(from_wire(wire)).evidence.front().kind, kind);
        wire.mutable_evidence(0)->set_kind("of-a-later-version");
        EXPECT_EQ(value_of(from_wire(wire)).evidence.front().kind, FailureKind::kWorkerExited);
    }
}

TEST(WireBytes, NamesOfCharges) {
    const std::pair<Charge, std::string_view> names[] = {{Charge::kNothing, "nothing"},
                                                         {Charge::kWorker, "worker"},
                                                         {Charge::kMemory, "memory"},
                                                         {Charge::kNode, "node"}};
    for (const auto& [charge, name] : names) {
        job::JobRecord wire = to_wire(JobRecord{.epoch = 1, .incidents = {{.charge = charge}}});
        EXPECT_EQ(wire.incidents(0).charge(), name);
        EXPECT_EQ(value_of(from_wire(wire)).incidents.front().charge, charge);
        wire.mutable_incidents(0)->set_charge("of-a-later-version");
        EXPECT_EQ(value_of(from_wire(wire)).incidents.front().charge, Charge::kWorker);
    }
}

TEST(WireBytes, NamesOfVerdicts) {
    const std::pair<Verdict::Kind, std::string_view> names[] = {
        {Verdict::Kind::kSucceeded, "succeeded"},
        {Verdict::Kind::kFailed, "failed"},
        {Verdict::Kind::kExcluded, "excluded"}};
    for (const auto& [kind, name] : names) {
        job::JobRecord wire = to_wire(JobRecord{.epoch = 1, .end = Verdict{.kind = kind}});
        EXPECT_EQ(wire.end().kind(), name);
        EXPECT_EQ(value_of(from_wire(wire)).end->kind, kind);
        wire.mutable_end()->set_kind("of-a-later-version");
        EXPECT_EQ(value_of(from_wire(wire)).end->kind, Verdict::Kind::kFailed);
    }
}

TEST(WireBytes, TimesLongerThanADayAreADay) {
    job::Directive wire = to_wire(Directive{.what = Check{}});
    wire.set_grace_ms(~std::uint64_t{0});
    wire.mutable_check()->set_limit_ms(~std::uint64_t{0});
    const Directive directive = value_of(from_wire(wire));
    EXPECT_EQ(directive.grace, 24h);
    EXPECT_EQ(std::get<Check>(directive.what).limit, 24h);
    job::CheckResult result = to_wire(CheckResult{.links = {{.peer = "b"}}});
    result.mutable_links(0)->set_round_trip_ns(~std::uint64_t{0});
    EXPECT_EQ(from_wire(result).links.front().round_trip, 24h);
}

TEST(WireBytes, FiguresThatCannotBeAreZero) {
    const double infinity = std::numeric_limits<double>::infinity();
    job::CheckResult wire;
    wire.set_flops(-1);
    wire.set_memory_bytes(std::numeric_limits<double>::quiet_NaN());
    wire.add_links()->set_bytes_out(infinity);
    wire.mutable_links(0)->set_bytes_in(-infinity);
    EXPECT_EQ(from_wire(wire), (CheckResult{.links = {LinkFigures{}}}));
    job::Report report;
    *report.mutable_checked() = wire;
    EXPECT_EQ(value_of(from_wire(report)).checked, from_wire(wire));
}

TEST(WireBytes, ASectionWithoutDataIsNone) {
    job::JobRecord wire = to_wire(JobRecord{.epoch = 1, .sections = {{"shards", "3"}}});
    wire.add_sections()->set_name("shards");
    wire.add_sections()->set_name("tally");
    EXPECT_EQ(value_of(from_wire(wire)).sections,
              (std::map<std::string, std::string>{{"shards", "3"}}));
}

}  // namespace
}  // namespace muster::job_protocol::wire_bytes_test
