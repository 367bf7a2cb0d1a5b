// Every bound of the broker, with the reason for its size. rpc checks calls against them, the
// migrations repeat those that the tables must hold, and the documents quote them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace skiplane::model {

// Sizes of a call. A request and an answer fit gRPC's usual message of 4 MiB.
inline constexpr int kRequestBytesMax = 4 << 20;
inline constexpr int64_t kListBytesMax = 3 << 20;  // of an operator's answer, but always one item
inline constexpr int kStatisticsHoursMax = 10000;  // of one answer: 200 bytes each
inline constexpr int kMinuteStatisticsMax = 5000;   // of one answer: 200 bytes each
inline constexpr int kBrokersListed = 1000;
inline constexpr int kPayloadBytesMax = 1 << 20;
inline constexpr int kPackTasksMax = 64;  // a bit each in a number
inline constexpr int kPackTasksLeast = 16;  // on average: fewer cost more than rows
inline constexpr int kTasksPerCallMax = 1000;  // one statement of a few milliseconds
inline constexpr int kQueuesPerLeaseMax = 64;
inline constexpr int64_t kLaneStagesPerLeaseMax = 6400;  // of one queue all; 7 ms to take in
inline constexpr int kQueuesPerListMax = 100;  // each costs statements of every page
inline constexpr size_t kQueuesPerEnqueueMax = 64;
inline constexpr int kLeaseBytesMax = 3 << 20;  // leaves room for headers and tokens below 4 MiB

// Sizes of a field, in bytes.
inline constexpr size_t kQueueNameBytesMax = 128;
inline constexpr size_t kContentTypeBytesMax = 255;
inline constexpr size_t kHeadersMax = 64;
inline constexpr size_t kHeaderKeyBytesMax = 128;
inline constexpr size_t kHeaderValueBytesMax = 4096;
inline constexpr size_t kKeyBytesMax = 255;  // a B-tree entry stays small
inline constexpr size_t kRequestIdBytesMax = 128;
inline constexpr size_t kWorkerIdBytesMax = 128;
inline constexpr size_t kWorkerNameBytesMax = 255;
inline constexpr size_t kErrorTypeBytesMax = 256;
inline constexpr size_t kErrorTextBytesMax = 64 << 10;
inline constexpr size_t kProgressMessageBytesMax = 1024;
inline constexpr size_t kPauseReasonBytesMax = 1024;

inline constexpr size_t kStageNameBytesMax = 64;
inline constexpr size_t kCronBytesMax = 255;
inline constexpr size_t kTimeZoneBytesMax = 64;
inline constexpr size_t kActorBytesMax = 255;
inline constexpr size_t kResultBytesMax = 1 << 20;

// Ranges.
inline constexpr int kPriorityMin = -32768;
inline constexpr int kPriorityMax = 32767;
inline constexpr int kMaxAttemptsMax = 1000;
inline constexpr int kMaxAttemptsDefault = 10;
inline constexpr int kLanesMax = 64;
inline constexpr int kQueueWeightMax = 1000;
inline constexpr absl::Duration kStartAheadMax = absl::Hours(24 * 3653);  // 10 years
inline constexpr absl::Duration kWaitMax = absl::Seconds(60);
inline constexpr absl::Duration kWatchMax = absl::Hours(1);
inline constexpr absl::Duration kLeaseDurationMin = absl::Seconds(1);
inline constexpr absl::Duration kLeaseDurationMax = absl::Hours(12);
inline constexpr absl::Duration kLeaseDurationDefault = absl::Seconds(30);
inline constexpr absl::Duration kRetryDelayMax = absl::Hours(24);
inline constexpr absl::Duration kRetryDelayDefault = absl::Minutes(5);
inline constexpr size_t kRetryTableMax = 100;
inline constexpr size_t kStagesMax = 100;  // each is a list of callers and bounds in each lane
inline constexpr int kFollowUpsPerItemMax = 100;
inline constexpr absl::Duration kPeriodMin = absl::Seconds(1);
inline constexpr absl::Duration kPeriodMax = kStartAheadMax;
inline constexpr absl::Duration kMaxRunDurationMin = absl::Seconds(1);
inline constexpr absl::Duration kMaxRunDurationMax = absl::Hours(24 * 30);
inline constexpr absl::Duration kMaxRunDurationDefault = absl::Hours(1);
inline constexpr int kRetentionDaysMax = 400;
inline constexpr int kHistoryDaysDefault = 7;
inline constexpr int kFailedDaysDefault = 30;
inline constexpr int64_t kQueueDepthMax = 1000000000;
inline constexpr int64_t kQueueBytesMax = int64_t{1} << 50;
inline constexpr double kEnqueueRateMin = 0.001;  // tasks a second
inline constexpr double kEnqueueRateMax = 1000000;
inline constexpr double kRetryFactorMax = 10.0;
inline constexpr double kRetryJitterMax = 0.5;

