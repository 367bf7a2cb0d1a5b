#include <functional>
#include <utility>
#include <vector>

#include "server/rpc/admin/admin_service.h"
#include "server/rpc/admin/convert_minutes.h"
#include "server/rpc/admin/convert_report.h"
#include "server/rpc/admin/hide_filter.h"
#include "server/rpc/call/call_wire.h"
#include "server/rpc/call/list_token.h"
#include "server/rpc/call/reply.h"

namespace skiplane::rpc {
namespace {

using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

}  // namespace

ServerUnaryReactor* AdminService::ListErrorGroups(CallbackServerContext* context,
                                                  const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/ListErrorGroups", {context, reply});
  auto read = ReadCall(*call, *request, &ReadListErrors);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ListErrorGroups(
      *std::move(read),
      ReplyWithList(call, &broker::ErrorPage::groups,
                    ScopeOf<v1::ListErrorGroupsRequest>(*request), &WriteErrorGroups));
  return call;
}

ServerUnaryReactor* AdminService::AnnotateErrorGroup(CallbackServerContext* context,
                                                     const ByteBuffer* request,
                                                     ByteBuffer* reply) {
  auto* call =
      new UnaryCall(scope_, "skiplane.v1.AdminService/AnnotateErrorGroup", {context, reply});
  auto read = ReadChange(*call, *request, "AnnotateErrorGroup", &ReadAnnotateError);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.AnnotateError(*std::move(read), ReplyWith(call, &WriteAnnotateError));
  return call;
}

ServerUnaryReactor* AdminService::GetStatistics(CallbackServerContext* context,
                                                const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/GetStatistics", {context, reply});
  auto read = ReadCall(*call, *request, &ReadStatistics);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ReadStatistics(
      *std::move(read),
      ReplyWithList(call, &broker::Statistics::hours, ScopeOf<v1::GetStatisticsRequest>(*request),
                    &WriteStatistics));
  return call;
}

ServerUnaryReactor* AdminService::GetMinuteStatistics(CallbackServerContext* context,
                                                      const ByteBuffer* request,
                                                      ByteBuffer* reply) {
  auto* call =
      new UnaryCall(scope_, "skiplane.v1.AdminService/GetMinuteStatistics", {context, reply});
  auto read = ReadCall(*call, *request, &ReadMinutes);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ReadMinutes(
      *std::move(read),
      ReplyWithList(call, &broker::MinutePage::minutes,
                    ScopeOf<v1::GetMinuteStatisticsRequest>(*request), &WriteMinutes));
  return call;
}

ServerUnaryReactor* AdminService::ListWorkers(CallbackServerContext* context,
                                              const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/ListWorkers", {context, reply});
  auto read = ReadCall(*call, *request, &ReadListWorkers);
  if (!read.ok()) return call->Refuse(read.status());
  const auto limit = static_cast<size_t>(read->limit++);  // one more tells of a next page
  operator_.ListWorkers(
      *std::move(read), [call, limit](absl::StatusOr<std::vector<model::Worker>> workers) {
        Deliver<v1::ListWorkersResponse>(
            call, std::move(workers),
            [limit](auto* found, auto* response) { WriteWorkers(found, limit, response); });
      });
  return call;
}

ServerUnaryReactor* AdminService::CommandWorker(CallbackServerContext* context,
                                                const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/CommandWorker", {context, reply});
  auto read = ReadChange(*call, *request, "CommandWorker", &ReadCommandWorker);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.CommandWorker(*std::move(read), ReplyWith(call, &WriteCommandWorker));
  return call;
}

ServerUnaryReactor* AdminService::ListAuditRecords(CallbackServerContext* context,
                                                   const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/ListAuditRecords", {context, reply});
  auto read = ReadCall(*call, *request, &ReadListAudit);
  if (!read.ok()) return call->Refuse(read.status());
  auto answer = ReplyWithList(call, &broker::AuditPage::records,
                              ScopeOf<v1::ListAuditRecordsRequest>(*request), &WriteAudit);
  operator_.ListAudit(*std::move(read), WithHiddenFilters(call, std::move(answer)));
  return call;
}

}  // namespace skiplane::rpc
