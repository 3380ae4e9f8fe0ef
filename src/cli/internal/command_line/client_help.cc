#include "cli/internal/command_line/client_help.h"

namespace muster::cli {

namespace {

constexpr std::string_view kGet =
    R"(Shows objects: of 'muster up', or of any Kubernetes API that a kubeconfig names.

Usage: muster get KIND[,KIND...] [NAME...] [FLAGS]
       muster get KIND/NAME...  [FLAGS]

KIND is what the server calls it: plural, singular or short name ("pods", "pod", "po"), with the group behind a
dot where two have the same ("jobs.batch"), or a category such as "all".

Which:
  -A, --all-namespaces       of every namespace
  -l, --selector SELECTOR    by labels, as in app=digits,stage!=test
      --field-selector S     by fields, as in status.phase=Running
      --ignore-not-found     what does not exist is no error

How:
  -o, --output FORMAT        wide: with more columns; json, yaml; name: KIND/NAME; jsonpath=TEMPLATE, as in
                             jsonpath='{range .items[*]}{.metadata.name}{"\n"}{end}'
  -w, --watch                go on with every change, until Ctrl-C
      --show-labels          a last column with the labels
      --no-headers           rows only
      --show-managed-fields  json and yaml have metadata.managedFields, too

Which server:
  -n, --namespace NS         default: the context's, else "default"
      --context NAME         of the kubeconfig; default: its current one
      --kubeconfig FILE      default: the list in $KUBECONFIG, else ~/.kube/config, else what 'muster up' wrote
                             to ~/.muster/kubeconfig, else, in a pod, its service account

Exit status: 0; 1 when something named does not exist, or the server can't be reached; 2 for bad flags.

Examples:
  muster get pods
  muster get pytorchjobs,pods -A -o wide
  muster get pod digits-worker-0 -o jsonpath={.status.phase}
  muster get pods -l training.kubeflow.org/job-name=digits -w
)";

constexpr std::string_view kMigrate =
    R"(Reads the jobs of a cluster and says which of them would behave otherwise if this operator took the place of
Kubeflow's training-operator or mpi-operator. Nothing is changed.

Usage: muster migrate check [FLAGS]

"at once" is what happens as soon as the operators change, such as a deadline that has long passed; "later" is
what happens if something else happens first. docs/migrate.md says how to change them with jobs running.

  -A, --all-namespaces       of every namespace
  -n, --namespace NS         default: the context's, else "default"
      --context NAME         of the kubeconfig; default: its current one
      --kubeconfig FILE      as in 'muster get'

Exit status: 0; 3 when a job would notice the change at once; 1 when the server can't be reached; 2 for bad flags.
)";

constexpr std::string_view kDelete =
    R"(Deletes objects, and waits until they are gone.

Usage: muster delete KIND[,KIND...] NAME...        [FLAGS]
       muster delete KIND/NAME...                  [FLAGS]
       muster delete KIND[,KIND...] -l S | --all   [FLAGS]
       muster delete -f FILE                       [FLAGS]

Which:
  -f, --filename FILE        the objects of a manifest; may be repeated
  -l, --selector SELECTOR    by labels; --field-selector by fields
      --all                  all of that kind in the namespace
  -A, --all-namespaces       with a selector or --all: of every namespace
      --ignore-not-found     what does not exist is no error

How:
      --no-wait              do not wait for the end (also: --wait=false)
      --timeout DURATION     wait no longer than this, as in 90s; default: as long as it takes
      --cascade HOW          what an object owns goes after it (background, the default), before it
                             (foreground), or stays (orphan)
      --grace-period SECONDS how long processes may take to end; default: as the pod says
      --force                no grace at all: processes are killed
  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'

Exit status: 0 when all is gone; 1 when something could not be deleted, or is there after --timeout.

Examples:
  muster delete pytorchjob digits
  muster delete -f job.yaml --ignore-not-found
  muster delete pods -l app=digits --grace-period 5
)";

constexpr std::string_view kApply =
    R"(Makes objects be as a manifest says, field by field (server-side apply).

Usage: muster apply -f FILE... [FLAGS]             FILE may be - for standard input

The manifest is checked as by 'muster validate --anywhere', with file and line, before anything is sent. The fields
that it sets belong to the manager "muster" then; fields that others set stay as they are, and fields that an
earlier apply set and that the manifest does not have any more are taken away.

  -f, --filename FILE        may be repeated
      --force-conflicts      take over fields that another manager owns
      --dry-run              the server checks and answers, and keeps nothing
      --strict               unknown fields are errors, not warnings
  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'; the namespace is for objects that name none

