#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <limits>
#include <string>

#include "apiserver/node_api.h"
#include "base/test_loop.h"

namespace muster::apiserver {

/// What every NodeApi must do. A test program names a world with `TestLoop& loop()`,
/// `NodeApi& node()`, and ways to bring a pod of the namespace "default" with the one container
/// "main" into a state. Texts are whole lines.
///
///     void wait(pod);                    // it can't start, for CreateContainerConfigError
///     void run(pod, text);               // it has written `text` and runs on
///     void finish(pod, text);            // what runs writes `text` and ends
///     void run_twice(pod, first, second) // a run wrote `first` and failed, the next one `second`
///
/// and with commands that the container knows,
///
///     says(out, err, code)  // writes both texts to its outputs and exits with the code
///     copies()              // writes what it reads, to the end of its input
///
///     run_copying(pod)      // brings it up: its own program does as copies(), with an input for
///     once
///
/// and with a port of a pod that runs,
///
///     echoes(pod)  // brings it up; whoever listens there sends back what it reads, to its end
///
/// and instantiates the suites for it.
template <class World>
class NodeApiContract : public ::testing::Test {
  protected:
    using Stream = std::unique_ptr<kube::TextStream>;

    static kube::LogOptions options(bool follow = false) {
        kube::LogOptions made;
        made.container = "main";
        made.follow = follow;
        return made;
    }
    Result<Stream> open(std::string pod, kube::LogOptions with) {
        return world_.loop().await(world_.node().logs("default", std::move(pod), std::move(with)));
    }
    /// All of the text up to its end.
    std::string all(std::string pod, kube::LogOptions with = options()) {
        Result<Stream> stream = open(std::move(pod), std::move(with));
        return stream ? rest(**stream) : "refused: " + stream.error().message();
    }
    std::string rest(kube::TextStream& stream) {
        std::string text;
        for (;;) {
            auto piece = world_.loop().await(stream.read());
            EXPECT_TRUE(piece) << piece.error().message();
            if (!piece || !*piece) return text;
            EXPECT_FALSE((*piece)->empty()) << "an empty piece tells nothing";
            text += **piece;
        }
    }
    /// `bytes` bytes of a text that continues.
    std::string some(kube::TextStream& stream, std::size_t bytes) {
        std::string text;
        while (text.size() < bytes) {
            auto piece = world_.loop().await(stream.read());
            EXPECT_TRUE(piece && *piece) << "it ended after " << text;
            if (!piece || !*piece) break;
            text += **piece;
        }
        return text;
    }
    void expect_refused(std::string pod, kube::LogOptions with, Code code, std::string message) {
        const Result<Stream> refused = open(std::move(pod), std::move(with));
        ASSERT_FALSE(refused) << message;
        EXPECT_EQ(refused.error().code(), code) << message;
        EXPECT_EQ(refused.error().message(), message);
    }

