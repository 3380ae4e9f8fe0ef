#include "net/name_files.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace muster::net::name_files_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint16_t kA = 1;
constexpr std::uint16_t kAaaa = 28;

/// What a DNS server knows: addresses by name. A name in `long_ones` is answered by TCP
/// alone.
struct Zone {
    std::map<std::string, std::vector<std::string>> addresses;
    std::set<std::string> long_ones = {};
};

std::string two_bytes(unsigned number) {
    return {static_cast<char>(number >> 8), static_cast<char>(number & 0xff)};
}

/// How many bytes the first message has that came by TCP, with its length; 0 while it isn't whole.
std::size_t first_message(const std::string& bytes) {
    if (bytes.size() < 2) return 0;
    const std::size_t high = static_cast<unsigned char>(bytes[0]);
    const std::size_t size = 2 + (high << 8U) + static_cast<unsigned char>(bytes[1]);
    return bytes.size() < size ? 0 : size;
}

/// To a question as c-ares asks it: one name, not compressed.
std::string answer_to(const Zone& zone, const std::string& question, bool by_udp) {
    std::string name;
    std::size_t at = 12;
    for (; question.at(at) != 0; at += 1U + static_cast<unsigned char>(question[at]))
        name += (name.empty() ? "" : ".") +
                question.substr(at + 1, static_cast<unsigned char>(question[at]));
    const unsigned kind = static_cast<unsigned char>(question.at(at + 2));
    const auto known = zone.addresses.find(name);
    const bool cut = by_udp && zone.long_ones.contains(name);
    std::string records;
    unsigned count = 0;
    for (const std::string& address :
         known == zone.addresses.end() || cut ? std::vector<std::string>() : known->second) {
        const bool v6 = address.find(':') != std::string::npos;
        if (kind != (v6 ? kAaaa : kA)) continue;
        std::array<char, 16> bytes{};
        const std::size_t size = v6 ? 16 : 4;
        EXPECT_EQ(::inet_pton(v6 ? AF_INET6 : AF_INET, address.c_str(), bytes.data()), 1);
        records += two_bytes(0xc00c) + two_bytes(kind) + two_bytes(1) + two_bytes(0) +
                   two_bytes(5) + two_bytes(static_cast<unsigned>(size)) +
                   std::string(bytes.data(), size);
        ++count;
    }
    const unsigned flags =
        0x8180U | (cut ? 0x0200U : 0U) | (known == zone.addresses.end() ? 3U : 0U);
    return question.substr(0, 2) + two_bytes(flags) + two_bytes(1) + two_bytes(count) +
           two_bytes(0) + two_bytes(0) + question.substr(12, at + 5 - 12) + records;
}

/// In a process of its own, as whoever asks blocks. Both protocols have the same port.
class DnsServer {
  public:
    /// No zone: it takes what comes and never answers. Port 0: a free one.
    DnsServer(const char* address, std::uint16_t port, const Zone* zone) {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        ::inet_pton(AF_INET, address, &where.sin_addr);
        for (;;) {
            udp_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
            tcp_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            where.sin_port = htons(port);
            auto* name = reinterpret_cast<sockaddr*>(&where);
            socklen_t size = sizeof where;
            const bool free = ::bind(udp_, name, size) == 0 &&
                              ::getsockname(udp_, name, &size) == 0 &&
                              ::bind(tcp_, name, size) == 0 && ::listen(tcp_, 4) == 0;
            port_ = ntohs(where.sin_port);
            if (free) break;
            ::close(udp_);
            ::close(tcp_);
            if (port != 0) return;
        }
        if (zone == nullptr) return;
        child_ = ::fork();
        if (child_ == 0) serve(*zone);
    }
    ~DnsServer() {
        if (child_ > 0) {
            ::kill(child_, SIGKILL);
            ::waitpid(child_, nullptr, 0);
        }
        ::close(udp_);
        ::close(tcp_);
    }
    DnsServer(const DnsServer&) = delete;
    DnsServer& operator=(const DnsServer&) = delete;
    std::uint16_t port() const { return port_; }

  private:
    [[noreturn]] void serve(const Zone& zone) const {
        std::array<pollfd, 2> polled{pollfd{.fd = udp_, .events = POLLIN, .revents = 0},
                                     pollfd{.fd = tcp_, .events = POLLIN, .revents = 0}};
        std::string bytes(4096, '\0');
        for (;;) {
            ::poll(polled.data(), polled.size(), -1);
            if (polled[0].revents != 0) {
                sockaddr_in from{};
                socklen_t size = sizeof from;
                auto* name = reinterpret_cast<sockaddr*>(&from);
                const ssize_t got = ::recvfrom(udp_, bytes.data(), bytes.size(), 0, name, &size);
                if (got <= 0) continue;
                const std::string answer =
                    answer_to(zone, bytes.substr(0, static_cast<std::size_t>(got)), true);
                ::sendto(udp_, answer.data(), answer.size(), 0, name, size);
            }
            if (polled[1].revents != 0) {
                const int stream = ::accept(tcp_, nullptr, nullptr);
                std::string unanswered;
                ssize_t got = 0;
                while ((got = ::recv(stream, bytes.data(), bytes.size(), 0)) > 0) {
                    unanswered.append(bytes, 0, static_cast<std::size_t>(got));
                    while (const std::size_t size = first_message(unanswered)) {
                        const std::string answer =
                            answer_to(zone, unanswered.substr(2, size - 2), false);
                        const std::string whole =
                            two_bytes(static_cast<unsigned>(answer.size())) + answer;
                        ::send(stream, whole.data(), whole.size(), MSG_NOSIGNAL);
                        unanswered.erase(0, size);
                    }
                }
                ::close(stream);
            }
        }
    }

