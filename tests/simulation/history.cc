#include "tests/simulation/history.h"

#include <algorithm>
#include <array>
#include <random>

namespace skiplane::simulation {
namespace {

using Kind = Input::Kind;

constexpr int kLastMs = 12000;

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) { history_.seed = seed; }

  History Make() {
    history_.brokers = Pick(1, 3);
    history_.queues = Pick(1, 3);
    history_.lanes_each = Chance(800) ? 1 : 2;
    history_.stages_each = Chance(800) ? 1 : 2;
    if (Chance(300)) history_.slowest = Pick(1, 100);
    if (Chance(500)) history_.lost = Pick(0, 1000);
    if (Chance(400)) history_.failing = Pick(0, 200);
    if (Chance(500)) history_.lease_next = Pick(0, 1000);
    if (Chance(300)) history_.dying = Pick(0, 200);
    if (Chance(300)) patient_ = 0;
    if (Chance(500)) AddMoments();
    const bool is_quiet = Chance(300);
    if (is_quiet) MakeQuiet();
    const bool has_backlog = Chance(100);
    if (has_backlog) AddBacklog();
    const int usual = has_backlog || is_quiet ? Pick(2, 15) : Pick(10, 120);
    for (int i = 0; i < usual; ++i) AddUsual();
    if (Chance(150)) AddGreedyClient();
    const int rare = Chance(600) ? Pick(0, moments_.empty() ? 5 : 20) : 0;
    for (int i = 0; i < rare; ++i) AddRare();
    std::ranges::stable_sort(history_.inputs, {}, &Input::at);
    if (Chance(700)) history_.hand_off = Chance(500) ? 1000 : Pick(0, 1000);
    if (Chance(300)) history_.rescan = Pick(500, 8000);
    if (Chance(500)) history_.packing = Chance(500) ? 1000 : Pick(0, 1000);
    return history_;
  }

