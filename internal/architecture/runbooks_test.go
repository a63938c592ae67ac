package architecture

import (
	"regexp"
	"strings"
	"testing"
)

var (
	alertName  = regexp.MustCompile(`(?m)^ +- alert: (\S+)$`)
	runbookURL = regexp.MustCompile(`(?m)^ +runbook_url: (\S+)$`)
)

// TestRunbooks: every alert leads to a part of a page that is there.
func TestRunbooks(t *testing.T) {
	const pages = "https://github.com/rolemanager/rolemanager/blob/main/"
	text := read(t, "deploy/prometheus/rules.yml")
	alerts, links := alertName.FindAllString(text, -1), runbookURL.FindAllStringSubmatch(text, -1)
	if len(links) != len(alerts) || len(alerts) == 0 {
		t.Errorf("%d alerts have %d links", len(alerts), len(links))
	}
	for _, l := range links {
		file, ours := strings.CutPrefix(l[1], pages)
		file, part, _ := strings.Cut(file, "#")
		if !ours || !anchors(read(t, file))[part] {
			t.Errorf("an alert leads to %s, which is not there", l[1])
		}
	}
}
