package main

import (
	"errors"
	"fmt"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// The types of what the chart may hold, by apiVersion and kind.
var kinds = map[string]func() any{
	"v1/ConfigMap":                            func() any { return &corev1.ConfigMap{} },
	"v1/Secret":                               func() any { return &corev1.Secret{} },
	"v1/Service":                              func() any { return &corev1.Service{} },
	"apps/v1/Deployment":                      func() any { return &appsv1.Deployment{} },
	"batch/v1/Job":                            func() any { return &batchv1.Job{} },
	"policy/v1/PodDisruptionBudget":           func() any { return &policyv1.PodDisruptionBudget{} },
	"networking.k8s.io/v1/NetworkPolicy":      func() any { return &networkingv1.NetworkPolicy{} },
	"monitoring.coreos.com/v1/ServiceMonitor": func() any { return &monitoringv1.ServiceMonitor{} },
	"monitoring.coreos.com/v1/PrometheusRule": func() any { return &monitoringv1.PrometheusRule{} },
}

// The object as it stands there, if it is one of those types and has no other fields, nor one twice.
// Nil where there are only comments.
func decodeStrictly(document string) (map[string]any, error) {
	text, err := yaml.YAMLToJSONStrict([]byte(document))
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if err := json.UnmarshalCaseSensitivePreserveInts(text, &object); err != nil || object == nil {
		return nil, err
	}
	kind := fmt.Sprintf("%v/%v", object["apiVersion"], object["kind"])
	make, known := kinds[kind]
	if !known {
		return nil, fmt.Errorf("%s is not expected here", kind)
	}
	mistakes, err := json.UnmarshalStrict(text, make())
	if err != nil {
		return nil, err
	}
	return object, errors.Join(mistakes...)
}
