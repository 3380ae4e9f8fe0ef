#include "job_protocol/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "job_protocol/node_check_protocol.h"

namespace muster::job_protocol {
namespace {

template <class Value>
using Names = std::pair<Value, std::string_view>;

constexpr std::array kFailureKinds = {
    Names<FailureKind>{FailureKind::kWorkerExited, "worker-exited"},
    Names<FailureKind>{FailureKind::kNotStarted, "not-started"},
    Names<FailureKind>{FailureKind::kOutOfMemory, "out-of-memory"},
    Names<FailureKind>{FailureKind::kDisconnected, "connection-broke"},
    Names<FailureKind>{FailureKind::kTimedOut, "node-silent"},
    Names<FailureKind>{FailureKind::kNodeEvicted, "node-evicted"},
    Names<FailureKind>{FailureKind::kCheckFailed, "check-failed"},
};
constexpr std::array kChargeNames = {
    Names<Charge>{Charge::kNothing, "nothing"},
    Names<Charge>{Charge::kWorker, "worker"},
    Names<Charge>{Charge::kMemory, "memory"},
    Names<Charge>{Charge::kNode, "node"},
};
constexpr std::array kKinds = {
    Names<Verdict::Kind>{Verdict::Kind::kSucceeded, "succeeded"},
    Names<Verdict::Kind>{Verdict::Kind::kFailed, "failed"},
    Names<Verdict::Kind>{Verdict::Kind::kExcluded, "excluded"},
};

template <class Table, class Value>
std::string name_of(const Table& table, Value value) {
    return std::string(std::ranges::find(table, value, &Table::value_type::first)->second);
}

template <class Table, class Value>
Value named(const Table& table, std::string_view name, Value otherwise) {
    const auto* const found = std::ranges::find(table, name, &Table::value_type::second);
    return found == table.end() ? otherwise : found->first;
}

Error bad(std::string_view what) { return Error(Code::kBadRequest, std::string(what)); }

std::int64_t since_1970(WallTime time) { return time.time_since_epoch().count(); }
WallTime wall_time(std::int64_t nanoseconds) { return WallTime(Duration(nanoseconds)); }

void put(const Generation& generation, job::Generation& out) {
    out.set_epoch(generation.epoch);
    out.set_number(generation.number);
}

Generation taken(const job::Generation& generation) {
    return {.epoch = generation.epoch(), .number = generation.number()};
}

void put(const World& world, job::World& out) {
    put(world.generation, *out.mutable_generation());
    out.set_restarts(world.restarts);
    out.set_nodes(world.nodes);
    out.set_ranks(world.ranks);
    out.set_own_rank(world.own_rank);
    for (const Member& member : world.members) {
        job::Member& one = *out.add_members();
        one.set_slot(member.slot);
        one.set_incarnation(member.incarnation);
        one.set_address(member.address);
        one.set_store_port(member.store_port);
        one.set_local_size(member.local_size);
        one.set_first_rank(member.first_rank);
        one.set_group_rank(member.group_rank);
    }
}

Result<World> taken(const job::World& world) {
    World out{.generation = taken(world.generation()),
              .members = {},
              .restarts = world.restarts(),
              .nodes = world.nodes(),
              .ranks = world.ranks(),
              .own_rank = world.own_rank()};
    if (world.members().empty() || out.nodes < 1 || world.members_size() > out.nodes)
        return bad("a world without members");
    for (const job::Member& member : world.members()) {
        if (member.slot() < 0 || member.local_size() < 1 || member.first_rank() < 0 ||
            member.group_rank() < 0 || member.group_rank() >= out.nodes)
            return bad("a world with a member that can't be");
        out.members.push_back({.slot = member.slot(),
                               .incarnation = member.incarnation(),
                               .address = member.address(),
                               .local_size = member.local_size(),
                               .first_rank = member.first_rank(),
                               .group_rank = member.group_rank(),
                               .store_port = member.store_port()});
    }
    if (out.own().group_rank != out.own_rank) return bad("a world without whom it is told to");
    return out;
}

void put(const FailureReport& evidence, job::FailureReport& out) {
    out.set_kind(name_of(kFailureKinds, evidence.kind));
    put(evidence.generation, *out.mutable_generation());
    out.set_restarts(evidence.restarts);
    out.set_slot(evidence.slot);
    out.set_node(evidence.node);
    if (evidence.rank) out.set_rank(*evidence.rank);
    if (evidence.exit_code) out.set_exit_code(*evidence.exit_code);
    out.set_signal(evidence.signal);
    out.set_error(evidence.error);
    out.set_when_ns(since_1970(evidence.when));
}

FailureReport taken(const job::FailureReport& evidence) {
    FailureReport out{.kind = named(kFailureKinds, evidence.kind(), FailureKind::kWorkerExited),
                      .generation = taken(evidence.generation()),
                      .restarts = evidence.restarts(),
                      .slot = evidence.slot(),
                      .node = evidence.node(),
                      .signal = evidence.signal(),
                      .error = evidence.error(),
                      .when = wall_time(evidence.when_ns())};
    if (evidence.has_rank()) out.rank = evidence.rank();
    if (evidence.has_exit_code()) out.exit_code = evidence.exit_code();
    return out;
}

void put(const Verdict& verdict, job::Verdict& out) {
    out.set_kind(name_of(kKinds, verdict.kind));
    out.set_text(verdict.text);
    if (verdict.cause) put(*verdict.cause, *out.mutable_cause());
}

Verdict taken(const job::Verdict& verdict) {
    Verdict out{.kind = named(kKinds, verdict.kind(), Verdict::Kind::kFailed),
                .text = verdict.text()};
    if (verdict.has_cause()) out.cause = taken(verdict.cause());
    return out;
}

}  // namespace

job::World to_wire(const World& world) {
    job::World out;
    put(world, out);
    return out;
}

Result<World> from_wire(const job::World& world) { return taken(world); }

job::Report to_wire(const Report& report) {
    job::Report out;
    if (report.holds) put(*report.holds, *out.mutable_holds());
    if (report.gave_up) put(*report.gave_up, *out.mutable_gave_up());
    if (report.store_ready) put(*report.store_ready, *out.mutable_store_ready());
    out.set_done(report.done);
    for (const FailureReport& evidence : report.evidence) put(evidence, *out.add_evidence());
    if (report.steps) out.set_steps(*report.steps);
    out.set_leaving(report.leaving);
    if (report.checked) *out.mutable_checked() = to_wire(*report.checked);
    return out;
}

Result<Report> from_wire(const job::Report& report) {
    Report out{.done = report.done(), .leaving = report.leaving()};
    if (report.has_holds()) {
        TRY(out.holds, taken(report.holds()));
    }
    if (report.has_gave_up()) out.gave_up = taken(report.gave_up());
    if (report.has_store_ready()) out.store_ready = taken(report.store_ready());
    for (const job::FailureReport& evidence : report.evidence())
        out.evidence.push_back(taken(evidence));
    if (report.has_steps()) out.steps = report.steps();
    if (report.has_checked()) out.checked = from_wire(report.checked());
    return out;
}

job::Join to_wire(const Hello& hello) {
    job::Join out;
    out.set_incarnation(hello.incarnation);
    if (hello.slot) out.set_slot(*hello.slot);
    out.set_local_size(hello.local_size);
    out.set_address(hello.address);
    out.set_store_port(hello.store_port);
    out.set_rack(hello.rack);
    out.set_name(hello.name);
    out.set_epoch_seen(hello.epoch_seen);
    out.set_check_port(hello.check_port);
    out.set_can_host_master(hello.can_host_master);
    *out.mutable_report() = to_wire(hello.report);
    return out;
}

Result<Hello> from_wire(const job::Join& join) {
    if (join.incarnation().empty()) return bad("an agent without an incarnation");
    if (join.local_size() < 1) return bad("a node has at least one worker");
    if (join.slot() < 0) return bad(fmt::format("slot {}: slots count from 0", join.slot()));
    TRY(Report report, from_wire(join.report()));
    Hello out{.incarnation = join.incarnation(),
              .slot = {},
              .local_size = join.local_size(),
              .address = join.address(),
              .store_port = join.store_port(),
              .rack = join.rack(),
              .name = join.name(),
              .epoch_seen = join.epoch_seen(),
              .report = std::move(report),
              .check_port = join.check_port(),
              .can_host_master = join.can_host_master()};
    if (join.has_slot()) out.slot = join.slot();
    return out;
}

job::Directive to_wire(const Directive& order) {
    job::Directive out;
    out.set_epoch(order.epoch);
    out.set_why(order.why);
    out.set_grace_ms(static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(order.grace).count()));
    if (order.record) *out.mutable_record() = to_wire(*order.record);
    if (const auto* wait = std::get_if<Wait>(&order.what)) {
        out.mutable_wait()->set_spare(wait->spare);
        out.mutable_wait()->set_text(wait->text);
    } else if (const auto* run = std::get_if<Run>(&order.what)) {
        put(run->world, *out.mutable_run()->mutable_world());
        out.mutable_run()->set_most_restarts(run->most_restarts);
    } else if (const auto* stop = std::get_if<Stop>(&order.what)) {
        put(stop->generation, *out.mutable_stop()->mutable_generation());
    } else if (const auto* check = std::get_if<Check>(&order.what)) {
        *out.mutable_check() = to_wire(*check);
    } else {
        put(std::get<Verdict>(order.what), *out.mutable_end());
    }
    return out;
}

