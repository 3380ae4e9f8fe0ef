#include <fmt/format.h>

#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/step/step_session.h"
#include "cli/internal/verbs/verbs.h"

namespace muster::cli {

namespace {

constexpr std::string_view kStepHelp =
    R"(Runs a distributed job as one step of a pipeline: creates it, copies its logs, and ends as it does.

Usage: muster step KIND --command COMMAND [FLAGS]

KIND is pytorch, tf, horovod, mpi, mxnet, paddle, jax, xgboost or deepspeed. In a pod the step uses the pod's own
account. It reads what cube-studio's templates give to their launchers, arguments and KFJ_* variables, so a
template works with this program as its image: its entrypoint is 'muster step KIND' (docs/pipelines.md).

What the pods run:
      --command COMMAND      for 'bash -c', as it is written
      --image IMAGE          default: KFJ_TASK_IMAGES; also --work_images
      --working_dir DIR      default: the image's; /mnt/ with volumes of KFJ_TASK_VOLUME_MOUNT
      --num_worker N         pods that work, a master among them
      --num_ps N             parameter servers (tf, mxnet, paddle)
      --processes N          ranks of each worker (mpi, horovod; default: its GPUs)
      --env NAME=VALUE       may be repeated; NCCL_* and UCX_* variables of the step are passed on
      --name NAME            default: from kind and pipeline, with a hash of run and task at its end
  -n, --namespace NS         default: KFJ_NAMESPACE, else the connection's

Each of the following is also a variable, as --priority-class is MUSTER_STEP_PRIORITY_CLASS. A flag comes before
it, and it comes before the platform's variable, which is named here if there is one.

What each pod has:
      --cpu N, --memory SIZE           4, or a request and a limit: 2~4   KFJ_TASK_RESOURCE_CPU, _MEMORY
      --gpu TEXT             2, 2(V100), 1(nvidia,T4), 0.5(T4), 8G,0.5, -1: all of the node's, without
                             reserving them                               KFJ_TASK_RESOURCE_GPU
      --gpu-resource NAME    nvidia.com/gpu                               GPU_RESOURCE_NAME
      --gpu-driver NAME      that shares a GPU: tencent, vgpu or hami     VGPU_DRIVE_TYPE
      --rdma N, --rdma-resource NAME   with IPC_LOCK      KFJ_TASK_RESOURCE_RDMA, RDMA_RESOURCE_NAME
      --volumes TEXT         claim(pvc):/mnt,4G(memory):/dev/shm          KFJ_TASK_VOLUME_MOUNT
      --timezone ZONE        of the node, beside volumes (default: Asia/Shanghai); none
      --pull-secrets NAMES, --pull-policy POLICY                          HUBSECRET, IMAGE_PULL_POLICY

Where pods run:
      --node-selector TEXT   cpu=true;org=a,b                             KFJ_TASK_NODE_SELECTOR
      --toleration TEXT      KEY[=VALUE][:EFFECT], may be repeated; all in MUSTER_STEP_TOLERATIONS
      --scheduler NAME                                                    SCHEDULER
      --priority-class NAME; --gang: all pods or none; --queue NAME: of the gang's scheduler
      --topology spread|pack|any       over nodes, or close together (default: spread)
      --host-network; --networks NAMES: of Multus

The job:
      --restart-policy Never|OnFailure|ExitCode|Always (default: Never); --backoff-limit N
      --clean-pod-policy Running|All|None (default: Running); --ttl TIME
      --deadline TIME        of the job itself                            KFJ_TASK_TIMEOUT
      --at-end keep|delete|delete-succeeded (default: keep)

The step:
      --timeout TIME         delete the job after this long
      --stuck-after TIME     end if the job can't run for this long: no node, no image, no quota, a
                             program that fails again and again (default: it is only told)
      --silent-after TIME    end if no pod writes a line for this long (default: it is only told)
      --away-after TIME      end if the API server does not answer for this long (default: 10m)
      --replace-timeout TIME for the job of an earlier try to go (default: 5m)
      --stop-timeout TIME    for the pods to go after SIGTERM (default: 25s)
      --push-metrics URL     tell a Prometheus Pushgateway the job's state, its times and its restarts
      --dry-run              print the job, and stop
  -q, --quiet                only the pods' logs and what went wrong
      --context, --kubeconfig          as in 'muster get'

Exit status:
  0    the job succeeded
  1    the job failed
  2    an argument or a variable is wrong, or the server refused the job
  3    the job was deleted by someone else
  4    the API server did not answer, or did not let the step in
  5    the job could not run for --stuck-after, or wrote nothing for --silent-after
  124  --timeout, --replace-timeout, or the job's own deadline
  130  SIGINT: the job was deleted
  141  the reader of the output went away: the job was deleted
  143  SIGTERM: the job was deleted

Examples:
  muster step pytorch --image train:1 --num_worker 4 --gpu 8 --command 'torchrun --nproc_per_node=$GPU_NUM train.py'
  muster step tf --image train:1 --num_worker 2 --num_ps 1 --command 'python train.py' --stuck-after 30m
  muster step pytorch --image train:1 --command 'python train.py' --dry-run
)";

/// They are told by their names alone, as platforms write a parameter that is true.
constexpr std::string_view kSwitches[] = {"gang", "host-network"};

class StepVerb final : public VerbOf<StepOptions> {
  public:
    StepVerb() : VerbOf("step", kStepHelp) {}

