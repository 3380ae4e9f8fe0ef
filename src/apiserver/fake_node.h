#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/node_api.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/signal.h"
#include "kube/time.h"

namespace muster::apiserver {

/// A node whose containers do what the test says, for the tests of whoever asks a node. Stricter
/// than a real one: options that the API should have refused, two readers of one stream, or a read
/// after the end abort; and every line comes in a piece of its own. For tests only.
class FakeNode final : public NodeApi {
  public:
    FakeNode(asio::any_io_executor executor, Clock& clock)
        : executor_(std::move(executor)), clock_(clock) {}

    /// A container that waits to start.
    void add_container(const std::string& namespace_, const std::string& pod,
                       const std::string& container, std::string waiting = "ContainerCreating") {
        containers_[{namespace_, pod}][container].waiting = std::move(waiting);
    }
    /// Starts the container, or starts it again.
    void start(const std::string& namespace_, const std::string& pod,
               const std::string& container) {
        containers_.at({namespace_, pod})
            .at(container)
            .runs.push_back(std::make_shared<Run>(executor_));
    }
    /// Whole lines of output of the container that runs.
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
    /// What was asked for so far.
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

  private:
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
                        line.at < now_ - std::chrono::seconds(*options_.since_seconds))
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
};

}  // namespace muster::apiserver
