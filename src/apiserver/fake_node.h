#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/node_api.h"
#include "base/async/signal.h"
#include "base/check.h"
#include "base/time/bounded_seconds.h"
#include "base/time/clock.h"
#include "kube/values/time.h"
#include "net/memory_stream.h"

namespace muster::apiserver {

/// A node whose containers do what the test says, for tests of a node's callers. Stricter than a
/// real one: options that the API should have refused, two readers of one stream, or a read after
/// the end abort; and every line comes as a separate piece. For tests only.
class FakeNode final : public NodeApi {
  public:
    FakeNode(asio::any_io_executor executor, Clock& clock)
        : executor_(std::move(executor)), clock_(clock) {}

    /// Adds a container that waits to start.
    void add_container(const std::string& namespace_, const std::string& pod,
                       const std::string& container, std::string waiting = "ContainerCreating") {
        containers_[{namespace_, pod}][container].waiting = std::move(waiting);
    }
    /// Starts or restarts the container.
    void start(const std::string& namespace_, const std::string& pod,
               const std::string& container) {
        containers_.at({namespace_, pod})
            .at(container)
            .runs.push_back(std::make_shared<Run>(executor_));
    }
    /// Writes whole lines of output of the running container.
    void write(const std::string& namespace_, const std::string& pod, const std::string& container,
               std::string_view text) {
        Run& run = running(namespace_, pod, container);
        while (!text.empty()) {
            const std::size_t end = text.find('\n');
            CHECK(end != text.npos, "a fake container writes whole lines");
            run.lines.push_back({clock_.wall_now(), std::string(text.substr(0, end + 1))});
            text.remove_prefix(end + 1);
        }
        run.changed.notify_all();
    }
    void end(const std::string& namespace_, const std::string& pod, const std::string& container) {
        Run& run = running(namespace_, pod, container);
        run.ended = true;
        run.changed.notify_all();
    }

    struct Asked {
        std::string namespace_;
        std::string pod;
        kube::LogOptions options;
    };
    /// The requests so far.
    std::vector<Asked> asked;

    Task<Result<std::unique_ptr<kube::TextStream>>> logs(std::string namespace_, std::string pod,
                                                         kube::LogOptions options) override {
        CHECK(!options.container.empty(), "the API fills in the container");
        CHECK(!options.tail_lines || *options.tail_lines >= 0, "the API refuses it");
        CHECK(!options.limit_bytes || *options.limit_bytes > 0, "the API refuses it");
        CHECK(!options.since_seconds || *options.since_seconds > 0, "the API refuses it");
        asked.push_back({namespace_, pod, options});
        const auto found = containers_.find({namespace_, pod});
        if (found == containers_.end())
            co_return Error(Code::kNotFound, fmt::format("pods \"{}\" not found", pod));
        const auto container = found->second.find(options.container);
        if (container == found->second.end())
            co_return Error(Code::kBadRequest, fmt::format("container {} is not valid for pod {}",
                                                           options.container, pod));
        const auto& runs = container->second.runs;
        if (options.previous && runs.size() < 2)
            co_return Error(
                Code::kBadRequest,
                fmt::format("previous terminated container \"{}\" in pod \"{}\" not found",
                            options.container, pod));
        if (runs.empty())
            co_return Error(Code::kBadRequest,
                            fmt::format("container \"{}\" in pod \"{}\" is waiting to start: {}",
                                        options.container, pod, container->second.waiting));
        co_return std::make_unique<Reader>(options.previous ? runs[runs.size() - 2] : runs.back(),
                                           options, clock_.wall_now());
    }

    struct AskedCommand {
        std::string namespace_;
        std::string pod;
        kube::CommandOptions options;
    };
    std::vector<AskedCommand> asked_commands;
    std::size_t commands_under_way = 0;
    std::vector<kube::TerminalSize> resized;

    /// Without a command: attaches to a program that copies its input. Otherwise it knows two
    /// commands. `says OUT ERR CODE` writes both texts and ends with that code; `copies` writes its
    /// input until the end and ends with 0; others can't be started.
    Task<Result<std::unique_ptr<kube::CommandSession>>> exec(
        std::string namespace_, std::string pod, kube::CommandOptions options) override {
        CHECK(!options.container.empty(), "the API fills in the container");
        CHECK(options.input || options.output || options.error, "the API refuses it");
        CHECK(!options.terminal || !options.error, "a terminal has one output");
        asked_commands.push_back({namespace_, pod, options});
        const auto found = containers_.find({namespace_, pod});
        if (found == containers_.end())
            co_return Error(Code::kNotFound, fmt::format("pods \"{}\" not found", pod));
        const auto container = found->second.find(options.container);
        if (container == found->second.end() || container->second.runs.empty() ||
            container->second.runs.back()->ended)
            co_return Error(Code::kBadRequest,
                            fmt::format("container not found (\"{}\")", options.container));
        co_return std::make_unique<Command>(*this, std::move(options));
    }

    /// From now on connections to that port arrive at the listener; other ports refuse them.
    void listen(const std::string& namespace_, const std::string& pod, std::uint16_t port,
                net::MemoryListener& listener) {
        listeners_[{namespace_, pod}][port] = &listener;
    }

    Task<Result<std::unique_ptr<net::ByteStream>>> connect(std::string namespace_, std::string pod,
                                                           std::uint16_t port) override {
        CHECK(port != 0, "the API refuses it");
        const auto found = containers_.find({namespace_, pod});
        if (found == containers_.end())
            co_return Error(Code::kNotFound, fmt::format("pods \"{}\" not found", pod));
        const auto& ports = listeners_[{namespace_, pod}];
        const auto listener = ports.find(port);
        if (listener == ports.end())
            co_return Error(Code::kUnavailable,
                            fmt::format("connecting to 127.0.0.1:{}: Connection refused", port));
        co_return listener->second->connect();
    }

