#include "apiserver_http/internal/discovery/description_texts.h"

namespace muster::apiserver_http {

const std::string_view kStoredTexts = R"(
Deployment       Pods of one template, replaced by and by when it changes. Stored only.
  spec           Which pods, and how many.
  status         What its controller saw last.
DeploymentSpec   Which pods a deployment keeps running, and how many.
  replicas       How many pods; 1 unless given.
  selector       The labels of its pods. It can't be changed.
  template       What its pods look like.
  strategy       How pods of an older template are replaced.
  minReadySeconds How long a pod has to be ready before it counts.
  revisionHistoryLimit How many former templates are kept; 10 unless given.
  progressDeadlineSeconds How long a change may make no progress; 600 unless given.
  paused         Changes of the template are not followed.
DeploymentStrategy How pods of an older template are replaced.
  type           RollingUpdate, or Recreate: all end before the first new one starts.
  rollingUpdate  How many at a time.
RollingUpdateDeployment How many pods are replaced at a time.
  maxUnavailable How many may be missing: a number, or a percentage.
  maxSurge       How many may exist beyond those wanted: a number, or a percentage.
ReplicaSet       A number of pods of one template. Stored only.
  spec           Which pods, and how many.
  status         What its controller saw last.
ReplicaSetSpec   Which pods are kept running, and how many.
  replicas       How many pods; 1 unless given.
  selector       The labels of its pods. It can't be changed.
  template       What its pods look like.
StatefulSet      Pods with lasting names and volumes, one for each number. Stored only.
  spec           Which pods, and how many.
  status         What its controller saw last.
StatefulSetSpec  Which pods with lasting names are kept running, and how many.
  replicas       How many pods; 1 unless given.
  selector       The labels of its pods. It can't be changed.
  template       What its pods look like.
  serviceName    The service that gives the pods their names.
  volumeClaimTemplates Claims that each pod has its own of.
  podManagementPolicy One after the other, or all at once: OrderedReady or Parallel.
DaemonSet        One pod on each node. Stored only.
  spec           Which pods, on which nodes.
  status         What its controller saw last.
DaemonSetSpec    Which pod runs on each node.
  selector       The labels of its pods. It can't be changed.
  template       What its pods look like, and by its node selector where they run.
  updateStrategy How pods of an older template are replaced.
ControllerRevision A former state of a controller's template.
  data           That state.
  revision       Its number among the states of one controller.
Job              Pods that run until enough of them have succeeded. Stored only.
  spec           Which pods, and how often they may fail.
  status         What its controller saw last.
JobSpec          Which pods run until enough of them have succeeded.
  parallelism    How many run at a time; 1 unless given.
  completions    How many have to succeed.
  completionMode NonIndexed, or Indexed: each pod has a number of its own.
  backoffLimit   How often pods may fail; 6 unless given.
  activeDeadlineSeconds How long all of it may take.
  ttlSecondsAfterFinished How long it stays when it has ended.
  suspend        No pods run as long as this is true.
  selector       The labels of its pods. The server sets it.
  manualSelector The selector is the client's own.
  template       What its pods look like; their restartPolicy is OnFailure or Never.
  podFailurePolicy Which failures count, and which end all of it.
  successPolicy  Which successes are enough.
CronJob          Makes jobs at certain times. Stored only.
  spec           When, and which jobs.
  status         What its controller saw last.
CronJobSpec      When jobs are made, and which.
  schedule       When, in the form of cron.
  timeZone       The time zone of the schedule.
  concurrencyPolicy What happens while a former job runs: Allow, Forbid or Replace.
  suspend        No more jobs are made.
  jobTemplate    What the jobs look like.
ReplicationController A number of pods of one template. Stored only; a Deployment is its successor.
  spec           Which pods, and how many.
PodTemplate      A template of pods under a name.
  template       What the pods look like.
HorizontalPodAutoscaler Changes the replicas of something by its load. Stored only.
  spec           What is scaled, by what, and how far.
HorizontalPodAutoscalerSpec What is scaled, by what, and how far.
  scaleTargetRef What is scaled.
  minReplicas    The fewest replicas; 1 unless given.
  maxReplicas    The most replicas.
  metrics        By what; 80 % of the CPU unless given.
  behavior       How fast.
HorizontalPodAutoscalerSpecV1 What is scaled, and how far, by the use of the CPU.
  scaleTargetRef What is scaled.
  minReplicas    The fewest replicas; 1 unless given.
  maxReplicas    The most replicas.
  targetCPUUtilizationPercentage How much of the requested CPU pods should use.
Endpoints        Addresses behind a service. Stored only.
  subsets        Addresses with the ports that all of them have.
EndpointSlice    Some of the addresses behind a service. Stored only.
  addressType    IPv4, IPv6 or FQDN. It can't be changed.
  endpoints      The addresses, and what is known of each.
  ports          The ports that all of them have.
NetworkPolicy    Which traffic pods may have. Stored only: nothing is blocked.
  spec           Which pods, and which traffic.
NetworkPolicySpec Which traffic pods may have.
  podSelector    The labels of the pods; all of the namespace if empty.
  ingress        What may reach them.
  egress         What they may reach.
Ingress          Which service answers for which names and paths. Stored only.
  spec           Names, paths and services.
IngressSpec      Which service answers for which names and paths.
  ingressClassName Which controller serves it.
  defaultBackend The service for all the rest.
  rules          Names and paths, with their services.
  tls            The certificates of the names.
IngressClass     A controller that serves ingresses.
  spec           The controller, and its settings.
PersistentVolumeClaim Asks for a volume. Stored only: no volume is made or bound.
  spec           What volume.
  status         Whether it has one.
PersistentVolumeClaimSpec What volume is asked for.
  accessModes    How it will be mounted.
  resources      How large it has to be.
  storageClassName The class of volumes to take it from.
  volumeName     The volume that it has.
PersistentVolume A volume that outlives the pods that mount it. Stored only.
  spec           Where it is, and what it is like.
  status         Whether a claim has it.
StorageClass     How volumes are made for claims. Stored only.
  provisioner    What makes them.
  parameters     What the provisioner is told.
  reclaimPolicy  What becomes of a volume after its claim; Delete unless given.
  volumeBindingMode Whether a volume waits for the first pod; Immediate unless given.
ResourceQuota    How much a namespace may use. Stored only: nothing is counted or refused.
  spec           How much of what.
ResourceQuotaSpec How much a namespace may use.
  hard           The most of each resource.
  scopes         The only objects that count.
LimitRange       What single containers, pods or claims may use. Stored only.
  spec           The limits.
LimitRangeSpec   What single containers, pods or claims may use.
  limits         The limits of each kind of thing.
PriorityClass    A number under a name, for pods that are to go first. Stored only.
  value          The priority. It can't be changed.
  globalDefault  Whether pods that name no class have it.
  description    What it is for.
  preemptionPolicy Whether its pods may drive out others.
RuntimeClass     What runs the containers of a pod. Stored only.
  handler        The name by which nodes know it. It can't be changed.
)";

}  // namespace muster::apiserver_http
