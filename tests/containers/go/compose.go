package main

import (
	"context"

	"github.com/compose-spec/compose-go/v2/cli"
)

// As `docker compose config` does, without the environment of whoever calls.
func readCompose(path string) (any, error) {
	options, err := cli.NewProjectOptions([]string{path}, cli.WithResolvedPaths(true))
	if err != nil {
		return nil, err
	}
	return options.LoadProject(context.Background())
}
