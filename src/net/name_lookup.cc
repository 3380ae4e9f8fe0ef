#include "net/name_lookup.h"

#include <fmt/format.h>
#include <sys/auxv.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <optional>

#include "net/name_files.h"

namespace muster::net {

using asio::ip::tcp;

namespace {

Error stopped() { return Error(Code::kCancelled, "names are no longer looked up"); }

}  // namespace

struct NameLookup::Question {
    Question(const asio::any_io_executor& executor, std::string name)
        : host(std::move(name)), answered(executor) {}

    std::string host;
    std::optional<Result<std::vector<std::string>>> answer;
    Signal answered;
};

NameLookup::Resolver NameLookup::resolver_here() {
    return ::getauxval(AT_BASE) == 0 ? Resolver::kFiles : Resolver::kSystems;
}

NameLookup::NameLookup(asio::any_io_executor executor, Resolver resolver)
    : resolver_(resolver), tasks_(std::move(executor)) {}

Task<Result<std::vector<std::string>>> NameLookup::addresses(std::string host) {
    boost::system::error_code no_address;
    (void)asio::ip::make_address(host, no_address);
    if (!no_address || host == "localhost") co_return std::vector<std::string>{host};
    if (tasks_.stopping()) co_return stopped();
    std::shared_ptr<Question>& open = open_[host];
    if (!open) {
        open = std::make_shared<Question>(tasks_.executor(), host);
        tasks_.spawn("name lookup", ask(open), [this, open](const std::string& what) {
            settle(*open, Error(Code::kInternal, what));
        });
    }
    // Waited for separately from the question itself, so that each waiting task can be cancelled.
    const std::shared_ptr<Question> question = open;
    while (!question->answer) co_await question->answered.wait();
    co_return *question->answer;
}

Task<void> NameLookup::ask(std::shared_ptr<Question> question) {
    const std::string host = question->host;
    if (resolver_ == Resolver::kSystems)
        settle(*question, co_await ask_system(host));
    else
        settle(*question,
               co_await beside_.run("name lookup", [host] { return addresses_by_files(host); }));
}

Task<Result<std::vector<std::string>>> NameLookup::ask_system(std::string host) {
    tcp::resolver resolver(tasks_.executor());
    boost::system::error_code failed;
    const tcp::resolver::results_type found = co_await resolver.async_resolve(
        host, "", tcp::resolver::flags(), asio::redirect_error(asio::use_awaitable, failed));
    std::vector<std::string> addresses;
    for (const auto& entry : found) addresses.push_back(entry.endpoint().address().to_string());
    if (failed || addresses.empty())
        co_return Error(Code::kUnavailable,
                        fmt::format("the name {} can't be found: {}", host,
                                    failed ? failed.message() : std::string("it has no address")));
    co_return addresses;
}

void NameLookup::settle(Question& question, Result<std::vector<std::string>> answer) {
    if (question.answer) return;  // given up by stop()
    question.answer = std::move(answer);
    open_.erase(question.host);
    question.answered.notify_all();
}

Task<void> NameLookup::stop() {
    for (const auto& [host, question] : std::exchange(open_, {})) {
        question->answer = stopped();
        question->answered.notify_all();
    }
    co_await tasks_.stop();
}

}  // namespace muster::net
