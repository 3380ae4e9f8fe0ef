#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli/internal/command_line/command_line.h"
#include "cli/internal/step/step_exit.h"
#include "cli/internal/step/step_session.h"

namespace muster::cli::step_help_test {
namespace {

using testing::HasSubstr;

StepOptions step_of(std::vector<std::string> arguments) {
    Command command = parse_command_line(arguments);
    if (auto* print = std::get_if<Print>(&command)) ADD_FAILURE() << print->err;
    const StepOptions* options = options_of<StepOptions>(command);
    return options == nullptr ? StepOptions() : *options;
}
std::string step_error(std::vector<std::string> arguments) {
    Command command = parse_command_line(arguments);
    auto* print = std::get_if<Print>(&command);
    return print == nullptr ? "accepted" : print->err;
}

TEST(StepVerb, TakesTheArgumentsOfTheTemplates) {
    const StepOptions options =
        step_of({"step", "horovod", "--work_images", "i:1", "--working_dir", "/mnt/a", "--command",
                 "[ -f a ] && b,[c]", "--num_worker", "3", "--num_ps", "1", "--env", "A=1", "--env",
                 "B=2", "--gang", "--cpu", "4"});
    EXPECT_EQ(options.words.kind, "horovod");
    EXPECT_EQ(options.words.image, "i:1");
    EXPECT_EQ(options.words.working_dir, "/mnt/a");
    EXPECT_EQ(options.words.command, "[ -f a ] && b,[c]");
    EXPECT_EQ(options.words.num_worker, "3");
    EXPECT_EQ(options.words.num_ps, "1");
    EXPECT_THAT(options.words.env, testing::ElementsAre("A=1", "B=2"));
    EXPECT_EQ(options.words.options.at("gang"), "true");
    EXPECT_EQ(options.words.options.at("cpu"), "4");
    EXPECT_EQ(step_of({"step", "tf", "--command=[x]", "--image", "i"}).words.command, "[x]");
    EXPECT_EQ(step_of({"step", "tf", "--command", "--version", "--image", "i"}).words.command,
              "--version");
}

TEST(StepVerb, WrongWordsAreNamed) {
    EXPECT_THAT(step_error({"step"}), HasSubstr("say what kind of job it is"));
    EXPECT_THAT(step_error({"step", "tf", "python", "--command", "x"}), HasSubstr("\"python\""));
    EXPECT_THAT(step_error({"step", "tf", "--imag", "x"}), HasSubstr("did you mean --image?"));
}

TEST(StepVerb, ItsHelpHasEachOptionAndEachExitCode) {
    const std::string_view help = help_text("step");
    for (const StepOption& option : step_options()) {
        EXPECT_THAT(help, HasSubstr(fmt::format("--{}", option.name)));
    }
    for (const StepEndRow& row : step_ends())
        EXPECT_THAT(help,
                    HasSubstr(fmt::format("  {:<4} {}\n", static_cast<int>(row.end), row.meaning)));
    for (const StepKind& kind : step_kinds()) EXPECT_THAT(help, HasSubstr(kind.word));
}

}  // namespace
}  // namespace muster::cli::step_help_test
