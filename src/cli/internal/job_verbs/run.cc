#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "base/log.h"
#include "base/visible_text.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/prepare/prepare.h"
#include "cli/internal/record/notification.h"
#include "cli/internal/run/run_options.h"
#include "cli/internal/run/run_shell.h"
#include "cli/internal/run_places/cluster_run.h"
#include "cli/internal/run_places/local_run.h"
#include "cli/internal/runs/named_run.h"
#include "cli/internal/script/job_manifest.h"
#include "cli/internal/script/new_file.h"
#include "cli/internal/script/script_flags.h"
#include "cli/internal/script/script_job.h"
#include "cli/internal/script/script_words.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/own_programs.h"
#include "manifest/adjust.h"
#include "process/core_dumps.h"

namespace muster::cli {

namespace {

constexpr std::string_view kRunHelp =
    R"(Runs a script as a job, or the jobs of a manifest, on this machine or on a cluster, and exits as they do.

Usage: muster run [FLAGS] SCRIPT [ARGUMENTS]
       muster run FILE... [FLAGS] [-- ARGUMENTS]        FILE may be a directory, or - for standard input

A script needs no manifest: its imports say what kind of job it is. What follows its name is its own.
Arguments after a manifest and -- are added to those of its jobs' programs.

The whole manifest is checked before anything starts. Each pod becomes processes on this machine that
see the same environment variables, names and ports as on a cluster. No image is pulled: a container's
command runs on this machine's files with your PATH and directory, so an activated virtual environment
is used. Pods, services and everything else are gone when muster ends, however it ends.

The job of a script (any other program, too: 'muster run mpirun python3 train.py'):
      --framework NAME       deepspeed, horovod, jax, mpi, mxnet, paddle, pytorch, tf, xgboost
                             (default: what the script imports)
  -w, --workers N            pods that train (default: 1); MIN:MAX makes a PyTorch job elastic
  -n, --nproc-per-node N     processes of each: a number, or auto for one on each GPU, or else CPU
                             (default: one for each GPU, or else 1)
      --cpus, --memory, --gpus N
                             of each worker, as in 4, 16Gi, 1 or amd.com/gpu=1 (default for GPUs: all
                             that are here, shared out)
      --servers N            parameter servers, of TensorFlow and MXNet
      --max-restarts N       of each worker (default: 0)
      --deadline DURATION    how long the job may run
      --name NAME            of the job (default: the script's)
      --image IMAGE          what a cluster runs it in; needed there
      --priority CLASS, --label NAME=VALUE
      --print                print the job's manifest, and start nothing
      --save FILE            keep the manifest; a file that exists is never overwritten
  -m, --module NAME          a module in place of a script, as with python

What to run:
  -f, --filename FILE        another way to name a manifest; may be repeated
  -R, --recursive            a directory stands for the manifests of those in it, too
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
      --warm                 with --elastic or a script: restarted workers have imported their modules
                             already

How it fits this machine:
      --workdir DIR          where every container starts (default: workingDir, else here);
                             per-pod: here, but each pod writes into a view of its own
      --mount IMAGE_PATH=DIR a path of the image lives in DIR here
      --volume CLAIM=DIR     a PersistentVolumeClaim is DIR here (default: an empty directory that goes
                             with the run); sizes are not enforced
      --secret NAME=SOURCE   a Secret that the manifest refers to and does not have. SOURCE is FILE (its
                             name is the key), FILE.env (a key for each line KEY=VALUE), DIR (a key for
                             each file), KEY=@FILE or KEY=VALUE; repeated, for more keys
      --config NAME=SOURCE   the same for a ConfigMap
      --entrypoint IMAGE=COMMAND
                             what a container without a command runs: images are not pulled, so what
                             theirs is isn't known. An IMAGE without a tag is for all of its tags
      --entrypoints FILE     the same for many images, a YAML map from image to command (default:
                             muster-entrypoints.yaml in this directory, if there is one)
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

On a server, where an operator runs the jobs; the output is the same:
      --up                   this user's 'muster up' on this machine. A script starts in this directory
                             and with this PATH, and needs no image
      --context NAME         the context of the kubeconfig to run on, as in 'muster get'
      --kubeconfig FILE      its file; alone, with its current context
      -n, --namespace        default: the context's; it must exist. A job of that name must not.
                             A job that has ended stays, for 'muster describe', 'logs' and 'delete'.
                             Flags about the machine (--mount, --volume, --secret, --entrypoint,
                             --fit, --files, --sandbox, --workdir per-pod, --keep) are rejected

What is kept of it (docs/runs.md), in a folder below ~/.muster/runs or MUSTER_RUNS_DIR:
  -d, --detach               continue without the terminal: 'muster ps' lists it, 'muster attach',
                             'logs', 'describe', 'why' and 'stop' take its name
      --no-record            keep nothing

When it ends:
      --notify URL|COMMAND   post JSON to the URL (its "text" is what chat services show), or start the
                             command with it as standard input and MUSTER_RUN, MUSTER_RESULT and
                             MUSTER_EXIT_STATUS in its environment. A failure of it is told only
      --timeout DURATION     give up after this long, as in 90s or 1h30m
      --give-up-after N      give up when a container has failed in the same way N times in a row, each
                             time within ten minutes of its start (default: 3; 0: never); muster-run in
                             its pods obeys it, too. On a cluster that is told, and the job continues
                             A manifest with cleanPodPolicy: None keeps the pods that still run when the
                             job has ended: they are waited for, but for parameter servers. Ctrl-C ends
                             them. Without it they have 5 s

Exit status: 0 when every job succeeded; the failed container's own status otherwise (128 + signal if a
signal killed it); 2 when the manifest or a flag is wrong, and nothing was started; 124 after --timeout;
130 after Ctrl-C, which deletes the jobs and waits for their processes (a second one kills them; on a
cluster it leaves at once and says what stays).

Examples:
  muster run train.py --lr 0.1
  muster run -n 2 --max-restarts 3 train.py
  muster run job.yaml
  muster run job.yaml --replicas Worker=4 --env EPOCHS=1 --timeout 10m
  muster run job.yaml --mount /workspace=$PWD --ignore-resources nvidia.com/gpu
  muster run job.yaml --logs logs --output json > result.json
  muster run --context prod --namespace team-a job.yaml
)";

constexpr std::string_view kLaunchVerb = "launch";
constexpr std::string_view kLaunchHelp =
    R"(Runs a program as a job, as 'muster run SCRIPT' does, for a framework that is named first.

Usage: muster launch [FRAMEWORK] [FLAGS] [--] COMMAND...

FRAMEWORK is deepspeed, horovod, jax, mpi, mxnet, paddle, pytorch, tf or xgboost; without one it is seen from
the script. The flags are those of 'muster run'.

Examples:
  muster launch pytorch -n 2 -- python train.py --lr 0.1
  muster launch mpi --workers 2 -n 4 -- ./simulate input.dat
)";

