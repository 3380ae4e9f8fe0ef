#include "cli/internal/logs/attempts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli::attempts_test {
namespace {

/// "0:a/0 1:b/0", with "-" where an attempt has no log.
std::string all(const std::vector<PodStarts>& pods) {
    std::string text;
    for (int number = 0;; ++number) {
        const ChosenAttempt chosen = choose_attempt(pods, number);
        if (!chosen.has_begun()) return text;
        text += text.empty() ? "" : " ";
        text += std::to_string(number) + ":";
        text += chosen.attempt
                    ? chosen.attempt->pod_uid + "/" + std::to_string(chosen.attempt->instance)
                    : "-";
    }
}

TEST(ChooseAttempt, CountsOnFromPodToPod) {
    EXPECT_EQ(all({}), "");
    EXPECT_EQ(all({{"a", {0}, 1}}), "0:a/0");
    EXPECT_EQ(all({{"a", {0}, 1}, {"b", {0, 1}, 2}, {"c", {0}, 1}}), "0:a/0 1:b/0 2:b/1 3:c/0");
    EXPECT_EQ(all({{"a", {0}, 1}, {"b", {}, 0}}), "0:a/0") << "the second pod has not started";
}

TEST(ChooseAttempt, ALogThatIsGoneMovesNoNumber) {
    EXPECT_EQ(all({{"a", {2, 3}, 4}, {"b", {0}, 1}}), "0:- 1:- 2:a/2 3:a/3 4:b/0");
    const ChosenAttempt gone = choose_attempt({{"a", {2, 3}, 4}}, 1);
    EXPECT_TRUE(gone.has_begun());
    EXPECT_FALSE(gone.attempt);
}

TEST(ChooseAttempt, OnesThatNeverWereAreTold) {
    const ChosenAttempt beyond = choose_attempt({{"a", {0}, 1}, {"b", {0}, 1}}, 2);
    EXPECT_FALSE(beyond.has_begun());
    EXPECT_FALSE(beyond.attempt);
    EXPECT_EQ(beyond.total, 2);
}

struct PreviousCase {
    const char* what;
    std::vector<PodStarts> pods;
    std::optional<Attempt> previous;
};

TEST(ChooseAttempt, ThePreviousOneIsBeforeThePresentOne) {
    const PreviousCase cases[] = {
        {"nothing was restarted", {{"a", {0}, 1}}, {}},
        {"nothing has started", {{"a", {}, 0}}, {}},
        {"in the same pod", {{"a", {0, 1}, 2}}, Attempt{0, "a", 0}},
        {"in the pod before", {{"a", {0, 1}, 2}, {"b", {0}, 1}}, Attempt{1, "a", 1}},
        {"the new pod waits", {{"a", {0, 1}, 2}, {"b", {}, 0}}, Attempt{1, "a", 1}},
        {"its log is gone", {{"a", {}, 1}, {"b", {0}, 1}}, {}},
    };
    for (const PreviousCase& c : cases)
        EXPECT_EQ(choose_attempt(c.pods, std::nullopt).attempt, c.previous) << c.what;
    EXPECT_FALSE(choose_attempt(cases[0].pods, std::nullopt).has_begun());
    EXPECT_FALSE(choose_attempt(cases[1].pods, std::nullopt).has_begun());
    EXPECT_TRUE(choose_attempt(cases[5].pods, std::nullopt).has_begun());
}

}  // namespace
}  // namespace muster::cli::attempts_test
