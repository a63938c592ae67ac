package main

import (
	"context"
	"os"
)

// page tries the page in a real browser. Its module is vetted with the other nested ones. PAGE=off
// leaves that out, and says so, where nothing sets CI.
func page(context.Context) ([]step, error) {
	tidy := step{line: "go mod tidy -diff", dir: "dashboard/pagetest"}
	if os.Getenv("PAGE") == "off" && os.Getenv("CI") == "" {
		return []step{tidy, {line: "echo PAGE=off: the page is not tried in a browser"}}, nil
	}
	return []step{tidy, {line: "go test -vet=off -count 1 ./...", dir: "dashboard/pagetest"}}, nil
}
