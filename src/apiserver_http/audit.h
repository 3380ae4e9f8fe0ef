#pragma once

#include <string>

namespace muster::apiserver_http {

/// How much of a request the audit log has. Of Secrets, and of what answers with a token, never
/// more than kMetadata.
enum class AuditLevel { kMetadata, kRequest, kRequestResponse };

/// Where the lines of the audit log go. Thread: the server's loop.
class AuditSink {
  public:
    virtual ~AuditSink() = default;
    /// One event of audit.k8s.io/v1 as JSON, without a line end. It can't be refused: what can't be
    /// kept is told by the sink.
    virtual void write(std::string line) = 0;
};

struct AuditOptions {
    AuditSink* sink = nullptr;  ///< null: no audit log. Outlives the server
    AuditLevel level = AuditLevel::kMetadata;
};

}  // namespace muster::apiserver_http
