#include "master/ps_cluster/ps_service.h"

#include <optional>
#include <utility>

#include "job_protocol/kv_protocol.h"

namespace muster::master {
namespace {

constexpr const char* kSection = "ps-cluster";

}  // namespace

/// One stream; its end is that of the attendance, if the program has no other one by then.
struct PsService::Attending {
    Attending(PsService& its_service, std::string its_program, PsTable::Line its_line)
        : service(its_service), who(std::move(its_program)), line(its_line) {}
    ~Attending() {
        service.table_.leaves(who, line);
        service.wake_();
    }
    Attending(const Attending&) = delete;
    Attending& operator=(const Attending&) = delete;

    PsService& service;
    std::string who;
    PsTable::Line line;
};

PsService::PsService(const ServiceContext& context, PsLimits limits)
    : job_(context.job),
      recorded_(context.recorded),
      wake_(context.wake),
      table_(context.job.epoch(), context.job.section(kSection), limits),
      calls_(context.executor, context.job.epoch(), {}),
      changed_(context.executor) {
    const World attendants{.generation = job_protocol::meeting_of(context.job.epoch()),
                           .members = {}};
    calls_.keys().runs(&attendants, "");
}

PsService::~PsService() = default;

void PsService::serve(rpc::Server& server) {
    rpc::serve(
        server, job_protocol::kAttend,
        [this](const rpc::PeerPtr& peer, const job::PsAttendance& told,
               rpc::ItemSink<job::PsCluster> out) { return follow(attend(peer, told), out); });
    rpc::serve(
        server, job_protocol::kVersion,
        [this](const rpc::PeerPtr&, job::VersionRequest told) { return version(std::move(told)); });
    rpc::serve(server, job_protocol::kPsKeys, [this](rpc::PeerPtr peer, job::KvRequest told) {
        return ask(std::move(peer), std::move(told));
    });
}

Result<std::unique_ptr<PsService::Attending>> PsService::attend(const rpc::PeerPtr& peer,
                                                                const job::PsAttendance& told) {
    TRY(const PsTable::Line line, table_.attends(peer->client, job_protocol::from_wire(told)));
    auto attending = std::make_unique<Attending>(*this, peer->client, line);
    expect_those_who_meet();  // it may ask to meet them at once
    wake_();
    return attending;
}

/// Tells a program each cluster, until its connection ends.
Task<Result<void>> PsService::follow(Result<std::unique_ptr<Attending>> attending,
                                     rpc::ItemSink<job::PsCluster> out) {
    if (!attending) co_return attending.error();
    std::optional<PsCluster> told;
    for (;;) {
        while (told == table_.cluster()) co_await changed_.wait();
        told = table_.cluster();
        CO_TRY_VOID(co_await recorded_());
        CO_TRY_VOID(co_await out.write(job_protocol::to_wire(*told)));
    }
}

Task<Result<job::VersionAnswer>> PsService::version(job::VersionRequest told) {
    CO_TRY(const std::int64_t version, table_.version(job_protocol::from_wire(told)));
    CO_TRY_VOID(keep());
    changed_.notify_all();
    CO_TRY_VOID(co_await recorded_());
    co_return job_protocol::to_wire(job_protocol::VersionAnswer{.version = version});
}

Task<Result<job::KvAnswer>> PsService::ask(rpc::PeerPtr peer, job::KvRequest told) {
    CO_TRY(KvRequest request, job_protocol::from_wire(told));
    CO_TRY(const KvAnswer given,
           co_await calls_.ask(table_.place_of(peer->client), std::move(request)));
    co_return job_protocol::to_wire(given);
}

/// kGone: the job has ended, and what its programs still do changes no record.
Result<void> PsService::keep() {
    if (table_.kept() == job_.section(kSection)) return {};
    return job_.set_section(kSection, table_.kept());
}

void PsService::expect_those_who_meet() {
    calls_.keys().expect(job_protocol::meeting_of(job_.epoch()), table_.expected());
    calls_.hand_out();
}

bool PsService::advance(Instant now, WallTime /*wall*/) {
    table_.wants(job_.wanted_servers());
    table_.advance(now);
    static_cast<void>(keep());
    expect_those_who_meet();
    changed_.notify_all();
    return false;
}

}  // namespace muster::master
