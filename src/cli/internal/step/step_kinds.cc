#include "cli/internal/step/step_kinds.h"

#include <algorithm>

namespace muster::cli {

namespace {

constexpr std::string_view kV1 = "kubeflow.org/v1";
constexpr std::string_view kMpi = "kubeflow.org/v2beta1";

constexpr StepKind kStepKinds[] = {
    {"pytorch", "pytorchjob", "pytorchjob", kV1, "PyTorchJob", "pytorchReplicaSpecs", "pytorch",
     Shape::kMaster, "", 3},
    {"tf", "tfjob", "tfjob", kV1, "TFJob", "tfReplicaSpecs", "tensorflow", Shape::kServers, "PS",
     3},
    {"horovod", "horovod", "mpijob", kMpi, "MPIJob", "mpiReplicaSpecs", "mpi", Shape::kLauncher, "",
     2},
    {"mpi", "mpijob", "mpijob", kMpi, "MPIJob", "mpiReplicaSpecs", "mpi", Shape::kLauncher, "", 2},
    {"mxnet", "mxjob", "mxjob", kV1, "MXJob", "mxReplicaSpecs", "mxnet", Shape::kScheduler,
     "Server", 3},
    {"paddle", "paddlejob", "paddlejob", kV1, "PaddleJob", "paddleReplicaSpecs", "paddle",
     Shape::kServers, "Master", 3},
    {"jax", "jaxjob", "jaxjob", kV1, "JAXJob", "jaxReplicaSpecs", "jax", Shape::kWorkersOnly, "",
     2},
    {"xgboost", "xgboostjob", "xgboostjob", kV1, "XGBoostJob", "xgbReplicaSpecs", "xgboost",
     Shape::kMaster, "", 2},
    {"deepspeed", "deepspeed", "pytorchjob", kV1, "PyTorchJob", "pytorchReplicaSpecs", "pytorch",
     Shape::kMaster, "", 2},
};

}  // namespace

std::span<const StepKind> step_kinds() { return kStepKinds; }

const StepKind* step_kind(std::string_view word) {
    const auto* const found = std::ranges::find_if(
        kStepKinds, [&](const StepKind& kind) { return word == kind.word || word == kind.prefix; });
    return found == std::end(kStepKinds) ? nullptr : found;
}

}  // namespace muster::cli
