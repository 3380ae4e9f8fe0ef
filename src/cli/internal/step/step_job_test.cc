#include "cli/internal/step/step_job.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "cli/internal/step/contract.h"
#include "jobs/kind.h"

namespace muster::cli::step_job_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// What cube-studio exports to a task.
std::vector<std::string> task() {
    return {"KFJ_PIPELINE_ID=7",
            "KFJ_PIPELINE_NAME=mnist_demo",
            "KFJ_NAMESPACE=pipeline",
            "KFJ_RUN_ID=0a1b2c3d",
            "KFJ_CREATOR=ann",
            "KFJ_RUNNER=ben",
            "KFJ_TASK_ID=42",
            "KFJ_TASK_NAME=train",
            "KFJ_TASK_PROJECT_NAME=public",
            "KFJ_TASK_NODE_SELECTOR=cpu=true,train=true",
            "KFJ_TASK_VOLUME_MOUNT=kubeflow-user-workspace(pvc):/mnt",
            "KFJ_TASK_IMAGES=default:1",
            "KFJ_TASK_RESOURCE_CPU=2",
            "KFJ_TASK_RESOURCE_MEMORY=4G",
            "KFJ_TASK_RESOURCE_GPU=0",
            "GPU_RESOURCE_NAME=nvidia.com/gpu",
            "HUBSECRET=hub-a,hub-b",
            "IMAGE_PULL_POLICY=Always"};
}

std::vector<std::string> task_with(std::vector<std::string> more) {
    for (const std::string& variable : task()) more.push_back(variable);  // the first one counts
    return more;
}

StepWords words(std::string kind) {
    StepWords made;
    made.kind = std::move(kind);
    made.command = "python3 train.py";
    made.image = "train:1";
    made.num_worker = "3";
    made.working_dir = "/mnt/ann";
    return made;
}

StepRequest request_of(const StepWords& said, const std::vector<std::string>& environment) {
    Contract contract = read_contract(said, environment, 1);
    for (const StepProblem& problem : contract.problems)
        ADD_FAILURE() << problem.where << ": " << problem.what;
    return std::move(contract.request);
}

json::value job_of(const StepWords& said, const std::vector<std::string>& environment) {
    return step_job(request_of(said, environment));
}

TEST(StepJob, OfEachKindIsOneThatTheOperatorTakes) {
    for (const StepKind& kind : step_kinds()) {
        StepWords said = words(std::string(kind.word));
        for (const int workers : {1, 3}) {
            said.num_worker = std::to_string(workers);
            for (const char* servers : {"0", "2"}) {
                said.num_ps = kind.server_type.empty() ? "" : servers;
                const StepRequest request = request_of(said, task());
                const manifest::CheckResult checked = checked_step_job(request, "default");
                std::string problems;
                for (const manifest::Problem& one : checked.problems)
                    if (!one.message.contains("MXNet is retired")) problems += format(one) + "\n";
                EXPECT_EQ(problems, "") << kind.word;
                ASSERT_EQ(checked.objects.size(), 1u) << kind.word;
                const jobs::Job& job = *checked.objects[0].job;
                EXPECT_EQ(checked.objects[0].namespace_, "pipeline");
                if (kind.shape != Shape::kScheduler)  // a job of MXNet has a server at least
                    EXPECT_EQ(job.total_replicas(), request.pods()) << kind.word;
                for (const auto& [type, spec] : job.replicas)
                    for (int i = 0; i < spec.replicas.value_or(1); ++i) {
                        auto pod = jobs::build_pod(job, {type, i});
                        ASSERT_TRUE(pod) << kind.word << ": " << pod.error().message();
                        EXPECT_LE(pod->metadata.name.size(), 63u);
                    }
            }
        }
    }
}

