#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>

#include "base/async/run_to_end.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/time/real_clock.h"
#include "cli/internal/command_line/shared_flags.h"
#include "cli/internal/fault_injection/fault_socket.h"
#include "cli/internal/prepare/prepare.h"
#include "cli/internal/run/cluster_run.h"
#include "cli/internal/run/run_options.h"
#include "cli/internal/run/run_session.h"
#include "cli/internal/run/run_shell.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/local_cluster.h"
#include "control_plane/node_settings.h"
#include "control_plane/state_dir.h"
#include "kube/values/quantity.h"
#include "process/core_dumps.h"

namespace muster::cli {

namespace {

constexpr std::string_view kRunHelp =
    R"(Runs the jobs of a manifest on this machine, or on a cluster, and exits as they do.

Usage: muster run FILE... [FLAGS]        FILE may be - for standard input

The whole manifest is checked before anything starts. Each pod becomes processes on this machine that
see the same environment variables, names and ports as on a cluster. No image is pulled: a container's
command runs on this machine's files with your PATH and directory, so an activated virtual environment
is used. Pods, services and everything else are gone when muster ends, however it ends.

What to run:
  -f, --filename FILE        another way to name a manifest; may be repeated
      --namespace NS         for objects without one (default: "default")
      --replicas TYPE=N      as in Worker=4
      --set PATH=VALUE       set a field of every job, as in spec.runPolicy.backoffLimit=3
      --env NAME=VALUE       set a variable in every container
      --strict               unknown fields are errors, not warnings
      --wait-for-others      start even if pods would wait for what nothing here makes: a ConfigMap, a
                             Secret, a scheduling gate that is removed, another job's pod that goes
      --dry-run              print the pods and services that would be made, and stop

How it survives failures (docs/elastic.md):
      --elastic              put muster-run before each replica's command, in place of torchrun where
                             that is called: failed workers are restarted, and the others continue
      --warm                 with --elastic: restarted workers have imported their modules already

How it fits this machine:
      --workdir DIR          where every container starts (default: workingDir, else here);
                             per-pod: here, but each pod writes into a view of its own
      --mount IMAGE_PATH=DIR a path of the image lives in DIR here
      --ignore-resources R   run without a device that is not here, as in nvidia.com/gpu
      --fit scale|strict     requests beyond this machine's CPUs and memory are scaled down to fit
                             (default), or rejected
      --files shared|private what pods write into this machine's files stays (default), or each pod
                             has a view of its own, kept in DIR/files/POD with --logs DIR, else
                             in memory and dropped
      --files-limit SIZE     of memory for such a view of a pod (default: 1Gi)
      --sandbox MODE         auto (default): pods get namespaces of their own where the kernel allows
                             it; namespaces: or fail; none: all share this machine's network

What you see:
      --logs DIR             keep each pod's log in DIR/NAMESPACE_POD.log, in place of an earlier run's
  -o, --output json|yaml     print the final objects on standard output, all else on standard error
  -q, --quiet                only the pods' logs and what went wrong
      --raw                  a terminal gets all that pods write; by default it gets their colours, but
                             neither other sequences nor control characters
  -v, --verbose              muster's own log too; twice for more
      --keep                 keep the state directory and say where it is

On a cluster, where an operator runs the jobs; the output is the same:
      --context NAME         the context of the kubeconfig to run on, as in 'muster get'
      --kubeconfig FILE      its file; alone, with its current context
      -n, --namespace        default: the context's; it must exist. A job of that name must not.
                             A job that has ended stays, for 'muster describe', 'logs' and 'delete'.
                             Flags about this machine (--mount, --fit, --files, --sandbox,
                             --workdir per-pod, --keep) are rejected

When it ends:
      --timeout DURATION     give up after this long, as in 90s or 1h30m
                             A manifest with cleanPodPolicy: None keeps the pods that still run when the
                             job has ended: they are waited for, but for parameter servers. Ctrl-C ends
                             them. Without it they have 5 s

Exit status: 0 when every job succeeded; the failed container's own status otherwise (128 + signal if a
signal killed it); 2 when the manifest or a flag is wrong, and nothing was started; 124 after --timeout;
130 after Ctrl-C, which deletes the jobs and waits for their processes (a second one kills them; on a
cluster it leaves at once and says what stays).

Examples:
  muster run job.yaml
  muster run job.yaml --replicas Worker=4 --env EPOCHS=1 --timeout 10m
  muster run job.yaml --mount /workspace=$PWD --ignore-resources nvidia.com/gpu
  muster run job.yaml --logs logs --output json > result.json
  muster run --context prod --namespace team-a job.yaml
)";

