#include "tests/metrics/page.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace skiplane::metrics {
namespace {

// The family of a sample: histograms and summaries add an ending to its name.
std::string FamilyOf(const Page& page, absl::string_view name) {
  for (const absl::string_view ending : {"_bucket", "_sum", "_count"}) {
    const std::string stem(absl::StripSuffix(name, ending));
    if (stem != name && page.families.contains(stem)) return stem;
  }
  return std::string(name);
}

void AddSample(absl::string_view line, Page* page) {
  const size_t space = line.rfind(' ');
  const absl::string_view series = line.substr(0, space);
  double value = 0;
  if (!absl::SimpleAtod(line.substr(space + 1), &value)) return;
  page->series.emplace(series, value);
  const size_t brace = series.find('{');
  PageFamily& family = page->families[FamilyOf(*page, series.substr(0, brace))];
  if (brace == absl::string_view::npos) return;
  for (const absl::string_view label : absl::StrSplit(series.substr(brace + 1), "\",")) {
    const std::string name(label.substr(0, label.find('=')));
    if (name != "le" && name != "quantile" && name != "}") family.labels.insert(name);
  }
}

}  // namespace

std::optional<double> Page::Value(const std::string& series_name) const {
  const auto found = series.find(series_name);
  if (found == series.end()) return std::nullopt;
  return found->second;
}

int Page::CountOf(absl::string_view text) const {
  int count = 0;
  for (const auto& [name, value] : series) count += absl::StrContains(name, text) ? 1 : 0;
  return count;
}

Page ParsePage(absl::string_view text) {
  Page page;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words.size() == 4 && words[1] == "TYPE") {
      page.families[words[2]].type = words[3];
    } else if (line.front() != '#') {
      AddSample(line, &page);
    }
  }
  return page;
}

void UseEveryVerb(Metrics& metrics) {
  metrics.Enqueued("emails", "created", 1);
  metrics.Leased("emails", "first", 1);
  metrics.AttemptEnded("emails", "succeeded", 1);
  metrics.Finished("emails", "succeeded", 1);
  metrics.LeaseLost("ack", 1);
  metrics.OrphanLeasesReleased(1);
  metrics.HandedOff(1);
  metrics.SessionsLost(1);
  metrics.PinQueues({"emails"});
  metrics.NameQueues({"emails", "kept"});
  metrics.SetQueue("emails", {.stages = {{"fetch", {.ready = 1}}}});
  metrics.SetWaitingLeases("emails", 1);
  metrics.SetWorkers(1);
  metrics.SetAwaitingCalls(1);
  metrics.AddStreams("work", 1);
  metrics.AddStreamCredit(1);
  metrics.SetAwaitedByPeers(1);
  metrics.SetDraining(false);
  metrics.SetReloaded(true);
  metrics.SetCertificateExpiry(absl::UnixEpoch());
  metrics.SetLeader(true);
  metrics.SetDatabaseOutage("DATABASE_READ_ONLY");
  metrics.ClockStep(absl::Seconds(1));
  metrics.SetReady(true);
  metrics.SetDatabaseUp(true);
  metrics.SetTable("task", {.row_bytes = 1});
  metrics.SetDatabaseBytes(1);
  metrics.Batch("enqueue", 1);
  metrics.QueueWait("emails", absl::Seconds(1));
  metrics.RunTimes("emails", {absl::Seconds(1)});
  metrics.ScheduleLag("emails", absl::Seconds(1));
  metrics.RpcStarted("skiplane.v1.BrokerService/Ack");
  metrics.RpcEnded("skiplane.v1.BrokerService/Ack", "OK", absl::Seconds(1));
  metrics.RpcExhausted("QUEUE_FULL");
  metrics.SetConnections("grpc", 1, 2);
  metrics.ConnectionRefused("grpc");
  metrics.AcceptFailed("grpc");
  metrics.ConnectionCut("streams");
  metrics.HttpRefused("site");
  metrics.HttpBodyHeld(1);
  metrics.SetPortAnswers(true);
  metrics.Statement("task_lease", absl::Seconds(1));
  metrics.DatabaseError("08");
  metrics.SetPool(1, 1, 0);
  metrics.Notification("sent");
  metrics.Chore("reclaim", absl::Seconds(1), true);
  metrics.Scraped(1, absl::Seconds(1));
}

std::string HttpGet(int port, const std::string& path, const std::string& headers) {
  return HttpCall(port, absl::StrCat("GET ", path, " HTTP/1.0\r\n", headers, "\r\n"));
}

std::string HttpCall(int port, const std::string& request) {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    char bytes[4096];
    ssize_t size = send(connection, request.data(), request.size(), MSG_NOSIGNAL);
    while (size > 0 && (size = read(connection, bytes, sizeof(bytes))) > 0) {
      answer.append(bytes, static_cast<size_t>(size));
    }
  }
  close(connection);
  return answer;
}

}  // namespace skiplane::metrics
