// Runs an operator's call whose answer holds a list: as any other, but only while the lists that
// were made before have mostly reached their readers. Each of them weighs as much as a page may.
#pragma once

#include <utility>

#include "absl/status/statusor.h"
#include "server/base/status_macros.h"
#include "server/broker/batch/answer_memory.h"
#include "server/broker/operate/admin_job.h"
#include "server/model/report.h"

namespace skiplane::broker {

// `list` is what of the answer is counted.
template <typename Answer, typename Item, typename Work>
void SubmitList(pg::Pool& pool, AnswerMemory& lists, Done<Answer> done,
                model::Page<Item> Answer::*list, Work work) {
  SubmitJob(pool, std::move(done),
            [&lists, list, work = std::move(work)](
                pg::Session& session) mutable -> absl::StatusOr<Answer> {
              if (lists.IsFull()) return TooManyCalls();
              ASSIGN_OR_RETURN(Answer answer, work(session));
              model::Page<Item>& page = answer.*list;
              page.memory = lists.Hold(page.bytes);
              return answer;
            });
}

// The same of an answer that is nothing but a list.
template <typename Item, typename Work>
void SubmitPage(pg::Pool& pool, AnswerMemory& lists, Done<model::Page<Item>> done, Work work) {
  SubmitJob(pool, std::move(done),
            [&lists, work = std::move(work)](
                pg::Session& session) mutable -> absl::StatusOr<model::Page<Item>> {
              if (lists.IsFull()) return TooManyCalls();
              ASSIGN_OR_RETURN(model::Page<Item> page, work(session));
              page.memory = lists.Hold(page.bytes);
              return page;
            });
}

}  // namespace skiplane::broker