    int udp_ = -1;
    int tcp_ = -1;
    std::uint16_t port_ = 0;
    pid_t child_ = -1;
};

class NameFilesTest : public testing::Test {
  protected:
    NameFilesTest() {
        std::string path = (fs::temp_directory_path() / "names.XXXXXX").string();
        directory_ = ::mkdtemp(path.data());
    }
    ~NameFilesTest() override { fs::remove_all(directory_); }

    NameFiles files(std::uint16_t port, const std::string& resolv_conf) const {
        const fs::path file = directory_ / "resolv.conf";
        std::ofstream(file) << resolv_conf;
        return {.resolv_conf = file.string(),
                .port = port,
                .first_try = std::chrono::seconds(60),
                .patience = std::chrono::seconds(60)};
    }

    fs::path directory_;
};

const Zone kZone{{{"w-0.ring.ml.svc.cluster.local", {"10.0.0.7", "fd00::7"}},
                  {"four.test", {"10.0.0.4", "10.0.0.4", "10.0.0.5"}},
                  {"six.test", {"fd00::6"}},
                  {"none.test", {}},
                  {"long.test", {"10.0.1.1", "10.0.1.2"}}},
                 {"long.test"}};
const std::string kSearch = "search ml.svc.cluster.local svc.cluster.local cluster.local test\n";

TEST_F(NameFilesTest, NamesAreLookedForAsResolvConfSays) {
    const DnsServer server("127.0.0.1", 0, &kZone);
    struct Row {
        std::string name;
        std::string resolv_conf;
        std::vector<std::string> addresses;  ///< in any order
    };
    const std::string five = kSearch + "nameserver 127.0.0.1\noptions ndots:5\n";
    const std::string one = kSearch + "nameserver 127.0.0.1\n";
    for (const Row& row : std::vector<Row>{
             {"w-0.ring.ml.svc.cluster.local", five, {"10.0.0.7", "fd00::7"}},
             {"w-0.ring.ml.svc.cluster.local", one, {"10.0.0.7", "fd00::7"}},
             {"w-0.ring.ml.svc", five, {"10.0.0.7", "fd00::7"}},
             {"w-0.ring", five, {"10.0.0.7", "fd00::7"}},
             {"w-0.ring", one, {"10.0.0.7", "fd00::7"}},
             {"four", one, {"10.0.0.4", "10.0.0.5"}},
             {"six", one, {"fd00::6"}},
             {"six.test", "nameserver 127.0.0.1\n", {"fd00::6"}},
             {"long.test", "nameserver 127.0.0.1\n", {"10.0.1.1", "10.0.1.2"}},
             {"10.1.2.3", one, {"10.1.2.3"}},
             {"fd00::1", one, {"fd00::1"}},
         }) {
        SCOPED_TRACE(row.name + "\n" + row.resolv_conf);
        const auto found = addresses_by_files(row.name, files(server.port(), row.resolv_conf));
        ASSERT_TRUE(found) << found.error().message();
        EXPECT_THAT(*found, testing::UnorderedElementsAreArray(row.addresses));
    }
}

TEST_F(NameFilesTest, WhatIsNotThereIsUnknown) {
    const DnsServer server("127.0.0.1", 0, &kZone);
    for (const std::string name : {"gone.test", "none.test", "four.else", "a..b"}) {
        const auto found = addresses_by_files(name, files(server.port(), "nameserver 127.0.0.1\n"));
        ASSERT_FALSE(found) << name;
        EXPECT_EQ(found.error().code(), Code::kUnavailable);
        EXPECT_THAT(found.error().message(), HasSubstr("the name is not known"));
    }
}

TEST_F(NameFilesTest, AServerThatDoesNotAnswerIsNoEnd) {
    const DnsServer server("127.0.0.1", 0, &kZone);
    const DnsServer silent("127.0.0.2", server.port(), nullptr);
    for (const std::string first : {"127.0.0.2", "127.0.0.3"}) {  // silent; nobody there
        NameFiles where = files(server.port(), "nameserver " + first + "\nnameserver 127.0.0.1\n");
        where.first_try = std::chrono::milliseconds(500);  // of seven times this in all
        const auto found = addresses_by_files("six.test", where);
        ASSERT_TRUE(found) << first << found.error().message();
        EXPECT_THAT(*found, ElementsAre("fd00::6"));
    }
}

TEST_F(NameFilesTest, SilenceIsWaitedForNoLongerThanItIsTold) {
    const DnsServer silent("127.0.0.1", 0, nullptr);
    NameFiles where = files(silent.port(), "nameserver 127.0.0.1\n");
    where.patience = std::chrono::milliseconds(50);
    const auto found = addresses_by_files("six.test", where);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code(), Code::kUnavailable);
    EXPECT_THAT(found.error().message(), HasSubstr("resolv.conf did not answer"));
}

// Of /etc/hosts, which every machine has.
TEST_F(NameFilesTest, TheFileOfHostsGoesFirst) {
    const auto found = addresses_by_files("localhost", files(1, "nameserver 127.0.0.1\n"));
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_THAT(*found, testing::Contains("127.0.0.1"));
}

}  // namespace
}  // namespace muster::net::name_files_test
