#include "kube/client_config/server_connection.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/json/serialize.hpp>
#include <csignal>

#include "base/async/task_fault.h"
#include "kube/internal/client_config/client_config_fixture.h"
#include "kube/values/time.h"

namespace muster::kube::server_connection_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// ---- token files ----

class TokenFile : public AccessFixture {
  protected:
    TokenFile() { access_.token_file = write("token", "one\n"); }
};

TEST_F(TokenFile, IsReadAgainOnceAMinute) {
    open();
    EXPECT_EQ(call(), "200");
    write("token", "two");
    pass(59s);
    EXPECT_EQ(call(), "200");
    pass(1s);
    EXPECT_EQ(call(), "200");
    EXPECT_EQ(call(), "200");
    EXPECT_THAT(authorizations(),
                ElementsAre("Bearer one", "Bearer one", "Bearer two", "Bearer two"));
}

TEST_F(TokenFile, OneThatCantBeReadLeavesTheTokenAndIsTold) {
    open();
    std::filesystem::remove(path("token"));
    pass(60s);
    EXPECT_EQ(call(), "200");
    EXPECT_EQ(call(), "200");
    EXPECT_THAT(logged_, ElementsAre(HasSubstr("can't be refreshed")));
    write("token", "two");
    pass(10s);
    EXPECT_EQ(call(), "200");
    EXPECT_THAT(authorizations(), ElementsAre("Bearer one", "Bearer one", "Bearer two"));
}

TEST_F(TokenFile, OneThatIsMissingAtFirstIsAnError) {
    std::filesystem::remove(path("token"));
    const auto opened = ServerConnection::open(access_, {}, context.get_executor(), client_clock_);
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message(), HasSubstr(path("token")));
}

TEST_F(TokenFile, A401IsOneLookAndOneRepeat) {
    judge_ = [](const Seen& seen) { return seen.authorization == "Bearer two" ? 200 : 401; };
    open();
    EXPECT_EQ(call(), "401") << "nothing else is known";
    EXPECT_THAT(authorizations(), ElementsAre("Bearer one"));
    write("token", "two");
    EXPECT_EQ(call(Method::kPost), "200");
    EXPECT_THAT(seen_, ElementsAre(Seen{"Bearer one", "", "POST"}, Seen{"Bearer two", "", "POST"}));
}

TEST_F(TokenFile, OnlyOneRepeat) {
    int number = 0;
    judge_ = [&](const Seen&) {
        write("token", "t" + std::to_string(++number));
        return 401;
    };
    open();
    EXPECT_EQ(call(), "401");
    EXPECT_THAT(authorizations(), ElementsAre("Bearer one", "Bearer t1"));
    Request watch = request();
    watch.query = {{"watch", "true"}};
    const auto stream = await(connection_->objects().watch(watch));
    ASSERT_FALSE(stream);
    EXPECT_EQ(stream.error().code(), Code::kUnauthorized);
    EXPECT_THAT(authorizations(), ElementsAre("Bearer t1", "Bearer t3"));
}

// ---- exec plugins ----

