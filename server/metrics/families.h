// Declares one metric of the registry. A name is given once, in the class whose verbs write it.
#pragma once

#include <string>

#include "prometheus/counter.h"
#include "prometheus/family.h"
#include "prometheus/gauge.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"

namespace skiplane::metrics {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

inline Family<Counter>& NewCounter(Registry& registry, const std::string& name,
                                   const std::string& help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

inline Family<Gauge>& NewGauge(Registry& registry, const std::string& name,
                               const std::string& help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}

inline Family<Histogram>& NewHistogram(Registry& registry, const std::string& name,
                                       const std::string& help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

}  // namespace skiplane::metrics