/// This very file: pods see the same files, except for /tmp, of which each pod has its own.
void put_agents(RunOptions& options) {
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
    options.manifest.adjustments.agent = {.words = {program, "muster-run"},
                                          .warm = options.warm,
                                          .in_place_of = {program, "muster-run-for"}};
    const std::string folder = program.parent_path();
    if (folder.starts_with("/tmp/")) options.manifest.mounts.emplace_back(folder, folder);
}

/// A script finds on `muster up` what it would find here: its directory, and the caller's programs.
void put_here(RunOptions& options, const control_plane::Caller& caller) {
    manifest::Adjustments& adjustments = options.manifest.adjustments;
    if (adjustments.workdir.empty()) adjustments.workdir = caller.working_dir;
    const bool has_path = std::ranges::any_of(
        adjustments.env, [](const auto& variable) { return variable.first == "PATH"; });
    if (!has_path) adjustments.env.emplace_back("PATH", caller.variable("PATH"));
}

/// The job of the script as flags make it: printed or kept, if that is asked for. Returns the exit
/// status if there is nothing more to do.
std::optional<int> take_script(RunOptions& options, const control_plane::Machine& machine) {
    const bool needs_image = options.cluster && !options.on_up;
    Result<ScriptJob> job = make_script_job(options.script, machine, needs_image);
    if (!job) {
        fmt::print(stderr, "muster run: {}\n", visible_text(job.error().message()));
        return 2;
    }
    options.manifest.notices.push_back(job->told);
    options.manifest.made.push_back(std::move(job->document));
    if (!options.script.print && options.script.save.empty()) return std::nullopt;
    std::vector<manifest::Document> documents = options.manifest.made;
    for (const manifest::Problem& problem :
         manifest::adjust(documents, options.manifest.adjustments))
        fmt::print(stderr, "{}\n", format(problem));
    const std::string text = commented_manifest(documents.front().object.get_object());
    if (!options.script.save.empty())
        if (Result<void> kept = write_new_file(options.script.save, text); !kept) {
            fmt::print(stderr, "muster run: --save {}: {}\n", options.script.save,
                       kept.error().message());
            return 2;
        }
    if (!options.script.print) return std::nullopt;
    print_exact(text);
    return 0;
}

