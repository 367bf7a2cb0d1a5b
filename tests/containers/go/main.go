// Reads what is shipped for containers with the libraries of those who read it in earnest, strictly,
// and prints it as JSON: manifests compose FILE, manifests chart FOLDER [VALUES]..., or, for any
// other file, manifests yaml FILE. An error ends with 1, and says where.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

func read(arguments []string) (any, error) {
	if len(arguments) == 2 && arguments[0] == "compose" {
		return readCompose(arguments[1])
	}
	if len(arguments) >= 2 && arguments[0] == "chart" {
		return renderChart(arguments[1], arguments[2:])
	}
	if len(arguments) == 2 && arguments[0] == "yaml" {
		return readYaml(arguments[1])
	}
	return nil, errors.New("manifests compose|yaml FILE, or manifests chart FOLDER [VALUES]...")
}

func readYaml(path string) (any, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var found any
	err = yaml.UnmarshalStrict(text, &found)
	return found, err
}

func main() {
	found, err := read(os.Args[1:])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(found)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
