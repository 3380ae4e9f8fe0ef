#include "master_process/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "master_process/wanted_nodes/wanted_nodes.h"
#include "net/port.h"

namespace muster::master_process {
namespace {

constexpr std::string_view kHelp =
    R"(Runs the master of an elastic job in a process of its own, as the operator does in a pod of each ElasticJob.
Agents (muster-run, dlrover-run) find it by the variable DLROVER_MASTER_ADDR=HOST:PORT. It may die at any moment:
workers continue, and the next master at that address takes over what runs.

Usage: muster master --job NAME --records FILE [FLAGS]
       muster master --job NAME --record-object NAME [FLAGS]

      --job NAME             whose master it is, for people
      --port N               where agents reach it (default: 50001)

What outlives a master (its epoch, failures that count, excluded nodes, the end) is kept
      --records FILE         in a file, for masters that follow each other on one machine; or
      --successor            there was a master before this one: if its record is lost, what its agents run is
                             taken over all the same, and only what was charged is forgotten
      --record-object NAME   in that ConfigMap, which exists already
      --job-object RESOURCE  with it: the job, by its kind as kubectl has it (elasticjobs.v1alpha1.elastic.iml.github.io);
                             so many nodes as its status wants hold before what agents were told at their start
      --node-types TYPE,...  whose replicas are nodes (worker,chief)
      --plan-object NAME     with it: the ScalePlan, which exists already, in which this master asks the operator to leave
                             out bad nodes of the cluster, to move pods, and which pods are spares
      --begin-again          agents and master are started again after a failure: a master that finds one in the
                             record begins the job again, with whole budgets
  -n, --namespace NS         of these objects (default: that of the pod, or of the kubeconfig)
      --kubeconfig FILE      of its API server (default: the pod's service account)

      --token-file FILE      the job's token, which its agents have too (default: $MUSTER_TOKEN)
      --tls-cert FILE, --tls-key FILE, --tls-ca FILE
                             its certificate, the key, and who signs those of agents

How many nodes the job has, what failures it may have and after what time a node counts as lost are flags of its
agents, which tell the master: it makes no world before the first one has.

Exit status: 0 the job has succeeded; 1 it has failed; 2 for wrong flags; 3 it could not serve, or another master
has taken over; 143 after SIGTERM and 130 after Ctrl-C, which do not end the job.
)";

struct TextFlag {
    std::string_view name;
    std::string Arguments::* value;
};
constexpr std::array kTextFlags{
    TextFlag{"--job", &Arguments::job},
    TextFlag{"--namespace", &Arguments::namespace_},
    TextFlag{"-n", &Arguments::namespace_},
    TextFlag{"--records", &Arguments::records_file},
    TextFlag{"--record-object", &Arguments::record_object},
    TextFlag{"--job-object", &Arguments::job_object},
    TextFlag{"--node-types", &Arguments::node_types},
    TextFlag{"--plan-object", &Arguments::plan_object},
    TextFlag{"--kubeconfig", &Arguments::kubeconfig},
    TextFlag{"--token-file", &Arguments::token_file},
    TextFlag{"--tls-cert", &Arguments::tls_cert},
    TextFlag{"--tls-key", &Arguments::tls_key},
    TextFlag{"--tls-ca", &Arguments::tls_ca},
};

struct Switch {
    std::string_view name;
    bool Arguments::* value;
};
constexpr std::array kSwitches{Switch{"--successor", &Arguments::successor},
                               Switch{"--begin-again", &Arguments::begin_again}};

std::optional<std::string> take(const std::string& flag, const std::string& value,
                                Arguments& arguments) {
    if (flag == "--port") {
        const auto port = net::parse_port(value);
        if (!port) return fmt::format("--port must be a number from 1 to 65535, not \"{}\"", value);
        arguments.port = *port;
        return std::nullopt;
    }
    const auto* const found = std::ranges::find(kTextFlags, flag, &TextFlag::name);
    if (value.empty()) return fmt::format("{} needs a value", flag);
    arguments.*found->value = value;
    return std::nullopt;
}

bool is_known(const std::string& flag) {
    return flag == "--port" ||
           std::ranges::find(kTextFlags, flag, &TextFlag::name) != kTextFlags.end();
}

std::optional<std::string> check(const Arguments& arguments) {
    if (arguments.job.empty()) return "name the job: --job NAME";
    if (arguments.records_file.empty() == arguments.record_object.empty())
        return "say where the job's record is kept: either --records FILE or --record-object NAME";
    if (arguments.job_object.empty() != arguments.node_types.empty())
        return "--job-object and --node-types are given together";
    if (!arguments.plan_object.empty() && arguments.job_object.empty())
        return "--plan-object needs --job-object, whose group it is of";
    if (!arguments.job_object.empty()) {
        if (const auto type = resource_of(arguments.job_object); !type)
            return fmt::format("--job-object: {}", type.error().message());
    }
    const int tls = static_cast<int>(!arguments.tls_cert.empty()) +
                    static_cast<int>(!arguments.tls_key.empty()) +
                    static_cast<int>(!arguments.tls_ca.empty());
    if (tls != 0 && tls != 3) return "--tls-cert, --tls-key and --tls-ca are given together";
    if (arguments.record_object.empty()) {
        for (const auto& [flag, value] : {std::pair("--namespace", &arguments.namespace_),
                                          std::pair("--job-object", &arguments.job_object),
                                          std::pair("--kubeconfig", &arguments.kubeconfig)})
            if (!value->empty())
                return fmt::format("{} has no effect with --records: it is about --record-object",
                                   flag);
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> parse_arguments(const std::vector<std::string>& words,
                                           Arguments& arguments) {
    for (std::size_t at = 0; at < words.size(); ++at) {
        const std::string& word = words[at];
        if (!word.starts_with('-')) return fmt::format("unexpected word \"{}\"", word);
        const std::size_t equals = word.starts_with("--") ? word.find('=') : word.npos;
        const std::string flag = word.substr(0, equals);
        const auto* const found = std::ranges::find(kSwitches, flag, &Switch::name);
        if (found != kSwitches.end() && equals == word.npos) {
            arguments.*found->value = true;
            continue;
        }
        if (!is_known(flag)) return fmt::format("unknown flag \"{}\"", flag);
        std::string value;
        if (equals != word.npos)
            value = word.substr(equals + 1);
        else if (at + 1 < words.size())
            value = words[++at];
        if (auto wrong = take(flag, value, arguments)) return wrong;
    }
    return check(arguments);
}

std::string_view help_text() { return kHelp; }

}  // namespace muster::master_process
