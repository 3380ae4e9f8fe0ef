// muster_manifests_bench FILE...: checks, defaults and plans the objects of each manifest, as
// `muster explain` and `muster run` do, old versions converted first. Prints the slowest and the
// median as a line of JSON. Reading the text is not part of it.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <ctime>
#include <vector>

#include "manifest/check.h"
#include "manifest/old_versions.h"
#include "manifest/planned_objects.h"
#include "manifest/read_files.h"

namespace {

using namespace muster;

[[noreturn]] void die(const std::string& message) {
    fmt::print(stderr, "muster_manifests_bench: {}\n", message);
    std::exit(2);
}

/// Processor time: what else runs on the machine does not count.
double now_ms() { return static_cast<double>(std::clock()) * 1e3 / CLOCKS_PER_SEC; }

void work(const std::string& file, std::vector<manifest::Document> documents) {
    std::vector<manifest::Problem> problems;
    manifest::read_old_versions(documents, problems);
    manifest::CheckResult checked = manifest::check_documents(std::move(documents), {});
    std::ranges::move(checked.problems, std::back_inserter(problems));
    for (const manifest::Problem& problem : problems)
        if (problem.severity == manifest::Severity::kError) die(format(problem));
    const auto planned = manifest::planned_objects(checked.objects);
    if (!planned || planned->empty()) die(file + ": nothing is planned");
}

double measure(const std::string& file, const std::vector<manifest::Document>& documents) {
    double best = 1e9;
    for (int round = 0; round < 3; ++round) {
        std::vector<manifest::Document> fresh = documents;
        const double begin = now_ms();
        work(file, std::move(fresh));
        best = std::min(best, now_ms() - begin);
    }
    return best;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) die("usage: muster_manifests_bench FILE...");
    std::vector<std::pair<double, std::string>> times;
    for (int i = 1; i < argc; ++i) {
        const std::string file = argv[i];
        const Result<std::string> text = manifest::read_file(file);
        if (!text) die(text.error().message());
        const manifest::Manifest manifest = manifest::read_manifest(*text, file);
        if (!manifest.problems.empty()) die(format(manifest.problems.front()));
        // Schemas are made when they are asked for, once a process: no manifest pays for them.
        if (i == 1) work(file, manifest.documents);
        times.emplace_back(measure(file, manifest.documents), file);
    }
    std::ranges::sort(times);
    const json::object line{{"slowest", times.back().first},
                            {"of", times.back().second},
                            {"median", times[times.size() / 2].first}};
    fmt::print("{}\n", json::serialize(line));
}