TEST(StepJob, OfPytorchIsThatOfTheTemplate) {
    const json::value job = job_of(words("pytorch"), task());
    const json::value& master = job.at_pointer("/spec/pytorchReplicaSpecs/Master");
    const json::value& worker = job.at_pointer("/spec/pytorchReplicaSpecs/Worker");
    EXPECT_EQ(master.at("replicas"), json::value(1));
    EXPECT_EQ(worker.at("replicas"), json::value(2));
    EXPECT_EQ(master.at("template"), worker.at("template"));
    EXPECT_EQ(master.at("restartPolicy"), json::value("Never"));
    EXPECT_EQ(json::serialize(job.at_pointer("/metadata/labels")),
              R"({"pipeline-id":"7","pipeline-name":"mnist_demo","pipeline-username":"ann",)"
              R"("run-id":"0a1b2c3d","run-username":"ben","task-id":"42","task-name":"train"})");
    EXPECT_EQ(json::serialize(job.at_pointer("/spec/runPolicy")),
              R"({"cleanPodPolicy":"Running","backoffLimit":3})");
    const std::string name(job.at_pointer("/metadata/name").get_string());
    EXPECT_TRUE(name.starts_with("pytorchjob-mnist-demo-")) << name;
    EXPECT_EQ(master.at_pointer("/template"), json::parse(R"({
      "metadata": {"labels": {"component": ")" + name + R"(", "pipeline-id": "7",
                              "pipeline-name": "mnist_demo", "run-id": "0a1b2c3d",
                              "task-id": "42", "task-name": "train", "type": "pytorchjob",
                              "username": "ben"},
                   "annotations": {"project": "public"}},
      "spec": {
        "containers": [{
          "name": "pytorch", "image": "train:1", "imagePullPolicy": "Always",
          "workingDir": "/mnt/ann", "command": ["bash", "-c", "python3 train.py"],
          "env": [{"name": "GPU_NUM", "value": "0"}, {"name": "NCCL_DEBUG", "value": "INFO"},
                  {"name": "NVIDIA_VISIBLE_DEVICES", "value": "none"}],
          "volumeMounts": [
            {"name": "kubeflow-user-workspace", "mountPath": "/mnt/ann", "subPath": "ann"},
            {"name": "tz-config", "mountPath": "/etc/localtime"},
            {"name": "dshm", "mountPath": "/dev/shm"}],
          "resources": {"requests": {"cpu": "2", "memory": "4G"},
                        "limits": {"cpu": "2", "memory": "4G"}}}],
        "volumes": [
          {"name": "kubeflow-user-workspace",
           "persistentVolumeClaim": {"claimName": "kubeflow-user-workspace"}},
          {"name": "tz-config", "hostPath": {"path": "/usr/share/zoneinfo/Asia/Shanghai"}},
          {"name": "dshm", "emptyDir": {"medium": "Memory"}}],
        "imagePullSecrets": [{"name": "hub-a"}, {"name": "hub-b"}],
        "nodeSelector": {"cpu": "true", "train": "true"},
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
          {"weight": 5, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname",
            "labelSelector": {"matchLabels": {"component": ")" +
                                                          name + R"(",
                                              "type": "pytorchjob"}}}}]}}}})"));
}

/// As a kubelet does it with a command, where NAME is a variable of the container.
std::string expanded(std::string_view text) {
    constexpr std::string_view kReference = "$(NAME)";
    std::string made;
    while (!text.empty()) {
        if (text.starts_with("$$")) {
            made += '$';
            text.remove_prefix(2);
        } else if (text.starts_with(kReference)) {
            made += "expanded";
            text.remove_prefix(kReference.size());
        } else {
            made += text.front();
            text.remove_prefix(1);
        }
    }
    return made;
}

TEST(StepJob, ACommandArrivesAsItWasWritten) {
    const std::string command =
        "echo \"it's $HOME\" '`x`' \\\n && [ -f a ] || echo [a, b] $$ $$$ $(NAME) $$(NAME)\t{{x}} "
        "# \xe4\xb8\xad";
    for (const StepKind& kind : step_kinds()) {
        StepWords said = words(std::string(kind.word));
        said.command = command;
        const manifest::CheckResult checked = checked_step_job(request_of(said, task()), "default");
        ASSERT_EQ(checked.objects.size(), 1u);
        const jobs::Job& job = *checked.objects[0].job;
        const std::string type = kind.shape == Shape::kLauncher ? "Launcher" : "Worker";
        const auto pod = jobs::build_pod(job, {type, 0});
        ASSERT_TRUE(pod);
        EXPECT_EQ(expanded(pod->spec.containers[0].command.back()), command) << kind.word;
    }
}

TEST(StepJob, RdmaIsForEachTemplateAndKeepsTheOtherPrivileges) {
    for (const StepKind& kind : step_kinds()) {
        StepWords said = words(std::string(kind.word));
        said.options["gpu"] = "-1(V100)";
        const json::value job =
            job_of(said, task_with({"KFJ_TASK_RESOURCE_RDMA=500", "RDMA_RESOURCE_NAME=rdma/hca"}));
        const json::value& container = job.at_pointer("/spec/" + std::string(kind.replicas_field) +
                                                      "/Worker/template/spec/containers/0");
        EXPECT_EQ(json::serialize(container.at("securityContext")),
                  R"({"privileged":true,"capabilities":{"add":["IPC_LOCK"]}})");
        EXPECT_EQ(container.at_pointer("/resources/limits/rdma~1hca"), json::value("500"));
        EXPECT_EQ(container.at_pointer("/resources/requests/rdma~1hca"), json::value("500"));
    }
}

