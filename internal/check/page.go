package main

import (
	"context"
	"os"
)

// pages is the module whose tests look at the page.
const pages = "dashboard/pagetest"

// page tries the page in a real browser. Its module is vetted with the other nested ones. PAGE=off
// leaves that out, and says so, where nothing sets CI.
func page(context.Context) ([]step, error) {
	tidy := step{line: "go mod tidy -diff", dir: pages}
	if withoutPage() {
		return []step{tidy, {line: "echo PAGE=off: the page is not tried in a browser"}}, nil
	}
	return []step{tidy, {line: "go test -vet=off -count 1 ./...", dir: pages}}, nil
}

// browser has the tests of the page compiled, and the browser installed if there is none: they do
// so before the first of them.
func browser(context.Context) ([]step, error) {
	if withoutPage() {
		return nil, nil
	}
	return []step{{line: filling + "go test -vet=off -count 1 -run ^$ ./...", dir: pages}}, nil
}

func withoutPage() bool { return os.Getenv("PAGE") == "off" && os.Getenv("CI") == "" }
