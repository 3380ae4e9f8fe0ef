#pragma once

#include <string>
#include <utility>
#include <vector>

#include "manifest/manifest.h"

namespace muster::manifest {

/// The words that start an agent, as "muster muster-run"; none: there shall be no agents.
struct AgentWords {
    std::vector<std::string> words = {};
    bool warm = false;  ///< its workers leave warm spares behind, where they are Python's
};

/// What flags change in a manifest before it is checked.
struct Adjustments {
    std::string namespace_;  ///< --namespace
    /// Of objects that name none, where namespace_ is empty too; empty: "default".
    std::string default_namespace;
    std::vector<std::pair<std::string, std::string>> sets;      ///< --set path=value
    std::vector<std::pair<std::string, std::string>> replicas;  ///< --replicas Worker=4
    std::vector<std::pair<std::string, std::string>> env;       ///< --env K=V
    std::string workdir;                                        ///< --workdir, absolute
    std::vector<std::string> ignored_resources;                 ///< --ignore-resources
    AgentWords agent;                                           ///< --elastic, --warm
};

/// Changes the documents and notes which flag set which field. A flag that fits nothing in them is
/// a problem. Pure.
///
///   --namespace  goes to objects that name none; another one in the manifest is refused
///   --set        into every job; the value is typed as in YAML; missing maps on the way are made
///   --replicas   into every job that has the replica type
///   --env        into every container of jobs and pods, replacing a variable of that name
///   --workdir    replaces the workingDir of every container
///   --elastic    puts an agent before the command of each replica of a PyTorchJob: in the place of
///                torchrun where that is called, and otherwise before a program that it starts once
///   --warm       its workers leave spares behind
std::vector<Problem> adjust(std::vector<Document>& documents, const Adjustments& adjustments);

/// Splits "a=b" at the first '='; false without one or with an empty name.
bool split_assignment(const std::string& text, std::pair<std::string, std::string>& out);

}  // namespace muster::manifest