runtime::NodeOptions node_options(const RunOptions& options, const Prepared& prepared,
                                  const control_plane::Caller& caller,
                                  const control_plane::Machine& machine,
                                  const control_plane::StateDir& state,
                                  runtime::CleanupProcess& cleanup, rlim_t core_bytes) {
    runtime::NodeOptions node = control_plane::node_settings(caller, machine, options.sandbox,
                                                             state.path(), prepared.cluster_domain);
    node.cleanup = &cleanup;
    node.core_bytes = core_bytes;
    node.working_dir = prepared.working_dir;
    node.mounts = prepared.mounts;
    node.files = options.private_files          ? runtime::FileMode::kPrivate
                 : options.manifest.own_workdir ? runtime::FileMode::kWorkingDir
                                                : runtime::FileMode::kShared;
    node.files_bytes = options.files_bytes;
    if (!options.logs_dir.empty())
        node.files_dir = std::filesystem::absolute(options.logs_dir) / "files";
    return node;
}

Task<int> run_in_cluster(asio::signal_set& signals, control_plane::LocalCluster& cluster,
                         RunSession& session, FaultSocket& faults,
                         const control_plane::StateDir& state) {
    TaskGroup tasks(co_await asio::this_coro::executor);
    // A run that no longer hears Ctrl-C could only be killed.
    tasks.spawn_essential("signals", watch_signals(signals, session));
    Result<void> started = co_await cluster.start();
    // The run continues without it: a TMPDIR may be too long for the name of a socket.
    if (Result<void> opened = faults.open(state.path()); !opened)
        log::info("faults can't reach this run", {{"error", opened.error().message()}});
    int status = started ? co_await session.run() : fail_run(started.error());
    co_await faults.stop();
    co_await cluster.stop();
    co_await tasks.stop();
    co_return status;
}

/// `core_bytes`: what pods may leave, of core dumps.
int run_here(const RunOptions& options, Prepared prepared, const control_plane::Caller& caller,
             const control_plane::Machine& machine, rlim_t core_bytes) {
    std::string temporary = caller.variable("TMPDIR");
    if (temporary.empty()) temporary = "/tmp";
    Rng rng = Rng::from_system();
    auto cleanup = runtime::CleanupProcess::start();
    if (!cleanup) return fail_run(cleanup.error());
    Result<control_plane::StateDir> state =
        options.keep ? control_plane::StateDir::create_kept(temporary, rng)
                     : control_plane::StateDir::create(temporary, rng, **cleanup);
    if (!state) return fail_run(state.error());
    if (Result<void> made = make_logs_dir(options); !made) return fail_run(made.error());

    std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is seen as a failed write
    asio::io_context context(1);
    asio::signal_set signals(context, SIGINT, SIGTERM, SIGHUP);
    RealClock clock;
    Console console(console_of_run(options, caller));
    for (const std::string& notice : prepared.notices) console.tell({Tone::kPlain, notice});
    auto cluster = control_plane::LocalCluster::create(
        context.get_executor(), clock, rng, store::make_memory_store(), {},
        node_options(options, prepared, caller, machine, *state, **cleanup, core_bytes));
    if (!cluster) return fail_run(cluster.error());
    for (const std::string& notice : (*cluster)->notices()) console.tell({Tone::kPlain, notice});
    if ((*cluster)->node().isolates_pods())
        if (const std::optional<int> status = end_for_own_tmp(prepared)) return *status;
    give_names(prepared.objects, rng);
    RunSession session(context.get_executor(), clock, rng, (*cluster)->client(), console,
                       std::move(prepared.objects), session_options(options));
    FaultSocket faults(context.get_executor(), clock, **cluster);
    const int ended =
        run_to_end(context, run_in_cluster(signals, **cluster, session, faults, *state));
    if (session.failure()) return fail_run(*session.failure());
    const int status = end_run(options, session, ended);
    if (options.keep)
        fmt::print(stderr, "muster: the state is kept in {}\n", state->path().string());
    return status;
}

/// This very file: pods see the same files, except for /tmp, of which each pod has its own.
void put_agents(RunOptions& options) {
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
    options.manifest.adjustments.agent = {.words = {program, "muster-run"},
                                          .warm = options.warm,
                                          .in_place_of = {program, "muster-run-for"}};
    const std::string folder = program.parent_path();
    if (folder.starts_with("/tmp/")) options.manifest.mounts.emplace_back(folder, folder);
}

