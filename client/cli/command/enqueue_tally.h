// What became of enqueued tasks, told as they are: each with its id, or for a stream their number.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "client/cli/base/session.h"
#include "client/cli/text/progress_bar.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::cli {

class EnqueueTally {
 public:
  EnqueueTally(Session& session, bool is_stream, std::string batch_id);

  // The next task that is sent is made of this file; empty: of none.
  void Expect(std::string file) { files_.push_back(std::move(file)); }

  void Add(const v1::EnqueueResponse& response);

  // The sum of a stream.
  void End();

  // After a failure: what is in, and how to repeat the run. On standard error.
  void TellHowToGoOn() const;

 private:
  void Tell(const v1::EnqueueResult& result, const std::string& outcome, const std::string& file);

  Session& session_;
  const bool is_stream_;
  const std::string batch_id_;
  ProgressBar bar_;
  std::deque<std::string> files_;  // of tasks without a result yet
  int64_t count_ = 0;
  // By outcome: "created", "existing".
  std::map<std::string, int64_t> outcomes_;
};

}  // namespace skiplane::cli