// How long what was settled, and what was asked for with a request id, stays known.
inline constexpr absl::Duration kSettledKept = absl::Hours(1);
inline constexpr absl::Duration kRequestKept = absl::Hours(24);

// What an installation has at most: each broker keeps all queues and, once used, their lanes.
inline constexpr int kQueuesMax = 100000;
// Made through one broker: what makes one by mistake for each task must not take the room of all
// before somebody sees it.
inline constexpr int kNewQueuesPerMinuteMax = 3000;

// What peers may have open. Both are defaults of flags.
inline constexpr int kConnectionsMax = 16000;                // 25 kB each: 400 MB
inline constexpr int kWaitingCallsPerConnectionMax = 5000;  // a quarter of what the broker parks
// Streams of a connection beside its parked leases. Above the limit of streams gRPC's clients wait
// untold, so that parked leases must never reach it.
inline constexpr int kStreamsBesideParked = 1000;

// What one broker holds in memory at most; beyond it calls are refused with TOO_MANY_CALLS, or with
// TOO_MANY_WAITING_CALLS. Leases that wait are counted apart from the calls in flight, so that
// they cannot take the room of others.
inline constexpr int kWaitingCallsMax = 20000;          // 16 kB each in gRPC: 320 MB
inline constexpr int64_t kWaitingLaneStagesMax = 1000000;  // of all these calls, 250 bytes each
inline constexpr size_t kAwaitedByPeersMax = 200000;    // of other brokers' calls: 16 bytes each
inline constexpr int64_t kParkedRequestBytes = 4 << 10;  // of those 16 kB; more counts as in flight
inline constexpr int kCallsInFlightMax = 30000;         // of all methods
inline constexpr int64_t kBytesInFlightMax = 32 << 20;  // requests and small answers, before copies
// How much of these one principal may take, in percent, so that others always find room: as many
// waiting calls as 10,000 workers have, and half as many again while they connect anew. Where
// nobody proves who it is, a connection of the calls and bytes.
inline constexpr int kPrincipalShare = 75;
inline constexpr int kAddressShare = 80;  // of a port's connections: the same fleet behind one
// Beyond the two: room for Ack, Nack, Settle and Heartbeat, which keep work from being done twice.
inline constexpr int kCallsReserved = 10000;
inline constexpr int64_t kBytesReserved = 8 << 20;
inline constexpr int64_t kTransportBytesMax = 1 << 30;  // of gRPC, messages half received included
inline constexpr int64_t kAnswerBytesMax = 16 << 20;   // leased tasks not yet read by their callers
inline constexpr int64_t kListsBytesMax = 16 << 20;    // operators' answers not yet read by them
inline constexpr int64_t kPendingRowsMax = 200000;     // that wait for one queue's batches
inline constexpr int64_t kPendingBytesMax = 64 << 20;  // and what they weigh
inline constexpr int kTrackedLeasesMax = 1000000;      // the memory that saves folding the ledger
inline constexpr int kKnownSessionsMax = 100000;       // the memory that saves renewing sessions

// A worker's stream: how many tasks it may take beyond those it has, and how many it may say that
// it holds.
inline constexpr int kCreditMax = 1000;
inline constexpr int kHelloLeasesMax = 10000;
// What a stream has under way at most: from there on nothing more is read from it.
inline constexpr int64_t kStreamUnansweredMax = 10000;
// And as long as its caller has this much to read.
inline constexpr int kStreamUnsentMax = 250;
inline constexpr int64_t kStreamUnsentBytesMax = 1 << 20;
// While all streams together have more, each is read from as long as it has less than this.
inline constexpr int64_t kUnsentBytesOfAllMax = 8 << 20;
inline constexpr int64_t kStreamUnsentBytesLeft = 512;
// Of one message; more is the next message. Beside tasks, which may be as large as a Lease's,
// answers have a room of their own; all of it fits gRPC's usual message.
inline constexpr int64_t kStreamMessageBytesMax = 3 << 20;
inline constexpr int64_t kStreamBesideTasksBytes = 128 << 10;
// What kLeaseBytesMax does not count of a task: its key, its content type, the names of its queue
// and its stage, its token, times and numbers.
inline constexpr size_t kTaskBytesBesideMax =
    kKeyBytesMax + kContentTypeBytesMax + kQueueNameBytesMax + kStageNameBytesMax + 210;
static_assert(kLeaseBytesMax + kTasksPerCallMax * static_cast<int64_t>(kTaskBytesBesideMax) +
                  kStreamBesideTasksBytes <= kRequestBytesMax);

inline constexpr int kBatchRowsMax = 1000;          // of one statement
inline constexpr int64_t kBatchBytesMax = 4 << 20;  // each connection copies it three times

}  // namespace skiplane::model
