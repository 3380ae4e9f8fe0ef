#include "runtime/internal/pod/pod_worker.h"

#include <sys/wait.h>

#include <algorithm>

#include "base/log.h"
#include "runtime/internal/files/object_data.h"
#include "runtime/internal/files/volume_files.h"
#include "runtime/internal/lifecycle/termination_message.h"

namespace muster::runtime {

namespace {

constexpr std::size_t kKeptRuns = 2;  ///< the current one, and the one that `--previous` shows
constexpr Duration kNetworkHook = std::chrono::seconds(30);
constexpr Duration kDeleteRetry = std::chrono::seconds(1);

int exit_code(int wait_status) {
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/// What can't be read keeps the pod from starting (prepare_pod()).
std::vector<ContainerLifecycle> lifecycles_of(const kube::Pod& pod) {
    auto read = read_lifecycles(pod.spec);
    return read ? *std::move(read) : std::vector<ContainerLifecycle>();
}

/// Commands have the time that they need; a connection that nothing comes of ends some time.
std::optional<Duration> limit_of_hook(const Handler& hook) {
    const bool network =
        std::holds_alternative<HttpCheck>(hook) || std::holds_alternative<TcpCheck>(hook);
    return network ? std::optional(kNetworkHook) : std::nullopt;
}

kube::ObjectReference reference_to(const kube::Pod& pod) {
    kube::ObjectReference reference;
    reference.api_version = "v1";
    reference.kind = "Pod";
    reference.namespace_ = pod.metadata.namespace_;
    reference.name = pod.metadata.name;
    reference.uid = pod.metadata.uid;
    return reference;
}

}  // namespace

PodWorker::PodWorker(NodeContext& node, std::shared_ptr<const kube::Pod> pod)
    : node_(node),
      pod_(std::move(pod)),
      files_(node.hosts, node.options.state_dir, node.options.logs_dir, *pod_),
      isolation_(node.isolation, pod_),
      tasks_(node.executor),
      status_(node.client, node.clock, tasks_, *pod_, [this] { return current_status(); }),
      machine_(*pod_, lifecycles_of(*pod_),
               format_address(
                   node.names.address(pod_->metadata.namespace_, pod_->metadata.name).value_or(0)),
               node.host_ip, now()),
      tokens_(node.client, node.clock),
      runs_(machine_.facts().containers.size()),
      launches_(machine_.facts().containers.size()),
      checks_(node.executor, node.clock, node.open_socket),
      execs_(node.executor),
      sandbox_ended_(node.executor) {}

void PodWorker::start() {
    std::vector<std::string> fields = fields_without_effect(*pod_);
    for (std::string& field : isolation_.not_honoured(node_.surroundings.namespaces))
        fields.push_back(std::move(field));
    if (!fields.empty())
        record(kube::EventType::kWarning, "NotEnforced",
               fmt::format("muster does not act on these fields: {}", fmt::join(fields, ", ")));
    if (const auto names = containers_run_by_their_args(pod_->spec); !names.empty())
        record(kube::EventType::kNormal, "ArgsAreTheCommand",
               fmt::format("no image is here whose entry point could take the args of {}: they are "
                           "run as the command",
                           fmt::join(names, ", ")));
    ended_before_ = pod_->status.phase == "Succeeded" || pod_->status.phase == "Failed";
    if (ended_before_) {
        // Its status stays, and only the object is to go.
        if (pod_->metadata.deleting()) tasks_.spawn("deletion", delete_pod());
        return;
    }
    if (pod_->status.start_time.empty())
        perform(machine_.start(now()));
    else
        resume();
    if (pod_->metadata.deleting()) update(pod_);
}

void PodWorker::resume() {
    PodActions actions = machine_.resume(pod_->status, now());
    count_launches();
    perform(std::move(actions));
}

void PodWorker::update(std::shared_ptr<const kube::Pod> pod) {
    const std::shared_ptr<const kube::Pod> before = std::exchange(pod_, std::move(pod));
    if (ended_before_ || found_) return;
    if ((before->metadata.labels != pod_->metadata.labels ||
         before->metadata.annotations != pod_->metadata.annotations) &&
        std::ranges::any_of(pod_->spec.volumes, has_pod_fields))
        mounted_data_changed();
    if (PodActions due = machine_.deadline_changed(pod_->spec.active_deadline_seconds, now());
        !due.empty())
        perform(std::move(due));
    arm_timer();
    if (!pod_->metadata.deleting()) return;
    const std::int64_t grace = pod_->metadata.deletion_grace_period_seconds.value_or(
        pod_->spec.termination_grace_period_seconds.value_or(30));
    perform(machine_.deletion_requested(std::chrono::seconds(grace), now()));
}

void PodWorker::kill() {
    stopping_ = true;
    if (sandbox_) sandbox_->kill();
}

Task<void> PodWorker::stop() {
    kill();
    while (sandbox_) co_await sandbox_ended_.wait();
    co_await tasks_.stop();
}

const kube::Container& PodWorker::container(std::size_t index) const {
    const auto& init = pod_->spec.init_containers;
    return index < init.size() ? init[index] : pod_->spec.containers[index - init.size()];
}

kube::PodStatus PodWorker::current_status() const {
    return make_pod_status(*pod_, machine_.facts(), node_.clock.wall_now());
}

void PodWorker::record(kube::EventType type, std::string reason, std::string message) {
    node_.events.record(reference_to(*pod_), type, std::move(reason), std::move(message));
}

void PodWorker::perform(PodActions actions) {
    // Before the status says so, and somebody counts on them.
    if (const std::string phase = machine_.phase(); phase == "Succeeded" || phase == "Failed")
        isolation_.release_devices();
    for (PodAction& action : actions) perform_one(std::move(action));
    status_.changed();
    arm_timer();
}

void PodWorker::perform_one(PodAction action) {
    switch (action.kind) {
        case PodAction::Kind::kCreateSandbox:
            tasks_.spawn("sandbox", create_sandbox());
            return;
        case PodAction::Kind::kStartContainer:
            tasks_.spawn("container", start_container(action.container));
            return;
        case PodAction::Kind::kSignal:
            if (!runs_[action.container].empty())
                runs_[action.container].back()->signal(action.signal);
            return;
        case PodAction::Kind::kRunProbe:
        case PodAction::Kind::kRunHook:
            return begin_check(action);
        case PodAction::Kind::kKillSandbox:
            if (sandbox_) sandbox_->kill();
            return;
        case PodAction::Kind::kRecordEvent:
            record(action.event_type, std::move(action.reason), std::move(action.message));
            return;
        case PodAction::Kind::kDeletePod:
            tasks_.spawn("deletion", delete_pod());
            return;
    }
}

void PodWorker::arm_timer() {
    const std::optional<Instant> at = machine_.wake_at();
    if (!at || (timer_at_ && *timer_at_ <= *at)) return;
    timer_at_ = at;
    tasks_.spawn("timer", wake(*at));
}

Task<void> PodWorker::wake(Instant at) {
    co_await node_.clock.sleep_until(at);
    if (timer_at_ == at) timer_at_.reset();
    perform(machine_.tick(now()));
}

Task<void> PodWorker::create_sandbox() {
    auto prepared = co_await prepare_pod();
    if (stopping_) co_return;
    if (!prepared) {
        const bool refused = prepared.error().code() == Code::kUnsupported ||
                             prepared.error().code() == Code::kInvalid;
        perform(machine_.sandbox_failed(refused ? "Failed" : "FailedMount",
                                        prepared.error().message(), now()));
        co_return;
    }
    SandboxSpec spec;
    spec.title = pod_->metadata.namespace_ + "/" + pod_->metadata.name;
    spec.hostname = hostname_of(*pod_);
    spec.address = node_.names.address(pod_->metadata.namespace_, pod_->metadata.name).value_or(0);
    spec.mounts = volumes_.pod_mounts;
    spec.sysctls = isolation_.security().sysctls;
    spec.pids = static_cast<std::uint64_t>(node_.isolation.cgroups.pids_of_pod());
    spec.privileged = isolation_.privileged();
    if (node_.options.pods_outlive) {
        spec.socket = files_.socket();
        spec.note = text_of(isolation_.devices());
    }
    auto files = private_files();
    if (!files)
        co_return perform(machine_.sandbox_failed("FailedMount", files.error().message(), now()));
    spec.files = *std::move(files);
    auto sandbox = PodSandbox::start(node_.executor, node_.sandboxes, spec);
    if (!sandbox) {
        perform(machine_.sandbox_failed(
            "FailedCreatePodSandBox", "Failed to create pod sandbox: " + sandbox.error().message(),
            now()));
        co_return;
    }
    sandbox_ = *std::move(sandbox);
    setup_error_.clear();
    tasks_.spawn("reports", read_reports());
}

Task<Result<void>> PodWorker::prepare_pod() {
    const bool namespaces = node_.surroundings.namespaces;
    for (std::size_t i = 0; i < runs_.size(); ++i)
        CO_TRY_VOID(check_container(container(i), namespaces, *pod_));
    CO_TRY_VOID(read_lifecycles(pod_->spec));
    CO_TRY_VOID(co_await fetch_mounted_data());
    CO_TRY_VOID(isolation_.prepare());
    CO_TRY_VOID(files_.make(*pod_));
    co_return co_await fill_volumes(false);
}

Result<pod_init::PrivateFiles> PodWorker::private_files() const {
    const NodeOptions& options = node_.options;
    pod_init::PrivateFiles files;
    if (options.files == FileMode::kShared) return files;
    files.scope = options.files == FileMode::kPrivate ? pod_init::PrivateFiles::Scope::kMachine
                                                      : pod_init::PrivateFiles::Scope::kDirectory;
    files.directory = options.working_dir;
    files.bytes = options.files_bytes;
    files.scratch = files_.view();
    // What the manifest or the command line names is meant to be written to.
    files.kept = {files_.directory()};
    for (const kube::Volume& volume : pod_->spec.volumes)
        if (volume.host_path) files.kept.push_back(volume.host_path->path);
    for (const auto& [image_path, directory] : options.mounts) files.kept.push_back(directory);
    if (options.files_dir.empty()) return files;
    files.store =
        options.files_dir / fmt::format("{}_{}", pod_->metadata.namespace_, pod_->metadata.name);
    std::error_code error;
    std::filesystem::create_directories(files.store, error);
    if (error) return system_error("making the directory " + files.store, error.value());
    files.kept.push_back(files.store);
    return files;
}

Task<void> PodWorker::read_reports() {
    for (;;) {
        auto report = co_await sandbox_->next_report();
        if (!report) {
            log::error("a pod's init can't be understood; the pod is ended",
                       {{"pod", pod_->metadata.name}, {"error", report.error().message()}});
            sandbox_->kill();
            continue;
        }
        if (!*report) break;
        handle(**std::move(report));
    }
    sandbox_ended();
}

void PodWorker::sandbox_ended() {
    execs_.sandbox_gone();
    sandbox_.reset();
    sandbox_ended_.notify_all();
    for (auto& runs : runs_)
        for (auto& run : runs) run->finish();
    isolation_.sandbox_gone();
    if (stopping_) return;
    if (std::exchange(found_, std::nullopt)) return resume();
    if (setup_error_.empty())
        perform(machine_.sandbox_gone(now()));
    else
        perform(machine_.sandbox_failed("FailedCreatePodSandBox",
                                        "Failed to create pod sandbox: " + setup_error_, now()));
}

ContainerRun* PodWorker::find_run(std::uint32_t id, std::size_t& index) {
    for (index = 0; index < runs_.size(); ++index)
        for (auto& run : runs_[index])
            if (run->id() == id) return run.get();
    return nullptr;
}

std::string PodWorker::container_id(std::uint32_t run) const {
    return fmt::format("muster://{}-{}", pod_->metadata.uid, run);
}

void PodWorker::handle(pod_init::Report report) {
    if (found_)
        return report.kind == pod_init::Report::Kind::kTold ? all_is_told()
                                                            : found_->take(std::move(report));
    if (report.kind == pod_init::Report::Kind::kReady)
        return perform(machine_.sandbox_ready(now()));
    if (report.kind == pod_init::Report::Kind::kSetupFailed) {
        setup_error_ = report.text;
        return;
    }
    if (report.kind == pod_init::Report::Kind::kExecEnded ||
        report.kind == pod_init::Report::Kind::kTerminal)
        return execs_.take(std::move(report));
    std::size_t index = 0;
    ContainerRun* run = find_run(report.id, index);
    if (run == nullptr) return;
    switch (report.kind) {
        case pod_init::Report::Kind::kStarted:
            run->started(std::move(report.pidfd));
            perform(machine_.container_started(index, container_id(report.id), now()));
            return;
        case pod_init::Report::Kind::kStartFailed: {
            run->finish();
            isolation_.leave(report.id);
            const pod_init::StartFailure failure{report.stage, report.value, report.text};
            perform(
                machine_.start_failed(index, describe_start_failure(failure, run->start()), now()));
            return;
        }
        case pod_init::Report::Kind::kExited:
            run->finish();
            if (!report.text.empty())
                record(kube::EventType::kWarning, "LogIncomplete",
                       fmt::format("Container {}: {}", container(index).name, report.text));
            perform(machine_.container_exited(index, end_of(index, *run, report), now()));
            return;
        case pod_init::Report::Kind::kReady:
        case pod_init::Report::Kind::kSetupFailed:
        case pod_init::Report::Kind::kExecEnded:
        case pod_init::Report::Kind::kTerminal:
        case pod_init::Report::Kind::kStarting:
        case pod_init::Report::Kind::kTold:
            return;
    }
}

void PodWorker::begin_check(const PodAction& action) {
    const ContainerLifecycle& lifecycle = machine_.lifecycle(action.container);
    if (action.kind == PodAction::Kind::kRunProbe) {
        const ProbeSpec& probe = lifecycle.probe(action.probe);
        return tasks_.spawn("probe", run_check(action, probe.handler, probe.timing.timeout));
    }
    const Handler& hook =
        action.hook == HookKind::kPostStart ? *lifecycle.post_start : *lifecycle.pre_stop;
    tasks_.spawn("hook", run_check(action, hook, limit_of_hook(hook)));
}

Task<void> PodWorker::run_check(PodAction action, Handler handler, std::optional<Duration> limit) {
    if (stopping_ || !sandbox_ || runs_[action.container].empty()) co_return;
    const std::uint32_t run = runs_[action.container].back()->id();
    CheckRunner::Exec exec = [this, run](std::vector<std::string> command) {
        return execs_.run(*sandbox_, run, std::move(command));
    };
    CheckResult result =
        co_await checks_.run(std::move(handler), machine_.facts().pod_ip, limit, std::move(exec));
    if (stopping_) co_return;
    perform(action.kind == PodAction::Kind::kRunProbe
                ? machine_.probe_ended(action.container, action.instance, action.probe,
                                       std::move(result), now())
                : machine_.hook_ended(action.container, action.instance, action.hook,
                                      std::move(result), now()));
}

ContainerEnd PodWorker::end_of(std::size_t index, const ContainerRun& run,
                               const pod_init::Report& report) {
    const kube::Container& ended = container(index);
    ContainerEnd end;
    end.exit_code = exit_code(report.value);
    // A process that outlived the loss of another, and says so by its status, is to be believed.
    if (isolation_.leave(report.id) && end.exit_code != 0) end.reason = "OOMKilled";
    const bool from_log =
        end.exit_code != 0 && ended.termination_message_policy == "FallbackToLogsOnError";
    end.message = read_termination_message(files_.of_container(ended.name).termination_log,
                                           run.log()->path(), from_log);
    return end;
}

Task<void> PodWorker::start_container(std::size_t index) {
    const PodSandbox* sandbox = sandbox_.get();
    auto fetched = co_await fetch_data(node_.client, pod_->metadata.namespace_,
                                       references_of(container(index)), config_maps_, secrets_);
    // The sandbox may have gone meanwhile, and the machine knows.
    if (stopping_ || sandbox == nullptr || sandbox_.get() != sandbox) co_return;
    auto plan_made = fetched ? plan(index) : Result<pod_init::ContainerStart>(fetched.error());
    if (!plan_made)
        co_return perform(machine_.config_failed(index, plan_made.error().message(), now()));
    if (auto made = files_.begin_termination_log(container(index).name); !made)
        co_return perform(machine_.config_failed(index, made.error().message(), now()));
    warn_about_tmp(*plan_made);
    auto& runs = runs_[index];
    const RunId run{.container = index, .launch = launches_[index] + 1};
    plan_made->id = run.number();
    auto made = ContainerRun::create(node_.executor, *std::move(plan_made),
                                     files_.log(container(index).name, run.log()));
    if (!made) co_return perform(machine_.config_failed(index, made.error().message(), now()));
    auto groups = isolation_.enter(index, (*made)->id());
    auto launched = groups ? (*made)->launch(*sandbox_, *groups) : Result<void>(groups.error());
    if (!launched)
        co_return perform(machine_.config_failed(index, launched.error().message(), now()));
    ++launches_[index];
    runs.push_back(*std::move(made));
    while (runs.size() > kKeptRuns) {
        runs.front()->discard();
        runs.erase(runs.begin());
    }
}

EnvironmentInput PodWorker::environment_input() const {
    return {.pod = *pod_,
            .config_maps = config_maps_,
            .secrets = secrets_,
            .base = node_.options.environment,
            .hostname = hostname_of(*pod_),
            .pod_ip = machine_.facts().pod_ip,
            .host_ip = machine_.facts().host_ip,
            .node_name = node_.options.name,
            .node_cpu = node_.cpu,
            .node_memory = node_.memory,
            .addresses = {}};
}

Result<pod_init::ContainerStart> PodWorker::plan(std::size_t index) {
    TRY(const ContainerSecurity security, isolation_.container_security(index));
    EnvironmentInput input = environment_input();
    input.base = isolation_.environment(index, security, std::move(input.base));
    if (!node_.surroundings.namespaces) input.addresses = addresses_for(index);
    TRY(ContainerProcess process, make_process(container(index), input));
    TRY(pod_init::ContainerStart start,
        plan_container(container(index), std::move(process), security, node_.surroundings,
                       files_.of_container(container(index).name), volumes_));
    start.log_limits = node_.options.log_limits;
    return start;
}

std::map<std::string, std::string, std::less<>> PodWorker::addresses_for(std::size_t index) {
    const std::string& ns = pod_->metadata.namespace_;
    // A replica may be named here before its pod or service was seen: it will have this address.
    if (const kube::OwnerReference* job = pod_->metadata.controller(); job != nullptr)
        for (const kube::EnvVar& variable : container(index).env)
            for (const std::string& name : replica_names_in(variable.value, job->name))
                node_.names.expect(ns, name, job->uid);
    std::map<std::string, std::string, std::less<>> addresses;
    for (const NameTable::Entry& entry : node_.names.seen_by(ns, pod_->metadata.name))
        for (const std::string& name : entry.names)
            addresses.emplace(name, format_address(entry.address));
    return addresses;
}

void PodWorker::warn_about_tmp(const pod_init::ContainerStart& start) {
    if (warned_about_tmp_) return;
    const std::optional<std::string> hidden = hidden_by_tmp(start);
    if (!hidden) return;
    warned_about_tmp_ = true;
    record(kube::EventType::kWarning, "PrivateTmp",
           fmt::format("{} is on this machine, but the pod has a /tmp of its own and does not see "
                       "it: move it elsewhere, or mount its directory (--mount)",
                       *hidden));
}

Task<void> PodWorker::delete_pod() {
    co_await status_.flush();
    for (;;) {
        kube::DeleteOptions options;
        options.grace_period_seconds = 0;
        options.precondition_uid = pod_->metadata.uid;
        auto removed = co_await node_.client.remove(kube::types::kPods, pod_->metadata.namespace_,
                                                    pod_->metadata.name, std::move(options));
        if (removed || removed.error().code() == Code::kNotFound ||
            removed.error().code() == Code::kConflict)
            co_return;
        log::warning("removing a pod's object failed; it is tried again",
                     {{"pod", pod_->metadata.name}, {"error", removed.error().message()}});
        co_await node_.clock.sleep_for(kDeleteRetry);
    }
}

}  // namespace muster::runtime
