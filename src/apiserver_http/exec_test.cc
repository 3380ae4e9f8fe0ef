#include <gmock/gmock.h>

#include "apiserver/fake_node.h"
#include "apiserver_http/front_fixture.h"
#include "net/http/web_socket.h"

namespace muster::apiserver_http::exec_test {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

/// pods/NAME/exec as clients with a WebSocket see it.
class ExecTest : public FrontFixture {
  protected:
    using Socket = std::unique_ptr<net::WebSocket>;

    void SetUp() override {
        server_->connect_node(node_);
        node_.add_container("default", "p", "main");
        node_.start("default", "p", "main");
        make_pod(R"({"metadata":{"name":"p"},"spec":{"nodeName":"n1","containers":[
                     {"name":"main","image":"a"}]}})");
        make_pod(pod("unbound"));
    }
    /// Before the node that its commands refer to.
    void TearDown() override { await(http_.stop()); }
    void make_pod(const std::string& body) {
        ASSERT_EQ(FrontFixture::post(kPods, body).status, 201);
    }

    Result<Socket> connect(const std::string& query,
                           std::vector<std::string> protocols = {"v5.channel.k8s.io",
                                                                 "v4.channel.k8s.io"}) {
        return await(net::connect_web_socket(client_, request("GET", kPods + "/" + query),
                                             protocols, std::chrono::seconds(10), {}));
    }
    void say(net::WebSocket& socket, std::string message) {
        EXPECT_TRUE(await(socket.write(false, message)));
    }
    std::string hear(net::WebSocket& socket) {
        auto message = await(socket.read());
        EXPECT_TRUE(message) << message.error().message();
        if (!message) return "broken";
        if (*message) return (*message)->bytes;
        return fmt::format("closed {}", socket.closed()->code);
    }

    apiserver::FakeNode node_{context.get_executor(), clock};
};

TEST_F(ExecTest, OutputsExitCodeAndFarewell) {
    for (const char* protocol : {"v5.channel.k8s.io", "v4.channel.k8s.io"}) {
        auto socket =
            connect("p/exec?command=says&command=out&command=err&command=3&stdout=true&stderr=true",
                    {protocol});
        ASSERT_TRUE(socket) << socket.error().message();
        EXPECT_EQ((*socket)->protocol(), protocol);
        EXPECT_EQ(hear(**socket), "\1out");
        EXPECT_EQ(hear(**socket), "\2err");
        const std::string status = hear(**socket);
        EXPECT_THAT(status, testing::StartsWith("\3{"));
        EXPECT_THAT(status, HasSubstr(R"("causes":[{"reason":"ExitCode","message":"3"}])"));
        EXPECT_EQ(hear(**socket), "closed 1000");
    }
    EXPECT_EQ(node_.asked_commands[0].options.container, "main");
    EXPECT_EQ(node_.commands_under_way, 0u);
}

TEST_F(ExecTest, NothingIsSentBeforeTheClientReads) {
    for (const bool reads : {true, false}) {
        auto socket = connect(
            "p/exec?command=says&command=out&command=err&command=0&stdout=true&stderr=true");
        ASSERT_TRUE(socket) << socket.error().message();
        settle();
        EXPECT_EQ(node_.commands_under_way, 1u);
        if (!reads) run_until([this] { return node_.commands_under_way == 0; });
        EXPECT_EQ(hear(**socket), "\1out");
        EXPECT_EQ(hear(**socket), "\2err");
        EXPECT_THAT(hear(**socket), testing::StartsWith("\3{"));
        EXPECT_EQ(hear(**socket), "closed 1000");
    }
}

TEST_F(ExecTest, InputItsEndAndTheSizeOfATerminal) {
    auto socket = connect("p/exec?command=copies&stdin=true&stdout=true&tty=true");
    ASSERT_TRUE(socket) << socket.error().message();
    say(**socket, "\4{\"Width\":80,\"Height\":24}"s);
    say(**socket, "\0hello"s);
    EXPECT_EQ(hear(**socket), "\1hello");
    say(**socket, "\377\0"s);
    EXPECT_EQ(hear(**socket), "\3{\"metadata\":{},\"status\":\"Success\"}");
    EXPECT_EQ(hear(**socket), "closed 1000");
    const kube::CommandOptions& asked = node_.asked_commands.at(0).options;
    EXPECT_TRUE(asked.terminal && asked.input && asked.output && !asked.error);
    EXPECT_THAT(node_.resized, testing::ElementsAre(kube::TerminalSize{80, 24}));
}