TEST(StepJob, WithRdmaMpirunMayUseIt) {
    const auto launcher = [](const std::vector<std::string>& environment) {
        return json::serialize(
            job_of(words("horovod"), environment)
                .at_pointer("/spec/mpiReplicaSpecs/Launcher/template/spec/containers/0/command"));
    };
    EXPECT_THAT(launcher(task()), HasSubstr(R"("-mca","btl","^openib","bash","-c")"));
    EXPECT_THAT(launcher(task_with({"KFJ_TASK_RESOURCE_RDMA=1", "RDMA_RESOURCE_NAME=rdma/hca"})),
                testing::Not(HasSubstr("openib")));
    EXPECT_THAT(launcher(task_with({"KFJ_TASK_RESOURCE_GPU=4"})), HasSubstr(R"("-np","12")"));
}

TEST(StepJob, ACommandThatLaunchesItsRanksIsNotLaunchedAgain) {
    StepWords said = words("mpi");
    said.command = "  /usr/bin/mpirun -np 4 ./a";
    EXPECT_EQ(json::serialize(job_of(said, task())
                                  .at_pointer("/spec/mpiReplicaSpecs/Launcher/template/spec/"
                                              "containers/0/command")),
              R"(["bash","-c","  /usr/bin/mpirun -np 4 ./a"])");
}

TEST(StepJob, WhatTheTemplatesHaveNoWordForIsAnOption) {
    StepWords said = words("pytorch");
    said.tolerations = {"gpu=train:NoSchedule", "spot"};
    said.options = {{"gang", "true"},
                    {"queue", "research"},
                    {"priority-class", "high"},
                    {"scheduler", "volcano"},
                    {"topology", "pack"},
                    {"networks", "roce-0"},
                    {"host-network", "true"},
                    {"deadline", "1h"},
                    {"ttl", "3h"},
                    {"clean-pod-policy", "All"},
                    {"backoff-limit", "0"},
                    {"restart-policy", "OnFailure"},
                    {"node-selector", "org=a,b"}};
    said.env = {"NCCL_IB_HCA=mlx5", "X=a=b"};
    const json::value job =
        job_of(said, task_with({"NCCL_DEBUG=WARN", "NCCL_SOCKET_IFNAME=eth0", "OTHER=x"}));
    EXPECT_EQ(json::serialize(job.at_pointer("/spec/runPolicy")),
              R"({"cleanPodPolicy":"All","backoffLimit":0,"activeDeadlineSeconds":3600,)"
              R"("ttlSecondsAfterFinished":10800,"schedulingPolicy":{"minAvailable":3,)"
              R"("queue":"research","priorityClass":"high"}})");
    const json::value& pod = job.at_pointer("/spec/pytorchReplicaSpecs/Worker/template");
    const json::value& spec = pod.at("spec");
    EXPECT_EQ(json::serialize(spec.at("tolerations")),
              R"([{"effect":"NoSchedule","operator":"Equal","value":"train","key":"gpu"},)"
              R"({"operator":"Exists","key":"spot"}])");
    EXPECT_EQ(spec.at("schedulerName"), json::value("volcano"));
    EXPECT_EQ(spec.at("priorityClassName"), json::value("high"));
    EXPECT_EQ(spec.at("hostNetwork"), json::value(true));
    EXPECT_TRUE(spec.at("affinity").get_object().contains("podAffinity"));
    EXPECT_THAT(json::serialize(spec.at_pointer("/affinity/nodeAffinity")),
                HasSubstr(R"({"key":"org","operator":"In","values":["a","b"]})"));
    EXPECT_EQ(pod.at_pointer("/metadata/annotations/k8s.v1.cni.cncf.io~1networks"),
              json::value("roce-0"));
    EXPECT_EQ(
        json::serialize(spec.at_pointer("/containers/0/env")),
        R"([{"name":"GPU_NUM","value":"0"},{"name":"NCCL_DEBUG","value":"WARN"},)"
        R"({"name":"NCCL_IB_HCA","value":"mlx5"},{"name":"NCCL_SOCKET_IFNAME","value":"eth0"},)"
        R"({"name":"NVIDIA_VISIBLE_DEVICES","value":"none"},{"name":"X","value":"a=b"}])");
}

}  // namespace
}  // namespace muster::cli::step_job_test
