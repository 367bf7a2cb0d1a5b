// What became of enqueued tasks, told as they are: each with its id, or for a stream their number.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "client/cli/base/session.h"
#include "client/cli/source/record.h"
#include "client/cli/text/progress_bar.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::cli {

class EnqueueTally {
 public:
  EnqueueTally(Session& session, bool is_stream, std::string batch_id);

  // The next task that is sent is made of this.
  void Expect(Record made_of) {
    sent_.push_back({std::move(made_of.name), std::move(made_of.place)});
  }

  // The refusal of the call that was sent last: of a stream, by the place of the task at fault.
  absl::Status Placed(const absl::Status& refusal) const;

  void Add(const v1::EnqueueResponse& response);

  // A call is made, which may do its work though it fails.
  void Sending() { has_sent_ = true; }

  // The sum of a stream; after a failure what is in, and how to repeat the run, on standard error.
  void End(const absl::Status& status);

 private:
  void TellSum();
  void TellHowToGoOn() const;
  void Tell(const v1::EnqueueResult& result, const std::string& outcome, const std::string& file);

  Session& session_;
  const bool is_stream_;
  const std::string batch_id_;
  ProgressBar bar_;
  struct Sent {
    std::string file;  // empty: it is made of none
    std::string place;
  };
  std::deque<Sent> sent_;  // tasks without a result yet
  bool has_sent_ = false;
  int64_t count_ = 0;
  // By outcome: "created", "existing".
  std::map<std::string, int64_t> outcomes_;
};

}  // namespace skiplane::cli