    World world_;
};

TYPED_TEST_SUITE_P(NodeApiContract);

TYPED_TEST_P(NodeApiContract, TheWholeLogOfAContainerThatEnded) {
    this->world_.run("p", "one\ntwo\n");
    this->world_.finish("p", "three\n");
    EXPECT_EQ(this->all("p"), "one\ntwo\nthree\n");
    EXPECT_EQ(this->all("p", this->options(true)), "one\ntwo\nthree\n") << "nothing to follow";
}

TYPED_TEST_P(NodeApiContract, ARunningContainersLogEndsWhereItIsUnlessFollowed) {
    this->world_.run("p", "one\ntwo\n");
    auto followed = this->open("p", this->options(true));
    ASSERT_TRUE(followed);
    EXPECT_EQ(this->some(**followed, 8), "one\ntwo\n");
    EXPECT_EQ(this->all("p"), "one\ntwo\n");
    this->world_.finish("p", "three\n");
    EXPECT_EQ(this->rest(**followed), "three\n") << "and ends with the container";
}

TYPED_TEST_P(NodeApiContract, ACancelledReadLosesNothing) {
    this->world_.run("p", "one\n");
    auto followed = this->open("p", this->options(true));
    ASSERT_TRUE(followed);
    EXPECT_EQ(this->some(**followed, 4), "one\n");
    bool aborted = false;
    asio::cancellation_signal cancel;
    asio::co_spawn(
        this->world_.loop().context, (*followed)->read(),
        asio::bind_cancellation_slot(
            cancel.slot(), [&](std::exception_ptr thrown, Result<std::optional<std::string>>) {
                aborted = thrown != nullptr;
            }));
    this->world_.loop().settle();
    cancel.emit(asio::cancellation_type::terminal);
    this->world_.loop().run_until([&] { return aborted; });
    this->world_.finish("p", "two\n");
    EXPECT_EQ(this->rest(**followed), "two\n");
}

TYPED_TEST_P(NodeApiContract, ATailBeginsAtTheLastLines) {
    this->world_.run("p", "one\ntwo\nthree\n");
    this->world_.finish("p", "four\n");
    for (const auto& [lines, text] : {std::pair<std::int64_t, const char*>{0, ""},
                                      {1, "four\n"},
                                      {2, "three\nfour\n"},
                                      {4, "one\ntwo\nthree\nfour\n"},
                                      {9, "one\ntwo\nthree\nfour\n"}}) {
        kube::LogOptions tail = this->options();
        tail.tail_lines = lines;
        EXPECT_EQ(this->all("p", tail), text) << lines;
    }
}

TYPED_TEST_P(NodeApiContract, ATailThatIsFollowedGoesOn) {
    this->world_.run("p", "one\ntwo\n");
    auto all = this->open("p", this->options(true));
    ASSERT_TRUE(all);
    ASSERT_EQ(this->some(**all, 8), "one\ntwo\n");
    kube::LogOptions tail = this->options(true);
    tail.tail_lines = 0;
    auto nothing_yet = this->open("p", tail);
    tail.tail_lines = 1;
    auto last_line = this->open("p", tail);
    ASSERT_TRUE(nothing_yet && last_line);
    this->world_.finish("p", "three\n");
    EXPECT_EQ(this->rest(**nothing_yet), "three\n");
    EXPECT_EQ(this->rest(**last_line), "two\nthree\n");
}

TYPED_TEST_P(NodeApiContract, ALimitCutsInTheMiddleOfALineAndEndsEvenWhatIsFollowed) {
    this->world_.run("p", "one\ntwo\n");
    kube::LogOptions limited = this->options(true);
    limited.limit_bytes = 5;
    EXPECT_EQ(this->all("p", limited), "one\nt");
    this->world_.finish("p", "three\n");
    limited.limit_bytes = 1000;
    EXPECT_EQ(this->all("p", limited), "one\ntwo\nthree\n");
    limited.limit_bytes = 3;
    limited.tail_lines = 2;
    EXPECT_EQ(this->all("p", limited), "two") << "counted from the tail's beginning";
}

TYPED_TEST_P(NodeApiContract, TimestampsStandBeforeEachLine) {
    this->world_.run("p", "one\n");
    this->world_.finish("p", "two\n");
    kube::LogOptions stamped = this->options();
    stamped.timestamps = true;
    const std::string stamp = R"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{9}Z )";
    EXPECT_THAT(this->all("p", stamped),
                ::testing::MatchesRegex(stamp + "one\n" + stamp + "two\n"));
}

TYPED_TEST_P(NodeApiContract, SinceLeavesOutOnlyWhatIsOlder) {
    this->world_.run("p", "one\n");
    this->world_.finish("p", "two\n");
    kube::LogOptions since = this->options();
    for (const std::int64_t seconds :
         {std::int64_t{3600}, std::numeric_limits<std::int64_t>::max()}) {
        since.since_seconds = seconds;
        EXPECT_EQ(this->all("p", since), "one\ntwo\n") << seconds;
    }
}

TYPED_TEST_P(NodeApiContract, TheRunBeforeHasALogOfItsOwn) {
    this->world_.run_twice("p", "first\n", "second\n");
    kube::LogOptions previous = this->options();
    previous.previous = true;
    EXPECT_EQ(this->all("p", previous), "first\n");
    EXPECT_EQ(this->all("p"), "second\n");
}

TYPED_TEST_P(NodeApiContract, WithoutARunBeforeThePreviousLogIsRefused) {
    this->world_.run("p", "one\n");
    this->world_.finish("p", "two\n");
    kube::LogOptions previous = this->options();
    previous.previous = true;
    this->expect_refused("p", previous, Code::kBadRequest,
                         "previous terminated container \"main\" in pod \"p\" not found");
}

TYPED_TEST_P(NodeApiContract, AContainerThatHasNotStartedIsRefusedWithItsReason) {
    this->world_.wait("p");
    for (const bool follow : {false, true})
        this->expect_refused("p", this->options(follow), Code::kBadRequest,
                             "container \"main\" in pod \"p\" is waiting to start: "
                             "CreateContainerConfigError");
}

TYPED_TEST_P(NodeApiContract, WhatIsNotThereIsRefused) {
    this->world_.wait("p");
    this->expect_refused("q", this->options(), Code::kNotFound, "pods \"q\" not found");
    kube::LogOptions other = this->options();
    other.container = "zz";
    this->expect_refused("p", other, Code::kBadRequest, "container zz is not valid for pod p");
}

REGISTER_TYPED_TEST_SUITE_P(NodeApiContract, TheWholeLogOfAContainerThatEnded,
                            ARunningContainersLogEndsWhereItIsUnlessFollowed,
                            ACancelledReadLosesNothing, ATailBeginsAtTheLastLines,
                            ATailThatIsFollowedGoesOn,
                            ALimitCutsInTheMiddleOfALineAndEndsEvenWhatIsFollowed,
                            TimestampsStandBeforeEachLine, SinceLeavesOutOnlyWhatIsOlder,
                            TheRunBeforeHasALogOfItsOwn, WithoutARunBeforeThePreviousLogIsRefused,
                            AContainerThatHasNotStartedIsRefusedWithItsReason,
                            WhatIsNotThereIsRefused);

/// What is run beside a container's program.
template <class World>
class NodeExecContract : public ::testing::Test {
  protected:
    using Session = std::unique_ptr<kube::CommandSession>;

