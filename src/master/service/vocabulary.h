#pragma once

#include "failure_policy/policy.h"
#include "job_protocol/directives.h"
#include "job_protocol/failure.h"
#include "job_protocol/failure_budget.h"
#include "job_protocol/job_record.h"
#include "job_protocol/kv_requests.h"
#include "job_protocol/master_claim.h"
#include "job_protocol/node_check.h"
#include "job_protocol/terms.h"
#include "job_protocol/world.h"

namespace muster::master {

// Names of the protocol and of the failure policy that the master's own code uses without their
// namespaces, because nearly all of it is about them.

using failure_policy::Action;
using failure_policy::Budgets;
using failure_policy::Decision;
using failure_policy::FailurePolicy;
using job_protocol::AddToKey;
using job_protocol::as_told_to;
using job_protocol::AwaitKeys;
using job_protocol::AwaitSyncPoint;
using job_protocol::Budget;
using job_protocol::BudgetTerm;
using job_protocol::Charge;
using job_protocol::Check;
using job_protocol::CheckPeer;
using job_protocol::CheckResult;
using job_protocol::CompareSetKey;
using job_protocol::DeleteKey;
using job_protocol::Directive;
using job_protocol::EnterBarrier;
using job_protocol::FailureKind;
using job_protocol::FailureReport;
using job_protocol::Generation;
using job_protocol::GetKey;
using job_protocol::Hello;
using job_protocol::Incident;
using job_protocol::JobRecord;
using job_protocol::JoinSyncPoint;
using job_protocol::kCharges;
using job_protocol::KvAnswer;
using job_protocol::KvRequest;
using job_protocol::KvSpace;
using job_protocol::LinkFigures;
using job_protocol::MasterClaim;
using job_protocol::Member;
using job_protocol::NodeCheckKind;
using job_protocol::PolicyOptions;
using job_protocol::Report;
using job_protocol::Run;
using job_protocol::SetKey;
using job_protocol::Slot;
using job_protocol::Stop;
using job_protocol::Terms;
using job_protocol::Verdict;
using job_protocol::Wait;
using job_protocol::World;

}  // namespace muster::master
