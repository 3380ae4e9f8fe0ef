#include "cli/internal/verbs/verbs.h"

namespace muster::cli {

std::vector<std::unique_ptr<Verb>> make_verbs() {
    std::vector<std::unique_ptr<Verb>> verbs;
#define MAKE(name) verbs.push_back(name##_verb());
    MUSTER_VERBS(MAKE)
#undef MAKE
    return verbs;
}

}  // namespace muster::cli
