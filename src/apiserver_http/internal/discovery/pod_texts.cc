#include "apiserver_http/internal/discovery/description_texts.h"

namespace muster::apiserver_http {

const std::string_view kPodTexts = R"(
ObjectMeta       What every object has: its name, its labels and what the server notes of it.
  name           Unique among the objects of its kind in a namespace.
  generateName   The start of a name that the server makes.
  namespace      The namespace that it lives in.
  selfLink       No longer filled in.
  uid            Distinguishes it from earlier and later objects of the same name. The server makes it.
  resourceVersion Changes with every write. A write that carries an older one is refused.
  generation     Rises with every change of what is wanted.
  creationTimestamp When it was made.
  deletionTimestamp When its deletion was requested, or by when it has to be gone.
  deletionGracePeriodSeconds How long its deletion may take.
  labels         Keys and values to select objects by.
  annotations    Keys and values that tools keep with it.
  ownerReferences The objects without which it is deleted.
  finalizers     What has to agree before it can be deleted.
  managedFields  What set which field last.
OwnerReference   An object without which another one is deleted.
  apiVersion     Group and version of the owner.
  kind           Kind of the owner.
  name           Name of the owner, in the same namespace.
  uid            uid of the owner.
  controller     Whether it is the one that manages the object.
  blockOwnerDeletion Whether the owner has to wait for the object in a foreground deletion.
ManagedFieldsEntry The fields that one program set.
  manager        The program that wrote the fields.
  operation      Apply or Update.
  apiVersion     The version in which the fields are named.
  time           When they were last changed.
  fieldsType     FieldsV1.
  fieldsV1       The fields, as a tree.
  subresource    The subresource through which they were written; empty for the object itself.
PodTemplateSpec  What the pods look like that a controller makes.
  metadata       Labels and annotations of those pods.
  spec           What should run in them.
Pod              Containers that run together on one node and share its network and its volumes.
  apiVersion     v1.
  kind           Pod.
  metadata       Names and describes the pod.
  spec           What should run, and how.
  status         What was seen of it last. The node writes it.
PodSpec          What should run in a pod, and how.
  volumes        Directories and files that its containers can mount.
  initContainers Run one by one before the others; restartPolicy Always keeps one running.
  containers     What runs in the pod; at least one.
  ephemeralContainers Containers that were added to a running pod to look into it.
  restartPolicy  When containers that ended are started again: Always, OnFailure or Never.
  terminationGracePeriodSeconds How long containers may take to end; 30 unless given.
  activeDeadlineSeconds How long the pod may run before it is ended as failed.
  dnsPolicy      Where names are looked up.
  nodeSelector   Labels that a node must have. Here the pod runs all the same, and an event says so.
  serviceAccountName The account with which the pod calls the API.
  serviceAccount Old name of serviceAccountName.
  automountServiceAccountToken Whether a token of that account is mounted.
  nodeName       The node that the pod is bound to. A scheduler sets it.
  hostNetwork    Use the node's network instead of one of the pod's own. Here the pod keeps its own, and an event says so.
  hostPID        See the node's processes. Not here; an event says so.
  hostIPC        Share the node's System V IPC. Not here; an event says so.
  shareProcessNamespace Let containers see each other's processes. Here they always do.
  securityContext Users, groups and the like for all containers.
  imagePullSecrets Secrets with which images are pulled. Here no image is pulled.
  hostname       The host name inside of the pod. Its own name unless it is given.
  subdomain      The service that makes the pod's host name known.
  affinity       Which nodes, and the company of which pods, the pod prefers or needs. Here there is one node.
  schedulerName  What binds the pod to a node; default-scheduler unless given. Here there is no other, and a pod that names one waits.
  tolerations    Taints of nodes that do not keep the pod away.
  hostAliases    More lines for /etc/hosts.
  priorityClassName A PriorityClass that says how important the pod is. No effect here.
  priority       Pods with a higher one are scheduled earlier.
  dnsConfig      Name servers and search domains, besides those of dnsPolicy.
  readinessGates Further conditions that a ready pod must have.
  runtimeClassName A RuntimeClass that says how containers are run. No effect here.
  enableServiceLinks Whether containers find services in their environment.
  preemptionPolicy Whether the pod may drive out others of lower priority.
  overhead       Resources that running the pod costs besides its containers.
  topologySpreadConstraints How pods are spread over zones and nodes. Here there is one node.
  setHostnameAsFQDN Makes the full domain name the host name.
  os             The operating system that the containers are for.
  hostUsers      False gives the pod a user namespace of its own.
  schedulingGates While there is one, the pod is not scheduled.
  resourceClaims Devices that have to be there before the pod starts.
  resources      Resources of the pod as a whole.
LocalObjectReference An object in the same namespace.
  name           The object's name, in the same namespace.
HostAlias        A line for /etc/hosts.
  ip             The address.
  hostnames      The names that stand for it.
PodDNSConfig     How names are looked up, besides what dnsPolicy says.
  nameservers    Addresses of name servers, in the order in which they are asked.
  searches       Domains that short names are tried with.
  options        Options of the resolver.
PodDNSConfigOption An option of the resolver.
  name           The option: "ndots".
  value          Its value.
PodReadinessGate A condition that a ready pod must have.
  conditionType  A condition of the pod's status.
PodOS            An operating system.
  name           linux or windows.
PodSchedulingGate Something that has to happen before the pod is scheduled.
  name           Whoever opens the gate takes its name away.
PodResourceClaim Devices that the pod claims.
  name           What containers call the claim.
  resourceClaimName A ResourceClaim that there is.
  resourceClaimTemplateName A template of which each pod gets a claim.
Toleration       A taint of nodes that does not keep the pod away.
  key            The taint's key; empty with Exists: every taint.
  operator       Equal (default): key and value; Exists: the key alone.
  value          The taint's value.
  effect         NoSchedule, PreferNoSchedule or NoExecute; empty: all.
  tolerationSeconds How long the pod stays on a node with the taint NoExecute; without end if unset.
TopologySpreadConstraint How evenly pods are spread over parts of the cluster.
  maxSkew        By how many pods two parts may differ.
  topologyKey    The label of nodes that tells the parts apart.
  whenUnsatisfiable DoNotSchedule or ScheduleAnyway.
  labelSelector  The pods that are counted.
  minDomains     The fewest parts; fewer count as one without pods.
  nodeAffinityPolicy Whether nodes that the pod can't use count: Honor (default: no) or Ignore.
  nodeTaintsPolicy The same of nodes with taints: Honor or Ignore (default).
  matchLabelKeys Labels of which the pods that are counted must have this pod's values.
Affinity         Which nodes and which neighbours are wanted or unwanted.
  nodeAffinity   By labels of nodes.
  podAffinity    Beside pods.
  podAntiAffinity Away from pods.
NodeAffinity     Which nodes are wanted.
  requiredDuringSchedulingIgnoredDuringExecution What a node must be like.
  preferredDuringSchedulingIgnoredDuringExecution What speaks for a node, and how much.
PodAffinity      Which neighbours are wanted, or, in podAntiAffinity, not.
  requiredDuringSchedulingIgnoredDuringExecution What must be so.
  preferredDuringSchedulingIgnoredDuringExecution What speaks for a node, and how much.
PodAffinityTerm  Some pods, and what it means to be near them.
  labelSelector  The pods that are meant.
  namespaces     Where these are; the pod's own namespace if neither this nor namespaceSelector is set.
  topologyKey    The label of nodes whose equal values mean "together": kubernetes.io/hostname.
  namespaceSelector Namespaces by their labels; {} is all.
  matchLabelKeys Labels of which the others must have this pod's values.
  mismatchLabelKeys Labels of which the others must have other values.
WeightedPodAffinityTerm A preference for neighbours, and its weight.
  weight         1 to 100.
  podAffinityTerm What speaks for a node.
PreferredSchedulingTerm A preference for a node, and its weight.
  weight         1 to 100.
  preference     What speaks for a node.
NodeSelector     Chooses nodes.
  nodeSelectorTerms One of them must be met.
NodeSelectorTerm Requirements of a node; all of them.
  matchExpressions By labels of the node; all must be met.
  matchFields    By fields of the node; all must be met.
NodeSelectorRequirement A requirement of a node.
  key            The label.
  operator       In, NotIn, Exists, DoesNotExist, Gt or Lt.
  values         What it is compared with; none for Exists and DoesNotExist, one number for Gt and Lt.
LabelSelector    Chooses objects by their labels. All requirements must hold.
  matchLabels    Labels that they must have.
  matchExpressions Further requirements.
LabelSelectorRequirement A requirement of an object's labels.
  key            The label.
  operator       In, NotIn, Exists or DoesNotExist.
  values         What it is compared with; none for Exists and DoesNotExist.
PodSecurityContext Users, groups and kernel settings of all containers of a pod.
  seLinuxOptions Labels of SELinux. Not here; an event says so.
  windowsOptions Of containers on Windows.
  runAsUser      The user of the containers' processes. Here: whoever started muster if unset, and without root only that one.
  runAsGroup     Their main group.
  runAsNonRoot   Refuse to run as user 0.
  supplementalGroups Further groups of the processes.
  supplementalGroupsPolicy Whether groups of the image's user count too: Merge (default) or Strict.
  fsGroup        The group that owns the pod's volumes, and one of the processes' groups.
  sysctls        Kernel settings of the pod's own namespaces.
  fsGroupChangePolicy When the group of a volume's files is changed: Always (default) or OnRootMismatch.
  seccompProfile Which system calls are allowed. Not here; an event says so.
  appArmorProfile A profile of AppArmor. Not here; an event says so.
  seLinuxChangePolicy How labels of volumes are changed.
SecurityContext  User, capabilities and the like of a container. They take precedence over the pod's.
  capabilities   Rights of root that are given or taken away.
  privileged     All rights on the node.
  seLinuxOptions Labels of SELinux. Not here; an event says so.
  windowsOptions Of containers on Windows.
  runAsUser      The user of this container's processes; that of the pod if unset.
  runAsGroup     Their main group; that of the pod if unset.
  runAsNonRoot   Refuse to run as user 0; as the pod has it if unset.
  readOnlyRootFilesystem Nothing but volumes can be written.
  allowPrivilegeEscalation False: no program gets more rights than its parent, as by setuid.
  procMount      Which parts of /proc are hidden: Default or Unmasked.
  seccompProfile Which system calls are allowed. Not here; an event says so.
  appArmorProfile A profile of AppArmor. Not here; an event says so.
Capabilities     Rights of root, one by one.
  add            Given: NET_ADMIN; ALL for all.
  drop           Taken away; ALL for all.
SELinuxOptions   A label of SELinux.
  user           The label's user.
  role           The label's role.
  type           The label's type.
  level          The label's level.
WindowsSecurityContextOptions What containers on Windows have besides.
  gmsaCredentialSpecName Name of the credential spec.
  gmsaCredentialSpec The credential spec itself.
  runAsUserName  The user of the processes.
  hostProcess    Run on the host itself.
Sysctl           A kernel setting.
  name           The setting: net.core.somaxconn.
  value          Its value.
SecurityProfile  A profile of seccomp or AppArmor.
  type           RuntimeDefault, Unconfined or Localhost.
  localhostProfile With Localhost: the profile's name on the node.
Container        One program with its image, its environment and its limits.
  name           Its name, which no other container of the pod has.
  image          The image to run. Here none is pulled: the program and its files are this machine's.
  command        The program and its first arguments; not by a shell. Here it is needed, as no image has one. $(NAME) is replaced with a variable of the container.
  args           Arguments after those of command. Here, without a command, they are the command.
  workingDir     Where the program starts. The image's unless it is given.
  ports          Ports that it listens on. Leaving one out does not close it.
  envFrom        Sources whose keys all become variables.
  env            Environment variables.
  resources      What it needs (requests) and the most that it may use (limits).
  resizePolicy   Whether it is started again when a resource is resized.
  restartPolicy  Of an init container: Always makes it run beside the others.
  volumeMounts   Where volumes of the pod appear.
  volumeDevices  Where block devices of the pod appear.
  livenessProbe  Tells whether it has to be started again.
  readinessProbe Tells whether it can do its work now.
  startupProbe   Tells whether it has started. The other probes wait for that.
  lifecycle      What is done after its start and before its end.
  terminationMessagePath The file whose content becomes the message of its end.
  terminationMessagePolicy Where that message comes from: File, or FallbackToLogsOnError.
  imagePullPolicy When the image is pulled: Always, IfNotPresent or Never. Nothing is pulled here.
  securityContext User, capabilities and the like of this container.
  stdin          Keeps its standard input open.
  stdinOnce      Closes it after the first client.
  tty            Gives it a terminal; needs stdin.
EphemeralContainer = Container
  targetContainerName The container whose processes it sees.
ContainerPort    A port that a container listens on.
  name           A name that services can use for it.
  hostPort       A port of the node that leads here.
  containerPort  The number of the port.
  protocol       TCP, UDP or SCTP.
  hostIP         The node's address for hostPort.
EnvFromSource    A source whose keys all become variables.
  prefix         Put before each key.
  configMapRef   The ConfigMap.
  secretRef      The Secret.
EnvSource        A ConfigMap or Secret whose keys become variables.
  name           Its name, in the same namespace.
  optional       True: it need not be there. Otherwise the pod waits for it.
EnvVar           An environment variable.
  name           Its name.
  value          Its value; $(NAME) is replaced by a variable that was given before.
  valueFrom      Where its value comes from instead.
EnvVarSource     Where the value of a variable comes from; exactly one is given.
  fieldRef       A field of the pod.
  resourceFieldRef A request or a limit of a container.
  configMapKeyRef A key of a ConfigMap.
  secretKeyRef   A key of a Secret.
ObjectFieldSelector A field of the pod.
  apiVersion     v1.
  fieldPath      metadata.name, metadata.namespace, metadata.uid, metadata.labels['KEY'], metadata.annotations['KEY'], spec.nodeName, spec.serviceAccountName, status.hostIP, status.podIP, ...
ResourceFieldSelector A request or a limit of a container.
  containerName  The container; in a variable its own if unset.
  resource       limits.cpu, limits.memory, requests.cpu, requests.memory, ...
  divisor        The unit that the value is given in: 1m, 1Mi; 1 if unset.
KeySelector      A key of a ConfigMap or Secret.
  name           The ConfigMap or Secret, in the same namespace.
  key            The entry.
  optional       True: it need not be there. Otherwise the pod waits for it.
ResourceRequirements What a container needs and the most that it may use.
  limits         The most that may be used: cpu, memory, nvidia.com/gpu. Here it is enforced where a cgroup can be written, else an event says how it can be.
  requests       What must be free for the pod to start; limits if unset. Here, too: a job waits until all of it fits.
  claims         Devices of the pod that it uses.
ResourceClaim    A claim of the pod that a container uses.
  name           An entry of the pod's resourceClaims.
  request        One of the claim's requests; all if unset.
ContainerResizePolicy What a change of a resource means for the container.
  resourceName   cpu or memory.
  restartPolicy  NotRequired or RestartContainer.
VolumeMount      Where a volume appears in a container.
  name           The volume, by its name in the pod.
  readOnly       Lets the container only read it.
  recursiveReadOnly Whether mounts inside of it can't be, either: Disabled, IfPossible or Enabled.
  mountPath      Where it appears.
  subPath        The part of the volume that appears, instead of all of it.
  mountPropagation Whether later mounts are seen on the other side: None (default), HostToContainer or Bidirectional.
  subPathExpr    subPath in which $(NAME) is replaced with variables.
VolumeDevice     Where a block device appears in a container.
  name           A claim's volume, as the pod names it.
  devicePath     Where the device appears.
Probe            A question that a container is asked again and again.
  exec           A command; it succeeds with exit status 0.
  httpGet        An HTTP request; it succeeds with a status from 200 to 399.
  tcpSocket      A connection; it succeeds when it is accepted.
  grpc           Ask by gRPC's health protocol. Refused here; use httpGet, tcpSocket or exec.
  initialDelaySeconds How long after the start it is asked first.
  timeoutSeconds How long an answer may take.
  periodSeconds  How long it takes from one to the next.
  successThreshold How many successes in a row make it succeed.
  failureThreshold How many failures in a row make it fail.
  terminationGracePeriodSeconds Instead of the pod's, where the probe ends the container.
ExecAction       A command that is run in a container.
  command        The program and its arguments; not by a shell.
HTTPGetAction    An HTTP request.
  path           The path: /healthz.
  port           Its number, or its name in the container's ports.
  host           The host to ask; the pod if unset.
  scheme         HTTP (default) or HTTPS.
  httpHeaders    Headers of the request.
HTTPHeader       A header of a request.
  name           The header.
  value          Its value.
TCPSocketAction  A connection that is opened.
  port           Its number, or its name in the container's ports.
  host           The host to connect to; the pod if unset.
GRPCAction       A gRPC health check.
  port           Its number.
  service        The service that is asked for.
SleepAction      A while in which nothing is done.
  seconds        For how long.
Lifecycle        What is done after a container's start and before its end.
  postStart      Right after the start.
  preStop        Before the container is told to end.
  stopSignal     The signal that tells it to end.
LifecycleHandler What is done; exactly one is given.
  exec           Run a command in the container.
  httpGet        Ask by HTTP.
  tcpSocket      Old, and never did anything.
  sleep          Wait.
Volume           A directory or a file that containers can mount. Exactly one source is given.
  name           Its name in the pod.
  hostPath       A file or directory of the node; here, of this machine.
  emptyDir       An empty directory that is deleted with the pod.
  configMap      The keys of a ConfigMap as files.
  secret         The keys of a Secret as files.
  downwardAPI    Fields of the pod as files.
  projected      Several of those in one directory.
  persistentVolumeClaim A volume that was claimed; here, a directory of this machine.
  nfs            A directory of an NFS server. Here only what can be named by path: mount it and use hostPath.
  ephemeral      A claim that lives as long as the pod.
  csi            A volume of a CSI driver. Not here.
  image          Files of an image. Not here.
  gcePersistentDisk A disk of GCE. Not here.
  awsElasticBlockStore A disk of AWS. Not here.
  gitRepo        A git repository; retired.
  iscsi          A disk by iSCSI. Not here.
  glusterfs      A volume of GlusterFS. Not here.
  rbd            A block device of Ceph. Not here.
  flexVolume     A volume of a plugin; retired. Not here.
  cinder         A disk of OpenStack. Not here.
  cephfs         A directory of CephFS. Not here.
  flocker        A volume of Flocker; retired. Not here.
  fc             A disk by Fibre Channel. Not here.
  azureFile      A file share of Azure. Not here.
  vsphereVolume  A disk of vSphere. Not here.
  quobyte        A volume of Quobyte. Not here.
  azureDisk      A disk of Azure. Not here.
  photonPersistentDisk A disk of Photon; retired. Not here.
  portworxVolume A volume of Portworx. Not here.
  scaleIO        A volume of ScaleIO. Not here.
  storageos      A volume of StorageOS; retired. Not here.
HostPathVolumeSource A file or directory of the node.
  path           The path on the node.
  type           What must be there: Directory, File, Socket, CharDevice, BlockDevice; DirectoryOrCreate and FileOrCreate make it; "" (default) asks nothing.
EmptyDirVolumeSource An empty directory that is deleted with the pod.
  medium         Memory: in memory, and counted as such; "" (default): on the disk.
  sizeLimit      The most that fits; of one on the disk it is not enforced here.
ConfigMapVolumeSource The keys of a ConfigMap as files.
  name           The ConfigMap, in the same namespace.
  items          The entries that become files; all if unset.
  defaultMode    Permissions of the files; 0644 if unset.
  optional       True: it need not be there. Otherwise the pod waits for it.
SecretVolumeSource The keys of a Secret as files.
  secretName     The Secret, in the same namespace.
  items          The entries that become files; all if unset.
  defaultMode    Permissions of the files; 0644 if unset.
  optional       True: it need not be there. Otherwise the pod waits for it.
KeyToPath        A key that becomes a file.
  key            The entry.
  path           The file's path in the volume.
  mode           Its permissions; defaultMode if unset.
DownwardAPIVolumeSource Fields of the pod as files.
  items          The files.
  defaultMode    Their permissions; 0644 if unset.
DownwardAPIVolumeFile A field of the pod that becomes a file.
  path           The file's path in the volume.
  fieldRef       A field of the pod: metadata.labels, metadata.annotations, ...
  resourceFieldRef A request or limit of a container.
  mode           Its permissions; defaultMode if unset.
ProjectedVolumeSource Several sources in one directory.
  sources        What is put together.
  defaultMode    Permissions of the files; 0644 if unset.
VolumeProjection One of several sources; exactly one is given.
  secret         Entries of a Secret.
  downwardAPI    Fields of the pod.
  configMap      Entries of a ConfigMap.
  serviceAccountToken A token of the pod's account, renewed in time. Of muster up only.
  clusterTrustBundle Certificates that are trusted.
KeysProjection   The keys of a ConfigMap or Secret as files.
  name           The ConfigMap or Secret, in the same namespace.
  items          The entries that become files; all if unset.
  optional       True: it need not be there.
DownwardAPIProjection Fields of the pod as files.
  items          The files.
ServiceAccountTokenProjection A token of the pod's account as a file.
  audience       Whom the token is for; the API server if unset.
  expirationSeconds How long it is good for; 3600 if unset.
  path           The file's path in the volume.
ClusterTrustBundleProjection Trusted certificates as a file.
  name           One bundle by its name.
  signerName     All bundles of a signer.
  labelSelector  Which of these.
  optional       True: it need not be there.
  path           The file's path in the volume.
PersistentVolumeClaimVolumeSource A volume that a claim stands for.
  claimName      The claim, in the same namespace.
  readOnly       True: it can't be written.
ConfigMap        Texts and bytes for pods to read.
  apiVersion     v1.
  kind           ConfigMap.
  metadata       Names and describes it.
  immutable      Forbids changes of the data.
  data           The texts.
  binaryData     The bytes, as base64. No key may be in both.
Secret           Bytes that not everyone should read.
  apiVersion     v1.
  kind           Secret.
  metadata       Names and describes it.
  immutable      Forbids changes of the data.
  data           The bytes, as base64.
  stringData     Texts to write: they become keys of data and are never read back.
  type           What the keys mean.
Service          A name and an address for a set of pods.
  apiVersion     v1.
  kind           Service.
  metadata       Names and describes it.
  spec           Which pods, and under which ports.
  status         What was seen of it last.
ServiceSpec      What a service stands for.
  ports          Its ports.
  selector       Labels of its pods.
  clusterIP      Its address; None makes a service that is only a name.
  clusterIPs     Its addresses, the first of them clusterIP.
  type           ClusterIP, NodePort, LoadBalancer or ExternalName.
  externalIPs    Further addresses of nodes that lead to it.
  sessionAffinity Whether a client always comes to the same pod: None (default) or ClientIP.
  loadBalancerIP Address that is asked of a load balancer; retired.
  loadBalancerSourceRanges Whom a load balancer lets in.
  externalName   The name that an ExternalName service stands for.
  externalTrafficPolicy Whether nodes pass on to pods of others: Cluster (default) or Local.
  healthCheckNodePort A port at which load balancers ask a node for its pods.
  publishNotReadyAddresses Makes pods known before they are ready.
  sessionAffinityConfig How long a client comes to the same pod.
  ipFamilies     IPv4, IPv6.
  ipFamilyPolicy SingleStack, PreferDualStack or RequireDualStack.
  allocateLoadBalancerNodePorts Whether a load balancer's ports have node ports; true if unset.
  loadBalancerClass Which load balancer is meant.
  internalTrafficPolicy Whether pods come to pods of other nodes: Cluster (default) or Local.
  trafficDistribution PreferClose: to pods nearby.
SessionAffinityConfig How a client comes to the same pod again.
  clientIP       By its address.
ClientIPConfig   How long a client is remembered by its address.
  timeoutSeconds For so long; 10800 unless given.
ServicePort      A port of a service.
  name           Its name; needed when there are several.
  protocol       TCP, UDP or SCTP.
  appProtocol    What is spoken there: kubernetes.io/h2c.
  port           Its number.
  targetPort     The port of the pods, by number or name. The same number unless it is given.
  nodePort       The port of each node that leads to it.
)";

}  // namespace muster::apiserver_http