int run_jobs(RunOptions options) {
    const rlim_t core_bytes = process::forbid_core_dumps();
    if (options.elastic) put_agents(options);
    if (options.verbose > 0)
        log::set_level(options.verbose > 1 ? log::Level::kDebug : log::Level::kInfo);
    const control_plane::Caller caller = control_plane::with_own_programs(
        control_plane::current_caller(), options.script.command.empty()
                                             ? control_plane::MissingLink::kLeave
                                             : control_plane::MissingLink::kMake);
    std::unique_ptr<control_plane::Machine> machine =
        control_plane::make_real_machine(caller.environment);
    if (options.on_up) {
        if (!up_is_here(caller))
            return fail_run(Error(Code::kUnavailable,
                                  "--up: no 'muster up' of yours runs on this machine; 'muster up "
                                  "--detach' starts one"));
        options.cluster->kubeconfig = options_of_up(caller).kubeconfig;
        if (!options.script.command.empty()) put_here(options, caller);
    }
    if (!options.script.command.empty())
        if (const auto status = take_script(options, *machine)) return *status;
    if (options.cluster) return run_on_cluster(options, caller);
    Prepared prepared = prepare(options.manifest, caller, *machine);
    if (const std::optional<int> status = end_before_start(options, prepared)) return *status;
    return run_on_machine(options, std::move(prepared), caller, *machine, core_bytes);
}

