#include <cstdio>
#include <string>

#include "cli/internal/command_line/command_line.h"
#include "cli/internal/verbs/options.h"
#include "cli/internal/verbs/verbs.h"

namespace muster::cli {

namespace {

/// Also for `muster --help`.
constexpr std::string_view kHelpHelp =
    R"(muster runs distributed training jobs, from scripts and from ordinary Kubeflow manifests: on this machine with
no cluster, or on one.

Usage: muster VERB [FLAGS]

  run SCRIPT        run a script as a job, here or on a cluster, and exit as it does
  run FILE...       the same with the jobs of a manifest
  launch NAME CMD   run a program as a job of a framework
  init SCRIPT       write the manifest of a script's job
  ps                list runs of this machine, and jobs of 'muster up' and of clusters
  attach RUN        show what a run prints, until it has ended
  why RUN|JOB       say what it waits for, or what decided how it ended
  stop RUN|JOB      end a run, or suspend a job of a server
  rerun RUN|JOB     run again what ran before
  diff RUN RUN      say in what two runs differ
  rm RUN|JOB        remove what was kept of a run, or delete a job of a server
  step KIND         run a job as one step of a pipeline, and exit as it does
  validate FILE...  check a manifest without starting anything
  explain FILE      show what a manifest leads to: each pod, and the variables of each rank
  explain FIELD     show what a field means, as in pytorchjob.spec.elasticPolicy
  convert FILE      convert a manifest to another version
  simulate FILE     play a job on simulated nodes, in virtual time, with faults
  up                serve the Kubernetes API of this machine, for kubectl and every other client
  down              stop what 'muster up' started
  status            show whether it is running and where, its jobs and its use of the disk
  backup FILE       copy its state into a file, also while it runs
  restore FILE      bring that back
  kubeconfig        print what clients need to reach it
  envtest DIR       stand in for the etcd and kube-apiserver of envtest, for suites of controller-runtime

  get KIND [NAME]   show objects of this or any other Kubernetes API
  describe KIND     describe an object or a run, and what happened to it
  apply -f FILE     make objects be as a manifest says
  wait KIND/NAME    wait until objects are in a condition, or gone
  logs RUN|JOB      show the logs of all of a job's replicas, in order of time
  exec POD -- CMD   run a command in a container of a job or a pod; -it with a terminal
  cp FROM TO        copy files between this machine and a container
  port-forward      make ports of a pod reachable on this machine
  scale JOB         change the number of its replicas
  events            show what happened, in order of time
  top pods|nodes    show the CPU and memory that they use
  delete KIND NAME  delete objects, and wait until they are gone

  kill JOB REPLICA  send a signal to a replica of a job that runs here, to see how the job copes
  pause             pause it for a while
  partition         cut it off from the network for a while

  migrate check     show which jobs of a cluster would behave differently under this operator
  operator          run the operator of all job kinds on a cluster
  master            run the master of an elastic job in a process of its own
  ask-master        connect a program of a job with parameter servers to that master
  share -- CMD...   run a command several times at once on one GPU or machine, each with its share
  rsh HOST CMD...   run a command on a worker of an MPIJob; mpirun calls it
  manifests         print what installs the operator on a cluster, for kubectl apply
  clean             remove what killed runs left behind
  completion SHELL  print the completion script of bash, zsh or fish
  version           print the version

Examples:
  muster run train.py                               train with a script on this machine
  muster run examples/pytorch-digits.yaml           the same with a manifest
  muster run -d train.py                            without the terminal
  muster run job.yaml --replicas Worker=4           with other numbers of replicas
  muster run job.yaml --dry-run                     show the pods and services that it would make
  muster run --context prod job.yaml                the same file on a cluster
  cat job.yaml | muster run -                       from standard input
  muster validate *.yaml                            check many files at once

'muster VERB --help' explains a verb and all of its flags.
)";

class HelpVerb final : public VerbOf<HelpOptions> {
  public:
    HelpVerb() : VerbOf("help", kHelpHelp) {}

    void declare(Flags& flags) override { flags.value("verb", options_.verb); }
    int run() override {
        std::fputs(std::string(help_text(options_.verb)).c_str(), stdout);
        return 0;
    }
};

}  // namespace

std::unique_ptr<Verb> help_verb() { return std::make_unique<HelpVerb>(); }

}  // namespace muster::cli
