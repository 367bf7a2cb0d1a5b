// How one attempt of a call is sent: a method of a stub, bound to whichever broker is next.
#pragma once

#include <grpcpp/client_context.h>

#include <functional>
#include <utility>

#include "client/src/connection.h"

namespace skiplane::internal {

using BrokerMethods = v1::BrokerService::StubInterface::async_interface;
using AdminMethods = v1::AdminService::StubInterface::async_interface;

template <typename Methods, typename Request, typename Response>
using AsyncMethod = void (Methods::*)(grpc::ClientContext*, const Request*, Response*,
                                      std::function<void(grpc::Status)>);

template <typename Request, typename Response>
using Send = std::function<void(Backend&, grpc::ClientContext*, const Request*, Response*,
                                std::function<void(grpc::Status)>)>;

template <typename Request, typename Response>
Send<Request, Response> Via(AsyncMethod<BrokerMethods, Request, Response> method) {
  return [method](Backend& backend, grpc::ClientContext* context, const Request* request,
                  Response* response, std::function<void(grpc::Status)> ended) {
    (backend.broker->async()->*method)(context, request, response, std::move(ended));
  };
}

template <typename Request, typename Response>
Send<Request, Response> Via(AsyncMethod<AdminMethods, Request, Response> method) {
  return [method](Backend& backend, grpc::ClientContext* context, const Request* request,
                  Response* response, std::function<void(grpc::Status)> ended) {
    (backend.admin->async()->*method)(context, request, response, std::move(ended));
  };
}

}  // namespace skiplane::internal
