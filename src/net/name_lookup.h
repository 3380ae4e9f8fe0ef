#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/async/side_thread.h"
#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/result.h"

namespace muster::net {

/// Looks up host names as this machine does (/etc/hosts, DNS), without blocking the loop. Results
/// are not cached. Thread: the loop of its executor. stop() it before it is destroyed.
class NameLookup {
  public:
    enum class Resolver : std::uint8_t {
        kSystems,  ///< glibc's, which loads the modules that nsswitch.conf names
        kFiles,    ///< name_files.h
    };
    /// What this program can use: one that loads no library must not load modules either, which want
    /// the libc of their image.
    static Resolver resolver_here();

    explicit NameLookup(asio::any_io_executor executor, Resolver resolver = resolver_here());

    /// The addresses of `host`, best first. An IP address is its own result, and "localhost" means
    /// the same as in connect_tcp(). kUnavailable if the host has no address or no server answers;
    /// kCancelled after stop(). Callers that ask for the same name at the same time share one
    /// lookup.
    Task<Result<std::vector<std::string>>> addresses(std::string host);

    /// Ends waiting calls immediately, and returns when the system's resolver has finished: it
    /// can't be interrupted, only its own limits end it.
    Task<void> stop();

  private:
    struct Question;

    Task<void> ask(std::shared_ptr<Question> question);
    Task<Result<std::vector<std::string>>> ask_system(std::string host);
    void settle(Question& question, Result<std::vector<std::string>> answer);

    std::map<std::string, std::shared_ptr<Question>> open_;
    Resolver resolver_;
    SideThread beside_;  ///< of Resolver::kFiles
    TaskGroup tasks_;
};

}  // namespace muster::net
