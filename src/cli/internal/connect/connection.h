#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "base/result.h"
#include "base/time/clock.h"
#include "cli/internal/connect/server_options.h"
#include "control_plane/daemon/caller.h"
#include "kube/client/client.h"
#include "kube/client_config/server_connection.h"

namespace muster::cli {

/// How to reach a server: the kubeconfig's settings, or where none is named and none exists those of
/// the pod around us. Reads files.
Result<kube::ClientConfig> find_access(const ServerOptions& options,
                                       const control_plane::Caller& caller);

/// The connection to the API server that a verb's options name. Thread: the loop of its executor.
/// stop() it before it is destroyed.
class Connection {
  public:
    /// Reads kubeconfigs and the files that they name, and runs an exec plugin. Blocks, so call it
    /// before the loop runs. Sends nothing yet.
    static Result<std::unique_ptr<Connection>> open(const ServerOptions& options,
                                                    const control_plane::Caller& caller,
                                                    asio::any_io_executor executor, Clock& clock);

    Clock& clock() { return clock_; }
    const kube::ClientConfig& access() const { return server_->access(); }
    /// From --namespace or the context.
    const std::string& default_namespace() const { return default_namespace_; }
    kube::Client& client() { return client_; }
    /// Objects, and Tables and aggregated discovery if the server supports them.
    kube::Transport& objects() { return server_->objects(); }
    kube::Transport& tables() { return tables_; }
    kube::Transport& discovery() { return discovery_; }

    /// The answer to a GET of a path that is not an object's, within `time`.
    Task<Result<net::HttpResponse>> ask(std::string path, Duration time) {
        return server_->objects().ask(std::move(path), time);
    }

    /// See kube::HttpTransport::connect().
    Task<Result<std::unique_ptr<net::WebSocket>>> connect(kube::Request request,
                                                          std::vector<std::string> protocols) {
        return server_->objects().connect(std::move(request), std::move(protocols));
    }

    /// For tasks beside the verb's own. stop() stops them, even if the verb is cancelled.
    TaskGroup& tasks() { return tasks_; }
    /// Keeps what tasks refer to until they have been stopped.
    void keep(std::shared_ptr<void> object) { kept_.push_back(std::move(object)); }

    Task<void> stop();

  private:
    Connection(std::unique_ptr<kube::ServerConnection> server, std::string ns,
               asio::any_io_executor executor, Clock& clock);

    Clock& clock_;
    std::unique_ptr<kube::ServerConnection> server_;
    std::string default_namespace_;
    kube::HttpTransport tables_;
    kube::HttpTransport discovery_;
    kube::Client client_;
    std::vector<std::shared_ptr<void>> kept_;
    TaskGroup tasks_;
};

}  // namespace muster::cli
