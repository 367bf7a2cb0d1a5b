#include "server/rpc/serve/reflection_service.h"

#include <set>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include "absl/strings/str_cat.h"

namespace skiplane::rpc {
namespace {

namespace v1 = grpc::reflection::v1;
using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;

const DescriptorPool& Pool() { return *DescriptorPool::generated_pool(); }

const FileDescriptor* FileOf(const v1::ExtensionRequest& request) {
  const Descriptor* const extended = Pool().FindMessageTypeByName(request.containing_type());
  if (extended == nullptr) return nullptr;
  const FieldDescriptor* const extension =
      Pool().FindExtensionByNumber(extended, request.extension_number());
  return extension == nullptr ? nullptr : extension->file();
}

void AddWithImports(const FileDescriptor& file, std::set<const FileDescriptor*>& known,
                    v1::FileDescriptorResponse* response) {
  if (!known.insert(&file).second) return;
  google::protobuf::FileDescriptorProto description;
  file.CopyTo(&description);
  response->add_file_descriptor_proto(description.SerializeAsString());
  for (int i = 0; i < file.dependency_count(); ++i) {
    AddWithImports(*file.dependency(i), known, response);
  }
}

void WriteNotFound(const std::string& what, v1::ServerReflectionResponse* response) {
  v1::ErrorResponse* const error = response->mutable_error_response();
  error->set_error_code(grpc::StatusCode::NOT_FOUND);
  error->set_error_message(absl::StrCat(what, " is not known"));
}

void WriteFile(const FileDescriptor* file, const std::string& what,
               v1::ServerReflectionResponse* response) {
  if (file == nullptr) return WriteNotFound(what, response);
  std::set<const FileDescriptor*> known;
  AddWithImports(*file, known, response->mutable_file_descriptor_response());
}

void WriteExtensions(const std::string& type, v1::ServerReflectionResponse* response) {
  const Descriptor* const extended = Pool().FindMessageTypeByName(type);
  if (extended == nullptr) return WriteNotFound(type, response);
  std::vector<const FieldDescriptor*> extensions;
  Pool().FindAllExtensions(extended, &extensions);
  v1::ExtensionNumberResponse* const numbers = response->mutable_all_extension_numbers_response();
  numbers->set_base_type_name(type);
  for (const FieldDescriptor* extension : extensions) {
    numbers->add_extension_number(extension->number());
  }
}

}  // namespace

// Ends when its caller does, or with the server.
class ReflectionService::Stream : public grpc::ServerBidiReactor<Request, Response> {
 public:
  explicit Stream(const ReflectionService& service) : service_(service) { StartRead(&request_); }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    response_ = service_.Answer(request_);
    StartWrite(&response_);
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);
    StartRead(&request_);
  }

  void OnDone() override { delete this; }

 private:
  const ReflectionService& service_;
  Request request_;
  Response response_;
};

grpc::ServerBidiReactor<ReflectionService::Request, ReflectionService::Response>*
ReflectionService::ServerReflectionInfo(grpc::CallbackServerContext*) {
  return new Stream(*this);
}

ReflectionService::Response ReflectionService::Answer(const Request& request) const {
  Response response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  switch (request.message_request_case()) {
    case Request::kFileByFilename:
      WriteFile(Pool().FindFileByName(request.file_by_filename()), request.file_by_filename(),
                &response);
      break;
    case Request::kFileContainingSymbol:
      WriteFile(Pool().FindFileContainingSymbol(request.file_containing_symbol()),
                request.file_containing_symbol(), &response);
      break;
    case Request::kFileContainingExtension:
      WriteFile(FileOf(request.file_containing_extension()), "the extension", &response);
      break;
    case Request::kAllExtensionNumbersOfType:
      WriteExtensions(request.all_extension_numbers_of_type(), &response);
      break;
    case Request::kListServices:
      for (const std::string& service : services_) {
        response.mutable_list_services_response()->add_service()->set_name(service);
      }
      break;
    case Request::MESSAGE_REQUEST_NOT_SET:
      response.mutable_error_response()->set_error_code(grpc::StatusCode::INVALID_ARGUMENT);
      response.mutable_error_response()->set_error_message("the request asks for nothing");
      break;
  }
  return response;
}

}  // namespace skiplane::rpc