    static kube::CommandOptions options(std::vector<std::string> command, bool input = false) {
        kube::CommandOptions made;
        made.container = "main";
        made.command = std::move(command);
        made.input = input;
        made.output = true;
        made.error = true;
        return made;
    }
    Result<Session> exec(std::string pod, kube::CommandOptions with) {
        return world_.loop().await(world_.node().exec("default", std::move(pod), std::move(with)));
    }
    struct Ran {
        std::string output;
        std::string error;
        Result<int> end;
    };
    /// All that comes until the end.
    Ran rest(kube::CommandSession& session) {
        Ran ran{.output = {}, .error = {}, .end = 0};
        for (;;) {
            auto piece = world_.loop().await(session.read());
            EXPECT_TRUE(piece) << piece.error().message();
            if (!piece || !*piece) break;
            EXPECT_FALSE((*piece)->bytes.empty());
            ((*piece)->error ? ran.error : ran.output) += (*piece)->bytes;
        }
        ran.end = session.end();
        return ran;
    }
    Ran run(kube::CommandOptions with) {
        Result<Session> session = exec("p", std::move(with));
        EXPECT_TRUE(session) << session.error().message();
        return session ? rest(**session) : Ran{.output = {}, .error = {}, .end = session.error()};
    }
    void expect_refused(std::string pod, kube::CommandOptions with, Code code,
                        std::string message) {
        const Result<Session> refused = exec(std::move(pod), std::move(with));
        ASSERT_FALSE(refused) << message;
        EXPECT_EQ(refused.error().code(), code) << message;
        EXPECT_EQ(refused.error().message(), message);
    }

