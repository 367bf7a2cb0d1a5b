// Runs an operator's call whose answer holds a list: as any other, but only while the lists that
// were made before have mostly reached their readers. Each of them weighs as much as a page may.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "server/base/status_macros.h"
#include "server/broker/batch/answer_memory.h"
#include "server/broker/job/admin_job.h"

namespace skiplane::broker {

// `page_of` says what of the answer is counted: a member, or std::identity() of an answer that is
// nothing but a list.
template <typename Answer, typename PageOf, typename Work>
void SubmitList(PoolTurns& turns, TurnOf kind, AnswerMemory& lists, const std::string& party,
                Callback<Answer> done, PageOf page_of, Work work) {
  SubmitJob(turns, kind, party, std::move(done),
            [&lists, party, page_of, work = std::move(work)](
                pg::Session& session) mutable -> absl::StatusOr<Answer> {
              if (lists.IsFullFor(party)) return TooManyCalls();
              ASSIGN_OR_RETURN(Answer answer, work(session));
              auto& page = std::invoke(page_of, answer);
              page.memory = lists.Hold(party, page.bytes);
              return answer;
            });
}

}  // namespace skiplane::broker
