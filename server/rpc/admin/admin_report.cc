#include <string>
#include <utility>
#include <vector>

#include "server/rpc/admin/admin_service.h"
#include "server/rpc/admin/convert_report.h"
#include "server/rpc/call/call_wire.h"
#include "server/rpc/call/list_token.h"

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
      *std::move(read), [call, scope = ScopeOf<v1::ListErrorGroupsRequest>(*request)](
                            absl::StatusOr<broker::ErrorPage> page) {
        if (!page.ok()) {
          call->Refuse(page.status());
          return;
        }
        call->Keep(page->groups.memory);
        v1::ListErrorGroupsResponse response;
        std::vector<model::ErrorGroup>& groups = page->groups.items;
        if (page->groups.has_more) {
          const model::ErrorGroup& last = groups.back();
          response.set_next_page_token(
              WriteListToken({std::to_string(absl::ToUnixMicros(last.last_seen)),
                              std::to_string(last.stage), last.fingerprint},
                             scope));
        }
        for (size_t i = 0; i < groups.size(); ++i) {
          WriteErrorGroup(&groups[i], page->stages[i], response.add_groups());
        }
        call->Reply(response);
      });
  return call;
}

ServerUnaryReactor* AdminService::GetStatistics(CallbackServerContext* context,
                                                const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/GetStatistics", {context, reply});
  auto read = ReadCall(*call, *request, &ReadStatistics);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ReadStatistics(
      *std::move(read), [call, scope = ScopeOf<v1::GetStatisticsRequest>(*request)](
                            absl::StatusOr<broker::Statistics> statistics) {
        if (!statistics.ok()) {
          call->Refuse(statistics.status());
          return;
        }
        call->Keep(statistics->hours.memory);
        v1::GetStatisticsResponse response;
        WriteStatistics(&*statistics, &response);
        if (statistics->hours.has_more) {
          const model::HourStatistics& last = statistics->hours.items.back();
          response.set_next_page_token(
              WriteListToken({std::to_string(absl::ToUnixMicros(last.hour)),
                              std::to_string(last.stage),
                              std::to_string(static_cast<int>(last.outcome))},
                             scope));
        }
        call->Reply(response);
      });
  return call;
}

ServerUnaryReactor* AdminService::ListWorkers(CallbackServerContext* context,
                                              const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/ListWorkers", {context, reply});
  auto read = ReadCall(*call, *request, &ReadListWorkers);
  if (!read.ok()) return call->Refuse(read.status());
  const auto limit = static_cast<size_t>(read->limit++);  // one more tells of a next page
  operator_.ListWorkers(*std::move(read), [call, limit](
                                              absl::StatusOr<std::vector<model::Worker>> found) {
    if (!found.ok()) {
      call->Refuse(found.status());
      return;
    }
    v1::ListWorkersResponse response;
    if (found->size() > limit) {
      found->resize(limit);
      const model::Worker& last = found->back();
      response.set_next_page_token(
          WriteListToken({last.name, std::string(last.id.begin(), last.id.end())},
                         TokenScope(v1::ListWorkersRequest())));
    }
    for (const model::Worker& worker : *found) WriteWorker(worker, response.add_workers());
    call->Reply(response);
  });
  return call;
}

ServerUnaryReactor* AdminService::ListAuditRecords(CallbackServerContext* context,
                                                   const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/ListAuditRecords", {context, reply});
  auto read = ReadCall(*call, *request, &ReadListAudit);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ListAudit(
      *std::move(read), [call, scope = ScopeOf<v1::ListAuditRecordsRequest>(*request)](
                            absl::StatusOr<model::Page<model::AuditRecord>> page) {
        if (!page.ok()) {
          call->Refuse(page.status());
          return;
        }
        call->Keep(page->memory);
        v1::ListAuditRecordsResponse response;
        if (page->has_more) {
          response.set_next_page_token(
              WriteListToken({std::to_string(page->items.back().id)}, scope));
        }
        for (const model::AuditRecord& record : page->items) {
          WriteAuditRecord(record, response.add_records());
        }
        call->Reply(response);
      });
  return call;
}

}  // namespace skiplane::rpc