 private:
  int Pick(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random_);
  }
  bool Chance(int in_1000) { return Pick(1, 1000) <= in_1000; }

  // Much happens at the same time.
  void AddMoments() {
    if (Chance(500)) history_.lanes_each = history_.stages_each = 1;
    if (Chance(500)) history_.queues = 2;
    if (Chance(500)) history_.slowest = Pick(10, 100);
    for (int i = Pick(1, 3); i > 0; --i) moments_.push_back(Pick(0, kLastMs));
  }

  // Little happens, and nobody hears of it.
  void MakeQuiet() {
    history_.lanes_each = history_.stages_each = 1;
    history_.queues = Pick(1, 2);
    history_.lost = Pick(0, 1000);
    if (Chance(500)) patient_ = 0;
    if (Chance(500)) {  // and what is there is never used up
      greedy_ = 0;
      many_ = 800;
    }
  }

  // Workers that lease with their acks are busy with it for long.
  void AddBacklog() {
    history_.lease_next = 1000;
    history_.lost = Pick(700, 1000);
    history_.dying = Pick(1, 20);
    if (Chance(800)) history_.failing = 0;
    if (Chance(500)) patient_ = Pick(0, 500);
    greedy_ = 0;
    Input& tasks = Add(Kind::kEnqueue);
    tasks.at = Span(Pick(0, 1000));
    tasks.what = Pick(0, history_.lane_stages() - 1);
    tasks.count = Pick(200, 600);
    favourite_ = tasks.what;
  }

  int PickLaneStage() {
    return favourite_ >= 0 && Chance(700) ? favourite_ : Pick(0, history_.lane_stages() - 1);
  }

  Span PickTime() {
    if (moments_.empty()) {
      return Span(Chance(300) ? Pick(0, kLastMs / 100) * 100 : Pick(0, kLastMs));
    }
    const int moment = Pick(0, static_cast<int>(moments_.size()) - 1);
    return Span(moments_[static_cast<size_t>(moment)] + Pick(0, 50));
  }

  Input& Add(Kind kind) {
    Input& input = history_.inputs.emplace_back();
    input.kind = kind;
    input.at = PickTime();
    input.broker = Pick(0, history_.brokers - 1);
    return input;
  }

  void AddUsual() {
    if (Chance(450)) {
      Input& tasks = Add(Kind::kEnqueue);
      if (Chance(200)) tasks.broker = -1;
      tasks.what = PickLaneStage();
      tasks.priority = Chance(700) ? 0 : Pick(-1, 1);
      tasks.count = Chance(many_) ? Pick(1, 60) : Pick(1, 5);
      if (Chance(300)) tasks.span = Span(Chance(500) ? Pick(1, 4000) : Pick(1, 50));
      return;
    }
    Input& call = Add(Kind::kCall);
    call.count = Chance(greedy_) ? Pick(1, 100) : Pick(1, 5);
    if (Chance(patient_)) call.span = Span(Chance(600) ? Pick(5000, 9000) : Pick(1, 5000));
    if (Chance(moments_.empty() ? 50 : 300)) call.span = Span(Pick(1, 100));
    if (Chance(150)) call.request = Pick(1, 4);
    call.principal = Chance(600) ? 0 : Pick(1, 2);
    call.worker = Pick(0, 3);
    std::vector<int> lane_stages(static_cast<size_t>(history_.lane_stages()));
    for (size_t i = 0; i < lane_stages.size(); ++i) lane_stages[i] = static_cast<int>(i);
    std::ranges::shuffle(lane_stages, random_);
    std::iter_swap(lane_stages.begin(), std::ranges::find(lane_stages, PickLaneStage()));
    lane_stages.resize(static_cast<size_t>(Pick(1, std::min(history_.lane_stages(), 3))));
    call.wanted = lane_stages;
    call.number = ++calls_;
    const Span began = call.at;
    if (!Chance(80)) return;
    Input& cancel = Add(Kind::kCancel);
    cancel.at = began + Span(Pick(0, 300));
    cancel.number = calls_;
  }

  // Many calls of one client are there before all others, and what they all wait for comes slowly.
  void AddGreedyClient() {
    const int wanted = PickLaneStage();
    const bool has_principal = Chance(500);
    const bool names_workers = Chance(300);
    const auto call = [&](Span at) -> Input& {
      Input& added = Add(Kind::kCall);
      added.at = at;
      added.broker = 0;
      added.span = Span(9000);
      added.wanted = {wanted};
      added.number = ++calls_;
      return added;
    };
    for (int i = Pick(10, 25); i > 0; --i) {
      Input& greedy = call(Span(Pick(0, 100)));
      greedy.principal = has_principal ? 3 : 0;
      greedy.worker = has_principal && names_workers ? 100 + i : 100;
      greedy.count = Pick(1, 5);
    }
    for (int i = Pick(1, 3); i > 0; --i) {
      Input& other = call(Span(Pick(100, 500)));
      other.principal = Pick(0, 2);
      other.worker = i;
      other.count = Pick(1, 3);
    }
    for (int i = Pick(5, 15); i > 0; --i) {
      Input& tasks = Add(Kind::kEnqueue);
      tasks.at = Span(Pick(500, 6000));
      tasks.what = wanted;
      tasks.count = Chance(700) ? 1 : Pick(2, 8);
    }
  }

  void AddRare() {
    constexpr std::array kKinds = {Kind::kPause,  Kind::kPause, Kind::kPause, Kind::kPause,
                                   Kind::kPause,  Kind::kPause, Kind::kOutage, Kind::kDeaf,
                                   Kind::kDeaf, Kind::kMemoryFull, Kind::kClock, Kind::kDrain};
    Input& rare = Add(kKinds[static_cast<size_t>(Pick(0, kKinds.size() - 1))]);
    rare.what = Pick(0, history_.queues - 1);
    rare.span = Span(Pick(10, 3000));
    if (rare.kind == Kind::kClock) rare.span = Span(Pick(-4000, 4000));
    if (rare.kind != Kind::kPause || Chance(500)) return;
    // Something has just come there, and elsewhere.
    const Input pause = rare;
    const int its_lane_stage = pause.what * history_.lanes_each * history_.stages_each;
    for (const int lane_stage : {its_lane_stage, PickLaneStage()}) {
      Input& tasks = Add(Kind::kEnqueue);
      tasks.at = std::max(Span(0), pause.at - Span(Pick(0, 10)));
      tasks.what = lane_stage;
    }
  }

  std::mt19937_64 random_;
  History history_;
  int patient_ = 700;  // callers, of 1,000
  int greedy_ = 300;
  int many_ = 200;      // enqueues
  int favourite_ = -1;  // a lane stage
  std::vector<int> moments_;
  int calls_ = 0;
};

}  // namespace

History MakeHistory(uint64_t seed) { return Maker(seed).Make(); }

}  // namespace skiplane::simulation
