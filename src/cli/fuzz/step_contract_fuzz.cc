// Any variables and arguments, one a line: they lead to a job, or to problems that name what is wrong.
// "--gpu 2" is an argument and "KFJ_RUN_ID=a" a variable; a vertical tab stands for the end of a line
// in a value.

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/fields.h"
#include "cli/internal/step/contract.h"
#include "cli/internal/step/step_job.h"
#include "kube/values/name_syntax.h"

using namespace muster;
using namespace muster::cli;

namespace {

void put(StepWords& words, std::string_view name, const std::string& value) {
    if (name == "working_dir") words.working_dir = value;
    if (name == "command") words.command = value;
    if (name == "image") words.image = value;
    if (name == "num_worker") words.num_worker = value;
    if (name == "num_ps") words.num_ps = value;
    if (name == "namespace") words.namespace_ = value;
    if (name == "name") words.name = value;
    if (name == "env") words.env.push_back(value);
    if (name == "toleration") words.tolerations.push_back(value);
    for (const StepOption& option : step_options())
        if (option.name == name) words.options[std::string(name)] = value;
}

void check(const Contract& contract) {
    for (const StepProblem& problem : contract.problems)
        CHECK(!problem.where.empty() && !problem.what.empty(),
              "a problem has a place and a reason");
    if (!contract.problems.empty()) return;
    const StepRequest& request = contract.request;
    CHECK(kube::is_dns1035_label(request.name), "the job has a name");
    CHECK(request.workers > 0 && request.servers >= 0, "and pods");
    for (const auto* labels : {&request.job_labels, &request.pod_labels})
        for (const auto& [key, value] : *labels)
            CHECK(kube::label_key_problem(key).empty() && kube::label_value_problem(value).empty(),
                  "its labels are labels");
    const manifest::CheckResult checked = checked_step_job(request, "default");
    CHECK(manifest::has_errors(checked.problems) || checked.objects.size() == 1,
          "a job, or why it is refused");
    for (const manifest::Problem& problem : checked.problems)
        CHECK(!manifest::format(problem).empty(), "a problem says what it is");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    StepWords words;
    words.kind = take_field(text, '\n');
    std::vector<std::string> environment;
    while (!text.empty()) {
        std::string line(take_field(text, '\n'));
        std::ranges::replace(line, '\v', '\n');
        if (line.starts_with("--")) {
            std::string_view rest = std::string_view(line).substr(2);
            const std::string_view name = take_field(rest, ' ');
            put(words, name, std::string(rest));
        } else {
            environment.push_back(std::move(line));
        }
    }
    const Contract contract = read_contract(words, environment, size);
    check(contract);
    const Contract again = read_contract(words, environment, size);
    CHECK(again.problems == contract.problems, "it is read alike each time");
    if (contract.problems.empty())
        CHECK(
            json::serialize(step_job(again.request)) == json::serialize(step_job(contract.request)),
            "and leads to the same job");
    return 0;
}