TEST_F(ExecTest, AttachIsTheSameWithoutACommand) {
    auto socket = connect("p/attach?stdin=true&stdout=true&stderr=true");
    ASSERT_TRUE(socket) << socket.error().message();
    say(**socket, "\0hello"s);
    EXPECT_EQ(hear(**socket), "\1hello");
    say(**socket, "\377\0"s);
    EXPECT_EQ(hear(**socket), "\3{\"metadata\":{},\"status\":\"Success\"}");
    EXPECT_TRUE(node_.asked_commands.at(0).options.command.empty());
}

TEST_F(ExecTest, AClientThatGoesAwayEndsTheCommand) {
    const std::string copies = "p/exec?command=copies&stdin=true&stdout=true";
    auto socket = connect(copies);
    ASSERT_TRUE(socket);
    settle();
    EXPECT_EQ(node_.commands_under_way, 1u);
    socket->reset();
    run_until([this] { return node_.commands_under_way == 0; });
    // One that sends more than the command reads has nothing to be read before its end.
    socket = connect(copies);
    ASSERT_TRUE(socket);
    for (int i = 0; i < 3; ++i) say(**socket, "\0more"s);
    settle();
    socket->reset();
    run_until([this] { return node_.commands_under_way == 0; });
}

TEST_F(ExecTest, AClientThatBreaksTheProtocolIsTold) {
    auto socket = connect("p/exec?command=copies&stdin=true");
    ASSERT_TRUE(socket);
    say(**socket, "\2what?");
    EXPECT_EQ(hear(**socket), "closed 1002");
    run_until([this] { return node_.commands_under_way == 0; });
}

TEST_F(ExecTest, WhatCanNotBeDoneIsAnAnswerAndNoConnection) {
    struct Case {
        std::string query;
        std::string message;
    };
    const Case cases[] = {
        {"q/exec?command=copies", "pods \\\"q\\\" not found"},
        {"unbound/exec?command=copies", "pod unbound does not have a host assigned"},
        {"p/exec?command=copies&container=zz", "container zz is not valid for pod p"},
        {"p/exec", "you must specify at least one command for the container"},
        {"p/exec?command=copies&stdout=false&stderr=False",
         "you must specify at least 1 of stdin, stdout, stderr"},
    };
    for (const Case& c : cases) {
        const auto refused = connect(c.query);
        ASSERT_FALSE(refused) << c.query;
        EXPECT_THAT(refused.error().message(), HasSubstr(c.message));
    }
    EXPECT_EQ(node_.commands_under_way, 0u);
}

TEST_F(ExecTest, AContainerThatDoesNotRunIsAnAnswerOnTheChannelForIt) {
    node_.end("default", "p", "main");
    auto socket = connect("p/exec?command=copies");
    ASSERT_TRUE(socket) << socket.error().message();
    const std::string told = hear(**socket);
    EXPECT_EQ(told.substr(0, 1), "\3");
    const json::value status = json::parse(told.substr(1));
    EXPECT_EQ(status.at("status"), "Failure");
    EXPECT_EQ(status.at("message"),
              "Internal error occurred: unable to upgrade connection: container not found "
              "(\"main\")");
    EXPECT_EQ(hear(**socket), "closed 1000");
    // Who speaks version 4 would have had it from the node itself.
    EXPECT_THAT(connect("p/exec?command=copies", {"v4.channel.k8s.io"}).error().message(),
                HasSubstr("container not found (\\\"main\\\")"));
    EXPECT_EQ(node_.commands_under_way, 0u);
}

TEST_F(ExecTest, WhoeverDoesNotSpeakWebSocketIsTold) {
    const std::string target = kPods + "/p/exec?command=copies";
    EXPECT_EQ(parsed(get(target)).at("message"), "Upgrade request required");
    EXPECT_EQ(parsed(send(request("POST", target))).at("message"), "Upgrade request required");
    EXPECT_EQ(parsed(send(request("POST", target, "",
                                  {{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}})))
                  .at("message"),
              "unable to upgrade connection: this server speaks WebSocket (v5.channel.k8s.io, "
              "v4.channel.k8s.io) and not SPDY/3.1");
    EXPECT_EQ(reason(send(request("DELETE", target))), "405 MethodNotAllowed");
    EXPECT_FALSE(connect("p/exec?command=copies", {"v1.channel.k8s.io"}));
    EXPECT_FALSE(connect("p/exec?command=copies", {}));
    EXPECT_TRUE(node_.asked_commands.empty()) << "nothing was begun";
}

TEST_F(ExecTest, NobodyButWhoMayCreateItComesIn) {
    net::HttpRequest nobody = request("GET", kPods + "/p/exec?command=copies");
    nobody.headers.erase("Authorization");
    EXPECT_EQ(reason(send(nobody)), "403 Forbidden");
    EXPECT_TRUE(node_.asked_commands.empty());
}

}  // namespace
}  // namespace muster::apiserver_http::exec_test
