#include <cstdio>

#include "cli/internal/verbs/verbs.h"

namespace muster::cli {

namespace {

constexpr std::string_view kVersionHelp =
    R"(Prints the version.

Usage: muster version
)";

int version() {
    std::puts("muster " MUSTER_VERSION);
    return 0;
}

class VersionVerb final : public Verb {
  public:
    VersionVerb() : Verb("version", kVersionHelp) {}

    int run() override { return version(); }
};

}  // namespace

std::unique_ptr<Verb> version_verb() { return std::make_unique<VersionVerb>(); }

}  // namespace muster::cli
