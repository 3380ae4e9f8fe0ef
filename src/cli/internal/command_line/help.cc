#include "cli/internal/command_line/client_help.h"
#include "cli/internal/command_line/command_line.h"
#include "cli/internal/command_line/fault_injection_help.h"
#include "cli/internal/command_line/operator_flags.h"
#include "rsh/arguments.h"

namespace muster::cli {

namespace {

constexpr std::string_view kMain =
    R"(muster runs distributed training jobs: ordinary Kubeflow manifests, on this machine, with no cluster.

Usage: muster VERB [FLAGS]

  run FILE...       run the jobs of a manifest here or on a cluster, and exit as they do
  validate FILE...  check a manifest without starting anything
  explain FILE      show what a manifest leads to: each pod, and the variables of each rank
  explain FIELD     what a field means, as in pytorchjob.spec.elasticPolicy
  convert FILE      write a manifest anew in another version
  simulate FILE     play a job on simulated nodes, in virtual time, with faults
  up                serve the Kubernetes API of this machine, for kubectl and every other client
  down              stop what 'muster up' started
  status            tell whether it runs, and where
  kubeconfig        print what clients need to reach it

  get KIND [NAME]   show objects of this or any other Kubernetes API
  describe KIND     an object in words, with what happened to it
  apply -f FILE     make objects be as a manifest says
  wait KIND/NAME    until they are in a condition, or gone
  logs JOB          show the logs of all of a job's replicas, in the order of time
  events            what happened, in the order of time
  top pods|nodes    what is used of CPU and memory
  delete KIND NAME  delete objects, and wait until they are gone

  kill JOB REPLICA  send a signal to a replica of a job that runs here, to see how the job bears it
  pause             let it stand still for a while
  partition         cut it off from the network for a while

  migrate check     which jobs of a cluster would behave otherwise under this operator
  operator          run the operator of all job kinds on a cluster
  rsh HOST CMD...   run a command at a worker of an MPIJob: what mpirun calls
  manifests         print what installs the operator on a cluster, for kubectl apply
  clean             remove what killed runs left behind
  completion SHELL  what makes bash, zsh or fish finish words
  version           print the version

Examples:
  muster run examples/pytorch-digits.yaml           train on this machine
  muster run job.yaml --replicas Worker=4           with other numbers than the manifest has
  muster run job.yaml --dry-run                     show the pods and services that it would make
  muster run --context prod job.yaml                the same file on a cluster
  cat job.yaml | muster run -                       from standard input
  muster validate *.yaml                            check many files at once

'muster VERB --help' explains a verb and all of its flags.
)";

constexpr std::string_view kRun =
    R"(Runs the jobs of a manifest on this machine, or on a cluster, and exits as they do.

Usage: muster run FILE... [FLAGS]        FILE may be - for standard input

The manifest is checked whole before anything starts. Each pod becomes processes on this machine that
see the same environment variables, names and ports as on a cluster. No image is pulled: a container's
command runs on this machine's files with your PATH and directory, so an activated virtual environment
is used. Pods, services and everything else are gone when muster ends, however it ends.

What to run:
  -f, --filename FILE        another way to name a manifest; may be repeated
      --namespace NS         for objects that name none (default: "default")
      --replicas TYPE=N      as in Worker=4
      --set PATH=VALUE       set a field of every job, as in spec.runPolicy.backoffLimit=3
      --env NAME=VALUE       set a variable in every container
      --strict               unknown fields are errors, not warnings
      --dry-run              print the pods and services that would be made, and stop

How it lives through failures (docs/elastic.md):
      --elastic              put muster-run before each replica's command, in the place of torchrun where
                             that is called: who dies is started again, and the others go on with it
      --warm                 with it: who is started again has imported its modules already

How it meets this machine:
      --workdir DIR          where every container starts (default: workingDir, else here);
                             per-pod: here, but each pod writes into a view of its own
      --mount IMAGE_PATH=DIR a path of the image lives in DIR here
      --ignore-resources R   run without a device that is not here, as in nvidia.com/gpu
      --fit scale|strict     requests beyond this machine's CPUs and memory are scaled down to fit
                             (default), or refused
      --files shared|private what pods write into this machine's files stays (default), or each pod
                             has a view of its own, kept in DIR/files/POD with --logs DIR, else
                             in memory and dropped
      --files-limit SIZE     of memory for such a view of a pod (default: 1Gi)
      --sandbox MODE         auto (default): pods get namespaces of their own where the kernel allows
                             it; namespaces: or fail; none: all share this machine's network

What you see:
      --logs DIR             keep each pod's log in DIR/NAMESPACE_POD.log
  -o, --output json|yaml     print the final objects on standard output, and all else on standard error
  -q, --quiet                only the pods' logs and what went wrong
  -v, --verbose              muster's own log too; twice for more
      --keep                 keep the state directory and say where it is

On a cluster, where an operator runs the jobs; the output is the same:
      --context NAME         the context of the kubeconfig to run on, as in 'muster get'
      --kubeconfig FILE      its file; alone, with its current context
      -n, --namespace        default: the context's; it has to be there. A job of that name must not.
                             A job that has ended stays, for 'muster describe', 'logs' and 'delete'.
                             What is said above of this machine (--mount, --fit, --files, --sandbox,
                             --workdir per-pod, --keep) is refused

When it ends:
      --timeout DURATION     give up after this long, as in 90s or 1h30m

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

constexpr std::string_view kValidate =
    R"(Checks manifests and starts nothing.

Usage: muster validate FILE... [FLAGS]   FILE may be - for standard input

Prints every problem as FILE:LINE:COLUMN: error: FIELD: what is wrong and what to do.

