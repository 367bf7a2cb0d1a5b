// What AdminService tells of brokers and their database.
#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "server/model/limits.h"
#include "server/rpc/admin/admin_service.h"
#include "server/rpc/call/call_wire.h"
#include "server/rpc/call/reply.h"
#include "server/rpc/call/wire_time.h"

namespace skiplane::rpc {
namespace {

using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

// There is nothing to ask for.
absl::StatusOr<broker::ListBrokersCall> ReadListBrokers(v1::ListBrokersRequest*) {
  return broker::ListBrokersCall();
}
absl::StatusOr<broker::ServerInfoCall> ReadGetServerInfo(v1::GetServerInfoRequest*) {
  return broker::ServerInfoCall();
}

void WriteBrokers(broker::BrokerPage* page, v1::ListBrokersResponse* response) {
  for (model::RunningBroker& broker : page->brokers) {
    v1::BrokerInfo* const wire = response->add_brokers();
    wire->set_broker_id(absl::BytesToHexString(
        {reinterpret_cast<const char*>(broker.id.data()), broker.id.size()}));
    wire->set_name(std::move(broker.name));
    wire->set_version(std::move(broker.version));
    if (broker.start_time) WriteTime(*broker.start_time, wire->mutable_start_time());
    WriteTime(broker.expire_time, wire->mutable_expire_time());
    wire->set_is_leader(broker.is_leader);
    wire->set_is_this(broker.id == page->own_id);
  }
}

void WriteServerInfo(broker::ServerReport* info, v1::GetServerInfoResponse* response) {
  v1::ServerInfo* const wire = response->mutable_info();
  wire->set_version(info->version);
  wire->set_commit(info->commit);
  wire->set_broker_name(info->broker_name);
  WriteTime(info->start_time, wire->mutable_start_time());
  WriteTime(info->database.now, wire->mutable_database_time());
  wire->set_database_version(info->database.version);
  wire->set_schema_version(info->database.schema_version);
  wire->set_database_bytes(info->database_bytes);
  for (broker::TableSpace& table : info->tables) {
    v1::TableSize* const size = wire->add_tables();
    size->set_table(std::move(table.table));
    size->set_row_bytes(table.row_bytes);
    size->set_toast_bytes(table.toast_bytes);
    size->set_index_bytes(table.index_bytes);
    size->set_dead_row_count(table.dead_rows);
  }
  wire->set_max_payload_bytes(model::kPayloadBytesMax);
  wire->set_max_request_bytes(model::kRequestBytesMax);
  wire->set_database_connections(info->connections);
}

}  // namespace

ServerUnaryReactor* AdminService::ListBrokers(CallbackServerContext* context,
                                              const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/ListBrokers", {context, reply});
  auto read = ReadCall(*call, *request, &ReadListBrokers);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ListBrokers(*std::move(read), ReplyWith(call, &WriteBrokers));
  return call;
}

ServerUnaryReactor* AdminService::GetServerInfo(CallbackServerContext* context,
                                                const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/GetServerInfo", {context, reply});
  auto read = ReadCall(*call, *request, &ReadGetServerInfo);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.GetServerInfo(*std::move(read), ReplyWith(call, &WriteServerInfo));
  return call;
}

}  // namespace skiplane::rpc
