#include "cli/internal/flags/verb.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"
#include "rsh/arguments.h"
#include "rsh/run.h"

namespace muster::cli {

namespace {

/// Its arguments are parsed as ssh does: see rsh::parse_arguments().
class RshVerb final : public VerbOf<rsh::Arguments> {
  public:
    RshVerb() : VerbOf("rsh", rsh::help_text()) {}

    void declare(Flags& flags) override {
        flags.flag("--serve", options_.serve);
        flags.value("--listen", options_.listen);
        flags.value("--token-file", options_.token_file);
        flags.value("--port", options_.port);
        flags.value("--patience", patience_);
    }
    bool wants_words() const override { return true; }
    std::optional<std::string> take_words(std::vector<std::string> words) override {
        return rsh::parse_arguments(words, options_);
    }
    int run() override {
        return rsh::run(options_, control_plane::current_caller().environment,
                        rsh::resolve_by_system);
    }

  private:
    std::string patience_;
};

}  // namespace

std::unique_ptr<Verb> rsh_verb() { return std::make_unique<RshVerb>(); }

}  // namespace muster::cli