    void declare(Flags& flags) override {
        StepWords& words = options_.words;
        flags.let_the_last_count();
        flags.words("KIND", kinds_);
        flags.value("--working_dir,--working-dir,--workdir", words.working_dir);
        flags.value("--command", ignored_);  // see to_flags()
        flags.value("--image,--work_images,--work-images", words.image);
        flags.value("--num_worker,--num-worker,--num_workers,--workers", words.num_worker);
        flags.value("--num_ps,--num-ps", words.num_ps);
        flags.value("--namespace,-n", words.namespace_);
        flags.value("--name", words.name);
        flags.list("--env", words.env);
        flags.list("--toleration", words.tolerations);
        for (const StepOption& option : step_options()) {
            const std::string flag = fmt::format("--{}", option.name);
            if (option.name == kSwitches[0])
                flags.flag(flag, gang_);
            else if (option.name == kSwitches[1])
                flags.flag(flag, host_network_);
            else
                flags.value(flag, words.options[std::string(option.name)]);
        }
        flags.flag("--dry-run", options_.dry_run);
        flags.flag("--quiet,-q", options_.quiet);
        flags.value("--context", options_.server.context);
        flags.value("--kubeconfig", options_.server.kubeconfig);
    }
    /// The command is kept from the parser of flags, to which brackets around a value are a list.
    std::vector<std::string> to_flags(std::vector<std::string> written) override {
        constexpr std::string_view kFlag = "--command";
        std::vector<std::string> others;
        for (std::size_t i = 0; i < written.size(); ++i) {
            if (written[i] == kFlag && i + 1 < written.size())
                options_.words.command = std::move(written[++i]);
            else if (written[i].starts_with("--command="))
                options_.words.command = written[i].substr(kFlag.size() + 1);
            else
                others.push_back(std::move(written[i]));
        }
        return others;
    }
    std::optional<std::string> finish(const Flags&) override {
        if (kinds_.empty())
            return "say what kind of job it is, as in 'muster step pytorch --command ...'";
        if (kinds_.size() > 1)
            return fmt::format(
                "step does not know what to do with \"{}\": the command of the pods is one word "
                "behind --command",
                kinds_[1]);
        options_.words.kind = kinds_.front();
        if (gang_) options_.words.options["gang"] = "true";
        if (host_network_) options_.words.options["host-network"] = "true";
        return std::nullopt;
    }
    int run() override { return run_step(options_, control_plane::current_caller()); }

  private:
    std::vector<std::string> kinds_;
    std::string ignored_;
    bool gang_ = false;
    bool host_network_ = false;
};

}  // namespace

std::unique_ptr<Verb> step_verb() { return std::make_unique<StepVerb>(); }

}  // namespace muster::cli