    World world_;
};

TYPED_TEST_SUITE_P(NodeExecContract);

TYPED_TEST_P(NodeExecContract, OutputsStayApartAndTheExitCodeIsTold) {
    this->world_.run("p", "log\n");
    for (const int code : {0, 3}) {
        const auto ran = this->run(this->options(this->world_.says("out\n", "err\n", code)));
        EXPECT_EQ(ran.output, "out\n");
        EXPECT_EQ(ran.error, "err\n");
        EXPECT_EQ(ran.end.value_or(-1), code);
    }
}

TYPED_TEST_P(NodeExecContract, AnOutputThatNobodyWantsGoesNowhere) {
    this->world_.run("p", "log\n");
    auto one = this->options(this->world_.says("out\n", "err\n", 0));
    one.error = false;
    EXPECT_EQ(this->run(one).output, "out\n");
    EXPECT_EQ(this->run(one).error, "");
    one.error = true;
    one.output = false;
    EXPECT_EQ(this->run(one).output, "");
    EXPECT_EQ(this->run(one).error, "err\n");
}

TYPED_TEST_P(NodeExecContract, InputArrivesAndEnds) {
    this->world_.run("p", "log\n");
    auto session = this->exec("p", this->options(this->world_.copies(), true));
    ASSERT_TRUE(session);
    auto& loop = this->world_.loop();
    loop.await((*session)->write("one"));
    auto piece = loop.await((*session)->read());
    ASSERT_TRUE(piece && *piece);
    EXPECT_EQ((*piece)->bytes, "one");
    loop.await((*session)->write("two"));
    loop.await((*session)->close_input());
    loop.await((*session)->close_input());
    const auto ran = this->rest(**session);
    EXPECT_EQ(ran.output, "two");
    EXPECT_EQ(ran.end.value_or(-1), 0);
    EXPECT_EQ(this->run(this->options(this->world_.copies())).output, "") << "there is no input";
}

TYPED_TEST_P(NodeExecContract, WithoutACommandItIsTheProgramItself) {
    this->world_.run_copying("p");
    auto session = this->exec("p", this->options({}, true));
    ASSERT_TRUE(session) << session.error().message();
    auto& loop = this->world_.loop();
    loop.await((*session)->write("one"));
    auto piece = loop.await((*session)->read());
    ASSERT_TRUE(piece && *piece);
    EXPECT_EQ((*piece)->bytes, "one");
    loop.await((*session)->write("two"));
    loop.await((*session)->close_input());
    const auto ran = this->rest(**session);
    EXPECT_EQ(ran.output, "two");
    EXPECT_EQ(ran.end.value_or(-1), 0);
}

TYPED_TEST_P(NodeExecContract, ACancelledReadLosesNothing) {
    this->world_.run("p", "log\n");
    auto session = this->exec("p", this->options(this->world_.copies(), true));
    ASSERT_TRUE(session);
    bool aborted = false;
    asio::cancellation_signal cancel;
    asio::co_spawn(
        this->world_.loop().context, (*session)->read(),
        asio::bind_cancellation_slot(cancel.slot(), [&](std::exception_ptr thrown,
                                                        Result<std::optional<kube::OutputPiece>>) {
            aborted = thrown != nullptr;
        }));
    this->world_.loop().settle();
    cancel.emit(asio::cancellation_type::terminal);
    this->world_.loop().run_until([&] { return aborted; });
    this->world_.loop().await((*session)->write("one"));
    this->world_.loop().await((*session)->close_input());
    EXPECT_EQ(this->rest(**session).output, "one");
}

TYPED_TEST_P(NodeExecContract, WhatCanNotBeStartedSaysSoAtItsEnd) {
    this->world_.run("p", "log\n");
    const auto ran = this->run(this->options({"no-such-program"}));
    ASSERT_FALSE(ran.end);
    EXPECT_EQ(ran.end.error().message(), "no-such-program: No such file or directory");
}

TYPED_TEST_P(NodeExecContract, OnlyAContainerThatRunsHasCommands) {
    this->world_.wait("w");
    this->expect_refused("w", this->options(this->world_.copies()), Code::kBadRequest,
                         "container not found (\"main\")");
    this->expect_refused("q", this->options(this->world_.copies()), Code::kNotFound,
                         "pods \"q\" not found");
    this->world_.run("p", "one\n");
    auto other = this->options(this->world_.copies());
    other.container = "zz";
    this->expect_refused("p", other, Code::kBadRequest, "container not found (\"zz\")");
    this->world_.finish("p", "two\n");
    this->expect_refused("p", this->options(this->world_.copies()), Code::kBadRequest,
                         "container not found (\"main\")");
}

REGISTER_TYPED_TEST_SUITE_P(NodeExecContract, WithoutACommandItIsTheProgramItself,
                            OutputsStayApartAndTheExitCodeIsTold,
                            AnOutputThatNobodyWantsGoesNowhere, InputArrivesAndEnds,
                            ACancelledReadLosesNothing, WhatCanNotBeStartedSaysSoAtItsEnd,
                            OnlyAContainerThatRunsHasCommands);

/// How a pod's ports are reached.
template <class World>
class NodePortContract : public ::testing::Test {
  protected:
    Result<std::unique_ptr<net::ByteStream>> connect(std::string pod, std::uint16_t port) {
        return world_.loop().await(world_.node().connect("default", std::move(pod), port));
    }
    std::string rest(net::ByteStream& stream) {
        std::string text;
        std::string buffer(1000, '\0');
        for (;;) {
            auto size = world_.loop().await(stream.read_some(asio::buffer(buffer)));
            EXPECT_TRUE(size) << size.error().message();
            if (!size || *size == 0) return text;
            text += buffer.substr(0, *size);
        }
    }

    World world_;
};

TYPED_TEST_SUITE_P(NodePortContract);

TYPED_TEST_P(NodePortContract, BytesPassBothWaysToTheirEnds) {
    const std::uint16_t port = this->world_.echoes("p");
    for (const std::string text : {"hello", "again"}) {
        auto stream = this->connect("p", port);
        ASSERT_TRUE(stream) << stream.error().message();
        auto& loop = this->world_.loop();
        ASSERT_TRUE(loop.await((*stream)->write(asio::buffer(text))));
        ASSERT_TRUE(loop.await((*stream)->shut_down_write()));
        EXPECT_EQ(this->rest(**stream), text);
    }
}

TYPED_TEST_P(NodePortContract, WhereNobodyListensIsSaid) {
    const std::uint16_t port = this->world_.echoes("p");
    const auto refused = this->connect("p", static_cast<std::uint16_t>(port + 1));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kUnavailable);
    EXPECT_THAT(refused.error().message(), ::testing::HasSubstr("Connection refused"));
    const auto missing = this->connect("q", port);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code(), Code::kNotFound);
}

REGISTER_TYPED_TEST_SUITE_P(NodePortContract, BytesPassBothWaysToTheirEnds,
                            WhereNobodyListensIsSaid);

}  // namespace muster::apiserver