int run_jobs(RunOptions options) {
    const rlim_t core_bytes = process::forbid_core_dumps();
    if (options.elastic) put_agents(options);
    if (options.verbose > 0)
        log::set_level(options.verbose > 1 ? log::Level::kDebug : log::Level::kInfo);
    control_plane::Caller caller = control_plane::current_caller();
    if (options.cluster) return run_on_cluster(options, caller);
    std::unique_ptr<control_plane::Machine> machine =
        control_plane::make_real_machine(caller.environment);
    Prepared prepared = prepare(options.manifest, caller, *machine);
    if (const std::optional<int> status = end_before_start(options, prepared)) return *status;
    return run_here(options, std::move(prepared), caller, *machine, core_bytes);
}

/// Flags that adapt a job to this machine have no meaning on a cluster.
std::optional<std::string> refuse_on_cluster(const Flags& flags, const RunOptions& options) {
    if (!options.cluster) return std::nullopt;
    const char* const cluster = flags.given("--context") ? "--context" : "--kubeconfig";
    for (const char* flag :
         {"--sandbox", "--files", "--files-limit", "--mount", "--fit", "--keep", "--elastic"})
        if (flags.given(flag))
            return fmt::format(
                "{} is about this machine, and {} runs the job on a cluster: leave "
                "one of them out",
                flag, cluster);
    if (options.manifest.own_workdir)
        return fmt::format(
            "--workdir per-pod is about this machine, and {} runs the job on a "
            "cluster: leave one of them out",
            cluster);
    const std::string& workdir = options.manifest.adjustments.workdir;
    if (!workdir.empty() && !workdir.starts_with('/'))
        return fmt::format(
            "--workdir {} is below a directory of this machine, and {} runs the job "
            "on a cluster: write an absolute path",
            workdir, cluster);
    return std::nullopt;
}

class RunVerb final : public VerbOf<RunOptions> {
  public:
    RunVerb() : VerbOf("run", kRunHelp) {}

    void declare(Flags& flags) override {
        manifest_.declare(flags, options_.manifest);
        flags.value("--logs", options_.logs_dir);
        flags.value("--output,-o", output_);
        flags.flag("--keep", options_.keep);
        flags.flag("--dry-run", options_.dry_run);
        flags.value("--timeout", timeout_);
        flags.flag("--quiet,-q", options_.quiet);
        flags.flag("--raw", options_.raw);
        flags.count("--verbose,-v", options_.verbose);
        flags.value("--sandbox", sandbox_);
        flags.value("--files", files_);
        flags.value("--files-limit", files_limit_);
        flags.flag("--elastic", options_.elastic);
        flags.flag("--warm", options_.warm);
        flags.value("--context", context_, not_unnamed);
        flags.value("--kubeconfig", kubeconfig_, not_unnamed);
    }
    std::optional<std::string> finish(const Flags& flags) override {
        if (options_.warm && !options_.elastic)
            return "--warm needs --elastic: the spares are those of its agents";
        if (auto wrong = manifest_.finish(options_.manifest)) return wrong;
        if (auto wrong = read_sandbox(sandbox_, options_.sandbox)) return wrong;
        if (auto wrong = read_files()) return wrong;
        if (!context_.empty() || !kubeconfig_.empty())
            options_.cluster = {.kubeconfig = kubeconfig_,
                                .context = context_,
                                .namespace_ = options_.manifest.adjustments.namespace_};
        if (auto wrong = read_output(output_, options_.output)) return wrong;
        if (auto wrong = read_duration("--timeout", timeout_, "90s or 1h30m", options_.timeout))
            return wrong;
        return refuse_on_cluster(flags, options_);
    }
    int run() override { return run_jobs(options_); }

  private:
    std::optional<std::string> read_files() {
        if (files_ != "shared" && files_ != "private")
            return fmt::format("--files wants shared or private, not \"{}\"", files_);
        options_.private_files = files_ == "private";
        if (files_limit_.empty()) return std::nullopt;
        const auto limit = kube::Quantity::parse(files_limit_);
        if (!limit || limit->ceil_units() < 1)
            return fmt::format("--files-limit wants a size such as 512Mi or 4Gi, not \"{}\"",
                               files_limit_);
        options_.files_bytes = static_cast<std::uint64_t>(limit->ceil_units());
        return std::nullopt;
    }

    ManifestFlags manifest_;
    std::string output_;
    std::string timeout_;
    std::string sandbox_ = "auto";
    std::string files_ = "shared";
    std::string files_limit_;
    std::string context_;
    std::string kubeconfig_;
};

}  // namespace

std::unique_ptr<Verb> run_verb() { return std::make_unique<RunVerb>(); }

}  // namespace muster::cli
