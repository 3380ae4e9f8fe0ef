#include "rpc/internal/admission.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include "rpc/internal/failure.h"

namespace muster::rpc {
namespace {

/// Bytes of the text, so that it always fits.
constexpr std::size_t kLongestFarewell = 1024;

bool same_secret(std::string_view one, std::string_view other) {
    return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

void write(wire::Version& out, Version version) {
    out.set_major(version.major);
    out.set_minor(version.minor);
}

Version read(const wire::Version& in) { return {.major = in.major(), .minor = in.minor()}; }

Error too_far_apart(std::string_view other, Version theirs, Version own) {
    return Error(Code::kUnsupported,
                 fmt::format("the {} speaks version {}.{} of the protocol and this program {}.{}: "
                             "at most one minor version may lie between them; install the same "
                             "release of muster on both",
                             other, theirs.major, theirs.minor, own.major, own.minor));
}

}  // namespace

wire::Frame hello_frame(const Introduction& introduction, Version own) {
    wire::Frame frame;
    wire::Hello& hello = *frame.mutable_hello();
    write(*hello.mutable_version(), own);
    hello.set_token(introduction.token);
    hello.set_client(introduction.client);
    hello.set_about(introduction.about);
    hello.set_connection(introduction.connection);
    return frame;
}

wire::Frame welcome_frame(const Welcome& welcome, Version own) {
    wire::Frame frame;
    wire::Welcome& out = *frame.mutable_welcome();
    write(*out.mutable_version(), own);
    out.set_server(welcome.server);
    out.set_longest_frame(welcome.longest_frame);
    return frame;
}

wire::Frame farewell_frame(const Error& error) {
    wire::Frame frame;
    wire::Failure& failure = *frame.mutable_farewell()->mutable_failure();
    failure = failure_of(error);
    failure.clear_causes();
    if (failure.message().size() > kLongestFarewell)
        failure.mutable_message()->resize(kLongestFarewell);
    return frame;
}

Result<Introduction> admit(const wire::Frame& first, std::string_view token, Version own) {
    if (!first.has_hello())
        return Error(Code::kBadRequest,
                     "a connection must begin with the caller's name and the token");
    const wire::Hello& hello = first.hello();
    if (!same_secret(hello.token(), token))
        return Error(Code::kUnauthorized, "this is not the token of the job served here");
    if (!talk_together(read(hello.version()), own))
        return too_far_apart("caller", read(hello.version()), own);
    if (hello.client().empty() || hello.client().size() > kLongestName ||
        hello.about().size() > kLongestName)
        return Error(
            Code::kBadRequest,
            fmt::format("a caller has a name of 1 to {} bytes and a description of at most as many",
                        kLongestName));
    return Introduction{.token = {},
                        .client = hello.client(),
                        .about = hello.about(),
                        .connection = hello.connection()};
}

Result<Welcome> admitted(const wire::Frame& first, Version own) {
    if (first.has_farewell()) return error_of(first.farewell().failure());
    if (!first.has_welcome() || first.welcome().server().empty())
        return Error(Code::kBadRequest, "the other side does not speak this protocol");
    if (!talk_together(read(first.welcome().version()), own))
        return too_far_apart("server", read(first.welcome().version()), own);
    return Welcome{.server = first.welcome().server(),
                   .longest_frame = first.welcome().longest_frame()};
}

}  // namespace muster::rpc