Exit status: 0; 1 when the server refused something; 2 when the manifest is wrong, and nothing was sent.

Examples:
  muster apply -f job.yaml
  muster apply -f job.yaml --dry-run --strict
)";

constexpr std::string_view kWait =
    R"(Waits until objects are in a condition, or gone.

Usage: muster wait KIND/NAME... --for WHAT [FLAGS]
       muster wait KIND -l SELECTOR --for WHAT [FLAGS]

      --for WHAT             condition=TYPE, condition=TYPE=STATUS; delete; jsonpath=PATH=VALUE, or
                             jsonpath=PATH for any value
      --timeout DURATION     give up after this long (default: 30s); 0: look once
  -l, --selector; --field-selector; -A, --all-namespaces
                             as in 'muster get'
  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'

A job that has failed will not succeed any more: waiting for it ends then and there.

Exit status: 0 when all are as wanted; else 1, and it says how they are instead.

Examples:
  muster wait pytorchjob/digits --for condition=Succeeded --timeout 1h
  muster wait pod/digits-worker-0 --for jsonpath={.status.phase}=Running
  muster wait pods -l app=digits --for delete
)";

constexpr std::string_view kLogs =
    R"(Shows the logs of a job: those of all its replicas as one, in the order of time.

Usage: muster logs JOB | KIND/JOB | pod/NAME [FLAGS]

Each line begins with the pod that it is from. Of a single container the lines are shown as they are.

Which:
      --rank N               of one process of the job: 0 is the master, or what RANK says in its environment
      --replica TYPE         of one type of replicas, as in Worker
  -c, --container NAME       of one container; default: all but init containers
  -p, --previous             of what ran before the last restart

How:
  -f, --follow               go on with what comes, also of pods and restarts to come, until the job has ended
      --tail N               begin with the last N lines of each log
      --since DURATION       begin with what is no older, as in 10m
      --timestamps           each line has its time
  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'

Exit status: 0; 1 when there is no such log.

Examples:
  muster logs digits -f
  muster logs pytorchjob/digits --replica Worker --tail 20
  muster logs digits --rank 0 --previous
)";

constexpr std::string_view kDescribe =
    R"(Shows objects in words, with what happened to them.

Usage: muster describe KIND[,KIND...] [NAME...] [FLAGS]
       muster describe KIND/NAME...  [FLAGS]

Of a job: its replicas, restarts, pods and conditions, and which container was the first to fail. Of a pod: its
containers, how they are and how they were before. Of a node: its resources. Of anything else: its fields.

  -l, --selector; --field-selector; -A, --all-namespaces; -n, --namespace, --context, --kubeconfig
                             as in 'muster get'

Exit status: 0; 1 when something named does not exist.

Examples:
  muster describe pytorchjob/digits
  muster describe pods -l training.kubeflow.org/job-name=digits
)";

constexpr std::string_view kEvents =
    R"(Shows what happened, the oldest first.

Usage: muster events [FLAGS]

      --for KIND/NAME        about one object alone
  -w, --watch                go on with what happens, until Ctrl-C
  -A, --all-namespaces       in every namespace
  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'

Examples:
  muster events --for pytorchjob/digits
  muster events -A -w
)";

constexpr std::string_view kTop =
    R"(Shows what pods or nodes use of CPU and memory, the thirstiest first.

Usage: muster top pods|nodes [NAME...] [FLAGS]

The figures are those of metrics.k8s.io, where the server has it.

  -l, --selector; -A, --all-namespaces; -n, --namespace, --context, --kubeconfig
                             as in 'muster get'

Exit status: 0; 1 when the server does not serve metrics.

Examples:
  muster top pods
  muster top nodes
)";

constexpr std::string_view kCompletion =
    R"(Prints what makes a shell finish verbs, flags, kinds, names, namespaces and contexts.

Usage: muster completion bash|zsh|fish

Examples:
  source <(muster completion bash)                  in ~/.bashrc
  source <(muster completion zsh)                   in ~/.zshrc, behind compinit
  muster completion fish | source                   in ~/.config/fish/config.fish
)";

}  // namespace

std::string_view client_help_text(std::string_view verb) {
    if (verb == "get") return kGet;
    if (verb == "migrate") return kMigrate;
    if (verb == "delete") return kDelete;
    if (verb == "apply") return kApply;
    if (verb == "wait") return kWait;
    if (verb == "logs") return kLogs;
    if (verb == "describe") return kDescribe;
    if (verb == "events") return kEvents;
    if (verb == "top") return kTop;
    if (verb == "completion") return kCompletion;
    return {};
}

}  // namespace muster::cli
