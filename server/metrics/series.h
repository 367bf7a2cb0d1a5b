// The series of one metric that differ in one label, found again without prometheus-cpp's costly
// look-up by label set.
//
// SeriesSet is not thread-safe: its owner locks. SharedSeries is, and suits series that are never
// removed.
#pragma once

#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "prometheus/family.h"
#include "prometheus/histogram.h"
#include "prometheus/labels.h"
#include "server/base/mutex.h"

namespace skiplane::metrics {

using Buckets = prometheus::Histogram::BucketBoundaries;

// A counter, gauge or histogram (the one kind that has buckets) with these labels.
template <typename Metric>
Metric& AddSeries(prometheus::Family<Metric>& family, const prometheus::Labels& labels,
                  const Buckets& buckets) {
  if constexpr (std::is_same_v<Metric, prometheus::Histogram>) {
    return family.Add(labels, buckets);
  } else {
    return family.Add(labels);
  }
}

template <typename Metric>
class SeriesSet {
 public:
  struct Options {
    std::string label;         // the one in which the series differ
    prometheus::Labels fixed;  // those that they share
    Buckets buckets;           // of histograms
  };

  // The series of the `known` values exist, at zero, from the beginning.
  SeriesSet(prometheus::Family<Metric>& family, Options options,
            std::initializer_list<absl::string_view> known = {})
      : family_(family), options_(std::move(options)) {
    for (const absl::string_view value : known) At(value);
  }

  // Valid until RemoveAll().
  Metric& At(absl::string_view value) {
    const auto found = series_.find(value);
    return found == series_.end() ? Add(std::string(value)) : *found->second;
  }

  void RemoveAll() {
    for (const auto& [value, series] : series_) family_.Remove(series);
    series_.clear();
  }

 private:
  Metric& Add(const std::string& value) {
    prometheus::Labels labels = options_.fixed;
    labels.emplace(options_.label, value);
    Metric& series = AddSeries(family_, labels, options_.buckets);
    series_.emplace(value, &series);
    return series;
  }

  prometheus::Family<Metric>& family_;
  Options options_;
  absl::flat_hash_map<std::string, Metric*> series_;
};

template <typename Metric>
class SharedSeries {
 public:
  using Options = typename SeriesSet<Metric>::Options;

  SharedSeries(prometheus::Family<Metric>& family, Options options,
               std::initializer_list<absl::string_view> known = {})
      : series_(family, std::move(options), known) {}

  Metric& At(absl::string_view value) {
    base::MutexLock lock(mutex_);
    return series_.At(value);
  }

 private:
  base::Mutex mutex_;
  SeriesSet<Metric> series_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::metrics
