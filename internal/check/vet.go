package main

import (
	"context"
	"slices"
	"strings"
)

// vets are the commands that vet every file of this module.
func vets(ctx context.Context) ([]step, error) {
	steps := []step{{line: "go vet -tags realtime ./...", env: roomy}}
	tagged, err := list(ctx, ".", "realtime")
	if err != nil {
		return nil, err
	}
	plain, err := list(ctx, ".", "")
	if err != nil {
		return nil, err
	}
	if rest := unseen(plain, tagged); len(rest) > 0 {
		steps = append(steps, step{line: "go vet " + strings.Join(rest, " "), env: roomy})
	}
	return steps, nil
}

// unseen returns the packages with files that they do not have among the others.
func unseen(packages, others []pkg) (names []string) {
	seen := map[string][]string{}
	for _, p := range others {
		seen[p.ImportPath] = p.files()
	}
	for _, p := range packages {
		if slices.ContainsFunc(p.files(), func(file string) bool { return !slices.Contains(seen[p.ImportPath], file) }) {
			names = append(names, p.ImportPath)
		}
	}
	return names
}