Result<Directive> from_wire(const job::Directive& order) {
    constexpr std::uint64_t kDayMs = 86'400'000;
    Directive out{.epoch = order.epoch(),
                  .what = Wait{},
                  .why = order.why(),
                  .grace = std::chrono::milliseconds(std::min(order.grace_ms(), kDayMs))};
    if (order.has_record()) {
        TRY(JobRecord record, from_wire(order.record()));
        out.record = std::make_shared<const JobRecord>(std::move(record));
    }
    switch (order.what_case()) {
        case job::Directive::kWait:
            out.what = Wait{.spare = order.wait().spare(), .text = order.wait().text()};
            return out;
        case job::Directive::kRun: {
            TRY(World world, taken(order.run().world()));
            out.what = Run{.world = std::move(world), .most_restarts = order.run().most_restarts()};
            return out;
        }
        case job::Directive::kStop:
            out.what = Stop{.generation = taken(order.stop().generation())};
            return out;
        case job::Directive::kEnd:
            out.what = taken(order.end());
            return out;
        case job::Directive::kCheck:
            out.what = from_wire(order.check());
            return out;
        case job::Directive::WHAT_NOT_SET:
            break;
    }
    return bad("an order that this version does not know");
}

job::JobRecord to_wire(const JobRecord& record) {
    job::JobRecord out;
    out.set_epoch(record.epoch);
    for (const Incident& incident : record.incidents) {
        job::Incident& one = *out.add_incidents();
        one.set_charge(name_of(kChargeNames, incident.charge));
        one.set_when_ns(since_1970(incident.when));
        put(incident.generation, *one.mutable_generation());
        one.set_restarts(incident.restarts);
        one.set_error(incident.error);
    }
    for (const std::string& incarnation : record.excluded) out.add_excluded(incarnation);
    if (record.end) put(*record.end, *out.mutable_end());
    for (const auto& [name, data] : record.sections) {
        job::RecordSection& one = *out.add_sections();
        one.set_name(name);
        one.set_data(data);
    }
    return out;
}

Result<JobRecord> from_wire(const job::JobRecord& record) {
    JobRecord out{.epoch = record.epoch(), .incidents = {}, .excluded = {}};
    if (out.epoch == 0) return bad("a job's record without an epoch");
    for (const job::Incident& incident : record.incidents())
        out.incidents.push_back({.charge = named(kChargeNames, incident.charge(), Charge::kWorker),
                                 .when = wall_time(incident.when_ns()),
                                 .generation = taken(incident.generation()),
                                 .restarts = incident.restarts(),
                                 .error = incident.error()});
    out.excluded.assign(record.excluded().begin(), record.excluded().end());
    if (record.has_end()) out.end = taken(record.end());
    for (const job::RecordSection& section : record.sections())
        if (!section.data().empty()) out.sections[section.name()] = section.data();
    return out;
}

}  // namespace muster::job_protocol
