#include "runtime/internal/pod/pod_worker.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/log.h"
#include "base/time/bounded_seconds.h"
#include "runtime/internal/fields/pod_fields.h"
#include "runtime/internal/files/expected_file.h"
#include "runtime/internal/files/volume_files.h"
#include "runtime/internal/network/pod_dns.h"
#include "runtime/internal/pod/container_plan.h"
#include "runtime/internal/pod/sandbox_plan.h"

namespace muster::runtime {

namespace {

constexpr Duration kNetworkHook = std::chrono::seconds(30);
constexpr Duration kDeleteRetry = std::chrono::seconds(1);
constexpr Duration kRetryAfterFault = std::chrono::seconds(1);

/// Commands may take the time that they need; a connection attempt must end at some point.
std::optional<Duration> limit_of_hook(const Handler& hook) {
    const bool network =
        std::holds_alternative<HttpCheck>(hook) || std::holds_alternative<TcpCheck>(hook);
    return network ? std::optional(kNetworkHook) : std::nullopt;
}

}  // namespace

PodWorker::PodWorker(NodeContext& node, std::shared_ptr<const kube::Pod> pod)
    : pod_(node, std::move(pod)),
      status_(node.client, node.clock, pod_.tasks, *pod_.pod,
              [this] {
                  return make_pod_status(*pod_.pod, pod_.machine.facts(),
                                         pod_.node.clock.wall_now());
              }),
      volumes_(pod_),
      starter_(pod_, volumes_),
      recovery_(pod_),
      access_(pod_),
      faults_(pod_),
      checks_(node.executor, node.clock, node.open_socket),
      deadline_(node.executor, node.clock, [this] { perform(pod_.machine.tick(pod_.now())); }),
      sandbox_ended_(node.executor) {}

void PodWorker::start() {
    warn_about_what_has_no_effect();
    const kube::PodStatus& status = pod_.pod->status;
    ended_before_ = status.phase == "Succeeded" || status.phase == "Failed";
    if (ended_before_) {
        // Its status stays, and only the object has to be removed.
        if (pod_.pod->metadata.deleting()) begin_deletion({});
        return;
    }
    if (status.start_time.empty())
        perform(pod_.machine.start(pod_.now()));
    else
        resume();
    if (pod_.pod->metadata.deleting()) update(pod_.pod);
}

void PodWorker::warn_about_what_has_no_effect() {
    std::vector<std::string> fields =
        fields_without_effect(pod_.pod->spec, pod_.node.surroundings.namespaces);
    for (std::string& field : pod_.isolation.not_honoured(pod_.node.surroundings.namespaces))
        fields.push_back(std::move(field));
    if (!fields.empty())
        pod_.record(
            kube::EventType::kWarning, "NotEnforced",
            fmt::format("muster does not act on these fields: {}", fmt::join(fields, ", ")));
    if (const auto names = containers_run_by_their_args(pod_.pod->spec); !names.empty())
        pod_.record(kube::EventType::kNormal, "ArgsAreTheCommand",
                    fmt::format("no image is here whose entry point could take the args of {}: "
                                "they are run as the command",
                                fmt::join(names, ", ")));
}

void PodWorker::warn_about_missing_file() {
    if (std::exchange(looked_for_file_, true) || pod_.pod->metadata.deleting()) return;
    const std::optional<ExpectedFile> expected = expected_file(*pod_.pod);
    const bool ran =
        std::ranges::any_of(pod_.machine.facts().containers, [](const ContainerRecord& record) {
            return !record.init && !record.ephemeral && !record.container_id.empty();
        });
    if (!expected || !ran) return;
    std::error_code error;
    const auto found =
        std::filesystem::symlink_status(pod_.files.volumes() / expected->path, error);
    if (found.type() == std::filesystem::file_type::not_found)
        pod_.record(kube::EventType::kWarning, expected->reason, expected->message);
}

void PodWorker::resume() {
    PodActions actions = pod_.machine.resume(pod_.pod->status, pod_.now());
    count_launches();
    perform(std::move(actions));
}

void PodWorker::take_over(RecoveredPod recovered) {
    recovery_.begin(std::move(recovered));
    // The files at once: an /etc/hosts that no pod has claimed is removed once all pods are known.
    pod_.tasks.spawn("taking over", take_over_sandbox(pod_.files.take_over(*pod_.pod)),
                     [this](const std::string& what) { give_up(what); });
}

void PodWorker::update(std::shared_ptr<const kube::Pod> pod) {
    const std::shared_ptr<const kube::Pod> before = std::exchange(pod_.pod, std::move(pod));
    if (ended_before_ || recovery_.under_way()) return;
    const kube::ObjectMeta& metadata = pod_.pod->metadata;
    if ((before->metadata.labels != metadata.labels ||
         before->metadata.annotations != metadata.annotations) &&
        std::ranges::any_of(pod_.pod->spec.volumes, has_pod_fields))
        volumes_.data_changed();
    if (PodActions due =
            pod_.machine.deadline_changed(pod_.pod->spec.active_deadline_seconds, pod_.now());
        !due.empty())
        perform(std::move(due));
    take_added_containers();
    arm_timer();
    if (!metadata.deleting()) return;
    const std::int64_t grace = metadata.deletion_grace_period_seconds.value_or(
        pod_.pod->spec.termination_grace_period_seconds.value_or(30));
    perform(pod_.machine.deletion_requested(bounded_seconds(grace), pod_.now()));
}

void PodWorker::take_added_containers() {
    if (!pod_.containers.update(pod_.pod)) return;
    const bool namespaces = pod_.node.surroundings.namespaces;
    for (std::size_t i = pod_.runs.containers(); i < pod_.containers.size(); ++i) {
        if (const auto fields = pod_.isolation.not_honoured_of(i, namespaces); !fields.empty())
            pod_.record(
                kube::EventType::kWarning, "NotEnforced",
                fmt::format("muster does not act on these fields: {}", fmt::join(fields, ", ")));
        pod_.runs.add_container();
        perform(pod_.machine.container_added(pod_.container(i), pod_.now()));
    }
}

void PodWorker::kill() {
    pod_.stopping = true;
    if (pod_.sandbox) pod_.sandbox->kill();
}

Task<void> PodWorker::stop() {
    kill();
    while (pod_.sandbox) co_await sandbox_ended_.wait();
    co_await pod_.tasks.stop();
}

void PodWorker::perform(PodActions actions) {
    // Before the status says so, as others may count on the devices then.
    if (pod_.machine.has_ended()) {
        pod_.isolation.release_devices();
        volumes_.pod_has_ended();
        warn_about_missing_file();
    }
    for (PodAction& action : actions) perform_one(std::move(action));
    status_.changed();
    arm_timer();
}

void PodWorker::perform_one(PodAction action) {
    switch (action.kind) {
        case PodAction::Kind::kCreateSandbox:
            return pod_.tasks.spawn("sandbox", create_sandbox(), [this](const std::string& what) {
                if (pod_.sandbox) return give_up(what);
                sandbox_failed("FailedCreatePodSandBox", "Failed to create pod sandbox: " + what);
            });
        case PodAction::Kind::kStartContainer:
            return pod_.tasks.spawn(
                "container", start_container(action.container),
                [this, index = action.container](const std::string& what) {
                    perform(pod_.machine.config_failed(index, what, pod_.now()));
                });
        case PodAction::Kind::kSignal:
            if (const ContainerRun* run = pod_.runs.newest(action.container))
                run->signal(action.signal);
            return;
        case PodAction::Kind::kRunProbe:
        case PodAction::Kind::kRunHook:
            return begin_check(action);
        case PodAction::Kind::kKillSandbox:
            if (pod_.sandbox) pod_.sandbox->kill();
            return;
        case PodAction::Kind::kRecordEvent:
            return pod_.record(action.event_type, std::move(action.reason),
                               std::move(action.message));
        case PodAction::Kind::kDeletePod:
            return begin_deletion({});
    }
}

void PodWorker::arm_timer() {
    arm_deadline();
    const std::optional<Instant> at = pod_.machine.wake_at();
    if (!at || (timer_at_ && *timer_at_ <= *at)) return;
    timer_at_ = at;
    spawn_timer(*at);
}

void PodWorker::arm_deadline() {
    const std::optional<WallTime> until = pod_.machine.active_until();
    deadline_.set(until);
    if (!until || std::exchange(keeps_deadline_, true)) return;
    pod_.tasks.spawn("deadline", deadline_.run(), [this](const std::string& what) {
        give_up(what);
        keeps_deadline_ = false;
        // Which arms it again.
        if (!timer_at_) spawn_timer(*(timer_at_ = pod_.node.clock.now() + kRetryAfterFault));
    });
}

void PodWorker::spawn_timer(Instant at) {
    pod_.tasks.spawn("timer", wake(at), [this](const std::string& what) {
        timer_at_.reset();
        give_up(what);
        if (pod_.sandbox) return;
        // Perhaps nothing else would wake it.
        timer_at_ = pod_.node.clock.now() + kRetryAfterFault;
        spawn_timer(*timer_at_);
    });
}

/// After an internal fault in a task that a pod needs: the pod ends, with an event, instead of
/// hanging. The task that reads its init's reports may have ended, so it does not wait for a report.
void PodWorker::give_up(const std::string& what) {
    pod_.record(kube::EventType::kWarning, "InternalError", what + "; the pod is ended");
    if (!pod_.sandbox) return;
    pod_.sandbox->kill();
    if (!reads_reports_) sandbox_ended();
}

Task<void> PodWorker::wake(Instant at) {
    co_await pod_.node.clock.sleep_until(at);
    if (timer_at_ == at) timer_at_.reset();
    perform(pod_.machine.tick(pod_.now()));
}

Task<void> PodWorker::create_sandbox() {
    auto prepared = co_await prepare_pod();
    if (pod_.stopping) co_return;
    if (!prepared) {
        const bool refused = prepared.error().code() == Code::kUnsupported ||
                             prepared.error().code() == Code::kInvalid;
        co_return sandbox_failed(refused ? "Failed" : "FailedMount", prepared.error().message());
    }
    auto spec = plan_sandbox(pod_, volumes_.ready());
    if (!spec) co_return sandbox_failed("FailedMount", spec.error().message());
    auto sandbox = PodSandbox::start(pod_.node.executor, pod_.node.sandboxes, *spec);
    if (!sandbox)
        co_return sandbox_failed("FailedCreatePodSandBox",
                                 "Failed to create pod sandbox: " + sandbox.error().message());
    pod_.sandbox = *std::move(sandbox);
    setup_error_.clear();
    pod_.tasks.spawn("reports", read_reports(), [this](const std::string& what) { give_up(what); });
}

Task<Result<void>> PodWorker::prepare_pod() {
    const bool namespaces = pod_.node.surroundings.namespaces;
    for (std::size_t i = 0; i < pod_.runs.containers() && !pod_.containers.is_ephemeral(i); ++i)
        CO_TRY_VOID(check_container(pod_.container(i), namespaces, *pod_.pod));
    CO_TRY_VOID(read_lifecycles(pod_.pod->spec));
    CO_TRY_VOID(co_await volumes_.find_claims(false));
    CO_TRY_VOID(co_await volumes_.fetch_data());
    CO_TRY_VOID(pod_.isolation.prepare());
    CO_TRY_VOID(pod_.files.make(*pod_.pod));
    CO_TRY_VOID(write_resolv_conf());
    co_return co_await volumes_.fill(false);
}

Result<void> PodWorker::write_resolv_conf() {
    const std::optional<PodDns> dns = pod_dns(pod_.pod->spec);
    if (!dns || !pod_.node.surroundings.namespaces) return {};
    std::ostringstream of_node;
    of_node << std::ifstream(pod_.node.surroundings.resolv_conf).rdbuf();
    const PodResolvConf made = resolv_conf_of_pod(of_node.view(), *dns);
    if (!made.omitted.empty())
        pod_.record(kube::EventType::kWarning, "DNSConfigForming",
                    fmt::format("the C library asks three name servers; left out: {}",
                                fmt::join(made.omitted, ", ")));
    return pod_.files.write_resolv_conf(made.text);
}

void PodWorker::sandbox_failed(const char* reason, std::string message) {
    perform(pod_.machine.sandbox_failed(reason, std::move(message), pod_.now()));
}

Task<void> PodWorker::take_over_sandbox(Result<void> files) {
    if (auto prepared = co_await prepare_recovered_pod(std::move(files)); !prepared)
        log::warning("what a pod needs to restart containers is missing",
                     {{"pod", pod_.name()}, {"error", prepared.error().message()}});
    co_await read_reports();
}

Task<Result<void>> PodWorker::prepare_recovered_pod(Result<void> files) {
    CO_TRY_VOID(pod_.isolation.prepare());
    CO_TRY_VOID(std::move(files));
    CO_TRY_VOID(co_await volumes_.find_claims(true));
    CO_TRY_VOID(co_await volumes_.fetch_data());
    co_return co_await volumes_.fill(true);
}

void PodWorker::recovery_finished() {
    PodActions actions = pod_.machine.take_over(pod_.pod->status, recovery_.finish(), pod_.now());
    count_launches();
    perform(std::move(actions));
    // Requests that came meanwhile.
    update(pod_.pod);
}

/// The status may know of starts of which nothing else is left.
void PodWorker::count_launches() {
    const auto& records = pod_.machine.facts().containers;
    for (std::size_t i = 0; i < records.size(); ++i) pod_.runs.count(i, launches_of(records[i]));
}

Task<void> PodWorker::read_reports() {
    struct Reading {
        explicit Reading(bool& is) : reads(is) { reads = true; }
        ~Reading() { reads = false; }
        bool& reads;
    } const reading(reads_reports_);
    for (;;) {
        auto report = co_await pod_.sandbox->next_report();
        if (!report) {
            log::error("a pod's init can't be understood; the pod is ended",
                       {{"pod", pod_.name()}, {"error", report.error().message()}});
            pod_.sandbox->kill();
            continue;
        }
        if (!*report) break;
        handle(**std::move(report));
    }
    sandbox_ended();
}

void PodWorker::sandbox_ended() {
    pod_.execs.sandbox_gone();
    pod_.sandbox.reset();
    sandbox_ended_.notify_all();
    pod_.runs.finish_all();
    pod_.out_of_memory.end_all();
    pod_.isolation.sandbox_gone();
    if (pod_.stopping) return;
    if (recovery_.under_way()) {
        recovery_.abandon();
        return resume();
    }
    if (setup_error_.empty())
        perform(pod_.machine.sandbox_gone(pod_.now()));
    else
        sandbox_failed("FailedCreatePodSandBox", "Failed to create pod sandbox: " + setup_error_);
}

void PodWorker::handle(pod_init::Report report) {
    using Kind = pod_init::Report::Kind;
    if (recovery_.under_way())
        return report.kind == Kind::kTold ? recovery_finished() : recovery_.take(std::move(report));
    switch (report.kind) {
        case Kind::kReady:
            return perform(pod_.machine.sandbox_ready(pod_.now()));
        case Kind::kSetupFailed:
            setup_error_ = report.text;
            return;
        case Kind::kExecEnded:
        case Kind::kTerminal:
            return pod_.execs.take(std::move(report));
        case Kind::kStarted:
        case Kind::kStartFailed:
        case Kind::kExited:
            if (ContainerRun* run = pod_.runs.find(report.id))
                handle_container(*run, std::move(report));
            return;
        case Kind::kStarting:
        case Kind::kTold:
            return;
    }
}

void PodWorker::handle_container(ContainerRun& run, pod_init::Report report) {
    const std::size_t index = RunId::of(report.id).container;
    if (report.kind == pod_init::Report::Kind::kStarted) {
        run.started(std::move(report.pidfd));
        return perform(
            pod_.machine.container_started(index, pod_.container_id(report.id), pod_.now()));
    }
    run.finish();
    if (report.kind == pod_init::Report::Kind::kStartFailed) {
        pod_.out_of_memory.end(report.id);
        pod_.isolation.leave(report.id);
        return perform(pod_.machine.start_failed(index, pod_.failure_of(run, report), pod_.now()));
    }
    if (!report.text.empty())
        pod_.record(kube::EventType::kWarning, "LogIncomplete",
                    fmt::format("Container {}: {}", pod_.container(index).name, report.text));
    perform(pod_.machine.container_exited(index, pod_.end_of(index, run, report), pod_.now()));
}

Task<void> PodWorker::start_container(std::size_t index) {
    if (auto started = co_await starter_.start(index); !started)
        perform(pod_.machine.config_failed(index, started.error().message(), pod_.now()));
}

void PodWorker::begin_check(const PodAction& action) {
    const ContainerLifecycle& lifecycle = pod_.machine.lifecycle(action.container);
    if (action.kind == PodAction::Kind::kRunProbe) {
        const ProbeSpec& probe = lifecycle.probe(action.probe);
        return pod_.tasks.spawn(
            "probe", run_check(action, probe.handler, probe.timing.timeout),
            [this, action](const std::string& what) { check_ended(action, {.output = what}); });
    }
    const Handler& hook =
        action.hook == HookKind::kPostStart ? *lifecycle.post_start : *lifecycle.pre_stop;
    pod_.tasks.spawn(
        "hook", run_check(action, hook, limit_of_hook(hook)),
        [this, action](const std::string& what) { check_ended(action, {.output = what}); });
}

Task<void> PodWorker::run_check(PodAction action, Handler handler, std::optional<Duration> limit) {
    const ContainerRun* const checked = pod_.runs.newest(action.container);
    if (pod_.stopping || !pod_.sandbox || checked == nullptr) co_return;
    CheckRunner::Exec exec = [this, run = checked->id()](std::vector<std::string> command) {
        return pod_.execs.run(*pod_.sandbox, run, std::move(command));
    };
    const CheckResult result = co_await checks_.run(std::move(handler), pod_.machine.facts().pod_ip,
                                                    limit, std::move(exec));
    check_ended(action, result);
}

void PodWorker::check_ended(const PodAction& action, const CheckResult& result) {
    if (pod_.stopping) return;
    perform(action.kind == PodAction::Kind::kRunProbe
                ? pod_.machine.probe_ended(action.container, action.instance, action.probe, result,
                                           pod_.now())
                : pod_.machine.hook_ended(action.container, action.instance, action.hook, result,
                                          pod_.now()));
}

void PodWorker::begin_deletion(Duration pause) {
    pod_.tasks.spawn("deletion", delete_pod(pause),
                     [this](const std::string&) { begin_deletion(kRetryAfterFault); });
}

Task<void> PodWorker::delete_pod(Duration pause) {
    if (pause > Duration::zero()) co_await pod_.node.clock.sleep_for(pause);
    co_await status_.flush();
    for (;;) {
        kube::DeleteOptions options;
        options.grace_period_seconds = 0;
        options.precondition_uid = pod_.pod->metadata.uid;
        auto removed = co_await pod_.node.client.remove(kube::types::kPods, pod_.namespace_(),
                                                        pod_.name(), std::move(options));
        if (removed || removed.error().code() == Code::kNotFound ||
            removed.error().code() == Code::kConflict)
            co_return;
        log::warning("removing a pod's object failed; it is tried again",
                     {{"pod", pod_.name()}, {"error", removed.error().message()}});
        co_await pod_.node.clock.sleep_for(kDeleteRetry);
    }
}

}  // namespace muster::runtime
