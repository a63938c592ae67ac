package main

import (
	"fmt"
	"os"
)

// file is where the dashboard is, from the root of the repository.
const file = "deploy/grafana/rolemanager.json"

func main() {
	text, err := render()
	if err == nil {
		err = os.WriteFile(file, text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "grafana:", err)
		os.Exit(1)
	}
}
