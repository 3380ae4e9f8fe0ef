#pragma once

#include "cli/internal/command_line/command_line.h"

namespace muster::cli {

// One per verb; each returns the exit status.

int run(RunOptions options);
int validate(const ValidateOptions& options);
int convert(const ConvertOptions& options);
int explain(const ExplainOptions& options);
int simulate(const SimulateOptions& options);
int up(const UpOptions& options);
int down(const DownOptions& options);
int status(const StatusOptions& options);
int kubeconfig(const KubeconfigOptions& options);
int get(const GetOptions& options);
int remove(const DeleteOptions& options);
int apply(const ApplyOptions& options);
int wait(const WaitOptions& options);
int logs(const LogsOptions& options);
int describe(const DescribeOptions& options);
int events(const EventsOptions& options);
int top(const TopOptions& options);
int manifests(const ManifestsOptions& options);
int completion(const CompletionOptions& options);
int complete(const CompleteOptions& options);
int rsh(const RshOptions& options);
int operate(const OperatorOptions& options);
int migrate(const MigrateOptions& options);
int drill(const FaultInjectionOptions& options);
int clean();
int version();

}  // namespace muster::cli
