package controllerruntime

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	shell  = regexp.MustCompile("(?s)\n```sh\n(.*?)```\n")
	inText = regexp.MustCompile("`((?:kubectl|rolectl|helm|docker) [^`]+)`")
	// needs is the first line of a block that nothing here can run.
	needs = regexp.MustCompile(`^# needs \S+`)
	// foreign is a command that needs what is not here: a chart, a daemon, a node.
	foreign = regexp.MustCompile(`^(helm|docker) |^kubectl (-n \S+ )?(port-forward|logs|exec|rollout) `)
)

// command is one of the page.
type command struct {
	line   string
	marked bool // its block says what it needs
}

// followed are the commands of docs/guides/kubernetes.md: those of its blocks, in the order of the
// page, and then those of its text.
func followed(t *testing.T) (all []command) {
	t.Helper()
	text, err := os.ReadFile("../../docs/guides/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range shell.FindAllStringSubmatch(string(text), -1) {
		lines := strings.ReplaceAll(block[1], "\\\n", "")
		marked := needs.MatchString(lines)
		for line := range strings.Lines(lines) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				all = append(all, command{line, marked})
			}
		}
	}
	for _, m := range inText.FindAllStringSubmatch(string(text), -1) {
		all = append(all, command{m[1], false})
	}
	return all
}

// TestGuideSaysWhatItNeeds: a block of the guide that says what it needs holds nothing that could
// run without that, and no other block needs it. TestGuide runs all others.
func TestGuideSaysWhatItNeeds(t *testing.T) {
	all := followed(t)
	if len(all) < 5 {
		t.Fatalf("only %d commands on the page", len(all))
	}
	for _, c := range all {
		if c.marked != foreign.MatchString(c.line) {
			t.Errorf("its block says that it needs something: %t; is that so?\n%s", c.marked, c.line)
		}
	}
}