/// A plugin that counts its runs, waits at a gate from its second run on, and gives what a file
/// says.
class Plugin : public AccessFixture {
  protected:
    Plugin() {
        EXPECT_EQ(::mkfifo(path("gate").c_str(), 0600), 0);
        EXPECT_EQ(::mkfifo(path("started").c_str(), 0600), 0);
        gate_ = ::open(path("gate").c_str(), O_RDWR | O_CLOEXEC);
        started_.assign(::open(path("started").c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
        write("runs", "");
        write("status", "0");
        access_.exec = ExecPlugin{.command = "/bin/sh",
                                  .arguments = {"-c", R"sh(
            cd "$FOLDER"
            printf x >> runs
            runs=$(cat runs)
            [ "$runs" = x ] || { echo $$ > started; read line < gate; }
            [ "$(cat status)" = 0 ] || exit "$(cat status)"
            printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",'
            [ -e credential ] && { printf '"status":'; cat credential; printf '}'; exit; }
            printf '"status":{"token":"%s","expirationTimestamp":"%s"}}' "$runs" "$(cat ends)")sh"},
                                  .environment = {{"FOLDER", folder_}},
                                  .api_version = "client.authentication.k8s.io/v1",
                                  .install_hint = {},
                                  .may_ask = false};
        ends_in(100s);
    }
    ~Plugin() override { ::close(gate_); }

    void ends_in(Duration time) { write("ends", format_time(client_clock_.wall_now() + time)); }
    /// Lets one run continue.
    void open_gate() const { ASSERT_EQ(::write(gate_, "\n", 1), 1); }

    /// The process of the next run, when it has begun.
    pid_t next_run() { return std::stoi(await(read_line(started_))); }

    int gate_ = -1;

  private:
    static Task<std::string> read_line(asio::posix::stream_descriptor& from) {
        std::array<char, 64> line{};
        const std::size_t size =
            co_await from.async_read_some(asio::buffer(line), asio::use_awaitable);
        co_return std::string(line.data(), size);
    }

    asio::posix::stream_descriptor started_{context};
};

TEST_F(Plugin, RunsAgainBesideTheRequestsBeforeItsCredentialEnds) {
    open();
    EXPECT_EQ(call(), "200");
    pass(79s);
    EXPECT_EQ(call(), "200");
    EXPECT_EQ(read("runs"), "x");
    pass(1s);
    EXPECT_EQ(call(), "200") << "the plugin waits, and requests go on";
    ends_in(1000s);
    open_gate();
    pass(20s);
    EXPECT_EQ(call(), "200") << "it has ended: the request waits for the plugin";
    EXPECT_THAT(authorizations(), ElementsAre("Bearer x", "Bearer x", "Bearer x", "Bearer xx"));
    EXPECT_EQ(read("runs"), "xx");
    EXPECT_THAT(logged_, IsEmpty());
}

TEST_F(Plugin, WithoutOneThatWorksNothingIsSentAfterTheEnd) {
    open();
    pass(100s);
    write("status", "7");
    open_gate();
    EXPECT_THAT(call(), testing::AllOf(HasSubstr("has ended"), HasSubstr("status 7")));
    EXPECT_THAT(call(), HasSubstr("has ended")) << "it rests";
    EXPECT_EQ(read("runs"), "xx");
    EXPECT_THAT(authorizations(), IsEmpty());
    EXPECT_THAT(logged_, SizeIs(1));
    write("status", "0");
    ends_in(1000s);
    open_gate();
    pass(10s);
    EXPECT_EQ(call(), "200");
    EXPECT_THAT(authorizations(), ElementsAre("Bearer xxx"));
}

TEST_F(Plugin, ARunThatThrowsIsAFailureLikeAnother) {
    open();
    pass(100s);
    {
        const TaskFault fault("exec plugin");
        EXPECT_THAT(call(), HasSubstr("the log has it under the id"));
        EXPECT_EQ(fault.hits(), 1u);
    }
    ends_in(1000s);
    open_gate();
    pass(10s);
    EXPECT_EQ(call(), "200");
}

TEST_F(Plugin, A401IsOneRunAndOneRepeat) {
    judge_ = [](const Seen& seen) { return seen.authorization == "Bearer xx" ? 200 : 401; };
    open();
    open_gate();
    EXPECT_EQ(call(), "200");
    EXPECT_THAT(authorizations(), ElementsAre("Bearer x", "Bearer xx"));
    judge_ = [](const Seen&) { return 401; };
    EXPECT_EQ(call(), "401") << "a server that refuses all does not make it run each time";
    EXPECT_EQ(read("runs"), "xx");
    pass(10s);
    open_gate();
    EXPECT_EQ(call(), "401");
    EXPECT_THAT(authorizations(), ElementsAre("Bearer xx", "Bearer xx", "Bearer xxx"));
}

TEST_F(Plugin, ACertificateThatItExchangesIsShownAtOnce) {
    const auto give = [&](const std::string& name) {
        const net::KeyPair pair = client_certificate(name);
        write("credential",
              json::serialize(json::object{
                  {"clientCertificateData", pair.certificate},
                  {"clientKeyData", pair.key},
                  {"expirationTimestamp", format_time(client_clock_.wall_now() + 100s)}}));
    };
    give("ada");
    open();
    EXPECT_EQ(call(), "200");
    pass(80s);
    give("bob");
    EXPECT_EQ(call(), "200") << "the plugin waits";
    open_gate();
    pass(20s);
    EXPECT_EQ(call(), "200") << "not on the connection that is there";
    EXPECT_EQ(call(), "200");
    EXPECT_THAT(names(), ElementsAre("ada", "ada", "bob", "bob"));
}

TEST_F(Plugin, AStopEndsIt) {
    open();
    pass(100s);
    bool ended = false;
    Code code = Code::kInternal;
    asio::co_spawn(context, connection_->objects().call(request()),
                   [&](std::exception_ptr thrown, Result<Response> answer) {
                       ended = true;
                       if (!thrown && !answer) code = answer.error().code();
                   });
    const pid_t second = next_run();
    await(connection_->stop());
    run_until([&] { return ended; });
    EXPECT_EQ(code, Code::kCancelled);
    EXPECT_EQ(::kill(second, 0), -1) << "it was killed and reaped";
    EXPECT_EQ(errno, ESRCH);
}

TEST_F(Plugin, OneThatHangsIsKilled) {
    open();
    pass(100s);
    bool ended = false;
    std::string why;
    asio::co_spawn(context, connection_->objects().call(request()),
                   [&](std::exception_ptr, Result<Response> answer) {
                       ended = true;
                       if (!answer) why = answer.error().message();
                   });
    next_run();
    pass(60s);
    run_until([&] { return ended; });
    EXPECT_THAT(why, HasSubstr("did not end in 60 s"));
}

// ---- certificates ----

class Certificate : public AccessFixture {
  protected:
    Certificate() {
        access_.ca = {.text = {}, .file = write("ca", net::TlsFixture::get().ca.certificate)};
        show("ada");
        access_.certificate = {.text = {}, .file = path("cert")};
        access_.key = {.text = {}, .file = path("key")};
    }
    void show(const std::string& name) const {
        const net::KeyPair pair = client_certificate(name);
        write("cert", pair.certificate);
        write("key", pair.key);
    }
    std::string call_on_new_connection() {
        pass(91s);  // what is idle is closed
        settle();
        return call();
    }
};

TEST_F(Certificate, ThatIsExchangedIsUsedByNewConnections) {
    open();
    EXPECT_EQ(call(), "200");
    show("bob");
    EXPECT_EQ(call(), "200") << "on the connection that is there";
    EXPECT_EQ(call_on_new_connection(), "200");
    EXPECT_THAT(names(), ElementsAre("ada", "ada", "bob"));
}

TEST_F(Certificate, IsLookedAtAfterA401) {
    judge_ = [](const Seen& seen) { return seen.common_name == "bob" ? 200 : 401; };
    open();
    EXPECT_EQ(call(), "401");
    show("bob");
    EXPECT_EQ(call(), "200");
    EXPECT_EQ(call(), "200");
    EXPECT_THAT(names(), ElementsAre("ada", "ada", "bob", "bob"));
}

TEST_F(Certificate, HalfExchangedFilesLeaveWhatWas) {
    open();
    const net::KeyPair bob = client_certificate("bob");
    write("cert", bob.certificate);
    EXPECT_EQ(call(), "200");
    EXPECT_THAT(logged_, SizeIs(1));
    write("key", bob.key);
    EXPECT_EQ(call_on_new_connection(), "200");
    EXPECT_THAT(names(), ElementsAre("ada", "bob"));
}

TEST_F(Certificate, TheCAIsReadForEachConnection) {
    const auto other = net::make_ca("another CA", net::TlsFixture::validity());
    write("ca", other.value().certificate);
    open();
    EXPECT_THAT(call(), testing::Not("200"));
    write("ca", net::TlsFixture::get().ca.certificate);
    EXPECT_EQ(call(), "200");
}

TEST_F(Certificate, FilesThatDoNotFitAtFirstAreAnError) {
    write("key", client_certificate("bob").key);
    const auto opened = ServerConnection::open(access_, {}, context.get_executor(), client_clock_);
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message(), HasSubstr("context \"c\""));
}

}  // namespace
}  // namespace muster::kube::server_connection_test