    /// The answer; a window must be set first.
    kube::NodeUsage measured;

    Task<Result<kube::NodeUsage>> usage() override {
        CHECK(measured.window > Duration{}, "what was measured has a length");
        co_return measured;
    }

  private:
    /// Accepts one write before the last one was read, and no more.
    class Command final : public kube::CommandSession {
      public:
        Command(FakeNode& node, kube::CommandOptions options)
            : node_(node), options_(std::move(options)), changed_(node.executor_) {
            ++node_.commands_under_way;
            const std::vector<std::string>& argv = options_.command;
            if (argv.empty()) return;
            if (argv[0] == "says") {
                say(false, argv.at(1));
                say(true, argv.at(2));
                end_ = std::stoi(argv.at(3));
            } else if (argv[0] != "copies") {
                end_ = Error(Code::kInternal, argv[0] + ": No such file or directory");
            } else if (!options_.input) {
                end_ = 0;
            }
        }
        ~Command() override { --node_.commands_under_way; }

        Task<Result<std::optional<kube::OutputPiece>>> read() override {
            CHECK(!std::exchange(reading_, true), "two readers of one command");
            struct Reading {
                bool& flag;
                ~Reading() { flag = false; }
            } const reading{reading_};
            CHECK(!over_, "a command was read beyond its end");
            while (pieces_.empty() && !end_) co_await changed_.wait();
            if (pieces_.empty()) {
                over_ = true;
                co_return std::nullopt;
            }
            kube::OutputPiece piece = std::move(pieces_.front());
            pieces_.erase(pieces_.begin());
            changed_.notify_all();
            co_return std::move(piece);
        }
        Result<int> end() const override {
            CHECK(over_, "asked for the end before it was read");
            return *end_;
        }
        Task<void> write(std::string bytes) override {
            CHECK(options_.input, "input for a command that has none");
            CHECK(!input_closed_, "input after its end");
            while (!pieces_.empty() && !end_) co_await changed_.wait();
            if (end_ || bytes.empty()) co_return;
            say(false, bytes);
        }
        Task<void> close_input() override {
            input_closed_ = true;
            if (!end_) end_ = 0;
            changed_.notify_all();
            co_return;
        }
        void resize(kube::TerminalSize size) override { node_.resized.push_back(size); }

      private:
        void say(bool error, const std::string& text) {
            if (text.empty() || !(error ? options_.error : options_.output)) return;
            pieces_.push_back({.error = error, .bytes = text});
            changed_.notify_all();
        }

        FakeNode& node_;
        kube::CommandOptions options_;
        Signal changed_;
        std::vector<kube::OutputPiece> pieces_;
        std::optional<Result<int>> end_;
        bool reading_ = false;
        bool over_ = false;
        bool input_closed_ = false;
    };

    struct Line {
        WallTime at;
        std::string text;
    };
    struct Run {
        explicit Run(const asio::any_io_executor& executor) : changed(executor) {}
        std::vector<Line> lines;
        bool ended = false;
        Signal changed;
    };
    struct Container {
        std::string waiting;
        std::vector<std::shared_ptr<Run>> runs;
    };

    class Reader final : public kube::TextStream {
      public:
        Reader(std::shared_ptr<Run> run, const kube::LogOptions& options, WallTime now)
            : run_(std::move(run)), options_(options), now_(now) {
            if (options.tail_lines)
                next_ = run_->lines.size() -
                        std::min(run_->lines.size(), static_cast<std::size_t>(*options.tail_lines));
        }

        Task<Result<std::optional<std::string>>> read() override {
            CHECK(!reading_, "two readers of one text");
            CHECK(!over_, "a text was read beyond its end");
            struct Reading {
                bool& flag;
                ~Reading() { flag = false; }
            } reading{reading_};
            reading_ = true;
            while (!options_.limit_bytes || *options_.limit_bytes > 0) {
                if (next_ < run_->lines.size()) {
                    const Line& line = run_->lines[next_++];
                    if (options_.since_seconds &&
                        line.at < now_ - bounded_seconds(*options_.since_seconds))
                        continue;
                    co_return std::optional(cut(line));
                }
                if (run_->ended || !options_.follow) break;
                co_await run_->changed.wait();
            }
            over_ = true;
            co_return std::optional<std::string>();
        }

      private:
        std::string cut(const Line& line) {
            std::string text = line.text;
            if (options_.timestamps) text = kube::format_nano_time(line.at) + " " + text;
            if (options_.limit_bytes) {
                text = text.substr(0, static_cast<std::size_t>(*options_.limit_bytes));
                *options_.limit_bytes -= static_cast<std::int64_t>(text.size());
            }
            return text;
        }

        std::shared_ptr<Run> run_;
        kube::LogOptions options_;
        WallTime now_;
        std::size_t next_ = 0;
        bool reading_ = false;
        bool over_ = false;
    };

    Run& running(const std::string& namespace_, const std::string& pod,
                 const std::string& container) {
        auto& runs = containers_.at({namespace_, pod}).at(container).runs;
        CHECK(!runs.empty() && !runs.back()->ended, "the container does not run");
        return *runs.back();
    }

    asio::any_io_executor executor_;
    Clock& clock_;
    std::map<std::pair<std::string, std::string>, std::map<std::string, Container>> containers_;
    std::map<std::pair<std::string, std::string>, std::map<std::uint16_t, net::MemoryListener*>>
        listeners_;
};

}  // namespace muster::apiserver
