package main

import (
	"fmt"
	"path"
	"sort"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
)

type rendered struct {
	Version    string           `json:"version"`
	AppVersion string           `json:"appVersion"`
	Objects    []map[string]any `json:"objects"`
	Notes      string           `json:"notes"`
}

// As `helm template queue FOLDER --namespace work -f VALUES` does, but a value that is not there is
// an error, and so is a field that Kubernetes does not know.
func renderChart(folder string, files []string) (any, error) {
	loaded, err := loader.Load(folder)
	if err != nil {
		return nil, err
	}
	values, err := mergeValues(files)
	if err != nil {
		return nil, err
	}
	release := chartutil.ReleaseOptions{Name: "queue", Namespace: "work", Revision: 1, IsInstall: true}
	input, err := chartutil.ToRenderValues(loaded, values, release, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	texts, err := engine.Engine{Strict: true}.Render(loaded, input)
	if err != nil {
		return nil, err
	}
	return collect(loaded, texts)
}

// A later file goes before an earlier one.
func mergeValues(files []string) (map[string]any, error) {
	merged := map[string]any{}
	for _, file := range files {
		values, err := chartutil.ReadValuesFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		merged = chartutil.CoalesceTables(values, merged)
	}
	return merged, nil
}

func collect(loaded *chart.Chart, texts map[string]string) (any, error) {
	result := rendered{Version: loaded.Metadata.Version, AppVersion: loaded.Metadata.AppVersion}
	for _, name := range sortedKeys(texts) {
		if path.Base(name) == "NOTES.txt" {
			result.Notes = texts[name]
			continue
		}
		documents := releaseutil.SplitManifests(texts[name])
		for _, key := range sortedKeys(documents) {
			object, err := decodeStrictly(documents[key])
			if err != nil {
				return nil, fmt.Errorf("%s: %w:\n%s", name, err, documents[key])
			}
			if object != nil {
				result.Objects = append(result.Objects, object)
			}
		}
	}
	for _, object := range result.Objects {
		if strings.Contains(fmt.Sprint(object), "<no value>") {
			return nil, fmt.Errorf("a value is missing in %v", object)
		}
	}
	return result, nil
}

func sortedKeys(texts map[string]string) []string {
	keys := make([]string, 0, len(texts))
	for key := range texts {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