/// Flags that adapt a job to this machine have no meaning on a cluster.
std::optional<std::string> refuse_on_cluster(const Flags& flags, const RunOptions& options) {
    if (!options.cluster) return std::nullopt;
    const char* const cluster = options.on_up              ? "--up"
                                : flags.given("--context") ? "--context"
                                                           : "--kubeconfig";
    for (const char* flag :
         {"--sandbox", "--files", "--files-limit", "--mount", "--volume", "--secret", "--config",
          "--entrypoint", "--entrypoints", "--fit", "--keep", "--elastic"})
        if (flags.given(flag))
            return fmt::format(
                "{} is about the machine, and {} runs the job on a server: leave "
                "one of them out",
                flag, cluster);
    if (options.manifest.own_workdir)
        return fmt::format(
            "--workdir per-pod is about the machine, and {} runs the job on a "
            "server: leave one of them out",
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
    RunVerb(std::string_view name, std::string_view help) : VerbOf(name, help) {}

    void declare(Flags& flags) override {
        manifest_.declare(flags, options_.manifest);
        script_.declare(flags, options_.script);
        flags.value("--logs", options_.logs_dir);
        flags.value("--output,-o", output_);
        flags.flag("--keep", options_.keep);
        flags.flag("--dry-run", options_.dry_run);
        flags.flag("--detach,-d", options_.detach);
        flags.exclude("--detach", "--output");
        flags.exclude("--detach", "--dry-run");
        flags.exclude("--detach", "--print");
        flags.flag("--no-record", options_.no_record);
        flags.exclude("--detach", "--no-record");
        flags.value("--notify", options_.notify);
        flags.value("--timeout", timeout_);
        flags.value("--give-up-after", options_.give_up_after, not_a_count);
        flags.flag("--quiet,-q", options_.quiet);
        flags.flag("--raw", options_.raw);
        flags.count("--verbose,-v", options_.verbose);
        flags.value("--sandbox", sandbox_);
        flags.value("--files", files_);
        flags.value("--files-limit", files_limit_);
        flags.flag("--elastic", options_.elastic);
        flags.flag("--warm", options_.warm);
        flags.flag("--up", options_.on_up);
        flags.value("--context", context_, not_unnamed);
        flags.value("--kubeconfig", kubeconfig_, not_unnamed);
        flags.exclude("--up", "--context");
        flags.exclude("--up", "--kubeconfig");
    }
    std::vector<std::string> to_flags(std::vector<std::string> words) override {
        // `muster launch pytorch -n 2 -- python train.py`
        const bool names_framework =
            name() == kLaunchVerb && !words.empty() && framework_named(words.front());
        if (names_framework) words.insert(words.begin(), "--framework");
        options_.command = words;
        options_.command.insert(options_.command.begin(), std::string(name()));
        RunVerb same(name(), help());
        ScriptLine line = take_script_line(words, same);
        options_.script.command = std::move(line.command);
        options_.manifest.adjustments.arguments = std::move(line.program_arguments);
        has_n_ = std::ranges::find(line.flags, "-n") != line.flags.end();
        return std::move(line.flags);
    }
    std::optional<std::string> finish(const Flags& flags) override {
        const bool is_script = !options_.script.command.empty();
        options_.manifest.is_made = is_script;
        if (options_.warm && !options_.elastic && !is_script)
            return "--warm needs --elastic: the spares are those of its agents";
        if (options_.elastic && is_script)
            return "--elastic is for manifests: a script of PyTorch always has an agent. "
                   "--workers 2:8 makes its job elastic";
        options_.script.request.warm = options_.warm;
        if (auto wrong = refuse_n()) return wrong;
        if (auto wrong = script_.finish(flags, options_.script)) return wrong;
        if (!is_script && options_.manifest.files.empty() && !flags.given("--filename"))
            return name() == kLaunchVerb
                       ? "name a program, as in 'muster launch pytorch -- python3 train.py'"
                       : "name a script or a manifest, as in 'muster run train.py'; - is a "
                         "manifest from standard input";
        if (auto wrong = manifest_.finish(options_.manifest)) return wrong;
        if (auto wrong = read_sandbox(sandbox_, options_.sandbox)) return wrong;
        if (auto wrong = read_files_flags(files_, files_limit_, options_.private_files,
                                          options_.files_bytes))
            return wrong;
        if (options_.on_up) context_ = "muster";
        if (!context_.empty() || !kubeconfig_.empty())
            options_.cluster = {.kubeconfig = kubeconfig_,
                                .context = context_,
                                .namespace_ = options_.manifest.adjustments.namespace_};
        if (auto wrong = refuse_notify()) return wrong;
        if (auto wrong = read_output(output_, options_.output)) return wrong;
        if (auto wrong = read_duration("--timeout", timeout_, "90s or 1h30m", options_.timeout))
            return wrong;
        return refuse_on_cluster(flags, options_);
    }
    int run() override { return run_jobs(options_); }

  private:
    /// Of a script on this machine it is the number of processes, and nothing else.
    std::optional<std::string> refuse_n() const {
        const bool on_server = options_.on_up || !context_.empty() || !kubeconfig_.empty();
        if (!has_n_ || on_server || options_.script.command.empty()) return std::nullopt;
        return fmt::format(
            "-n wants a number of processes or auto, not \"{}\"; --namespace names a namespace",
            options_.manifest.adjustments.namespace_);
    }

    std::optional<std::string> refuse_notify() const {
        if (!is_notification_url(options_.notify)) return std::nullopt;
        const Result<NotificationUrl> url = notification_url(options_.notify);
        if (url) return std::nullopt;
        return fmt::format("--notify {}: {}", options_.notify, url.error().message());
    }

    ManifestFlags manifest_;
    ScriptFlags script_;
    bool has_n_ = false;  ///< -n, and no number after it
    std::string output_;
    std::string timeout_;
    std::string sandbox_ = "auto";
    std::string files_ = "shared";
    std::string files_limit_;
    std::string context_;
    std::string kubeconfig_;
};

}  // namespace

std::unique_ptr<Verb> run_verb() { return std::make_unique<RunVerb>("run", kRunHelp); }
std::unique_ptr<Verb> launch_verb() { return std::make_unique<RunVerb>(kLaunchVerb, kLaunchHelp); }

}  // namespace muster::cli
