#include "cli/internal/command_line/fault_injection_help.h"

namespace muster::cli {

namespace {

constexpr std::string_view kKill =
    R"(Sends a signal to a replica of a job that 'muster run' has on this machine, to see what becomes of the job.

Usage: muster kill JOB [REPLICA] [FLAGS]

REPLICA is worker-1, master-0, launcher, or a pod's name; it may be left out where a job has only one. The signal is for
the first process of its container. When that ends so does all that it started, as when a node dies.

      --signal SIGNAL        its name or number, as in TERM or 15 (default: KILL)
      --rank N               not for the first process but for the worker of this rank below it, as muster-run,
                             torchrun and their like start them
  -n, --namespace NS         of the job, where several have its name

The run is found by its directory below TMPDIR, so it has to be one of this user with the same TMPDIR. On a cluster, use
'kubectl delete pod --grace-period 0 --force', or 'kubectl exec POD -- kill'.

Exit status: 0; 1 when there is no such job, replica or rank, or it has ended; 2 for bad flags.

Examples:
  muster kill digits worker-1                       as if its node had died
  muster kill digits worker-1 --rank 3              one rank of the node
  muster kill digits master-0 --signal TERM
)";

constexpr std::string_view kPause =
    R"(Lets a replica of a job that 'muster run' has on this machine stand still, with all of its processes, and then go
on: a node that hangs, a disk that does not answer.

Usage: muster pause JOB [REPLICA] [FLAGS]

      --for DURATION         how long, as in 10s (default: until Ctrl-C)
  -n, --namespace NS         of the job, where several have its name

REPLICA and which runs are found: as in 'muster kill'. However this command ends, the replica goes on then.

Exit status: 0; 1 when there is no such job or replica, or it has ended; 2 for bad flags; 130 when Ctrl-C was
faster than --for.

Examples:
  muster pause digits worker-1 --for 10s
)";

constexpr std::string_view kPartition =
    R"(Cuts a replica of a job that 'muster run' has on this machine off from the network, and then connects it again.
What is sent to it or by it meanwhile is lost without a word; connections stay open and go on afterwards, as
behind a broken switch.

Usage: muster partition JOB [REPLICA] [FLAGS]

      --for DURATION         how long, as in 10s (default: until Ctrl-C)
  -n, --namespace NS         of the job, where several have its name

REPLICA and which runs are found: as in 'muster kill'. Pods need networks of their own for it: 'muster run' tells when
it starts that they share this machine's. However this command ends, the replica is connected again then.

Exit status: 0; 1 when there is no such job or replica, it has ended, or pods share this machine's network; 2 for bad
flags; 130 when Ctrl-C was faster than --for.

Examples:
  muster partition digits worker-1 --for 10s
)";

}  // namespace

std::string_view fault_injection_help_text(std::string_view verb) {
    if (verb == "kill") return kKill;
    if (verb == "pause") return kPause;
    if (verb == "partition") return kPartition;
    return {};
}

}  // namespace muster::cli
