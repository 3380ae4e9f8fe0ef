#include "ask_master/ask_master.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/internal/flags/verb.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"

namespace muster::cli {

namespace {

struct AskMasterOptions {
    std::vector<std::string> words;
};

/// It has no flags: what it needs is in the variables of its pod.
class AskMasterVerb final : public VerbOf<AskMasterOptions> {
  public:
    AskMasterVerb() : VerbOf("ask-master", ask_master::help_text()) {}

    bool wants_words() const override { return true; }
    std::optional<std::string> take_words(std::vector<std::string> words) override {
        options_.words = std::move(words);
        return std::nullopt;
    }
    int run() override {
        return ask_master::run_ask_master(options_.words,
                                          control_plane::current_caller().environment);
    }
};

}  // namespace

std::unique_ptr<Verb> ask_master_verb() { return std::make_unique<AskMasterVerb>(); }

}  // namespace muster::cli
