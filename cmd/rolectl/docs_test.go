package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
)

var mentioned = regexp.MustCompile("(?m)(?:^|[`$|(] ?|xargs -r -n1 )(rolectl [a-z][^`|\n#]*)")

// documents are the README and every page below docs.
func documents(t *testing.T) []string {
	t.Helper()
	files := []string{"../../README.md"}
	err := filepath.WalkDir("../../docs", func(path string, _ os.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// checksOf are the names of the checks in the table of a doctor, each once, in their order.
func checksOf(table string) (names []string) {
	for line := range strings.Lines(table) {
		if fields := doctorLine.FindStringSubmatch(line); fields != nil && !slices.Contains(names, fields[1]) {
			names = append(names, fields[1])
		}
	}
	return names
}

var doctorLine = regexp.MustCompile(`^(?:ok|warning|critical|unknown)  +(\S+(?: \S+)*)`)

// documentedChecks are the checks of the sample in the page about operations.
func documentedChecks(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, sample, _ := strings.Cut(string(text), "$ rolectl doctor\n")
	sample, _, _ = strings.Cut(sample, "```")
	return checksOf(sample)
}

// TestDocumentedCommands: every command line of the documents and of the helps is one that this
// program takes.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
	}
	commands := []string{}
	for _, cmd := range root(cli.OfProcess()).Commands() {
		texts[cmd.Name()] = cmd.Example
		for _, below := range cmd.Commands() {
			texts[cmd.Name()+" "+below.Name()] = below.Example
			for _, last := range below.Commands() {
				texts[below.Name()+" "+last.Name()] = last.Example
			}
		}
	}
	found := 0
	for where, text := range texts {
		for line := range strings.Lines(text) {
			for _, m := range mentioned.FindAllStringSubmatch(strings.TrimSpace(line), -1) {
				found++
				before, _, _ := strings.Cut(m[1], " -- ")
				args := strings.Fields(before)[1:]
				cmd, rest, err := root(cli.OfProcess()).Find(args)
				if err == nil {
					err = cmd.ParseFlags(rest)
				}
				if err != nil || cmd.HasSubCommands() && len(rest) > 0 && len(cli.ArgumentNames(cmd)) == 0 {
					t.Errorf("%s: %q: %v", where, m[1], err)
				}
				commands = append(commands, m[1])
			}
		}
	}
	if found < 60 {
		t.Errorf("only %d commands were found: %q", found, commands)
	}
}
