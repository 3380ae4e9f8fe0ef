#pragma once

#include <string>

namespace muster::apiserver_http {

/// How much of a request is recorded in the audit log. For Secrets, and for answers with a token,
/// never more than kMetadata.
enum class AuditLevel { kMetadata, kRequest, kRequestResponse };

/// The target of the audit log's lines. Thread: the server's loop.
class AuditSink {
  public:
    virtual ~AuditSink() = default;
    /// One event of audit.k8s.io/v1 as JSON, without a line end. It can't be refused: the sink
    /// itself reports lines that it can't keep.
    virtual void write(std::string line) = 0;
};

struct AuditOptions {
    AuditSink* sink = nullptr;  ///< null: no audit log; outlives the server
    AuditLevel level = AuditLevel::kMetadata;
};

}  // namespace muster::apiserver_http