  -f, --filename FILE        another way to name a manifest; may be repeated
      --strict               unknown fields are errors, not warnings
      --anywhere             do not look at this machine: programs, directories, devices
  -q, --quiet                print problems only
      --namespace, --set, --replicas, --env, --workdir, --mount, --ignore-resources, --fit
                             as in 'muster run'

Exit status: 0 when there is no error, 2 otherwise.

Examples:
  muster validate job.yaml --strict
  muster validate --anywhere examples/*.yaml
)";

constexpr std::string_view kConvert =
    R"(Writes the jobs of a manifest anew, in another version of their kind, on standard output.

Usage: muster convert FILE... [FLAGS]        FILE may be - for standard input

      --to KIND/VERSION      the version, as in mpijob/v2beta1; jobs of other kinds stay as they are
      --to VERSION           of every job (default: of each kind the one that is stored)
  -f, --filename FILE        another way to name a manifest; may be repeated
  -o, --output yaml|json     (default: yaml)

What changed is told on standard error, with the place in the file. What the other version has no field for is
kept in the annotation muster.dev/converted-from, so that the way back gives the same fields again; delete it
once there is no way back to go. Comments of the file, and how it was laid out, are not kept.

'muster run', 'validate' and 'apply' read old versions by themselves, with the same words as warnings.

Versions beside those that are served: TFJob and PyTorchJob v1beta1 and v1beta2, MPIJob v1alpha1.

Examples:
  muster convert old.yaml > new.yaml
  muster convert - --to mpijob/v2beta1 < old.yaml

Exit status: 0; 2 when a file or the version is wrong, and nothing is printed.
)";

constexpr std::string_view kExplain =
    R"(Explains what a manifest leads to, or what a field means.

Usage: muster explain FILE... [FLAGS]        FILE may be - for standard input
       muster explain KIND[.FIELD...] [FLAGS]

Of a manifest: what stands beside the pods of each job (ConfigMaps, keys, roles, services), and for each replica
type the pod as it would be created, the variables that all of its ranks share and those that differ, each with
the rule that sets it. Nothing is started, and this machine is not looked at.

      --rank TYPE-INDEX      one rank alone, whole, as in worker-3 or launcher
      --in-pods-image IMAGE  as on a cluster whose operator has this flag: what pods get from that image is shown
  -o, --output json|yaml     every rank in full, for programs
  -f, --filename FILE        another way to name a manifest; may be repeated

Of a field: its type, what it means, its limits, and the fields in it. Lists and maps are gone through without an
index. The kinds are those of jobs and the built-in ones.

      --recursive            all fields below it, without words
      --api-version VERSION  of a kind that has several, as in kubeflow.org/v1

Examples:
  muster explain job.yaml
  muster explain job.yaml --rank worker-3
  muster explain pytorchjob.spec.elasticPolicy
  muster explain mpijob.spec.runPolicy --recursive

Exit status: 0; 2 when the manifest is wrong, or there is no such rank or field.
)";

constexpr std::string_view kSimulate =
    R"(Plays jobs on simulated nodes in virtual time: what the operator would do, in a moment.

Usage: muster simulate FILE... [FLAGS]   FILE may be - for standard input

FILE is an ordinary manifest, or a scenario: a file of jobs, pods' lives and faults, or the name of one
that comes with muster. Nothing runs: pods are bound, start, end and fail as the seed decides. Equal seeds
give equal runs. Prints a timeline, how each job ended, and every broken rule of the operator's own.

      --seed N               which run (default 1)
      --seeds N              N runs from that seed on; prints only what broke
      --nodes N              simulated nodes (default 4, or what the scenario says)
      --faults FILE|NAME     what goes wrong: another scenario, of which jobs and times are left out
      --duration DURATION    how long, in virtual time, as in 90s or 12h (default 3h)
      --trace                every change, who made it, and every fault
  -o, --output text|json     how to print

Scenarios: calm, limits, lossy-api, conflicts, stale-caches, node-death, node-silence, evictions, crashes,
two-operators, election, clock-jumps, meddling, groups, launchers, fault-points, chaos, chaos-two, kinds

Exit status: 0 when every job succeeded, or the scenario's rules held; 1 when a job failed; 2 when the
input is wrong; 3 when a rule was broken; 124 when a job had not ended in time.

Examples:
  muster simulate job.yaml --faults evictions --seed 7
  muster simulate job.yaml --nodes 100 --faults node-death --output json
  muster simulate chaos --seeds 1000
)";

constexpr std::string_view kUp =
    R"(Serves the Kubernetes API of this machine: kubectl, the Python client, the Kubeflow SDKs and other
controllers work against it as against a cluster, and what they create runs here.

Usage: muster up [FLAGS]

It is one trust domain: who holds the admin token may run any program as you. The token, the certificates
and a kubeconfig with the context "muster" are in the state directory, for your eyes only.

      --state DIR            where everything is kept (default: ~/.muster)
      --listen ADDRESS       an IP address, with or without a port (default: 127.0.0.1:6443; port 0: any).
                             Beyond loopback clients must show a certificate of this server's own CA; the
                             kubeconfig has one
  -d, --detach               go into the background once it is ready; the log is DIR/muster.log
      --merge-kubeconfig     add the context to $KUBECONFIG or ~/.kube/config, and make it the current one
      --sandbox MODE         as in 'muster run'
      --audit-log FILE       who asked for what and what became of it: one JSON line a request, an Event of
                             audit.k8s.io/v1. For your eyes only; what Secrets hold is never in it
      --audit-level LEVEL    Metadata (default); Request: with the objects that were sent; RequestResponse: with
                             those that were answered
      --audit-log-maxsize N  MiB of a file before the next one begins (default: 100)
      --audit-log-maxbackup N
                             older files that are kept, as FILE.1 and so on (default: 5)
      --max-requests-inflight N
                             reads that are served at a time; more are answered 429, but for admins
                             (default: 400; 0: any number). Watches, logs and exec do not count
      --max-mutating-requests-inflight N
                             the same for writes (default: 200)
  -v, --verbose              muster's own log too; twice for more

Pods go on when it is killed or gets a SIGTERM, and the next 'muster up' in that directory takes them
over: what ended meanwhile is told, and logs have no gap. 'muster down' and Ctrl-C end them.

Exit status: 0 after 'muster down', Ctrl-C or SIGTERM; 1 when it could not start.

Examples:
  muster up --detach && export KUBECONFIG=~/.muster/kubeconfig
  kubectl create -f examples/pytorch-digits.yaml && kubectl get pytorchjobs,pods -w
)";

constexpr std::string_view kDown =
    R"(Stops what 'muster up' started and ends its pods, also those of one that was killed. Its state
is kept: jobs and pods are there again at the next 'muster up'.

Usage: muster down [FLAGS]

      --state DIR            of which one (default: ~/.muster)
      --keep-pods            its pods run on, and the next 'muster up' takes them over
      --kill                 at once, by SIGKILL

Exit status: 0 when it does not run any more, or did not; 1 when it could not be stopped.
)";

constexpr std::string_view kStatus =
    R"(Tells whether 'muster up' runs, and where.

Usage: muster status [FLAGS]

      --state DIR            of which one (default: ~/.muster)

Exit status: 0 when it runs, 3 when it does not, 1 when it runs but keeps nothing that it is given, with the reason (say
a full disk).
)";

constexpr std::string_view kKubeconfig =
    R"(Prints the kubeconfig that 'muster up' wrote.

Usage: muster kubeconfig [FLAGS]

      --state DIR            of which one (default: ~/.muster)

Examples:
  KUBECONFIG=<(muster kubeconfig) kubectl get nodes
)";

constexpr std::string_view kClean =
    R"(Removes what killed runs left behind: state directories below TMPDIR, and cgroups.

Usage: muster clean

A run cleans up after itself, and so does its keeper when muster is killed. Only when both were killed, or the
machine's power failed, is there something to remove. Runs that are under way are not touched, nor are a
'muster up' and its pods, which may go on without it.

Exit status: 0, or 1 when something could not be removed.
)";

constexpr std::string_view kManifests =
    R"(Prints what installs the operator on a cluster: definitions of the jobs, roles, the operator itself, and
policies by which the cluster refuses wrong jobs when they are created. Nothing is sent.

Usage: muster manifests [FLAGS] | kubectl apply -f -

  -n, --namespace NS         run the jobs of this namespace alone, with roles there (default: of all)
      --install-namespace NS where the operator is (default: kubeflow)
      --image IMAGE          of the operator (default: muster/operator:VERSION)
      --replicas N           one leads, the others wait to take over (default: 2)
      --crds-only            the definitions of the jobs alone, which are the same for every installation
      --without-admission-policy
                             for clusters older than 1.30; the operator checks all jobs in any case
      --layout helm|kustomize
                             write a chart, or a base and an overlay for one namespace, instead
      --output-dir DIR       where the files of a layout go; those that are there are overwritten

What each permission is for: docs/cluster.md.

Examples:
  muster manifests --image registry.example/muster:1 | kubectl apply -f -
  muster manifests --namespace team-a --install-namespace team-a | kubectl apply -f -
  muster manifests --crds-only | kubectl apply -f -

Exit status: 0; 1 when a file could not be written; 2 when a flag is wrong.
)";

constexpr std::string_view kVersion =
    R"(Prints the version.

Usage: muster version
)";

}  // namespace

std::string_view help_text(std::string_view verb) {
    if (verb == "run") return kRun;
    if (verb == "validate") return kValidate;
    if (verb == "convert") return kConvert;
    if (verb == "explain") return kExplain;
    if (verb == "simulate") return kSimulate;
    if (verb == "up") return kUp;
    if (verb == "operator") return operator_help();
    if (verb == "down") return kDown;
    if (verb == "status") return kStatus;
    if (verb == "kubeconfig") return kKubeconfig;
    if (verb == "manifests") return kManifests;
    if (verb == "clean") return kClean;
    if (verb == "rsh") return rsh::help_text();
    if (verb == "version") return kVersion;
    if (const std::string_view text = client_help_text(verb); !text.empty()) return text;
    if (const std::string_view text = fault_injection_help_text(verb); !text.empty()) return text;
    return kMain;
}

}  // namespace muster::cli
