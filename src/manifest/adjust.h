#pragma once

#include <string>
#include <utility>
#include <vector>

#include "jobs/agent_command.h"
#include "kube/objects/entrypoints.h"
#include "manifest/manifest.h"

namespace muster::manifest {

/// The changes that flags make to a manifest before it is checked.
struct Adjustments {
    std::string namespace_;  ///< --namespace
    /// For objects without a namespace, if namespace_ is empty too; empty: "default".
    std::string default_namespace;
    std::vector<std::pair<std::string, std::string>> sets;      ///< --set path=value
    std::vector<std::pair<std::string, std::string>> replicas;  ///< --replicas Worker=4
    std::vector<std::pair<std::string, std::string>> env;       ///< --env K=V
    std::string workdir;                                        ///< --workdir, absolute
    std::vector<std::string> ignored_resources;                 ///< --ignore-resources
    kube::Entrypoints entrypoints;                              ///< --entrypoint, --entrypoints
    std::vector<std::string> entrypoint_images;  ///< of --entrypoint: each is to be used
    jobs::AgentWords agent;                      ///< --elastic, --warm
    std::vector<std::string> arguments;          ///< after "--": for the jobs' programs
};

/// Changes the documents and records which flag set which field. A flag that does not apply to
/// anything in them is a problem. Pure.
///
///   --namespace  for objects without one; another one in the manifest is refused
///   --set        in every job; the value is typed as in YAML; missing maps on the way are made
///   --replicas   in every job with the replica type
///   --env        in every container of jobs and pods, replacing a variable of that name
///   --workdir    replaces the workingDir of every container
///   --entrypoint the command of every container of the image that has none
///   --elastic    puts an agent before the command of each replica of a PyTorchJob: in place of
///                torchrun where that is called, also by a shell, and otherwise before a program
///                that it starts once
///   --warm       its workers leave spares behind
///   -- ARGS      more arguments for the program of each job: of an MPIJob for that of its launcher
std::vector<Problem> adjust(std::vector<Document>& documents, const Adjustments& adjustments);

/// Splits "a=b" at the first '='; false if there is none or the name is empty.
bool split_assignment(const std::string& text, std::pair<std::string, std::string>& out);

}  // namespace muster::manifest
